"""What goes to files, bytes and pickles: one line for each type. A new type adds its line, and test_files.py tests it.

A line says how a thing is made, what shows that it works, and what that gives. `m` holds all things of a family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from aglet import (
    Ciphertext,
    Engine,
    FhewCiphertext,
    FhewEngine,
    IntegerCiphertext,
    IntegerEngine,
    SchemeSwitch,
)
from support import random_message

__all__ = ["CKKS", "FAMILIES", "STORED", "Family", "Line", "Things", "put"]


class Things(SimpleNamespace):
    """All things of a family that belong to one secret, by name."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@dataclass(frozen=True)
class Line:
    """What shows that a thing works, a ciphertext or numbers, and the numbers that it gives."""

    use: Callable[[Any, Things], Any]
    expected: Any
    # Without it `engine.create_NAME(secret_key)` makes the thing.
    make: Callable[[Any, Things], Any] | None = None
    # Whether it belongs to one secret key, so that one of another secret is refused.
    keyed: bool = True


@dataclass(frozen=True)
class Family:
    """Engines and things are made once, when they are asked for."""

    new: Callable[[], Any]
    different: Callable[[], Any]
    # What an engine of other parameters says of a file: what it was made with.
    fits: str
    lines: dict[str, Line]

    @cache  # noqa: B019 - families are constants of this file
    def engine(self, of: int = 0) -> Any:
        """The engine that made everything, or another one with the same options."""
        return self.new()

    @cache  # noqa: B019
    def other(self) -> Any:
        """One with other parameters."""
        return self.different()

    @cache  # noqa: B019
    def made(self, of: int = 0) -> Things:
        """Everything, for the first secret key or another one."""
        m, engine = Things(), self.engine()
        for name, line in self.lines.items():
            create = getattr(engine, f"create_{name.removeprefix('fhew_')}", None)
            secrets = [value for made, value in vars(m).items() if made.endswith("secret_key")]
            setattr(m, name, line.make(engine, m) if line.make else create(*secrets))  # type: ignore[misc]
        return m

    @cache  # noqa: B019
    def written(self, name: str) -> bytes:
        """The bytes of one of them."""
        data: bytes = self.engine().serialize(getattr(self.made(), name))
        return data

    def found(self, engine: Any, m: Things, name: str) -> Any:
        """What one of these things gives."""
        found = self.lines[name].use(engine, m)
        if isinstance(found, Ciphertext | FhewCiphertext | IntegerCiphertext):
            found = engine.decrypt(found, m.fhew_secret_key if isinstance(engine, FhewEngine) else m.secret_key)
        return np.asarray(found, complex)

    def __hash__(self) -> int:
        return id(self)


def put(m: Things, name: str, thing: Any) -> Things:
    """The same things, with one in place of another."""
    return Things(**{**vars(m), name: thing})


X = random_message(512, 1)
SIGNS = np.where(np.arange(512) % 3, 1.0, -1.0)
SWAP = np.array([[0, 1], [1, 0]])

CKKS = {
    "secret_key": Line(lambda e, m: m.ciphertext, X),
    "public_key": Line(lambda e, m: e.encrypt(X, m.public_key), X),
    "plaintext": Line(lambda e, m: e.decode(m.plaintext), X, lambda e, m: e.encode(X, level=4), keyed=False),
    "ciphertext": Line(
        lambda e, m: e.multiply(m.ciphertext, m.plaintext), X**2, lambda e, m: e.encrypt(m.plaintext, m.public_key)
    ),
    "relinearization_key": Line(lambda e, m: e.square(m.ciphertext, m.relinearization_key), X**2),
    "conjugation_key": Line(lambda e, m: e.conjugate(m.ciphertext, m.conjugation_key), X.conj()),
    "rotation_key": Line(lambda e, m: e.rotate(m.ciphertext, m.rotation_key, 5), np.roll(X, 5)),
    "fixed_rotation_key": Line(
        lambda e, m: e.rotate(m.ciphertext, m.fixed_rotation_key),
        np.roll(X, -3),
        lambda e, m: e.create_fixed_rotation_key(m.secret_key, -3),
    ),
    "matrix_multiplication_key": Line(
        lambda e, m: e.multiply_matrix(SWAP, m.ciphertext, m.matrix_multiplication_key), [X[1], X[0], *[0] * 510]
    ),
    "bootstrap_key": Line(lambda e, m: e.bootstrap(m.ciphertext, *bootstrapping(m), m.bootstrap_key), X),
    "small_bootstrap_key": Line(
        lambda e, m: e.bootstrap(m.ciphertext, *bootstrapping(m), m.rotation_key, m.small_bootstrap_key), X
    ),
    "lossy_bootstrap_key": Line(
        lambda e, m: e.sign_bootstrap(
            e.encrypt(SIGNS, m.secret_key, level=4), *bootstrapping(m), m.lossy_bootstrap_key
        ),
        SIGNS,
        lambda e, m: e.create_lossy_bootstrap_key(m.secret_key, size="medium"),
    ),
}


def bootstrapping(m: Things) -> tuple[Any, Any]:
    """The keys that every bootstrap takes first."""
    return m.relinearization_key, m.conjugation_key


BITS = np.array([[True, False, True], [False, False, True]])

FHEW = {
    "fhew_secret_key": Line(lambda e, m: m.ciphertext, BITS),
    "fhew_public_key": Line(lambda e, m: e.encrypt(BITS, m.fhew_public_key), BITS),
    "fhew_bootstrap_key": Line(
        lambda e, m: e.nand(m.ciphertext, m.ciphertext[::-1], m.fhew_bootstrap_key), ~(BITS & BITS[::-1])
    ),
    # That it works stands in test_fhew_pairs.py: the smallest set has no tables of pairs.
    "packing_key": Line(lambda e, m: m.packing_key.key_id == m.fhew_secret_key.key_id, True, keyed=False),
    "ciphertext": Line(lambda e, m: m.ciphertext, BITS, lambda e, m: e.encrypt(BITS, m.fhew_secret_key)),
}

N = np.arange(1024) % 100 - 50

INTEGERS = {
    "secret_key": Line(lambda e, m: m.ciphertext, N),
    "public_key": Line(lambda e, m: e.encrypt(N, m.public_key), N),
    "plaintext": Line(lambda e, m: e.decode(m.plaintext), N, lambda e, m: e.encode(N), keyed=False),
    "ciphertext": Line(lambda e, m: m.ciphertext, N, lambda e, m: e.encrypt(N, m.public_key)),
    "relinearization_key": Line(lambda e, m: e.square(m.ciphertext, m.relinearization_key), N**2),
    "rotation_key": Line(lambda e, m: e.sum_slots(m.ciphertext, m.rotation_key), np.full(1024, N.sum())),
    "fixed_rotation_key": Line(
        lambda e, m: e.rotate_rows(m.ciphertext, m.fixed_rotation_key),
        np.roll(N.reshape(2, -1), -3, axis=1).ravel(),
        lambda e, m: e.create_fixed_rotation_key(m.secret_key, -3),
    ),
    "bootstrap_key": Line(lambda e, m: e.bootstrap(e.mod_switch(m.ciphertext, 1), m.bootstrap_key), N),
}


def switched(e: Any, m: Things) -> Any:
    """What two numbers are after a switch."""
    x = e.engine.encrypt([1, 0], m.secrets[0])
    keys = e.create_keys(*m.secrets)
    return e.fhew_engine.decrypt(e.to_fhew(x, [0, 1], replace(keys, scheme_switch=m.scheme_switch_key)), m.secrets[1])


class Switch(Family):
    """What a switch stores belongs to two secret keys, which it does not write."""

    @cache  # noqa: B019
    def made(self, of: int = 0) -> Things:
        """The key of a switch and its two secret keys."""
        e = self.engine()
        secrets = e.engine.create_secret_key(), e.fhew_engine.create_secret_key()
        return Things(secrets=secrets, scheme_switch_key=e.create_switch_key(*secrets))


SWITCHED = {"scheme_switch_key": Line(switched, [True, False])}


def toy(**options: Any) -> Engine:
    return Engine(preset="toy", allow_insecure=True, **options)


def integers(**options: Any) -> IntegerEngine:
    return IntegerEngine(preset="toy-int16", allow_insecure=True, **options)


FAMILIES: dict[str, Family] = {
    "ckks": Family(toy, lambda: Engine(max_level=2), 'preset="toy"', CKKS),
    "fhew": Family(FhewEngine, lambda: FhewEngine(bits=2), 'preset "gate"', FHEW),
    "integers": Family(integers, lambda: IntegerEngine(depth=4), "toy-int16", INTEGERS),
    "ckks-fhew": Switch(
        lambda: SchemeSwitch(toy(slot_count=64), FhewEngine()),
        lambda: SchemeSwitch(toy(slot_count=64), FhewEngine(bits=2)),
        'preset="gate"',
        SWITCHED,
    ),
    "integers-fhew": Switch(
        lambda: SchemeSwitch(integers(), FhewEngine()),
        lambda: SchemeSwitch(integers(), FhewEngine(bits=2)),
        'preset="gate"',
        SWITCHED,
    ),
}

STORED = [(family, name) for family, one in FAMILIES.items() for name in one.lines]

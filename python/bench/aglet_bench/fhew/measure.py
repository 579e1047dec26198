"""Measure FHEW: the time of one ciphertext in a batch, wrong results, keys, and the failure probability."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet._core import FhewBootstrapKey, FhewSecretKey
from aglet.errors import ParameterError
from aglet.fhew.engine import FhewEngine
from aglet_bench.quiet import Watch

__all__ = ["KINDS", "FhewCase", "FhewKeys", "bench_fhew", "make_fhew_keys"]

KINDS = ("gate", "lookup", "lookup2", "sign", "floor", "digits")
"""The kinds of measurements. `aglet bench` has a command for each."""
_TWO: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "nand": lambda x, y: ~(x & y),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "nor": lambda x, y: ~(x | y),
    "xor": lambda x, y: x ^ y,
    "xnor": lambda x, y: ~(x ^ y),
    "andny": lambda x, y: ~x & y,
}


@dataclass(frozen=True)
class FhewCase:
    """The case of one bench.

    `kind` is one of these: "gate", two arrays of bits through `gate`; "lookup", a table of squares in a domain;
    "lookup2", two tables of two messages; "sign", of integers of `integer_bits` bits; "floor", which removes the `low`
    lowest bits of integers of `integer_bits` bits without a sign; "digits", of such integers.
    """

    kind: str = "gate"
    gate: str = "nand"
    bits: int | None = None
    preset: str | None = None
    method: str | None = None
    allow_insecure: bool = False
    domain: str = "padded"
    integer_bits: int = 20
    low: int = 5
    batch: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f'There is no bench "{self.kind}"; choose one of {", ".join(KINDS)}.')
        if self.gate not in _TWO:
            raise ParameterError(f'There is no gate "{self.gate}" of two bits; choose one of {", ".join(_TWO)}.')
        if self.batch < 1:
            raise ParameterError(f"A batch needs at least one ciphertext, not {self.batch}.")
        # Before the values are drawn: numpy has no integers of so many bits.
        least = 2 if self.kind == "sign" else 1
        if self.kind in ("sign", "floor", "digits") and not least <= self.integer_bits <= 20:
            raise ParameterError(f"Integers here have {least} to 20 bits, not {self.integer_bits}; change --bits.")

    def engine(self) -> FhewEngine:
        """The engine of the case."""
        return FhewEngine(
            self.bits,
            preset=self.preset,
            method=self.method,
            thread_count=self.threads,
            allow_insecure=self.allow_insecure,
        )

    @property
    def operation(self) -> str:
        """The operation on each ciphertext, in a few words."""
        return {
            "gate": self.gate,
            "lookup": f"{self.domain} table",
            "lookup2": f"two {self.domain} tables of two messages",
            "sign": f"sign of {self.integer_bits} bits",
            "floor": f"{self.low} of {self.integer_bits} bits off",
            "digits": f"digits of {self.integer_bits} bits",
        }[self.kind]


@dataclass(frozen=True)
class FhewKeys:
    """The keys of a bench, and the seconds to make them."""

    secret: FhewSecretKey
    bootstrap: FhewBootstrapKey
    seconds: float


def make_fhew_keys(engine: FhewEngine) -> FhewKeys:
    """Make the keys and time it."""
    start = time.perf_counter()
    secret = engine.create_secret_key()
    return FhewKeys(secret, engine.create_bootstrap_key(secret), time.perf_counter() - start)


_Run = tuple[Callable[[], Any], NDArray[Any]]
"""A call, and its expected result."""


def _gate(case: FhewCase, engine: FhewEngine, keys: FhewKeys, random: np.random.Generator) -> _Run:
    bits = random.integers(0, 2, (2, case.batch)).astype(bool)
    one, other = (engine.encrypt(x, keys.secret) for x in bits)
    return lambda: engine.gate(case.gate, one, other, keys.bootstrap), _TWO[case.gate](*bits)


def _lookup(case: FhewCase, engine: FhewEngine, keys: FhewKeys, random: np.random.Generator) -> _Run:
    size = 2**engine.bits
    messages = random.integers(0, size, case.batch)
    encrypted = engine.encrypt(messages, keys.secret, domain=case.domain)
    table = [m * m % size for m in range(size)]
    return lambda: engine.lookup(encrypted, table, keys.bootstrap), np.array(table)[messages]


def _lookup2(case: FhewCase, engine: FhewEngine, keys: FhewKeys, random: np.random.Generator) -> _Run:
    size = 2**engine.bits
    high, low = random.integers(0, size, (2, case.batch))
    one, other = (engine.encrypt(part, keys.secret, domain=case.domain) for part in (high, low))
    packing = engine.create_packing_key(keys.secret)
    tables: list[Any] = [lambda h, m: (h * m + m) % size, lambda h, m: h ^ m]
    expected = np.array([(high * low + low) % size, high ^ low])
    return lambda: engine.lookup2(one, other, tables, keys.bootstrap, packing), expected


def _sign(case: FhewCase, engine: FhewEngine, keys: FhewKeys, random: np.random.Generator) -> _Run:
    most = 2 ** (case.integer_bits - 1)
    values = random.integers(-most, most, case.batch)
    encrypted = engine.encrypt(values, keys.secret, bits=case.integer_bits)
    return lambda: engine.sign(encrypted, keys.bootstrap), (values >= 0).astype(int)


def _words(case: FhewCase, engine: FhewEngine, keys: FhewKeys, random: np.random.Generator) -> _Run:
    values = random.integers(0, 2**case.integer_bits, case.batch)
    encrypted = engine.encrypt(values, keys.secret, bits=case.integer_bits, signed=False)
    if case.kind == "floor":
        return lambda: engine.floor(encrypted, case.low, keys.bootstrap), values >> case.low
    places = range(0, case.integer_bits, engine.bits)
    digits = np.array([values >> place & (2**engine.bits - 1) for place in places])
    return lambda: engine.digits(encrypted, keys.bootstrap), digits


_RUNS: dict[str, Callable[[FhewCase, FhewEngine, FhewKeys, np.random.Generator], _Run]] = {
    "gate": _gate,
    "lookup": _lookup,
    "lookup2": _lookup2,
    "sign": _sign,
    "floor": _words,
    "digits": _words,
}


def _work(case: FhewCase, engine: FhewEngine, keys: FhewKeys) -> Callable[[], tuple[float, int]]:
    """Time the work once: seconds, and the number of wrong results."""
    run, expected = _RUNS[case.kind](case, engine, keys, np.random.default_rng(1))

    def timed() -> tuple[float, int]:
        start = time.perf_counter()
        found = run()
        seconds = (time.perf_counter() - start) / case.batch
        parts = found if isinstance(found, tuple) else (found,)
        clear = np.concatenate([engine.decrypt(part, keys.secret).ravel() for part in parts])
        return seconds, int((clear != expected.ravel()).sum())

    return timed


def bench_fhew(
    case: FhewCase, *, repeat: int, keys: FhewKeys | None = None, engine: FhewEngine | None = None
) -> dict[str, Any]:
    """Measure a gate or a lookup table. Returns one record, ready for JSON. Times are for one ciphertext of the batch.

    Raises
    ------
    ParameterError
        If there is no such preset, or it has no gates or tables of that kind.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    engine = case.engine() if engine is None else engine
    if case.kind != "gate" and engine.bits == 1:
        raise ParameterError(
            "Lookup tables need messages of at least two bits; give --bits 2, 3 or 4, or another preset."
        )
    keys = make_fhew_keys(engine) if keys is None else keys
    timed, machine = _work(case, engine, keys), _core.doctor()
    timed()
    watch = Watch()
    runs = [timed() for _ in range(repeat)]
    seconds = [run[0] for run in runs]
    quiet = watch.done(seconds)
    return {
        "kind": case.kind,
        "operation": case.operation,
        "method": engine.method,
        "preset": engine.preset,
        "bits": engine.bits,
        "bits_mean": engine.bits,
        "bits_worst": engine.bits,
        "slot_count": 1,
        "batch": case.batch,
        "threads": engine.thread_count,
        "backend": engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "wrong": sum(run[1] for run in runs),
        "key_bytes": keys.bootstrap.byte_count,
        "key_bytes_seeded": keys.bootstrap.stored_bytes,
        "keygen_seconds": keys.seconds,
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": engine.security_bits,
        "log2_failure": engine.log2_failure,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }

"""Measure gates and tables: the time of one in a batch, what was wrong, keys, and the chance to fail."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet._core import LookupKey, LweSecretKey
from aglet.errors import ParameterError
from aglet.lookup.engine import LookupEngine
from aglet.quiet import Watch

__all__ = ["KINDS", "LookupCase", "LookupKeys", "bench_lookup", "make_lookup_keys"]

KINDS = ("gate", "lookup", "lookup2", "sign", "floor", "digits")
"""What is measured; `aglet bench` has a command for each."""
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
class LookupCase:
    """What one bench measures.

    `kind` is "gate", two arrays of bits through `gate`; "lookup", a table of squares in a domain; "lookup2", two tables
    of two messages, which come out as two again; "sign", of integers of `integer_bits`; "floor", which takes `low` bits
    off integers of `integer_bits` without a sign; or "digits" of such.
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
            raise ParameterError(f'There is no bench "{self.kind}"; there are {", ".join(KINDS)}.')
        if self.gate not in _TWO:
            raise ParameterError(f'There is no gate "{self.gate}" of two bits; choose one of {", ".join(_TWO)}.')
        if self.batch < 1:
            raise ParameterError(f"A batch has one ciphertext or more, not {self.batch}.")

    def engine(self) -> LookupEngine:
        """An engine for it."""
        return LookupEngine(
            self.bits,
            preset=self.preset,
            method=self.method,
            thread_count=self.threads,
            allow_insecure=self.allow_insecure,
        )

    @property
    def operation(self) -> str:
        """What is done to each ciphertext, in a few words."""
        return {
            "gate": self.gate,
            "lookup": f"{self.domain} table",
            "lookup2": f"two {self.domain} tables of two messages",
            "sign": f"sign of {self.integer_bits} bits",
            "floor": f"{self.low} of {self.integer_bits} bits off",
            "digits": f"digits of {self.integer_bits} bits",
        }[self.kind]


@dataclass(frozen=True)
class LookupKeys:
    """The keys of a bench, and the seconds that they took."""

    secret: LweSecretKey
    lookup: LookupKey
    seconds: float


def make_lookup_keys(engine: LookupEngine) -> LookupKeys:
    """Make them, and time it."""
    start = time.perf_counter()
    secret = engine.create_secret_key()
    return LookupKeys(secret, engine.create_lookup_key(secret), time.perf_counter() - start)


_Run = tuple[Callable[[], Any], NDArray[Any]]
"""A call, and what it should give."""


def _gate(case: LookupCase, engine: LookupEngine, keys: LookupKeys, random: np.random.Generator) -> _Run:
    bits = random.integers(0, 2, (2, case.batch)).astype(bool)
    one, other = (engine.encrypt(x, keys.secret) for x in bits)
    return lambda: engine.gate(case.gate, one, other, keys.lookup), _TWO[case.gate](*bits)


def _lookup(case: LookupCase, engine: LookupEngine, keys: LookupKeys, random: np.random.Generator) -> _Run:
    size = 2**engine.bits
    messages = random.integers(0, size, case.batch)
    encrypted = engine.encrypt(messages, keys.secret, domain=case.domain)
    table = [m * m % size for m in range(size)]
    return lambda: engine.lookup(encrypted, table, keys.lookup), np.array(table)[messages]


def _lookup2(case: LookupCase, engine: LookupEngine, keys: LookupKeys, random: np.random.Generator) -> _Run:
    size = 2**engine.bits
    high, low = random.integers(0, size, (2, case.batch))
    one, other = (engine.encrypt(part, keys.secret, domain=case.domain) for part in (high, low))
    packing = engine.create_packing_key(keys.secret)
    tables: list[Any] = [lambda h, m: (h * m + m) % size, lambda h, m: h ^ m]
    expected = np.array([(high * low + low) % size, high ^ low])
    return lambda: engine.lookup2(one, other, tables, keys.lookup, packing), expected


def _sign(case: LookupCase, engine: LookupEngine, keys: LookupKeys, random: np.random.Generator) -> _Run:
    most = 2 ** (case.integer_bits - 1)
    values = random.integers(-most, most, case.batch)
    encrypted = engine.encrypt(values, keys.secret, bits=case.integer_bits)
    return lambda: engine.sign(encrypted, keys.lookup), (values >= 0).astype(int)


def _words(case: LookupCase, engine: LookupEngine, keys: LookupKeys, random: np.random.Generator) -> _Run:
    values = random.integers(0, 2**case.integer_bits, case.batch)
    encrypted = engine.encrypt(values, keys.secret, bits=case.integer_bits, signed=False)
    if case.kind == "floor":
        return lambda: engine.floor(encrypted, case.low, keys.lookup), values >> case.low
    places = range(0, case.integer_bits, engine.bits)
    digits = np.array([values >> place & (2**engine.bits - 1) for place in places])
    return lambda: engine.digits(encrypted, keys.lookup), digits


_RUNS: dict[str, Callable[[LookupCase, LookupEngine, LookupKeys, np.random.Generator], _Run]] = {
    "gate": _gate,
    "lookup": _lookup,
    "lookup2": _lookup2,
    "sign": _sign,
    "floor": _words,
    "digits": _words,
}


def _work(case: LookupCase, engine: LookupEngine, keys: LookupKeys) -> Callable[[], tuple[float, int]]:
    """What is timed once: seconds, and results that are wrong."""
    run, expected = _RUNS[case.kind](case, engine, keys, np.random.default_rng(1))

    def timed() -> tuple[float, int]:
        start = time.perf_counter()
        found = run()
        seconds = (time.perf_counter() - start) / case.batch
        parts = found if isinstance(found, tuple) else (found,)
        clear = np.concatenate([engine.decrypt(part, keys.secret).ravel() for part in parts])
        return seconds, int((clear != expected.ravel()).sum())

    return timed


def bench_lookup(
    case: LookupCase, *, repeat: int, keys: LookupKeys | None = None, engine: LookupEngine | None = None
) -> dict[str, Any]:
    """Measure a gate or a table; one record, ready for JSON. Times are those of one ciphertext of the batch.

    Raises
    ------
    ParameterError
        If there is no such set, or it has no gates or tables of that kind.
    """
    if repeat < 1:
        raise ParameterError(f"A bench repeats at least once, not {repeat} times.")
    engine = case.engine() if engine is None else engine
    if case.kind != "gate" and engine.bits == 1:
        raise ParameterError("Tables are on messages of two bits or more; give --bits 2, 3 or 4, or another preset.")
    keys = make_lookup_keys(engine) if keys is None else keys
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
        "key_bytes": keys.lookup.byte_count,
        "key_bytes_seeded": keys.lookup.stored_bytes,
        "keygen_seconds": keys.seconds,
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": engine.security_bits,
        "log2_failure": engine.log2_failure,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }

"""Measure integers: a product with relinearization and modulus switching, a table over all slots, or a bootstrap."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core
from aglet._core import IntegerBootstrapKey, IntegerCiphertext, IntegerSecretKey
from aglet.errors import ParameterError
from aglet.integer.engine import IntegerEngine
from aglet.integer.values import Integers
from aglet_bench.quiet import Watch

__all__ = ["OPERATIONS", "IntegerCase", "bench_integer"]

OPERATIONS = ("product", "bfv-product", "lookup", "rotation", "bootstrap")
"""What is measured."""


@dataclass(frozen=True)
class IntegerCase:
    """The case of one bench.

    `operation` is one of these: "product", of two ciphertexts at a level; "bfv-product", the scale-invariant product of
    BFV; "rotation", of rows by one place; "lookup", a lookup table of `bits` bits over all slots, whose inputs are
    digits of 4 bits if there are more; "bootstrap". Without `level`, products and rotations run at the highest level,
    tables at the lowest level that has room for them, and bootstraps at level 1. Without a preset, it is
    `int-levels-15`, and `int16` for bootstraps.
    """

    operation: str = "product"
    preset: str | None = None
    bits: int = 4
    level: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if self.operation not in OPERATIONS:
            raise ParameterError(
                f'There is no bench "{self.operation}" of integers; choose one of {", ".join(OPERATIONS)}.'
            )
        if self.operation == "lookup" and self.bits not in (1, 2, 3, 4, 8, 12):
            raise ParameterError(
                f"A table of integers has 1 to 4, 8 or 12 bits, not {self.bits}; give one of these to --bits."
            )

    @property
    def preset_name(self) -> str:
        """The parameter set of the case."""
        return self.preset or ("int16" if self.operation == "bootstrap" else "int-levels-15")

    @property
    def digits(self) -> int:
        """The number of ciphertexts that a table takes."""
        return -(-self.bits // 4)


def _work(
    case: IntegerCase, engine: IntegerEngine, secret: IntegerSecretKey
) -> tuple[Callable[[], IntegerCiphertext], Integers, int, IntegerBootstrapKey | None]:
    """The timed call, its expected result, its level, and the key of a bootstrap."""
    random = np.random.default_rng(1)
    relin, t = engine.create_relinearization_key(secret), engine.plaintext_modulus
    top = engine.max_level
    if case.operation == "lookup":
        table = random.integers(0, 2**case.bits, 2**case.bits)
        level = engine.plan_lookup(table, case.digits).levels if case.level is None else case.level
        index = random.integers(0, table.size, engine.slot_count)
        digits = [engine.encrypt(index >> 4 * i & 15, secret, level=level) for i in range(case.digits)]
        return lambda: engine.lookup(digits, table, relin), table[index], level, None
    if case.operation == "bootstrap":
        key, level = engine.create_bootstrap_key(secret), 1 if case.level is None else case.level
        numbers = random.integers(-(t // 2), t // 2 + 1, engine.slot_count)
        full = engine.encrypt(numbers, secret, level=level)
        return lambda: engine.bootstrap(full, key), numbers, level, key
    level = top if case.level is None else case.level
    x, y = random.integers(-(t // 2), t // 2, (2, engine.slot_count))
    a, b = engine.encrypt(x, secret, level=level), engine.encrypt(y, secret, level=level)
    if case.operation == "rotation":
        turn, rolled = engine.create_rotation_key(secret), np.roll(x.reshape(2, -1), 1, axis=1).ravel()
        return lambda: engine.rotate_rows(a, turn, -engine.slot_count // 2 + 1), rolled, level, None
    method = "scale-invariant" if case.operation == "bfv-product" else "modulus-switching"
    return lambda: engine.multiply(a, b, relin, method=method), (x * y + t // 2) % t - t // 2, level, None


def bench_integer(case: IntegerCase, *, repeat: int) -> dict[str, Any]:
    """Measure an operation on integers and compare its results with plain ones. Returns one record, ready for JSON.

    Raises
    ------
    ParameterError
        If there is no such preset or operation.
    LevelError
        If the preset has no such level.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    engine = IntegerEngine(preset=case.preset_name, thread_count=case.threads)
    start = time.perf_counter()
    secret = engine.create_secret_key()
    work, expected, level, key = _work(case, engine, secret)
    keys, machine = time.perf_counter() - start, _core.doctor()

    def timed() -> tuple[float, IntegerCiphertext]:
        start = time.perf_counter()
        found = work()
        return time.perf_counter() - start, found

    # Results are dropped, as a program does that goes on with the last one: to keep all of them takes new memory for
    # each, whose pages take longer than a product. The second call finds all that the first has made room for.
    for _ in range(2):
        timed()
    watch = Watch()
    seconds = []
    for _ in range(repeat):
        one, last = timed()
        seconds.append(one)
    quiet = watch.done(seconds)
    return {
        "kind": "integer",
        "operation": f"table of {case.bits} bits" if case.operation == "lookup" else case.operation,
        "preset": engine.preset,
        "slot_count": engine.slot_count,
        "plaintext_modulus": engine.plaintext_modulus,
        "input_level": level,
        "output_level": last.level,
        "threads": engine.thread_count,
        "backend": engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "wrong": int((engine.decrypt(last, secret) != expected).sum()),
        "noise_budget": engine.noise_budget(last, secret),
        "noise_budget_estimated": last.noise_budget,
        # Exact: as many bits as a number has.
        "bits_mean": math.log2(engine.plaintext_modulus),
        "bits_worst": math.log2(engine.plaintext_modulus),
        "keygen_seconds": keys,
        "key_bytes": None if key is None else key.byte_count,
        "key_bytes_seeded": None if key is None else key.stored_bytes,
        "stage_seconds": None if key is None else dict(engine.stage_times()),
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": engine.security_bits,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }

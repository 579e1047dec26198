"""Measure a scheme switch: either direction, both, a comparison with its return, or the smallest of a row."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError, RangeError
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench.quiet import Watch

__all__ = ["SCHEME_SWITCH_KINDS", "SchemeSwitchCase", "bench_scheme_switch"]

SCHEME_SWITCH_KINDS = ("to-fhew", "from-fhew", "roundtrip", "compare", "argmin")
"""What is measured."""


@dataclass(frozen=True)
class SchemeSwitchCase:
    """The case of one bench.

    `kind` is one of these: "to-fhew", this many slots as bits or messages; "from-fhew", this many bits; "roundtrip",
    this many bits of slots in both directions; "compare", this many pairs of reals, with results back in slots;
    "argmin", the place of the smallest of this many slots. With a preset of integers it is one of the first three, for
    messages of this many bits, which go through lookup tables or gates before they return.
    """

    kind: str = "to-fhew"
    values: int = 64
    integer_bits: int | None = None
    """The bits of reals (default 16), or of the messages of integers (default 1)."""
    preset: str = "regular"
    fhew_preset: str = "lut4"
    slot_count: int | None = None
    key_size: str = "medium"
    threads: int = 1
    allow_insecure: bool = False

    def __post_init__(self) -> None:
        if self.kind not in SCHEME_SWITCH_KINDS:
            raise ParameterError(
                f'Scheme switching has no bench "{self.kind}"; choose one of {", ".join(SCHEME_SWITCH_KINDS)}.'
            )
        if self.values < 1:
            raise ParameterError(f"A switch needs at least one value, not {self.values}.")
        if self.of_integers and self.kind not in ("to-fhew", "from-fhew", "roundtrip"):
            raise ParameterError(
                f'Scheme switching of integers has the benches to-fhew, from-fhew and roundtrip, and no "{self.kind}".'
            )

    @property
    def of_integers(self) -> bool:
        """Whether the slots belong to an `IntegerEngine`."""
        return any(self.preset == preset["name"] for preset in _core.integer_presets())

    @property
    def bits(self) -> int:
        """The bits of numbers that are compared, or of messages."""
        if self.integer_bits is not None:
            return self.integer_bits
        return 1 if self.of_integers else 16

    def switch(self) -> SchemeSwitch:
        """The switch of the case."""
        fhew = FhewEngine(preset=self.fhew_preset, thread_count=self.threads)
        if self.of_integers:
            return SchemeSwitch(IntegerEngine(preset=self.preset, thread_count=self.threads), fhew)
        engine = Engine(
            preset=self.preset,
            slot_count=self.slot_count,
            allow_insecure=self.allow_insecure,
            thread_count=self.threads,
        )
        return SchemeSwitch(engine, fhew)

    def create_keys(self, maker: SchemeSwitch, secrets: Any) -> KeySet:
        """The keys of the switch."""
        if self.of_integers:
            return maker.create_keys(*secrets)
        return maker.create_keys(*secrets, bootstrap=self.key_size)


_Errors = Callable[[Any], NDArray[np.float64]]


def _work(case: SchemeSwitchCase, switch: Any, secrets: Any, keys: Any) -> tuple[Callable[[], Any], _Errors]:
    """The call, and a function for the errors of its results. Errors above 1/4 are wrong."""
    (secret, lwe), random = secrets, np.random.default_rng(1)
    engine, fhew, places = switch.engine, switch.fhew_engine, np.arange(case.values)
    if case.kind in ("to-fhew", "from-fhew", "roundtrip"):
        # Of integers 64 are computed at most, which go back as often as there are more.
        some = random.integers(0, 2**case.bits if case.of_integers else 2, min(case.values, 64))
        given = np.resize(some, case.values) if case.of_integers else random.integers(0, 2, case.values)
        x = engine.encrypt(given if case.of_integers else given.astype(float), secret)
        if case.kind == "to-fhew":
            return lambda: switch.to_fhew(x, places, keys), lambda y: np.abs(fhew.decrypt(y, lwe) - given)
        if case.kind == "roundtrip":
            low = None
        elif case.of_integers:
            low = _results(some, fhew, keys, lwe)[places % len(some)]
        else:
            low = fhew.encrypt(given, lwe)

        def up() -> Any:
            width = {"bits": case.bits} if case.of_integers else {}
            return switch.from_fhew(switch.to_fhew(x, places, keys) if low is None else low, keys, **width)

        return up, lambda y: _near(engine.decrypt(y, secret), given)
    reals = random.uniform(-0.5, 0.5, (2, case.values))
    first, second = (engine.encrypt(x, secret) for x in reals)
    if case.kind == "argmin":
        best = reals[0].argmin()
        argmin = lambda: switch.argmin(first, places, keys, bits=case.bits, bound=0.5)  # noqa: E731, with its check
        return argmin, lambda y: np.abs(np.atleast_1d(fhew.decrypt(y, lwe)) - best)

    def compare() -> Any:
        found = switch.compare(">=", first, second, places, keys, bits=case.bits, bound=0.5)
        return switch.from_fhew(found, keys)

    return compare, lambda y: _near(engine.decrypt(y, secret), reals[0] >= reals[1])


def _results(some: NDArray[np.int64], fhew: FhewEngine, keys: Any, lwe: Any) -> Any:
    """Messages as a lookup table or a gate returns them."""
    x = fhew.encrypt(some, lwe)
    if fhew.bits == 1:
        return fhew.or_(x, x, keys.fhew_bootstrap)
    return fhew.lookup(x, lambda m: m, keys.fhew_bootstrap)


def _near(slots: Any, bits: Any) -> NDArray[np.float64]:
    return cast("NDArray[np.float64]", np.abs(slots[: len(bits)].real - bits))


def _bits(error: float, case: SchemeSwitchCase) -> float:
    """The precision: for slots from their error, for exact results the bits of the numbers."""
    return -math.log2(error) if error else float(case.bits if case.kind == "argmin" or case.of_integers else 1)


def bench_scheme_switch(case: SchemeSwitchCase, *, repeat: int) -> dict[str, Any]:
    """Measure a scheme switch. Returns one record, ready for JSON. Times are for a whole call.

    Raises
    ------
    ParameterError
        If there is no such preset, or no switch between the presets.
    RangeError
        If messages of integers have more bits than the FHEW engine.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    switch, maker = case.switch(), replace(case, threads=0).switch()
    most = switch.fhew_engine.bits
    if case.of_integers and not 1 <= case.bits <= most:
        raise RangeError(
            f"Messages of {case.fhew_preset} have 1 to {most} bits, not {case.bits}; give one of these to --bits."
        )
    start = time.perf_counter()
    secrets = (switch.engine.create_secret_key(), switch.fhew_engine.create_secret_key())
    # On all cores, as they are not what is measured.
    keys = case.create_keys(maker, secrets)
    keygen = time.perf_counter() - start
    run, errors = _work(case, switch, secrets, keys)
    run()
    watch, seconds, failed, machine = Watch(), [], 0, _core.doctor()
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
        off = errors(found)
        failed += int((off > 0.25).sum())
    quiet, key = watch.done(seconds), keys._need("scheme_switch")
    return {
        "kind": f"{'integer-' if case.of_integers else ''}scheme-switch-{case.kind}",
        "preset": switch.engine.preset,
        "fhew_preset": switch.fhew_engine.preset,
        "values": case.values,
        "integer_bits": case.bits,
        **({"messages": 2**case.bits} if case.of_integers else {}),
        # Of slots that came back.
        **({"output_level": found.level} if hasattr(found, "level") else {}),
        "slot_count": switch.engine.slot_count,
        "key_size": None if case.of_integers else case.key_size,
        "threads": switch.engine.thread_count,
        "backend": switch.engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "wrong": failed,
        "bits_mean": _bits(float(off.mean()), case),
        "bits_worst": _bits(float(off.max()), case),
        "switch_key_bytes": key.byte_count,
        "switch_key_bytes_seeded": key.stored_bytes,
        "keygen_seconds": keygen,
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": switch.security_bits,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }

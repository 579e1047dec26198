"""Measure a bridge: down, up, both ways, a comparison with the way up, and the smallest of a row."""

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
from aglet.bridge.bridge import Bridge
from aglet.bridge.integers import IntegerBridge
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError, RangeError
from aglet.integer.engine import IntegerEngine
from aglet.lookup.engine import LookupEngine
from aglet.quiet import Watch

__all__ = ["BRIDGE_KINDS", "BridgeCase", "bench_bridge"]

BRIDGE_KINDS = ("down", "up", "roundtrip", "compare", "argmin")
"""What is measured."""


@dataclass(frozen=True)
class BridgeCase:
    """What one bench measures.

    `kind` is "down", so many slots as bits or messages; "up", so many bits; "roundtrip", so many bits of
    slots down and up again; "compare", so many pairs of reals, down and
    the results up; "argmin", the place of the smallest of so many slots. With a preset of integers it
    is "down", "up" or "roundtrip", of messages of so many bits; what goes up are results of tables or gates.
    """

    kind: str = "down"
    values: int = 64
    integer_bits: int | None = None
    """Of reals, 16 if it is not given; of the messages of integers, 1."""
    preset: str = "regular"
    lookup_preset: str = "lut4"
    slot_count: int | None = None
    key_size: str = "medium"
    threads: int = 1
    allow_insecure: bool = False

    def __post_init__(self) -> None:
        if self.kind not in BRIDGE_KINDS:
            raise ParameterError(f'A bridge has no bench "{self.kind}"; there are {", ".join(BRIDGE_KINDS)}.')
        if self.values < 1:
            raise ParameterError(f"A bridge takes one value or more, not {self.values}.")
        if self.of_integers and self.kind not in ("down", "up", "roundtrip"):
            raise ParameterError(f'A bridge to integers has the benches down, up and roundtrip, and no "{self.kind}".')

    @property
    def of_integers(self) -> bool:
        """Whether slots are of an `IntegerEngine`."""
        return any(self.preset == preset["name"] for preset in _core.integer_presets())

    @property
    def bits(self) -> int:
        """Of numbers that are compared, or of messages."""
        if self.integer_bits is not None:
            return self.integer_bits
        return 1 if self.of_integers else 16

    def bridge(self) -> Bridge | IntegerBridge:
        """A bridge for it."""
        lookups = LookupEngine(preset=self.lookup_preset, thread_count=self.threads)
        if self.of_integers:
            return IntegerBridge(IntegerEngine(preset=self.preset, thread_count=self.threads), lookups)
        engine = Engine(
            preset=self.preset,
            slot_count=self.slot_count,
            allow_insecure=self.allow_insecure,
            thread_count=self.threads,
        )
        return Bridge(engine, lookups)

    def create_keys(self, maker: Bridge | IntegerBridge, secrets: Any) -> Any:
        """The keys of a bridge."""
        if isinstance(maker, IntegerBridge):
            return maker.create_keys(*secrets)
        return maker.create_keys(*secrets, size=cast("_core.KeySize", self.key_size))


_Errors = Callable[[Any], NDArray[np.float64]]


def _work(case: BridgeCase, bridge: Any, secrets: Any, keys: Any) -> tuple[Callable[[], Any], _Errors]:
    """A call, and what gives the errors of its results; those above 1/4 are wrong."""
    (secret, lwe), random = secrets, np.random.default_rng(1)
    engine, lookups, places = bridge.engine, bridge.lookup_engine, np.arange(case.values)
    if case.kind in ("down", "up", "roundtrip"):
        # Of integers 64 are computed at most, which go up as often as there are more.
        some = random.integers(0, 2**case.bits if case.of_integers else 2, min(case.values, 64))
        given = np.resize(some, case.values) if case.of_integers else random.integers(0, 2, case.values)
        x = engine.encrypt(given if case.of_integers else given.astype(float), secret)
        if case.kind == "down":
            return lambda: bridge.to_lookup(x, places, keys), lambda y: np.abs(lookups.decrypt(y, lwe) - given)
        if case.kind == "roundtrip":
            low = None
        elif case.of_integers:
            low = _results(some, lookups, keys, lwe)[places % len(some)]
        else:
            low = lookups.encrypt(given, lwe)

        def up() -> Any:
            width = {"bits": case.bits} if case.of_integers else {}
            return bridge.from_lookup(bridge.to_lookup(x, places, keys) if low is None else low, keys, **width)

        return up, lambda y: _near(engine.decrypt(y, secret), given)
    reals = random.uniform(-0.5, 0.5, (2, case.values))
    first, second = (engine.encrypt(x, secret) for x in reals)
    if case.kind == "argmin":
        best = reals[0].argmin()
        argmin = lambda: bridge.argmin(first, places, keys, bits=case.bits, bound=0.5)  # noqa: E731, with its check
        return argmin, lambda y: np.abs(np.atleast_1d(lookups.decrypt(y, lwe)) - best)

    def compare() -> Any:
        found = bridge.compare(">=", first, second, places, keys, bits=case.bits, bound=0.5)
        return bridge.from_lookup(found, keys)

    return compare, lambda y: _near(engine.decrypt(y, secret), reals[0] >= reals[1])


def _results(some: NDArray[np.int64], lookups: LookupEngine, keys: Any, lwe: Any) -> Any:
    """Such messages as a table or a gate gives them."""
    x = lookups.encrypt(some, lwe)
    if lookups.bits == 1:
        return lookups.or_(x, x, keys.lookup_key)
    return lookups.lookup(x, lambda m: m, keys.lookup_key)


def _near(slots: Any, bits: Any) -> NDArray[np.float64]:
    return cast("NDArray[np.float64]", np.abs(slots[: len(bits)].real - bits))


def _bits(error: float, case: BridgeCase) -> float:
    """Of slots those of their error; of what is exact those of the numbers that are read."""
    return -math.log2(error) if error else float(case.bits if case.kind == "argmin" or case.of_integers else 1)


def bench_bridge(case: BridgeCase, *, repeat: int) -> dict[str, Any]:
    """Measure a bridge; one record, ready for JSON. Times are those of a whole call.

    Raises
    ------
    ParameterError
        If there is no such set, or no bridge between them.
    RangeError
        If messages of integers have more bits than the look-up engine.
    """
    if repeat < 1:
        raise ParameterError(f"A bench repeats at least once, not {repeat} times.")
    bridge, maker = case.bridge(), replace(case, threads=0).bridge()
    most = bridge.lookup_engine.bits
    if case.of_integers and not 1 <= case.bits <= most:
        raise RangeError(f"Messages of {case.lookup_preset} have 1 to {most} bits, not {case.bits}.")
    start = time.perf_counter()
    secrets = (bridge.engine.create_secret_key(), bridge.lookup_engine.create_secret_key())
    # On all cores, as they are not what is measured.
    keys = case.create_keys(maker, secrets)
    keygen = time.perf_counter() - start
    run, errors = _work(case, bridge, secrets, keys)
    run()
    watch, seconds, failed, machine = Watch(), [], 0, _core.doctor()
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
        off = errors(found)
        failed += int((off > 0.25).sum())
    quiet = watch.done(seconds)
    return {
        "kind": f"{'integer-' if case.of_integers else ''}bridge-{case.kind}",
        "preset": bridge.engine.preset,
        "lookup_preset": bridge.lookup_engine.preset,
        "values": case.values,
        "integer_bits": case.bits,
        **({"messages": 2**case.bits} if case.of_integers else {}),
        # Of slots that came up.
        **({"output_level": found.level} if hasattr(found, "level") else {}),
        "slot_count": bridge.engine.slot_count,
        "key_size": None if case.of_integers else case.key_size,
        "threads": bridge.engine.thread_count,
        "backend": bridge.engine.backend,
        "seconds": statistics.median(seconds),
        "seconds_all": seconds,
        "wrong": failed,
        "bits_mean": _bits(float(off.mean()), case),
        "bits_worst": _bits(float(off.max()), case),
        "bridge_key_bytes": keys.bridge_key.byte_count,
        "bridge_key_bytes_seeded": keys.bridge_key.stored_bytes,
        "keygen_seconds": keygen,
        "peak_rss_bytes": _core.peak_rss_bytes(),
        "security_bits": bridge.security_bits,
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        **quiet.fields(),
        "version": machine["version"],
    }

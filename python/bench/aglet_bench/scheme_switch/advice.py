"""The cost of comparisons of encrypted reals: by scheme switching, or by polynomials of `Engine` alone."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from aglet.arrays.session import Session
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet.fhew.engine import FhewEngine
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench.advise import Wish
from aglet_bench.ckks import planned

__all__ = ["ComparisonAdvice", "comparison_ways"]

_SETS = ("regular", "regular-44")
"""The parameter sets of slots. The second has the scales for 20 bits."""
_LEAST, _MOST = 3, 20
"""The most bits that are compared."""
_POLYNOMIALS = 12
"""The most bits that polynomials can tell apart."""
_FAILURE = -128.0


@dataclass(frozen=True)
class ComparisonAdvice:
    """One way to compare real numbers in [-1/2, 1/2] that are at least `2^(1 - bits)` apart."""

    preset: str
    """The parameter set of the slots."""
    method: str
    """"switch compare", or "polynomial compare"."""
    bits: float
    level_out: int
    seconds: float
    """The seconds for all values on one thread."""
    seconds_measured: bool
    values: int
    """The number of values that are compared in these seconds."""
    bootstraps: int
    """The bootstraps of slots."""
    rotations: int
    """The blind rotations."""
    key_bytes: int
    memory_bytes: int

    @property
    def total_seconds(self) -> float:
        """The seconds for all values."""
        return self.seconds

    @property
    def seconds_per_value(self) -> float:
        """The seconds for one value."""
        return self.seconds / self.values

    @property
    def kind(self) -> str:
        """The kind of results: exact bits, or values that polynomials have decided."""
        return "exact" if self.rotations else "decided"

    def calls(self, _levels: int) -> str:
        """The program."""
        made = [f'engine = Engine(preset="{self.preset}")']
        if self.method == "switch compare":
            made += [
                "switch = SchemeSwitch(engine, FhewEngine(bits=4))",
                "keys = switch.create_keys(secret_key, fhew_secret_key)",
                f'found = switch.compare(">=", x, y, slots, keys, bits={self.bits:g}, bound=0.5)',
                "result = switch.from_fhew(found, keys)",
            ]
        else:
            made += [
                "bootstrap_key = engine.create_bootstrap_key(secret_key)",
                "result = engine.compare(x, y, relinearization_key, conjugation_key, bootstrap_key, "
                f"alpha={self.bits:g}, error_bits=12)",
            ]
        return "\n".join(made)


def comparison_ways(wish: Wish) -> list[ComparisonAdvice]:
    """The ways to compare this many pairs at this many bits; empty for other wishes.

    Raises
    ------
    ParameterError
        If no way compares this many bits with this many levels after it in this much memory.
    """
    if wish.values != "comparisons":
        return []
    bits, found = max(_LEAST, math.ceil(wish.bits)), []
    for preset in _SETS if bits <= _MOST else ():
        engine = _engine(preset)
        # As many ciphertexts as the values fill.
        most = engine.slot_count
        pieces, count = (1, most) if wish.throughput else (-(-wish.slots // most), min(wish.slots, most))
        found += [
            way for way in (_over(engine, count, pieces, bits), _by_polynomials(engine, count, pieces, bits)) if way
        ]
    fits = [
        way for way in found if way.level_out >= wish.levels and way.memory_bytes <= (wish.memory_bytes or math.inf)
    ]
    if not fits:
        raise ParameterError(
            f"No comparison of numbers of {wish.bits:g} bits leaves {wish.levels} levels in this memory; ask for "
            f"{_MOST} bits or fewer, fewer levels, or more memory."
        )
    return fits


@functools.cache
def _engine(preset: str) -> Engine:
    return Engine(preset=preset)


@functools.cache
def _over(engine: Engine, count: int, pieces: int, bits: int) -> ComparisonAdvice | None:
    """By lookup tables. None if these would fail too often."""
    switch = SchemeSwitch(engine, FhewEngine(bits=4))
    what = switch.estimate("compare", bits=bits, count=count, from_fhew=True, bound=0.5)
    if what.log2_failure > _FAILURE:
        return None
    (plan,) = [
        plan
        for plan in planned.of(engine.preset, "bits", engine.slot_count)
        if (plan.key_size, plan.stage_count, plan.real) == ("large", 3, True)
    ]
    keys = plan.key_bytes + what.key_bytes + switch.fhew_engine.estimate("nand").key_bytes
    memory = plan.peak_bytes - plan.key_bytes + keys + what.working_bytes
    seconds, rotations = pieces * what.seconds, pieces * what.rotations
    measured = what.source == "measured"
    size = pieces * count, pieces * what.refreshes, rotations
    level = plan.output_level
    return ComparisonAdvice(engine.preset, "switch compare", bits, level, seconds, measured, *size, keys, memory)


@functools.cache
def _by_polynomials(engine: Engine, count: int, pieces: int, bits: int) -> ComparisonAdvice | None:
    """By polynomials, all slots at once. None if no polynomial tells this many bits apart."""
    if bits > _POLYNOMIALS:
        return None
    shapes = [(count,), (count,)]
    plan = Session.plan(lambda x, y: x > y, shapes, engine=engine, bounds=[0.5, 0.5], alpha=bits, error_bits=12)
    memory, size = plan.key_bytes + plan.ciphertext_bytes, (pieces * count, pieces * plan.refreshes, 0)
    seconds, method = pieces * plan.seconds, "polynomial compare"
    return ComparisonAdvice(engine.preset, method, bits, plan.level, seconds, False, *size, plan.key_bytes, memory)

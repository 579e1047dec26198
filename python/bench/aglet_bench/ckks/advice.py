"""The bootstraps of CKKS that fit a wish, by time. Measured and modelled times are told apart."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aglet import _core
from aglet_bench import timing
from aglet_bench.advise import Refreshing, Wish, rank
from aglet_bench.ckks import planned

__all__ = ["Advice", "advise", "nothing_fits"]

_METHODS = {
    "real": ("regular", "lossy", "merge", "lossy-merge"),
    "complex": ("regular", "lossy"),
    "sign": ("sign", "regular"),
    "bits": ("bits", "regular"),
    "integers": ("regular", "lossy", "merge", "lossy-merge"),
    "comparisons": (),
    "tables": (),
}
_LATEST = 8
"""The number of latest records that calibrate the model."""
_ITERATED = ("regular", "lossy")
_FLAGS = {
    "regular": "use_bootstrap=True",
    "compact": "use_bootstrap=True, compact=True",
    "to14": "use_bootstrap_to_14_levels=True",
    "to14-compact": "use_bootstrap_to_14_levels=True, compact=True",
    "precise": 'use_bootstrap=True, precision="high"',
}


@functools.cache
def _presets() -> dict[str, _core.PresetInfo]:
    return {preset["name"]: preset for preset in _core.presets()}


@dataclass(frozen=True)
class Advice(Refreshing):
    """One way to do it."""

    preset: str
    method: str
    key_size: str
    stage_count: int
    slot_count: int
    real: bool
    level_in: int
    level_out: int
    bits: float
    bits_measured: bool
    """Whether the precision is measured; otherwise it is predicted, for the default number of stages and a message over
    the whole range.
    """
    seconds: float
    """The seconds of one bootstrap on one thread."""
    seconds_measured: bool
    bootstraps: int
    """The bootstraps that refresh all values."""
    refreshed: int
    """The most values that one bootstrap refreshes."""
    key_bytes: int
    memory_bytes: int
    iterations: int = 1

    @property
    def seconds_per_value(self) -> float:
        """The seconds per value with full ciphertexts."""
        return self.seconds / self.refreshed

    def calls(self, levels: int) -> str:
        """The program, for this many levels between two bootstraps."""
        flags = _FLAGS.get(self.preset, f'preset="{self.preset}"')
        highest = self.preset == "precise" and self.iterations == 2
        flags = flags.replace('"high"', '"highest"') if highest else flags
        ring = _presets()[self.preset]["slots"]
        slots = "" if self.slot_count == ring else f", slot_count={self.slot_count}"
        method = f"{self.method.replace('-', '_')}_bootstrap".replace("regular_", "").replace("bits_", "sign_")
        own = {"merge": "merge", "regular": "regular"}
        family = own.get(self.method, "lossy")
        maker = {"merge": "merge_", "lossy": "lossy_", "regular": ""}[family]
        lines = [f"engine = Engine({flags}{slots})"]
        if self.key_size == "small":
            lines += [
                "rotation_key = engine.create_rotation_key(secret_key)",
                "small_bootstrap_key = engine.create_small_bootstrap_key(secret_key)",
            ]
            keys = f"rotation_key, small_bootstrap_key, stage_count={self.stage_count}"
        else:
            raises = _presets()[self.preset]["raises_modulus"]
            size = f', stage_count={self.stage_count}, size="{self.key_size}"' if raises else ""
            lines.append(f"bootstrap_key = engine.create_{maker if raises else ''}bootstrap_key(secret_key{size})")
            keys = "bootstrap_key"
        pair = self.method.endswith("merge")
        more = ", bits=True" if self.method == "bits" else ""
        more += ", real=True" if self.real and not pair else ""
        more += f", iterations={self.iterations}" if self.iterations > 1 and not highest else ""
        more += f", target_level={levels + self.level_in}" if levels < self.levels else ""
        inputs, results = ("first, second", "first, second") if pair else ("ciphertext", "refreshed")
        lines.append(f"{results} = engine.{method}({inputs}, relinearization_key, conjugation_key, {keys}{more})")
        return "\n".join(lines)


def advise(wish: Wish, records: Iterable[Mapping[str, Any]], units: timing.Units = timing.shipped) -> list[Advice]:
    """All ways that fit the wish, the best first; empty if there are none.

    Parameters
    ----------
    records
        The measurements of this machine, oldest first. Other times come from `timing`, scaled to agree with them.
    units
        A function that gives the time of each unit of work of a preset: the times that come with Aglet, or
        `timing.measured`, which measures them in seconds.
    """
    return rank(wish, [advice for advice in _all(wish, records, units) if _fits(wish, advice)])


def _fits(wish: Wish, advice: Advice) -> bool:
    enough_memory = wish.memory_bytes is None or advice.memory_bytes <= wish.memory_bytes
    return advice.levels >= wish.levels and advice.bits >= wish.bits and enough_memory


def nothing_fits(wish: Wish, records: Iterable[Mapping[str, Any]]) -> str:
    """The reason why no way fits, as a sentence."""
    found = list(_all(wish, records))
    enough = [advice for advice in found if advice.levels >= wish.levels]
    if not enough:
        most = max((advice.levels for advice in found), default=0)
        return (
            f"No bootstrap of these values leaves {wish.levels} levels, at most {most}; give --levels {most} or fewer."
        )
    precise = [advice for advice in enough if advice.bits >= wish.bits]
    if not precise:
        most_bits = max(advice.bits for advice in enough)
        return (
            f"No bootstrap to {wish.levels} levels has {wish.bits:g} bits, at most {most_bits:.1f}; give fewer --bits."
        )
    least = min(advice.memory_bytes for advice in precise)
    return (
        f"The smallest bootstrap that fits needs {least / 1000000000.0:.1f} GB; give --memory "
        f"{math.ceil(least / 1000000000.0)} or more."
    )


def _all(wish: Wish, records: Iterable[Mapping[str, Any]], units: timing.Units = timing.shipped) -> Iterator[Advice]:
    """One iteration of every bootstrap, and two if one has too few bits."""
    machine = _core.doctor()
    measured = _measured(records, machine["cpu"], machine["backend"])
    factor = timing.calibrate(_known(list(measured.items())[-_LATEST:], units))
    for preset in _presets().values():
        if not planned.advised(preset):
            continue
        of_work = units(preset)
        for plan, real in _candidates(wish, preset, measured):
            seconds = planned.seconds(plan, of_work) * factor
            once = _advice(wish, plan, real, measured.get(_row(plan, real, 1)), seconds)
            yield once
            if plan.method in _ITERATED and once.bits < wish.bits and preset["raises_modulus"]:
                yield _advice(wish, plan, real, measured.get(_row(plan, real, 2)), 2 * seconds, 2)


def _measured(records: Iterable[Mapping[str, Any]], cpu: str, backend: str) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """The latest record of each full bootstrap on one thread of this machine."""
    found: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for record in records:
        own = record.get("cpu") == cpu and record.get("backend") == backend and record.get("threads") == 1
        if (
            own
            and record.get("bound", 1.0) == 1.0
            and "bits_mean" in record
            and record.get("message") in ("uniform", "alternating", "bits")
        ):
            key = _key(record, bool(record.get("real", False)))
            found.pop(key, None)  # the latest come last
            found[key] = record
    return found


def _key(record: Mapping[str, Any], real: bool) -> tuple[Any, ...]:
    method = {"to14": "regular", "sparse": "regular"}.get(record["method"], record["method"])
    names = ("key_size", "stage_count", "slot_count")
    level, passes = record["output_level"], record.get("iterations") or 1
    return record["preset"], method, *(record[name] for name in names), real, level, passes


def _row(plan: planned.Planned, real: bool, passes: int) -> tuple[Any, ...]:
    """The key of a plan that compares with that of a record."""
    size = plan.key_size, plan.stage_count, plan.slot_count
    return plan.preset, plan.method, *size, real, plan.output_level, passes


def _known(
    measured: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]], units: timing.Units
) -> Iterator[tuple[float, float]]:
    """Modelled and measured seconds of the bootstraps that were measured to the highest level."""
    for (name, method, size, stages, slots, real, level, passes), record in measured:
        preset = _presets().get(name)
        if preset is None:  # of another version
            continue
        for plan in planned.of(name, method, slots):
            declared = real and method not in planned.PAIRS
            if (plan.key_size, plan.stage_count, plan.real, plan.output_level) == (size, stages, declared, level):
                yield passes * planned.seconds(plan, units(preset)), record["seconds"]


def _candidates(
    wish: Wish, preset: _core.PresetInfo, measured: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[planned.Planned, bool]]:
    """Plans, and whether values are declared real.

    Real values are, unless only the undeclared case was measured.
    """
    ring = preset["slots"]
    few = min(ring, 1 << (wish.slots - 1).bit_length())
    slots = ring if wish.throughput or not planned.stages_of(preset, few) else few
    known = set(measured)
    for method in _METHODS[wish.values]:
        pairs = method in planned.PAIRS
        if pairs and not wish.throughput and wish.slots <= ring:
            continue
        for plan in planned.of(preset["name"], method, slots):
            if pairs:
                yield plan, wish.values != "complex"
            elif plan.real == (wish.values != "complex"):
                yield plan, plan.real
            elif not plan.real and any(_row(plan, False, passes) in known for passes in (1, 2)):
                yield plan, False


def _advice(
    wish: Wish,
    plan: planned.Planned,
    real: bool,
    record: Mapping[str, Any] | None,
    seconds: float,
    iterations: int = 1,
) -> Advice:
    """One way, with measured figures where there are any, and modelled ones elsewhere."""
    if record is not None:
        seconds, bits = record["seconds"], record["bits_mean"]
    elif iterations > 1:
        once = planned.predicted_bits(plan.preset, plan.method, plan.slot_count)
        bits = planned.iterated_bits(_presets()[plan.preset], plan.slot_count, once)
    else:
        bits = planned.predicted_bits(plan.preset, plan.method, plan.slot_count)
    refreshed = (2 if plan.method in planned.PAIRS else 1) * plan.slot_count
    return Advice(
        plan.preset,
        plan.method,
        plan.key_size,
        plan.stage_count,
        plan.slot_count,
        real,
        plan.input_level,
        plan.output_level,
        bits,
        record is not None,
        seconds,
        record is not None,
        math.ceil(wish.slots / refreshed),
        refreshed,
        plan.key_bytes,
        plan.peak_bytes,
        iterations,
    )

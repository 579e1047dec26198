"""Which bootstrap to use: all that Aglet has, ranked by time, with what is measured and what is a model kept apart."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from aglet import _core, forecast
from aglet.errors import AgletError, ParameterError
from aglet.measure import Case
from aglet.reproduce import load

__all__ = ["VALUES", "Advice", "Wish", "advise", "nothing_fits", "other_family"]

VALUES = ("real", "complex", "sign", "bits", "integers")
_METHODS = {
    "real": ("regular", "lossy", "merge", "lossy-merge"),
    "complex": ("regular", "lossy"),
    "sign": ("sign", "regular"),
    "bits": ("bits", "regular"),
    "integers": ("regular", "lossy", "merge", "lossy-merge"),
}
_SECURE = 128.0
_MAX_LAYERS = 6
"""Layers of the DFT in one map. Larger maps take seconds to lay out, and more memory and time than one stage more."""
_LATEST = 8
"""So many of the latest records calibrate the model."""
_FLAGS = {
    "regular": "use_bootstrap=True",
    "compact": "use_bootstrap=True, compact=True",
    "to14": "use_bootstrap_to_14_levels=True",
    "to14-compact": "use_bootstrap_to_14_levels=True, compact=True",
}


@functools.cache
def _plan(
    preset: str, method: str, stages: int, size: str, slots: int, real: bool, level: int | None = None
) -> _core.Plan | None:
    """A plan with its seconds, or None where there is none: this takes a while, and one wish asks for a hundred."""
    info = _presets().get(preset)
    if info is None:  # of another version
        return None
    try:
        return _core.plan(preset, method, stages, size, slots, real, level, forecast.units_for(info))
    except AgletError:
        return None


@functools.cache
def _presets() -> dict[str, _core.PresetInfo]:
    return {preset["name"]: preset for preset in _core.presets()}


@dataclass(frozen=True)
class Wish:
    """What a bootstrap is wanted for."""

    slots: int
    """Values to refresh."""
    bits: float
    """Precision, -log2 of the mean error of values of size 1."""
    levels: int
    """Multiplications between two bootstraps."""
    values: str = "real"
    throughput: bool = False
    """Rank by time per value of full ciphertexts instead of by the time until these values are refreshed."""
    memory_bytes: float | None = None

    def __post_init__(self) -> None:
        if self.values not in VALUES:
            raise ParameterError(f'There are no values "{self.values}"; choose one of {", ".join(VALUES)}.')
        if self.slots < 1 or self.levels < 0 or not math.isfinite(self.bits):
            raise ParameterError("Give at least one slot, a number of bits and a number of levels from 0.")


@dataclass(frozen=True)
class Advice:
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
    """Else predicted, for three stages and a message over the whole range."""
    seconds: float
    """Of one bootstrap on one thread."""
    seconds_measured: bool
    bootstraps: int
    """To refresh all values."""
    refreshed: int
    """Values that one bootstrap refreshes at most."""
    key_bytes: int
    memory_bytes: int

    @property
    def levels(self) -> int:
        """Multiplications until the next bootstrap: some begin above level 0."""
        return self.level_out - self.level_in

    @property
    def total_seconds(self) -> float:
        """Until all values are refreshed."""
        return self.bootstraps * self.seconds

    @property
    def seconds_per_value(self) -> float:
        """With full ciphertexts."""
        return self.seconds / self.refreshed

    def calls(self, levels: int) -> str:
        """The program, for so many levels between two bootstraps."""
        flags = _FLAGS.get(self.preset, f'preset="{self.preset}"')
        ring = _presets()[self.preset]["slots"]
        slots = "" if self.slot_count == ring else f", slot_count={self.slot_count}"
        method = f"{self.method.replace('-', '_')}_bootstrap".replace("regular_", "").replace("bits_", "sign_")
        family = "merge" if self.method == "merge" else "lossy" if self.level_in else "regular"
        maker = {"merge": "merge_", "lossy": "lossy_", "regular": ""}[family]
        lines = [f"engine = Engine({flags}{slots})"]
        if self.key_size == "small":
            lines += [
                "rotation_key = engine.create_rotation_key(secret_key)",
                "small_bootstrap_key = engine.create_small_bootstrap_key(secret_key)",
            ]
            keys = f"rotation_key, small_bootstrap_key, stage_count={self.stage_count}"
        else:
            size = f'stage_count={self.stage_count}, size="{self.key_size}"'
            lines.append(f"bootstrap_key = engine.create_{maker}bootstrap_key(secret_key, {size})")
            keys = "bootstrap_key"
        pair = self.method.endswith("merge")
        more = ", bits=True" if self.method == "bits" else ""
        more += ", real=True" if self.real and not pair else ""
        more += f", target_level={levels + self.level_in}" if levels < self.levels else ""
        inputs, results = ("first, second", "first, second") if pair else ("ciphertext", "refreshed")
        lines.append(f"{results} = engine.{method}({inputs}, relinearization_key, conjugation_key, {keys}{more})")
        return "\n".join(lines)


def advise(wish: Wish, records: Iterable[Mapping[str, Any]]) -> list[Advice]:
    """All ways that Aglet has, the best first; empty if it has none.

    Parameters
    ----------
    records
        Measurements of this machine, oldest first; where they say nothing, times come from `forecast`, made to agree
        with them.
    """
    return _rank(wish, [advice for advice in _all(wish, records) if _fits(wish, advice)])


def _fits(wish: Wish, advice: Advice) -> bool:
    enough_memory = wish.memory_bytes is None or advice.memory_bytes <= wish.memory_bytes
    return advice.levels >= wish.levels and advice.bits >= wish.bits and enough_memory


def _rank(wish: Wish, found: list[Advice]) -> list[Advice]:
    def cost(advice: Advice) -> tuple[float, float]:
        return advice.seconds_per_value if wish.throughput else advice.total_seconds, advice.memory_bytes

    return sorted(found, key=cost)


def nothing_fits(wish: Wish, records: Iterable[Mapping[str, Any]]) -> str:
    """Why no way fits, in a sentence."""
    found = list(_all(wish, records))
    enough = [advice for advice in found if advice.levels >= wish.levels]
    if not enough:
        most = max((advice.levels for advice in found), default=0)
        return f"No bootstrap of these values leaves {wish.levels} levels; {most} is the most. Ask for fewer."
    precise = [advice for advice in enough if advice.bits >= wish.bits]
    if not precise:
        most_bits = max(advice.bits for advice in enough)
        return (
            f"No bootstrap to {wish.levels} levels has {wish.bits:g} bits; {most_bits:.1f} is the most. Ask for less."
        )
    least = min(advice.memory_bytes for advice in precise)
    return (
        f"The smallest bootstrap that fits takes {least / 1e9:.1f} GB; give --memory {math.ceil(least / 1e9)} or more."
    )


@functools.cache
def _predicted_bits(preset: str, method: str, slots: int) -> float:
    """Mean bits of the plan in the clear with the noise of ciphertexts. Keys and stages change little."""
    layers = max(slots.bit_length() - 1, 1)
    return _core.predicted_precision(preset, method, min(3, layers), "large", slots)["mean_bits"]


def _noise_of(plan: _core.Plan) -> tuple[str, str, int]:
    """What the noise of a plan depends on: levels and the parts of a message do not."""
    method = plan["method"] if plan["method"] in ("sign", "bits") else "regular"
    return plan["preset"], method, plan["slot_count"]


def _all(wish: Wish, records: Iterable[Mapping[str, Any]]) -> Iterator[Advice]:
    machine = _core.doctor()
    measured = _measured(records, machine["cpu"], machine["backend"])
    able = [p for p in _presets().values() if p["methods"] and p["security_bits"] >= _SECURE]
    # One at a time, and before there are threads: nothing else may run meanwhile.
    for preset in able:
        forecast.units_for(preset)
    factor = forecast.calibrate(_plans(list(measured.values())[-_LATEST:]))
    found = [candidate for preset in able for candidate in _candidates(wish, preset, measured)]
    noises = {_noise_of(plan) for plan, real in found if _key(plan, real) not in measured}
    with ThreadPoolExecutor() as pool:
        bits = dict(zip(noises, pool.map(lambda noise: _predicted_bits(*noise), noises), strict=True))
    for plan, real in found:
        yield _advice(wish, plan, real, measured, factor, bits)


def _measured(records: Iterable[Mapping[str, Any]], cpu: str, backend: str) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """The latest record of each full bootstrap on one thread of this machine."""
    found: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for record in records:
        own = record.get("cpu") == cpu and record.get("backend") == backend and record.get("threads") == 1
        if (
            own
            and record.get("bound", 1.0) == 1.0
            and record.get("iterations", 1) == 1
            and "bits_mean" in record
            and record.get("message") in ("uniform", "alternating", "bits")
        ):
            key = _key(record, bool(record.get("real", False)))
            found.pop(key, None)  # the latest come last
            found[key] = record
    return found


def _key(record: Mapping[str, Any], real: bool) -> tuple[Any, ...]:
    method = {"to14": "regular", "sparse": "regular"}.get(record["method"], record["method"])
    level = record["output_level"]
    return record["preset"], method, record["key_size"], record["stage_count"], record["slot_count"], real, level


def _plans(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[_core.Plan, float]]:
    for record in records:
        preset, method, size, stages, slots, real, level = _key(record, bool(record.get("real", False)))
        plan = _plan(preset, method, stages, size, slots, real and not method.endswith("merge"), level)
        if plan is not None:  # else the record is of a preset of another version
            yield plan, record["seconds"]


def _candidates(
    wish: Wish, preset: _core.PresetInfo, measured: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[_core.Plan, bool]]:
    """Plans, and whether values are declared real: they are if they are, and are not where only that was measured."""
    ring = preset["slots"]
    slots = ring if wish.throughput else min(ring, 1 << (wish.slots - 1).bit_length())
    known = {key[:-1] for key in measured}
    asked = []
    for method in _METHODS[wish.values]:
        pairs = Case(method=method).pairs
        if method not in preset["methods"] or (pairs and not wish.throughput and wish.slots <= ring):
            continue
        for size, stages, real in itertools.product(("large", "medium", "small"), range(1, 6), (True, False)):
            usual = real == (wish.values != "complex") and _layers(slots, stages) <= _MAX_LAYERS
            allowed = not real or wish.values != "complex"
            if usual or (allowed and (preset["name"], method, size, stages, slots, real) in known):
                asked.append((method, size, stages, real, real and not pairs))

    def plan(choice: tuple[str, str, int, bool, bool]) -> _core.Plan | None:
        method, size, stages, _, declared = choice
        return _plan(preset["name"], method, stages, size, slots, declared)

    with ThreadPoolExecutor() as pool:
        for choice, made in zip(asked, pool.map(plan, asked), strict=True):
            if made is not None:  # else this number of stages does not suit these slots
                yield made, choice[3]


def _layers(slots: int, stages: int) -> int:
    """Layers of the DFT in the largest map."""
    return math.ceil((slots.bit_length() - 1) / stages)


def _advice(
    wish: Wish,
    plan: _core.Plan,
    real: bool,
    measured: Mapping[tuple[Any, ...], Mapping[str, Any]],
    factor: float,
    predicted: Mapping[tuple[str, str, int], float],
) -> Advice:
    record = measured.get(_key(plan, real))
    seconds = forecast.seconds(plan, factor) if record is None else record["seconds"]
    bits = predicted[_noise_of(plan)] if record is None else record["bits_mean"]
    rotations = 0
    if plan["key_size"] == "small":
        # The rotation key of the user, for all powers of two at the highest level, is not in the plan.
        rotations = (plan["log_n"] - 1) * max(s["key_bytes"] // s["keys"] for s in plan["stages"] if s["keys"])
    pairs = 2 if plan["method"].endswith("merge") else 1
    return Advice(
        plan["preset"],
        plan["method"],
        plan["key_size"],
        plan["stage_count"],
        plan["slot_count"],
        real,
        plan["input_level"],
        plan["output_level"],
        bits,
        record is not None,
        seconds,
        record is not None,
        math.ceil(wish.slots / (pairs * plan["slot_count"])),
        pairs * plan["slot_count"],
        plan["key_bytes"] + plan["other_key_bytes"] + rotations,
        plan["peak_bytes"] + rotations,
    )


def other_family(wish: Wish, best: Advice | None) -> list[str]:
    """What the published guidance says for a family that Aglet does not have; empty where CKKS is the answer."""
    table = load("demystifying")
    rows = {row.name: row.published for row in table.rows}
    machine = table.machine.split(",")[0]
    said = []
    few_slots, few_bits = table.guidance["few_slots"], table.guidance["few_bits"]
    few = wish.slots <= few_slots and wish.bits <= few_bits
    if few and not wish.throughput and wish.values != "complex":
        one_bit = wish.values in ("sign", "bits") or wish.bits <= 1
        published = rows["CGGI/1/1" if one_bit else "CGGI/1/3-4"]
        each = published["seconds"]["1"]
        what = "a gate on 1 bit" if one_bit else "a look-up table on 3 to 4 bits (each further bit doubles it)"
        ours = "" if best is None else f", where the best below takes {best.total_seconds:.2f} s for all of them"
        said.append(
            f"Few values and few bits: up to {few_slots:g} values and 3 to {few_bits:g} bits the published guidance "
            f"recommends CGGI or DM. {each:g} s for {what} on one thread of {machine} makes {each * wish.slots:.3g} s "
            f"for {wish.slots}{ours}. Aglet does not have it yet."
        )
    if wish.values == "integers":
        thin, full = rows["BGV/1024/1"], rows["BGV/1024/16"]
        said.append(
            "Integers: BGV and BFV compute exactly, CKKS does not (round its results yourself). Published for "
            f"1024 values: {thin['seconds']['1']:g} s with 1 bit, {full['seconds']['1']:g} s with 16 bits (HElib). The "
            "guidance calls them slower than CKKS per value. Aglet does not have BGV or BFV yet."
        )
    return said


def split(found: Sequence[Advice]) -> tuple[int, int]:
    """How many times are measured, and how many modelled."""
    measured = sum(advice.seconds_measured for advice in found)
    return measured, len(found) - measured

"""The cost of lookup tables on encrypted slots: by scheme switching, on integers, or as polynomials of `Engine`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core, forecast
from aglet.arrays.session import Session
from aglet.ckks.engine import Engine
from aglet.errors import LevelError, ParameterError
from aglet.fhew.engine import FhewEngine
from aglet.fhew.table import Table
from aglet.integer.engine import IntegerEngine
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench import timing
from aglet_bench.advise import Wish
from aglet_bench.ckks import planned
from aglet_bench.ckks.functional import FunctionalCase, FunctionalPlan
from aglet_bench.scheme_switch.advice import ComparisonAdvice

__all__ = ["TableAdvice", "table_ways"]

_SLOTS, _INTEGERS, _DEEP = "regular", "int16", "int16-deep"
_NIBBLE, _BYTE = 4, 8
_BITS = _SLOTS, "bits", None, "large", 2**15
_FUNCTIONAL = (("regular", "regular"), ("regular", "lossy"), ("to15", "regular"))
"""The parameter set and the method of the key of functional bootstraps."""
_CIRCUITS = {_NIBBLE: ("table of 4 bits",), _BYTE: ("table of 8 bits in 2 digits", "table of 8 bits")}
_CALLS = {
    "switch lookup": "messages = switch.lookup(x, slots, table, keys)",
    "switch lookup_bytes": "high, low = switch.lookup_bytes(x, slots, table, keys)",
    "switch lookup, bits": "tables = [lambda m, b=b: table[m] >> b & 1 for b in range({bits})]\n"
    "bits = switch.lookup(x, slots, tables, keys)\n"
    "result = engine.weighted_sum([switch.from_fhew(bit, keys) for bit in bits], [2.0**b for b in range({bits})])",
    "switch lookup, back": "result = switch.from_fhew(switch.lookup(x, slots, table, keys), keys, bits={bits})",
    "switch lookup_bytes, back": "high, low = switch.lookup_bytes(x, slots, table, keys)\n"
    "nibbles = switch.from_fhew(high, keys), switch.from_fhew(low, keys)\n"
    "result = engine.add(engine.multiply(nibbles[0], 16), nibbles[1])",
    "integer table": "result = engine.lookup(x, table, relinearization_key)",
    "integer table in digits": "result = engine.lookup([low_nibble, high_nibble], table, relinearization_key)",
    "functional bootstrap": "result = engine.functional_bootstrap(x, table, relinearization_key, conjugation_key, key)",
    "functional bootstrap, two messages a slot": "x = engine.encrypt(re + 1j * im, secret_key, bound=len(table))\n"
    "result = engine.functional_bootstrap(x, table, relinearization_key, conjugation_key, key)",
    "polynomial table": "fit = numpy.polynomial.Chebyshev.fit(range(len(table)), table, len(table) - 1)\n"
    "result = session.chebyshev(x, fit.coef, domain=fit.domain)",
}


@dataclass(frozen=True)
class TableAdvice(ComparisonAdvice):
    """One way to replace the whole numbers m in slots, 0 to `2^bits - 1`, by `table[m]`."""

    fhew_preset: str | None = None
    """The parameter set of the lookup tables of a scheme switch."""
    key_method: str | None = None
    """The method of the bootstrap key of a functional bootstrap."""

    @property
    def kind(self) -> str:
        """The kind of results: whole numbers, or numbers close to them."""
        near = self.method in ("polynomial table", "switch lookup, bits") or self.key_method is not None
        return "near" if near else "exact"

    def calls(self, _levels: int) -> str:
        """The program."""
        integers = any(self.preset == preset["name"] for preset in _core.integer_presets())
        made = [f'engine = {"Integer" if integers else ""}Engine(preset="{self.preset}")']
        if self.fhew_preset is not None:
            packing = ", packing=True" if self.bits > _NIBBLE else ""
            made += [
                f'switch = SchemeSwitch(engine, FhewEngine(preset="{self.fhew_preset}"))',
                f"keys = switch.create_keys(secret_key, fhew_secret_key{packing})",
            ]
        elif self.key_method is not None:
            lossy = "lossy_" if self.key_method == "lossy" else ""
            made += [
                "relinearization_key = engine.create_relinearization_key(secret_key)",
                "conjugation_key = engine.create_conjugation_key(secret_key)",
                f"key = engine.create_{lossy}bootstrap_key(secret_key)",
            ]
        elif self.method == "polynomial table":
            wanted = "" if self.bootstraps else "bootstrap=None, rotation=False"
            made.append(f"session = Session(engine, engine.create_keys({wanted}))")
        else:
            made.append("relinearization_key = engine.create_relinearization_key(secret_key)")
        if _NIBBLE < self.bits < _BYTE and self.key_method is None:
            made.append(f"table = [*table, *[0] * {2**_BYTE - 2 ** int(self.bits)}]  # tables of bytes have 256 values")
        return "\n".join([*made, _CALLS[self.method].format(bits=f"{self.bits:g}")])


def table_ways(wish: Wish, records: Iterable[Mapping[str, Any]]) -> list[TableAdvice]:
    """The ways to apply a table of this many bits to this many values; empty for other wishes.

    Without levels after the table, results may be FHEW messages. With levels they are slots.

    Raises
    ------
    ParameterError
        If no way has this many bits with this many levels after it in this much memory.
    """
    if wish.values != "tables":
        return []
    bits = max(1, math.ceil(wish.bits))
    known = list(records)
    found = list(_all(wish, bits, known)) if bits <= _BYTE else []
    fits = [
        way for way in found if way.level_out >= wish.levels and way.memory_bytes <= (wish.memory_bytes or math.inf)
    ]
    if not fits:
        raise ParameterError(
            f"No lookup table of {bits} bits leaves {wish.levels} levels in this memory; ask for {_BYTE} bits or "
            "fewer, fewer levels (with none, results may be FHEW messages), or more memory."
        )
    return fits


def _all(wish: Wish, bits: int, records: list[Mapping[str, Any]]) -> Iterator[TableAdvice]:
    """The ways for as many ciphertexts as the values fill, or for a full one."""

    def parts(slots: int) -> tuple[int, int]:
        return (1, slots) if wish.throughput else (-(-wish.slots // slots), min(wish.slots, slots))

    over = ((_over, _SLOTS), (_over, _INTEGERS), (_up, _SLOTS), (_up_exact, _INTEGERS), (_up_exact, _DEEP))
    for make, preset in (*over, (_polynomial, _SLOTS)):
        found = make(preset, bits, *parts(_slots(preset)))
        if found is not None:
            yield found
    for (preset, method), real in itertools.product(_FUNCTIONAL, (True, False)):
        found = _functional(preset, method, bits, real, *parts(_slots(preset) * (1 if real else 2)))
        if found is not None:
            yield found
    for one in (preset for preset in _core.integer_presets() if preset["is_secure"]):
        yield from _circuits(one, bits, *parts(one["slot_count"]), records)


def _slots(preset: str) -> int:
    of_integers = {one["name"]: one["slot_count"] for one in _core.integer_presets()}
    return of_integers[preset] if preset in of_integers else _engine(preset).slot_count


@functools.cache
def _engine(preset: str) -> Engine:
    return Engine(preset=preset)


@functools.cache
def _scheme_switch(preset: str, fhew: str) -> SchemeSwitch:
    other = FhewEngine(preset=fhew)
    if preset in (_INTEGERS, _DEEP):
        return SchemeSwitch(IntegerEngine(preset=preset), other)
    return SchemeSwitch(_engine(preset), other)


def _fhew(bits: int) -> str:
    return "wide" if bits > _NIBBLE else f"lut{max(bits, 2)}"


def _keys(switch: SchemeSwitch, own: int, bits: int) -> int:
    fhew = switch.fhew_engine
    packing = fhew._core.packing_key_bytes if bits > _NIBBLE else 0
    return own + switch.key_bytes + fhew.estimate("nand").key_bytes + packing


def _plan_of_bits() -> planned.Planned:
    return next(
        plan
        for plan in planned.of(_SLOTS, "bits", _engine(_SLOTS).slot_count)
        if (plan.key_size, plan.stage_count, plan.real) == ("large", _core.plan(*_BITS)["stage_count"], True)
    )


@functools.cache
def _over(preset: str, bits: int, pieces: int, count: int) -> TableAdvice | None:
    """Switch to FHEW, and one table for each value. Results stay FHEW messages."""
    switch = _scheme_switch(preset, _fhew(bits))
    what = "lookup" if bits <= _NIBBLE else "lookup_bytes"
    taken = switch.estimate(what, count=count)
    if isinstance(switch.engine, IntegerEngine):
        key, maps = switch.engine.bootstrap_forecast()
        peak = key + maps
    else:
        key, peak = (plan := _plan_of_bits()).key_bytes, plan.peak_bytes
    keys = _keys(switch, key, bits)
    size = pieces * taken.seconds, taken.source == "measured", pieces * count, 0, pieces * taken.rotations
    memory = peak - key + keys + taken.working_bytes
    return TableAdvice(preset, f"switch {what}", bits, 0, *size, keys, memory, _fhew(bits))


@functools.cache
def _up(preset: str, bits: int, pieces: int, count: int) -> TableAdvice | None:
    """Switch to FHEW, one table for each bit of a result, and switch every bit back. None for bytes."""
    switch = _scheme_switch(preset, _fhew(bits))
    if bits > _NIBBLE or isinstance(switch.engine, IntegerEngine):
        return None
    ways = [switch.estimate("to_fhew", count=count), switch.estimate("from_fhew", count=count)]
    bit: Callable[[int], Callable[[int], int]] = lambda b: lambda m: m >> b & 1  # noqa: E731
    tables = [Table(bit(b)) for b in range(bits)]
    taken = switch.fhew_engine.estimate("lookup", batch=count, table=tables)
    seconds = ways[0].seconds + taken.seconds + bits * ways[1].seconds
    measured = taken.source != "modelled" and all(way.source == "measured" for way in ways)
    plan = _plan_of_bits()
    keys = _keys(switch, plan.key_bytes, bits)
    size = pieces * seconds, measured, pieces * count, pieces * bits, pieces * taken.rotations
    memory = plan.peak_bytes - plan.key_bytes + keys + taken.working_bytes
    # The sum of bits with their weights takes a level.
    level = plan.output_level - 1
    return TableAdvice(preset, "switch lookup, bits", bits, level, *size, keys, memory, _fhew(bits))


@functools.cache
def _up_exact(preset: str, bits: int, pieces: int, count: int) -> TableAdvice | None:
    """Switch from integers, one table for each value, and back. None if there are too few levels."""
    # What tables of "lut2" leave has too much noise for the levels of "int16".
    fhew = _fhew(max(bits, 3))
    switch = _scheme_switch(preset, fhew)
    if not isinstance(switch.engine, IntegerEngine):
        return None
    what = "lookup" if bits <= _NIBBLE else "lookup_bytes"
    try:
        taken = switch.estimate(what, count=count, bits=bits if bits <= _NIBBLE else None, from_fhew=True)
    except LevelError:
        return None
    key, maps = switch.engine.bootstrap_forecast()
    keys = _keys(switch, key, bits)
    size = pieces * taken.seconds, taken.source == "measured", pieces * count, pieces * taken.refreshes
    rest = pieces * taken.rotations, keys, keys + maps + taken.working_bytes, fhew
    return TableAdvice(preset, f"switch {what}, back", bits, taken.level or 0, *size, *rest)


@functools.cache
def _functional_plan(preset: str, method: str, bits: int, real: bool) -> FunctionalPlan | None:
    units = timing.shipped(next(known for known in _core.presets() if known["name"] == preset))
    try:
        return FunctionalPlan.of(FunctionalCase(2**bits, method, preset, real=real), "large", units)
    except LevelError:
        return None


def _functional(preset: str, method: str, bits: int, real: bool, pieces: int, count: int) -> TableAdvice | None:
    """A functional bootstrap, which refreshes as well. None if the table takes more levels than the key leaves."""
    found = _functional_plan(preset, method, bits, real)
    if found is None or not found.estimate.largest_input_error:
        return None
    plan, estimate = found.plan, found.estimate
    seconds = pieces * (plan["seconds"] or 0.0) * forecast.TYPICAL_FACTOR
    size = seconds, False, pieces * count, pieces, 0
    keys = plan["key_bytes"] + plan["other_key_bytes"]
    name = "functional bootstrap" + ("" if real else ", two messages a slot")
    return TableAdvice(preset, name, bits, estimate.level, *size, keys, plan["peak_bytes"], key_method=method)


@functools.cache
def _polynomial(preset: str, bits: int, pieces: int, count: int) -> TableAdvice | None:
    """The polynomial through all values. None for bytes, whose precision it would destroy."""
    if bits > _NIBBLE:
        return None
    most = 2**bits - 1
    fit = np.polynomial.Chebyshev.fit(range(most + 1), [m * m % (most + 1) for m in range(most + 1)], most)

    def look_up(x: Any) -> Any:
        return x.session.chebyshev(x, fit.coef, domain=(0, most))

    plan = Session.plan(look_up, [(count,)], engine=_engine(preset), bounds=[(0, most)])
    size = pieces * plan.seconds, False, pieces * count, pieces * plan.refreshes, 0
    engine = _engine(preset)
    # Without a refresh a set has the keys for squares and conjugation alone.
    keys, peak = (
        (plan.key_bytes, engine.keys_forecast()) if plan.refreshes else (engine.memory_report().other_keys,) * 2
    )
    return TableAdvice(preset, "polynomial table", bits, plan.level, *size, keys, peak + plan.ciphertext_bytes)


def _circuits(
    preset: _core.IntegerPresetInfo, bits: int, pieces: int, count: int, records: list[Mapping[str, Any]]
) -> Iterator[TableAdvice]:
    """Tables on all slots of exact integers."""
    wanted = _CIRCUITS[_NIBBLE if bits <= _NIBBLE else _BYTE]
    rows = [row for row in _rows(preset["name"], preset["log_n"]) if row["circuit"] in wanted and row["fits"]]
    for row in rows:
        record = _record(preset["name"], row["circuit"], records)
        seconds = (row["seconds"] or 0.0) * forecast.TYPICAL_FACTOR if record is None else float(record["seconds"])
        method = "integer table in digits" if "digits" in row["circuit"] else "integer table"
        key, level = preset["relinearization_key_bytes"], preset["levels"] - row["levels"]
        size = pieces * seconds, record is not None, pieces * count, 0, 0
        yield TableAdvice(preset["name"], method, bits, level, *size, key, key + 4 * preset["ciphertext_bytes"])


@functools.cache
def _rows(preset: str, log_n: int) -> list[_core.IntegerCircuitRow]:
    return _core.integer_plan(preset, forecast.shipped_for(log_n, forecast.VECTOR_BITS))["circuits"]


def _record(preset: str, circuit: str, records: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The latest record of this kind of machine on one thread."""
    machine = _core.doctor()
    wanted = {
        "kind": "integer",
        "operation": circuit,
        "preset": preset,
        "threads": 1,
        "cpu": machine["cpu"],
        "backend": machine["backend"],
    }
    return next((r for r in reversed(records) if all(r.get(name) == value for name, value in wanted.items())), None)

"""Simulated ciphertexts: levels, work, memory, time and error of a computation before any key exists."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from aglet import _core, forecast
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.model import Words
from aglet.arrays.digits.session import DigitSession
from aglet.arrays.reciprocals import Reciprocal
from aglet.arrays.slots.array import EncryptedSlots
from aglet.ckks.engine import Engine
from aglet.errors import LevelError, ParameterError
from aglet.keys.sizes import key_bytes
from aglet.scheme_switch.switch import SchemeSwitch
from aglet_bench.arrays.forecast import Plan
from aglet_bench.arrays.rehearsal import Rehearsal, Sample

__all__ = ["Shadow"]

_COMPARED = "comparisons depend on the distance of the values: give sample="
_CAST = "the error of a cast from digits is not modelled"
_EXACT = "whole numbers are exact"
_LUCK = "the error of a single number, or of an error that all numbers share, depends on luck"


class _Chunk:
    """A simulated ciphertext: its level and mark, and runs of its values."""

    def __init__(self, machine: Shadow, level: int, is_real: bool, sample: Sample) -> None:
        if level < 0:
            raise LevelError("No level is left; bootstrap first.")
        self.machine, self.level, self.is_real, self.sample = machine, level, is_real, sample
        self.bytes = machine.bytes_at(level)
        machine.live += self.bytes
        machine.most = max(machine.most, machine.live)

    def __del__(self) -> None:
        self.machine.live -= self.bytes


class Shadow:
    """Counts the work that `Live` would do.

    `method` is that of the bootstrap key: "lossy" beside FHEW, as `SchemeSwitch.create_keys` makes it, or "regular".
    """

    def __init__(self, engine: Engine, bootstrap: str, method: str) -> None:
        self.engine = engine
        self.live = self.most = 0
        self.done: Counter[str] = Counter()
        self.seconds = 0.0
        preset = next((p for p in _core.presets() if p["name"] == engine.preset), None)
        if preset is None:
            raise ParameterError(f"A plan needs a preset, and {engine.preset} is a set of your own; plan with one.")
        self._preset = preset
        self._size, self._method = bootstrap, method
        self.refreshed_level: int | None = None
        hidden, refresh = 0, None
        self._compared = False
        self.digits: DigitSession | None = None
        """The digits of a plan that has some."""
        self._cast = False
        self.beside = 0
        """Bytes of the keys of slots of integers, and of their switch."""
        self.drawing = False
        """While arguments are drawn run by run, each encryption gives one run; `together` joins them."""
        if engine.can_bootstrap:
            found = _core.plan(engine.preset, method, None, bootstrap, engine.slot_count)
            self.refreshed_level = found["output_level"]
            refresh = _bits(engine.preset, engine.slot_count)
            # Primes below those of users: the plan begins with all limbs of its input level.
            hidden = found["stages"][0]["level_in"] - found["input_level"]
        self._work = forecast.Operations(self._preset, hidden)
        self.rehearsal = Rehearsal(self._preset["log_n"], self._preset["scale_bits"], engine.slot_count, refresh)

    @property
    def slots(self) -> int:
        return self.engine.slot_count

    def bytes_at(self, level: int) -> int:
        """The bytes of a ciphertext."""
        return int(2 * 8 * 2 ** self._preset["log_n"] * self._work.limbs(level))

    def _made(self, level: int, real: bool, sample: Sample) -> _Chunk:
        return _Chunk(self, level, real, sample)

    # Operations

    def encrypt(self, values: Any, level: int | None, bound: float) -> _Chunk:
        real = np.asarray(values).dtype.kind != "c"
        level = self.engine.max_level if level is None else level
        if self.drawing:
            exact = np.broadcast_to(self.rehearsal.full(values), self.slots)[None]
            return self._made(level, real, Sample(exact, exact))
        return self._made(level, real, self.rehearsal.encrypt([values]))

    def together(self, runs: Sequence[_Chunk]) -> _Chunk:
        """One chunk from those that were encrypted run by run."""
        first = runs[0]
        return self._made(first.level, first.is_real, self.rehearsal.encrypt([one.sample.exact[0] for one in runs]))

    def known(self, x: _Chunk, size: float) -> _Chunk:
        return self._made(x.level, x.is_real, self.rehearsal.clip(x.sample, size))

    def add(self, x: _Chunk, y: Any) -> _Chunk:
        if isinstance(y, _Chunk):
            sample = self.rehearsal.add(x.sample, y.sample)
            return self._made(min(x.level, y.level), x.is_real and y.is_real, sample)
        plain = np.asarray(y)
        sample = Sample(x.sample.exact + self.rehearsal.full(plain), x.sample.error)
        return self._made(x.level, x.is_real and plain.dtype.kind != "c", sample)

    def subtract(self, x: _Chunk, y: _Chunk) -> _Chunk:
        return self.add(x, self.negate(y))

    def negate(self, x: _Chunk) -> _Chunk:
        return self._made(x.level, x.is_real, self.rehearsal.scale(x.sample, -1.0))

    def multiply(self, x: _Chunk, y: Any) -> _Chunk:
        if isinstance(y, _Chunk):
            level = min(x.level, y.level)
            self.done["products"] += 1
            self.seconds += self._work.product(level)
            return self._made(level - 1, x.is_real and y.is_real, self.rehearsal.multiply(x.sample, y.sample))
        if isinstance(y, int):
            return self._made(x.level, x.is_real, self.rehearsal.scale(x.sample, y))
        return self.weighted_sum([x], [y])

    def square(self, x: _Chunk) -> _Chunk:
        return self.multiply(x, x)

    def conjugate(self, x: _Chunk) -> _Chunk:
        self.done["rotations"] += 1
        self.seconds += self._work.key_switch(x.level)
        return self._made(x.level, x.is_real, self.rehearsal.conjugate(x.sample))

    def part(self, x: _Chunk, imaginary: bool) -> _Chunk:
        twice = self.add(x, self.negate(self.conjugate(x)) if imaginary else self.conjugate(x))
        half = self.weighted_sum([twice], [-0.5j if imaginary else 0.5])
        sample = Sample(np.real(half.sample.exact), np.real(half.sample.error))
        return self._made(half.level, True, sample)

    def weighted_sum(self, chunks: Sequence[_Chunk], weights: Sequence[Any]) -> _Chunk:
        level = min(chunk.level for chunk in chunks)
        real = all(c.is_real for c in chunks) and all(np.asarray(w).dtype.kind != "c" for w in weights)
        limbs = self._work.limbs(level) * len(chunks)
        self.seconds += self._work.spent(pointwise=2 * limbs, forward=limbs) + self._work.rescale(level)
        return self._made(level - 1, real, self.rehearsal.weighted_sum([c.sample for c in chunks], weights))

    def rotate(self, x: _Chunk, steps: Sequence[int]) -> list[_Chunk]:
        made = []
        for step in steps:
            # The rotation key has powers of two.
            switches = max(1, (step % self.slots).bit_count())
            self.done["rotations"] += switches
            self.seconds += switches * self._work.key_switch(x.level)
            made.append(self._made(x.level, x.is_real, self.rehearsal.rotate(x.sample, step, switches)))
        return made

    def polynomial(self, x: _Chunk, coefficients: Any, chebyshev: bool) -> _Chunk:
        degree = len(coefficients) - 1
        depth = degree.bit_length()
        self.done["products"] += forecast.polynomial_products(degree)
        self.seconds += self._work.polynomial(degree, x.level)
        real = x.is_real and np.asarray(coefficients).dtype.kind != "c"
        return self._made(x.level - depth, real, self.rehearsal.polynomial(x.sample, coefficients, chebyshev))

    def fitted(self, x: _Chunk, coefficients: Any, function: Callable[[Any], Any]) -> _Chunk:
        """The error is that of the series too, where it differs from the function."""
        made = self.polynomial(x, coefficients, True)
        exact = function(np.clip(x.sample.exact, -1.0, 1.0))
        return self._made(made.level, made.is_real, Sample(exact, made.sample.found - exact))

    def reciprocal(self, x: _Chunk, product: Reciprocal) -> _Chunk:
        """The error is that of the polynomial too."""
        made = product.evaluated(x, self.add, self.multiply, lambda value, size: value)
        exact = product.exact(x.sample.exact)
        return self._made(made.level, made.is_real, Sample(exact, made.sample.found - exact))

    def compare(self, operation: str, chunks: Sequence[_Chunk], alpha: int, error_bits: int) -> _Chunk:
        level = min(chunk.level for chunk in chunks)
        asked: Any = {"error_bits": error_bits, "operation": operation, "level": level, "method": self._method}
        plan = self.engine.comparison_plan(alpha, **asked)
        self._compared = True
        for _ in range(plan.bootstraps):
            self._bootstrap(True, 1)
        for degree in plan.degrees:
            products = degree.bit_length() + math.isqrt(degree)
            self.done["products"] += products
            self.seconds += products * self._work.key_switch(max(1, plan.level_out))
        sample = self.rehearsal.compare(plan, [chunk.sample for chunk in chunks], error_bits)
        return self._made(plan.level_out, True, sample)

    def encoded(self, weights: Any, level: int) -> Any:
        return weights

    def encoded_matrix(self, matrix: Any, level: int) -> Any:
        return matrix

    def matrix(self, matrix: Any, x: _Chunk) -> _Chunk:
        rows, columns = np.asarray(matrix).shape
        diagonals = min(self.slots, rows + columns - 1)
        rotations = 2 * math.isqrt(diagonals) + 1
        self.done["rotations"] += rotations
        self.seconds += rotations * self._work.key_switch(x.level) + self._work.rescale(x.level)
        self.seconds += self._work.spent(pointwise=2 * diagonals * self._work.limbs(x.level))
        real = x.is_real and np.asarray(matrix).dtype.kind != "c"
        return self._made(x.level - 1, real, self.rehearsal.matrix(matrix, x.sample))

    def refresh(self, chunks: Sequence[_Chunk], bound: float, real: bool) -> list[_Chunk]:
        assert self.refreshed_level is not None, "asked for only where there is a bootstrap"
        self._bootstrap(real, len(chunks))
        return [self._made(self.refreshed_level, c.is_real, self.rehearsal.refresh(c.sample, bound)) for c in chunks]

    def _bootstrap(self, real: bool, count: int) -> None:
        self.done["refreshes"] += count
        pairs, rest = divmod(count, 2) if real else (0, count)
        pair = "lossy-merge" if self._method == "lossy" else "merge"
        for method, times in ((pair, pairs), (self._method, rest)):
            if times:
                self.seconds += times * self._seconds(method, real and method != pair)

    def _seconds(self, method: str, real: bool) -> float:
        plan = _core.plan(
            self.engine.preset,
            method,
            None,
            self._size,
            self.slots,
            real=real,
            units=self._work.units,  # type: ignore[arg-type]
        )
        return (plan["seconds"] or 0.0) * forecast.TYPICAL_FACTOR

    def from_bits(self, cells: Any) -> _Chunk:
        """Modelled messages of 0 and 1 as the first slots."""
        assert self.digits is not None, "cells are of a model"
        found = self._switch.estimate("from_fhew", count=cells.size, size=cast("Any", self._size))
        self.seconds += found.seconds
        self._cast = True
        assert found.level is not None, "asked for what comes back"
        return self._made(found.level, True, self.rehearsal.encrypt([cells.values.ravel() * 1.0]))

    def to_words(self, x: _Chunk, slots: Any, bits: int, bound: float, noise: float | None) -> Words:
        """Modelled numbers of these slots, with the noise of fresh ones."""
        found = self._switch.estimate("to_fhew", count=len(slots), size=cast("Any", self._size))
        self.seconds += found.seconds
        self._cast = True
        values = np.clip(np.real(x.sample.exact[0][slots]), -bound, bound)
        core = cast(_core.SchemeSwitch, self._switch._side.core)
        return Words(values, core.fresh_variance(bits, False))

    @functools.cached_property
    def _switch(self) -> SchemeSwitch:
        assert self.digits is not None, "there is a switch where there are digits"
        return SchemeSwitch(self.engine, self.digits.engine)

    def _digit_work(self) -> tuple[int, float, int]:
        """Blind rotations, their seconds, and the bytes of the keys of FHEW and of the switch."""
        if self.digits is None:
            return 0, 0.0, 0
        engine, count = self.digits.engine, self.digits.rotations
        more = self._switch.key_bytes if self._cast else 0
        each = engine.estimate("lookup", batch=64).seconds / 64
        return count, count * each, engine.keys_forecast() + more + self.beside

    def plan(self, arrays: Sequence[Any], sampled: bool) -> Plan:
        """The counts for the results, of arguments that are samples of the user or not."""
        floats = [array for array in arrays if not isinstance(array, EncryptedSlots | EncryptedIntegers)]
        unstated, stated = _CAST if self._cast else _COMPARED, None
        if not floats:
            unstated = _EXACT
        elif (sampled or not self._compared) and not self._cast:
            stated = self.rehearsal.stated([_errors(array) for array in floats])
            unstated = _LUCK
        size = self._size if self.done["refreshes"] > 0 or self._cast else None
        # Small keys go with the rotation key.
        rotation = self.done["rotations"] > 0 or size == "small"
        blind, seconds, more = self._digit_work()
        made = key_bytes(self.engine, size, None, self._method, rotation=rotation, matrix=False) + more
        return Plan(
            min((array.level for array in arrays if not isinstance(array, EncryptedIntegers)), default=None),
            self.done["refreshes"],
            self.done["products"],
            self.done["rotations"],
            made,
            max(made, self.engine.keys_forecast(size, method=self._method, rotation=rotation) + more),
            self.most,
            self.seconds + seconds,
            stated.bits if stated else None,
            stated.deviation if stated else None,
            unstated if stated is None or stated.bits is None else None,
            blind,
        )


def _errors(array: Any) -> Any:
    """The errors of the elements, for each run."""
    every = np.concatenate([chunk.sample.error for chunk in array.chunks], axis=1)
    # Elements that share a slot share its error.
    found = every[:, np.unique(array.index)]
    return np.real(found) if array.is_real else found


@functools.cache
def _bits(preset: str, slots: int) -> tuple[float, float]:
    """The mean bits of a bootstrap, and those of its approximation alone."""
    found = _core.predicted_precision(preset, "regular", None, "large", slots)
    return found["mean_bits"], found["approximation_bits"]

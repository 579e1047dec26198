"""A machine that computes on shadows of ciphertexts: levels, work, memory, seconds and error before any key exists."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core, forecast
from aglet.ckks.engine import Engine
from aglet.errors import LevelError
from aglet.reports import gigabytes

__all__ = ["Plan", "Shadow"]

_ERROR_OF_KEYS = 3.2
"""Standard deviation of the error in keys and fresh ciphertexts."""


@dataclass(frozen=True)
class Plan:
    """What a function on encrypted arrays will take and give; `print` it for a sentence."""

    level: int
    """Of the result, the lowest."""
    refreshes: int
    """Ciphertexts that are bootstrapped, those inside comparisons included."""
    products: int
    """Of ciphertexts, with relinearization; polynomials count theirs as a typical number."""
    rotations: int
    key_bytes: int
    """Of the keys and one bootstrap, at their peak."""
    ciphertext_bytes: int
    """Of the ciphertexts that live at one time, at most."""
    seconds: float
    """On one thread of this kind of processor, by the model."""
    bits: float
    """-log2 of the error of the result, predicted with care: every factor counts as large as its range."""

    def __str__(self) -> str:
        return (
            f"level {self.level} after {self.refreshes} bootstraps, {self.products} products, {self.rotations} "
            f"rotations; keys {gigabytes(self.key_bytes)}, ciphertexts {gigabytes(self.ciphertext_bytes)}; about "
            f"{self.seconds:.3g} s on one thread; about {self.bits:.1f} bits of the result."
        )


class _Chunk:
    """A shadow: what a ciphertext would be, and how large its error."""

    def __init__(self, machine: Shadow, level: int, is_real: bool, error: float, size: float) -> None:
        if level < 0:
            raise LevelError("No level is left here; refresh before.")
        self.machine, self.level, self.is_real, self.error, self.size = machine, level, is_real, error, size
        self.bytes = machine.bytes_at(level)
        machine.live += self.bytes
        machine.most = max(machine.most, machine.live)

    def __del__(self) -> None:
        self.machine.live -= self.bytes


class Shadow:
    """Counts what `Live` would do."""

    def __init__(self, engine: Engine, bootstrap: str) -> None:
        self.engine = engine
        self.live = self.most = 0
        self.done: Counter[str] = Counter()
        self.seconds = 0.0
        self._preset = next(p for p in _core.presets() if p["name"] == engine.preset)
        self._units = forecast.shipped(self._preset)
        self._size = bootstrap
        self.refreshed_level: int | None = None
        self._refresh_error, self._hidden = 0.0, 0
        if engine.can_bootstrap:
            found = _core.plan(engine.preset, "regular", 3, bootstrap, engine.slot_count)
            self.refreshed_level = found["output_level"]
            self._refresh_error = 2.0 ** -(found["precision_bits"] or 20.0)
            # Primes below those of users: the plan begins with all limbs of its input level.
            self._hidden = found["stages"][0]["level_in"] - found["input_level"]
        n = 2.0 ** self._preset["log_n"]
        self._rounding = math.sqrt(n * (1 + 2 * n / 3) / 12) * 2.0 ** -self._preset["scale_bits"]
        self._fresh = math.sqrt(n) * _ERROR_OF_KEYS * 2.0 ** -self._preset["scale_bits"] + self._rounding

    @property
    def slots(self) -> int:
        return self.engine.slot_count

    def bytes_at(self, level: int) -> int:
        """Of a ciphertext."""
        return int(2 * 8 * 2 ** self._preset["log_n"] * self._limbs(level))

    def _limbs(self, level: int) -> int:
        return level + 1 + self._hidden

    def _made(self, level: int, real: bool, error: float, size: float) -> _Chunk:
        return _Chunk(self, level, real, error, size)

    # Work, in units of limbs

    def _spend(self, **units: float) -> None:
        us = sum(self._units[kind] * count for kind, count in units.items())
        self.seconds += us * forecast.TYPICAL_FACTOR * 1e-6

    def _key_switch(self, level: int) -> None:
        limbs = self._limbs(level)
        special = max(1, round(self._preset["log_p"] / self._preset["prime_bits"]))
        digits = -(-limbs // special)
        every = limbs + special
        self._spend(
            forward=digits * every - limbs + 2 * limbs,
            inverse=limbs + 2 * special,
            key=2 * digits * every,
            conversion=limbs * every + 2 * special * limbs,
        )

    def _rescale(self, level: int) -> None:
        self._spend(forward=2 * self._limbs(level), inverse=2)

    # Operations

    def encrypt(self, values: Any, level: int | None, bound: float) -> _Chunk:
        real = np.asarray(values).dtype.kind != "c"
        return self._made(self.engine.max_level if level is None else level, real, self._fresh, bound)

    def known(self, x: _Chunk, size: float) -> _Chunk:
        return self._made(x.level, x.is_real, x.error, min(x.size, size))

    def add(self, x: _Chunk, y: Any) -> _Chunk:
        if isinstance(y, _Chunk):
            error = math.hypot(x.error, y.error)
            return self._made(min(x.level, y.level), x.is_real and y.is_real, error, x.size + y.size)
        plain = np.asarray(y)
        return self._made(x.level, x.is_real and plain.dtype.kind != "c", x.error, x.size + float(np.abs(plain).max()))

    def subtract(self, x: _Chunk, y: _Chunk) -> _Chunk:
        return self.add(x, y)

    def negate(self, x: _Chunk) -> _Chunk:
        return self._made(x.level, x.is_real, x.error, x.size)

    def multiply(self, x: _Chunk, y: Any) -> _Chunk:
        if isinstance(y, _Chunk):
            level = min(x.level, y.level)
            self.done["products"] += 1
            self._spend(pointwise=4 * self._limbs(level))
            self._key_switch(level)
            self._rescale(level)
            error = math.hypot(x.error * y.size, y.error * x.size, 1.5 * self._rounding)
            return self._made(level - 1, x.is_real and y.is_real, error, x.size * y.size)
        if isinstance(y, int):
            return self._made(x.level, x.is_real, x.error * abs(y), x.size * abs(y))
        return self.weighted_sum([x], [y])

    def square(self, x: _Chunk) -> _Chunk:
        return self.multiply(x, x)

    def conjugate(self, x: _Chunk) -> _Chunk:
        return self.rotate(x, [1])[0]

    def weighted_sum(self, chunks: Sequence[_Chunk], weights: Sequence[Any]) -> _Chunk:
        level = min(chunk.level for chunk in chunks)
        sizes = [float(np.abs(np.asarray(weight)).max()) for weight in weights]
        real = all(c.is_real for c in chunks) and all(np.asarray(w).dtype.kind != "c" for w in weights)
        self._spend(pointwise=2 * self._limbs(level) * len(chunks), forward=self._limbs(level) * len(chunks))
        self._rescale(level)
        error = math.hypot(*(c.error * size for c, size in zip(chunks, sizes, strict=True)), self._rounding)
        return self._made(level - 1, real, error, sum(c.size * s for c, s in zip(chunks, sizes, strict=True)))

    def rotate(self, x: _Chunk, steps: Sequence[int]) -> list[_Chunk]:
        made = []
        for step in steps:
            # The rotation key has powers of two.
            switches = max(1, (step % self.slots).bit_count())
            self.done["rotations"] += switches
            for _ in range(switches):
                self._key_switch(x.level)
            made.append(self._made(x.level, x.is_real, math.hypot(x.error, self._rounding * switches**0.5), x.size))
        return made

    def polynomial(self, x: _Chunk, coefficients: Any, chebyshev: bool) -> _Chunk:
        degree = len(coefficients) - 1
        depth = degree.bit_length()
        products = 2 * math.isqrt(degree) if degree > 2 else max(0, degree - 1)
        self.done["products"] += products
        for i in range(products):
            self._key_switch(x.level - min(i, depth - 1))
            self._rescale(x.level - min(i, depth - 1))
        degrees = np.arange(degree + 1)
        sizes = np.abs(np.asarray(coefficients))
        growth = degrees**2 if chebyshev else degrees * x.size ** np.maximum(degrees - 1, 0)
        reach = np.ones(degree + 1) if chebyshev else x.size ** degrees.astype(float)
        error = math.hypot(x.error * float(sizes @ growth), self._rounding * (products + 1) ** 0.5)
        real = x.is_real and np.asarray(coefficients).dtype.kind != "c"
        return self._made(x.level - depth, real, error, float(sizes @ reach))

    def compare(self, operation: str, chunks: Sequence[_Chunk], alpha: int, error_bits: int) -> _Chunk:
        level = min(chunk.level for chunk in chunks)
        asked: Any = {"error_bits": error_bits, "operation": operation, "level": level}
        plan = self.engine.comparison_plan(alpha, **asked)
        for _ in range(plan.bootstraps):
            self._bootstrap(True, 1)
        for degree in plan.degrees:
            products = degree.bit_length() + math.isqrt(degree)
            self.done["products"] += products
            for _ in range(products):
                self._key_switch(max(1, plan.level_out))
        error = math.hypot(plan.error, self._refresh_error if plan.bootstraps else 0.0, *(c.error for c in chunks))
        return self._made(plan.level_out, True, error, 1.0)

    def encoded(self, weights: Any, level: int) -> Any:
        return weights

    def encoded_matrix(self, matrix: Any, level: int) -> Any:
        return matrix

    def matrix(self, matrix: Any, x: _Chunk) -> _Chunk:
        rows, columns = np.asarray(matrix).shape
        diagonals = min(self.slots, rows + columns - 1)
        rotations = 2 * math.isqrt(diagonals) + 1
        self.done["rotations"] += rotations
        for _ in range(rotations):
            self._key_switch(x.level)
        self._spend(pointwise=2 * diagonals * self._limbs(x.level))
        self._rescale(x.level)
        row = np.abs(np.asarray(matrix))
        error = math.hypot(x.error * float(np.sqrt((row**2).sum(axis=1)).max()), self._rounding * 2)
        real = x.is_real and np.asarray(matrix).dtype.kind != "c"
        return self._made(x.level - 1, real, error, x.size * float(row.sum(axis=1).max()))

    def refresh(self, chunks: Sequence[_Chunk], bound: float, real: bool) -> list[_Chunk]:
        assert self.refreshed_level is not None, "asked for only where there is a bootstrap"
        self._bootstrap(real, len(chunks))
        error = self._refresh_error * bound
        level = self.refreshed_level
        return [self._made(level, c.is_real, math.hypot(c.error, error), min(c.size, bound)) for c in chunks]

    def _bootstrap(self, real: bool, count: int) -> None:
        self.done["refreshes"] += count
        pairs, rest = divmod(count, 2) if real else (0, count)
        for method, times in (("merge", pairs), ("regular", rest)):
            if times:
                self.seconds += times * self._seconds(method, real and method == "regular")

    def _seconds(self, method: str, real: bool) -> float:
        plan = _core.plan(
            self.engine.preset,
            method,
            3,
            self._size,
            self.slots,
            real=real,
            units=self._units,  # type: ignore[arg-type]
        )
        return (plan["seconds"] or 0.0) * forecast.TYPICAL_FACTOR

    def plan(self, result: Any) -> Plan:
        """What the counts say of a result: an array, or several in a tuple, list or dict."""
        arrays = list(result.values()) if isinstance(result, dict) else result
        chunks = [c for array in (arrays if isinstance(arrays, list | tuple) else [arrays]) for c in array.chunks]
        worst = max(chunk.error for chunk in chunks)
        size = self._size if self.done["refreshes"] > 0 else None
        # Small keys go with the rotation key.
        rotation = self.done["rotations"] > 0 or size == "small"
        return Plan(
            min(chunk.level for chunk in chunks),
            self.done["refreshes"],
            self.done["products"],
            self.done["rotations"],
            self.engine.keys_forecast(size, rotation=rotation),
            self.most,
            self.seconds,
            -math.log2(worst),
        )

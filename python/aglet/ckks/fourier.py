"""Fourier series of smooth functions on an interval, for functional bootstraps of CKKS.

The interval takes a part of a turn; what the function does on the rest of the turn is free (a Fourier extension). The
coefficients solve least squares at Chebyshev points, with a small weight on `k c_k`: large coefficients would amplify
the noise of the exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import ParameterError, RangeError

__all__ = ["Fit", "evaluated", "fit"]

DEGREES = (3, 7, 15, 31, 63)
"""The degrees of 2 to 6 levels."""
_PARTS = (0.125, 0.25, 0.5, 0.625, 0.75, 0.875)
"""The parts of a turn that the interval may take."""
_WEIGHTS = (2.0**-40, 2.0**-34, 2.0**-30, 2.0**-26)
"""The weights of `k c_k` that are tried."""
_NOISE = 2.0**-28.5
"""The error of the exponential of preset "regular", root mean square."""
_POINTS = 512
"""The points of the interval at which errors are looked for."""


@dataclass(frozen=True)
class Fit:
    """A Fourier series: `2 Re sum c_k exp(2 pi i k v / period)`."""

    period: float
    points: NDArray[np.float64]
    """Values of the interval, at which the series was compared with the function."""
    coefficients: tuple[NDArray[np.complex128], ...]
    """Of each function."""
    bits: float
    """The worst error of the series and four times what the noise of the exponential adds, over the largest value."""


def evaluated(function: Callable[[Any], Any], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of a function, which may take arrays or single numbers.

    Raises
    ------
    RangeError
        If a value is not finite or not real.
    """
    try:
        found = np.asarray(function(points))
    except (TypeError, ValueError):
        found = np.asarray(None)
    if found.shape != points.shape or found.dtype.kind not in "biuf":
        found = np.asarray([function(float(point)) for point in points])
    if found.dtype.kind not in "biuf" or not np.isfinite(found).all():
        raise RangeError(
            "The function has a value that is no finite real number; give another interval=, on which it is finite."
        )
    return found.astype(np.float64)


def fit(functions: Sequence[Callable[[Any], Any]], interval: tuple[float, float], bits: float) -> Fit:
    """The series of the least degree with so many bits for every function.

    Raises
    ------
    ParameterError
        If the interval is empty or not finite, or a function is constant on it.
    RangeError
        If no degree reaches so many bits; the error says how many the best one has.
    """
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ParameterError(
            f"interval=({low}, {high}) is empty or not finite; give two numbers, the smaller one first."
        )
    middle, half = (low + high) / 2, (high - low) / 2
    fine = np.linspace(-1, 1, _POINTS)
    wanted = [evaluated(function, middle + half * fine) for function in functions]
    if any(np.ptp(values) == 0 for values in wanted):
        raise ParameterError("The function is constant on the interval; encode the constant instead.")
    best: Fit | None = None
    for degree in DEGREES:
        found = _of_degree(functions, wanted, (middle, half, fine), degree)
        if best is None or found.bits > best.bits:
            best = found
        if found.bits >= bits:
            return found
    assert best is not None
    raise RangeError(
        f"A Fourier series of degree {DEGREES[-1]} has {best.bits:.1f} bits of this function, and bits={bits:g} were "
        "asked for; ask for fewer, give a smaller interval=, or a smoother function. For steps and kinks, "
        "comparisons are more precise."
    )


def _of_degree(
    functions: Sequence[Callable[[Any], Any]],
    wanted: Sequence[NDArray[np.float64]],
    place: tuple[float, float, NDArray[np.float64]],
    degree: int,
) -> Fit:
    """The best series of a degree, over the parts of a turn and the weights."""
    middle, half, fine = place
    nodes = np.cos(np.linspace(0, np.pi, 8 * degree + 9))
    values = [evaluated(function, middle + half * nodes) for function in functions]
    sizes = [float(np.abs(w).max()) for w in wanted]
    k = np.arange(degree + 1)
    damped = np.r_[1, k[1:], k[1:]]
    best: Fit | None = None
    for part in _PARTS:
        rows, seen = (_basis(part / 2 * x, k) for x in (nodes, fine))
        for weight in _WEIGHTS:
            matrix = np.vstack([rows, weight * np.diag(damped)])
            errors, found = [], []
            for value, want, size in zip(values, wanted, sizes, strict=True):
                right = np.r_[value / size, np.zeros(len(damped))]
                solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
                noise = float(np.sqrt(np.sum((damped * solution) ** 2))) * _NOISE
                errors.append(float(np.abs(seen @ solution - want / size).max()) + 4 * noise)
                found.append(size * _complex(solution, degree))
            bits = -float(np.log2(max(errors)))
            if best is None or bits > best.bits:
                period = 2 * half / part
                turned = np.exp(-2j * np.pi * k * (middle / period))
                best = Fit(period, middle + half * fine, tuple(c * turned for c in found), bits)
    assert best is not None
    return best


def _basis(x: NDArray[np.float64], k: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cosines, then sines, of `x` turns."""
    angles = 2 * np.pi * np.outer(x, k)
    return np.hstack([np.cos(angles), np.sin(angles[:, 1:])])


def _complex(solution: NDArray[np.floating[Any]], degree: int) -> NDArray[np.complex128]:
    """The coefficients `c_k` of `2 Re sum c_k z^k`; the first is half of the mean."""
    cosine, sine = solution[: degree + 1], np.r_[0.0, solution[degree + 1 :]]
    return np.asarray((cosine - 1j * sine) / 2, dtype=np.complex128)

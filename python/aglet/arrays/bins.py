"""Bins and choices of whole numbers, in digits or in slots: `digitize`, `histogram`, weights of `bincount`, `select`.

Edges in the clear may be floats: a whole number is at least 17.5 where it is at least 18, so nothing becomes a float.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.errors import RangeError

__all__ = ["FUNCTIONS", "digitize", "histogram", "one_hot", "select_floats", "thresholds", "weighted"]


def thresholds(edges: Any, dtype: np.dtype[Any], side: str) -> tuple[int, Any, int]:
    """For sorted edges, in the clear, the whole numbers from which on an element is behind an edge.

    Returns
    -------
    tuple of int, numpy.ndarray and int
        How many edges all elements are behind, thresholds of the dtype of the elements for the next ones, and how many
        no element is behind. An element is behind an edge that it is not less than, or with the side "left" beyond.

    Raises
    ------
    RangeError
        If an edge is not a number, or they are not one vector.
    TypeError
        If they are no numbers.
    """
    flat = dtypes.unmasked(edges)
    if flat.ndim != 1:
        raise RangeError(f"Edges are a vector in the clear, and these have shape {flat.shape}; give one axis.")
    if flat.dtype.kind not in "biuf":
        raise TypeError(f"Edges are real numbers, not {flat.dtype}; convert them first.")
    if flat.dtype.kind == "f" and np.isnan(flat).any():
        raise RangeError("An edge is not a number; leave it out.")
    low, high = dtypes.span(dtype)
    whole = [_from(one, side, low, high + 1) for one in flat.tolist()]
    inner = [one for one in whole if low < one <= high]
    first = sum(one <= low for one in whole)
    return first, np.array(inner, dtype=dtype), len(whole) - first - len(inner)


def _from(edge: float, side: str, low: int, high: int) -> int:
    """The least whole number behind an edge, or an end of the range beyond which it does not matter."""
    if not low <= edge <= high:
        return low if edge < low else high
    return math.ceil(edge) if side == "right" else math.floor(edge) + 1


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """As `numpy.digitize`: the bin of each element, by monotonic edges in the clear.

    Raises
    ------
    RangeError
        If the edges are not monotonic.
    """
    edges = dtypes.unmasked(bins)
    rising = bool(np.all(edges[1:] >= edges[:-1]))
    if not rising and not np.all(edges[1:] <= edges[:-1]):
        raise RangeError("Edges of bins rise or fall all along; sort them first.")
    side = "left" if checks.flag("right", right) else "right"
    found: Any = np.searchsorted(edges if rising else edges[::-1], x, side=side)  # type: ignore[call-overload]
    return found if rising else len(edges) - found


def histogram(a: Any, bins: Any = 10, range: Any = None) -> tuple[Any, Any]:
    """As `numpy.histogram`: counts of elements in bins whose edges are in the clear, and the edges.

    Raises
    ------
    RangeError
        If only the elements could say where the bins lie.
    """
    if np.ndim(bins) == 0 and range is None:
        raise RangeError("The range of encrypted elements is not known; give range=(low, high), or the edges as bins=.")
    edges = np.histogram_bin_edges(np.zeros(0), bins, range)
    flat = a.reshape(-1)
    # The last bin holds its right end.
    parts = [thresholds(one, a.dtype, side) for one, side in ((edges[:-1], "right"), (edges[-1:], "left"))]
    below: list[Any] = []
    for first, inner, beyond in parts:
        below += [0] * first + [(flat < one).sum() for one in inner] + [flat.size] * beyond
    counts = [more - less for less, more in itertools.pairwise(below)]
    return np.stack([one if hasattr(one, "session") else np.asarray(one) for one in counts]), edges


def one_hot(x: Any, bins: int) -> Any:
    """Whether elements of a vector are 0, 1 and so on, on a new first axis."""
    return np.arange(bins, dtype=x.dtype)[:, None] == x


def weighted(x: Any, weights: Any, bins: int) -> Any:
    """Sums of weights by the value of elements, as floats of CKKS, as in numpy."""
    plain = not hasattr(weights, "session")
    floats = dtypes.unmasked(weights).astype(np.float64) if plain else weights.astype(np.float64)
    if floats.shape != x.shape:
        raise RangeError(f"Weights of shape {floats.shape} do not fit elements of shape {x.shape}; give one for each.")
    return one_hot(x, bins).astype(np.float64) @ floats


def select_floats(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """As `numpy.select` of floats: the choice of the first condition that holds.

    Raises
    ------
    TypeError
        If a condition in the clear is no array of booleans.
    RangeError
        If there are not as many choices as conditions.
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise RangeError(
            f"{len(condlist)} conditions go with as many choices, not {len(choicelist)}; give one for each."
        )
    if any(not hasattr(one, "session") and dtypes.unmasked(one).dtype.kind != "b" for one in condlist):
        raise TypeError("Conditions in the clear are booleans; compare first, as in x > 0.")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = np.where(condition, choice, found)
    return found


def _round(a: Any, decimals: int = 0) -> Any:
    """As `numpy.round` of whole numbers, which are round."""
    if checks.whole("decimals", decimals) < 0 or a.dtype.kind == "b":
        raise RangeError("Whole numbers are rounded to no tens here; write x // 10 * 10.")
    return a.copy()


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.digitize: digitize, np.histogram: histogram, np.round: _round, np.around: _round,
}  # fmt: skip
"""Of whole numbers."""

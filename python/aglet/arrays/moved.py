"""`Moved`: elements of encrypted arrays where numpy moves them to, which costs nothing in digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.unseen import Unseen
from aglet.shaped import Shaped

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Moved"]


class Moved(Unseen, Shaped):
    """Mixed into arrays whose elements a function of their places moves."""

    __slots__ = ()

    moved: Callable[..., Any]
    """The elements where a function of numpy moves them to."""

    def _rearranged(self, what: str, move: Callable[[Any], Any]) -> Self:
        """`moved`, where numpy may refuse what it was given."""
        found: Self = checks.rearranged(what, self.shape, lambda: self.moved(move))
        return found

    def __getitem__(self, index: Any) -> Self:
        if any(isinstance(part, Unseen) for part in (index if isinstance(index, tuple) else (index,))):
            self.__index__()
        return self._rearranged("index", lambda places: places[index])

    def reshape(self, *shape: Any) -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("shape", lambda places: places.reshape(*shape))

    def ravel(self, order: Any = "C") -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("order", lambda places: places.ravel(order))

    flatten = ravel

    def copy(self) -> Self:
        """The same values as an array of its own, which `refresh` of the first leaves alone."""
        return self._rearranged("copy", lambda places: places)

    __copy__ = copy

    def __deepcopy__(self, _memo: Any) -> Self:
        # Keys and session are not copied.
        return self.copy()

    def squeeze(self, axis: Any = None) -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("axis", lambda places: places.squeeze(axis))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("axis", lambda places: places.swapaxes(axis1, axis2))

    def repeat(self, repeats: Any, axis: Any = None) -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("repeats", lambda places: places.repeat(repeats, axis))

    def take(self, indices: Any, axis: Any = None) -> Self:
        """As in numpy, for indices in the clear. It costs nothing."""
        return self._rearranged("index", lambda places: places.take(indices, axis))

    def transpose(self, *axes: Any) -> Self:
        """As in numpy. It costs nothing."""
        return self._rearranged("order of axes", lambda at: at.transpose(*axes))

    @property
    def T(self) -> Any:  # noqa: N802, the name that numpy gives it
        """The transposed array. It costs nothing."""
        return self.transpose()

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """As `numpy.broadcast_to`. It costs nothing."""
        if shape == self.shape:
            return self
        return self._rearranged("shape", lambda at: np.broadcast_to(at, shape))

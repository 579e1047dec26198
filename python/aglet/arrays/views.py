"""Elements of an array in another shape, order or choice: only the index changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import moves
from aglet.arrays.joins import is_encrypted
from aglet.arrays.refusals import refuse
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["Views"]


class Views:
    """Mixed into `EncryptedArray`."""

    __slots__ = ()

    def __getitem__(self: Any, key: Any) -> EncryptedArray:
        if any(is_encrypted(part) for part in (key if isinstance(key, tuple) else (key,))):
            refuse("An index")
        return _rearranged(self, "index", lambda: self.index[key])

    def _view(self: Any, index: Any) -> EncryptedArray:
        """The elements at these places. Chunks without an element are left out."""
        index = np.asarray(index, dtype=np.int64)
        if not index.size:
            raise RangeError("This choice has no element, and an encrypted array needs at least one.")
        slots = self.session.slots
        used, inverse = np.unique(index // slots, return_inverse=True)
        placed = inverse.reshape(index.shape) * slots + index % slots
        chunks, filler = self._state
        chosen: EncryptedArray = self.replaced(chunks=[chunks[i] for i in used], index=placed, filler=None)
        # What was an element and is none now does not hold the filler.
        kept = filler is not None and index.size >= self.size and chosen.place_count == self.place_count
        return chosen.replaced(filler=filler) if kept else chosen

    def reshape(self: Any, *shape: Any, order: Any = "C") -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "shape", lambda: self.index.reshape(*shape, order=order))

    def ravel(self: Any, order: Any = "C") -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "order", lambda: self.index.ravel(order))

    flatten = ravel

    def transpose(self: Any, *axes: Any) -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "order of axes", lambda: self.index.transpose(*axes))

    @property
    def T(self: Any) -> EncryptedArray:  # noqa: N802
        """The transposed array. It costs nothing."""
        return _rearranged(self, "order of axes", lambda: self.index.T)

    def squeeze(self: Any, axis: Any = None) -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "axis", lambda: np.squeeze(self.index, axis))

    def swapaxes(self: Any, axis1: Any, axis2: Any) -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "pair of axes", lambda: np.swapaxes(self.index, axis1, axis2))

    def repeat(self: Any, repeats: Any, axis: Any = None) -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "number of repeats", lambda: np.repeat(self.index, repeats, axis))

    def take(self: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "index", lambda: np.take(self.index, indices, axis, mode=mode))

    def diagonal(self: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> EncryptedArray:
        """As in numpy. It costs nothing."""
        return _rearranged(self, "diagonal", lambda: np.diagonal(self.index, offset, axis1, axis2))

    def copy(self: Any, order: Any = "C") -> EncryptedArray:
        """As in numpy. It costs nothing: arrays never change, so the ciphertexts are shared."""
        return _rearranged(self, "order", lambda: self.index.copy(order))

    def compact(self: Any) -> EncryptedArray:
        """Move the elements to consecutive slots from slot 0 on.

        They fill as few chunks as possible. This uses one level, or none if they are there already.
        """
        return moves.compact(self)


def _rearranged(array: EncryptedArray, what: str, take: Callable[[], Any]) -> EncryptedArray:
    """The elements at the places that numpy takes."""
    return array._view(checks.rearranged(what, array.shape, take))

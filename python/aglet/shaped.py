"""`Shaped`: what follows from the shape of an encrypted array, whatever its elements are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Shaped"]


class Shaped:
    """Mixed into arrays that have a shape and an index."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]:
            """The lengths of the axes, as in numpy."""

        def __getitem__(self, index: Any) -> Self: ...

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(math.prod(self.shape))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("An encrypted number has no length, because its shape is (); reshape it with .reshape(1).")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            "Encrypted arrays never change; write x = numpy.where(mask, value, x), with a mask of the places."
        )

"""`Table`: a lookup table (LUT) on messages, made from a callable, a list or an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet import checks
from aglet.errors import RangeError

__all__ = ["Table"]


class Table:
    """A lookup table: the function that a bootstrap applies to each message.

    Parameters
    ----------
    function
        A callable that maps a message, 0 to 2^bits - 1, to a message; or a list or array with one value for each
        message. For `lookup2` the callable takes two messages, high and low, or the list has one value for each pair.

    Examples
    --------
    >>> from aglet import Table
    >>> Table(lambda m: m * m % 4).values(4)
    [0, 1, 0, 1]
    >>> Table([3, 2, 1, 0]).values(4)
    [3, 2, 1, 0]
    """

    def __init__(self, function: Callable[..., Any] | Any) -> None:
        if callable(function):
            self._function: Callable[..., Any] | None = function
            self._values: list[int] = []
            return
        self._function = None
        if isinstance(function, np.ma.MaskedArray):
            raise TypeError("This table is masked, and a table has a value for each message; give .filled(value).")
        try:
            array = np.asarray(function)
        except ValueError as error:
            raise TypeError("A table is one flat list of whole numbers, not rows of different lengths.") from error
        if array.ndim != 1 or array.dtype.kind not in "biu":
            raise TypeError(
                f"A table is a callable, or a flat list or array of whole numbers, not {array.dtype} of shape "
                f"{array.shape}."
            )
        self._values = [int(value) for value in array]

    def values(self, count: int, step: int = 1) -> list[int]:
        """The values for the messages 0 to `count` - 1, or for those that are multiples of `step`.

        Raises
        ------
        RangeError
            If the list has another length, or a value is not a message.
        TypeError
            If the callable returns something that is not a whole number.
        """
        each = "one for each message" if step == 1 else f"one for each multiple of {step} below {count}"
        return self._checked([(message,) for message in range(0, count, step)], count, each)

    def pair_values(self, count: int) -> list[int]:
        """The values for all pairs of the messages 0 to `count` - 1, for `lookup2`. High message 0 comes first.

        A callable takes both messages. Errors are those of `values`.
        """
        pairs = [(high, low) for high in range(count) for low in range(count)]
        return self._checked(pairs, count, "one for each pair of messages, those of high message 0 first")

    def _checked(self, arguments: Sequence[tuple[int, ...]], count: int, each: str) -> list[int]:
        function = self._function
        found = self._values if function is None else [_whole(function(*one)) for one in arguments]
        if len(found) != len(arguments):
            raise RangeError(f"This table has {len(found)} values; give {len(arguments)}, {each}.")
        for messages, value in zip(arguments, found, strict=True):
            if not 0 <= value < count:
                raise RangeError(
                    f"The table gives {value} for {', '.join(map(str, messages))}, which is not a message; give 0 to "
                    f"{count - 1}, for example by taking it modulo {count}."
                )
        return found

    def __repr__(self) -> str:
        return f"Table({self._function if self._function is not None else self._values})"


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, bool | np.bool_) else checks.whole("A value of a table", value)

"""`fixed`: the dtype of numbers with so many bits, of which some are a fraction; numbers in the clear and their words.

A number is `word / 2^fraction`, and its word a whole number of the dtype that numpy calls intN or uintN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.errors import ParameterError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.fixed.array import EncryptedFixed

__all__ = ["fixed"]

_BITS = (8, 16, 32, 64)


@dataclass(frozen=True, repr=False)
class fixed:  # noqa: N801
    """The dtype of numbers of a fixed format, as `session.encrypt(x, dtype=fixed(16, 8))` takes it.

    They are the multiples of `2^-fraction` from `least` to `most`, and beyond these ends they wrap around as whole
    numbers do. With as many bits of fraction as bits, they lie in [-1/2, 1/2), or unsigned in [0, 1); without a
    fraction they are whole.

    Parameters
    ----------
    bits
        The bits of a number: 8, 16, 32 or 64.
    fraction
        How many of them are behind the point, from 0 to `bits`.
    signed
        Whether the highest bit is a sign.

    Raises
    ------
    ParameterError
        If there is no such format.

    Examples
    --------
    >>> from aglet import fixed
    >>> price = fixed(16, 8)
    >>> (price.least, price.most, price.step)
    (-128.0, 127.99609375, 0.00390625)
    >>> price.round(0.1).item()
    0.1015625
    """

    bits: int
    fraction: int
    signed: bool = True

    def __post_init__(self) -> None:
        bits, fraction = checks.whole("bits", self.bits), checks.whole("fraction", self.fraction)
        if bits not in _BITS:
            raise ParameterError(f"Numbers of a fixed format have 8, 16, 32 or 64 bits, not {bits}; choose one.")
        if not 0 <= fraction <= bits:
            raise ParameterError(f"Of {bits} bits, 0 to {bits} are a fraction, not {fraction}; give such a number.")
        for name, value in (("bits", bits), ("fraction", fraction), ("signed", checks.flag("signed", self.signed))):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"fixed({self.bits}, {self.fraction}{'' if self.signed else ', signed=False'})"

    kind = "x"
    """As numpy's dtypes have one; none of theirs."""

    @property
    def word(self) -> np.dtype[Any]:
        """The dtype of the words."""
        return np.dtype(f"{'i' if self.signed else 'u'}{self.bits // 8}")

    @property
    def span(self) -> tuple[int, int]:
        """The least and the largest word."""
        return dtypes.span(self.word)

    @property
    def step(self) -> float:
        """What two neighbours differ by: `2^-fraction`."""
        return 2.0**-self.fraction

    @property
    def least(self) -> float:
        """The smallest number."""
        return self.span[0] * self.step

    @property
    def most(self) -> float:
        """The largest number, to the nearest float."""
        return self.span[1] * self.step

    @property
    def reach(self) -> str:
        """From where to where the numbers lie, in words: of 64 bits no float is the largest one."""
        return f"{self.least} to {'below ' if self.bits == _BITS[-1] else ''}{self.most}"

    # Numbers in the clear

    def round(self, values: Any) -> NDArray[np.float64]:
        """The numbers of this format that are nearest to given ones, as `encrypt` rounds them: of two the even one.

        Parameters
        ----------
        values
            Floats or whole numbers of any shape, from `least` to `most`.

        Returns
        -------
        float64 of the same shape.

        Raises
        ------
        RangeError
            If one does not fit, or is NaN or infinite.
        TypeError
            If they are no numbers.
        """
        return self.numbers(self.nearest(values))

    def nearest(self, values: Any) -> NDArray[Any]:
        """The words of the nearest numbers.

        Raises
        ------
        RangeError
            If one does not fit, or is NaN or infinite.
        TypeError
            If they are no numbers.
        """
        array = self._given(values)
        if array.dtype.kind == "f":
            scaled = np.rint(self._scaled(array))
            outside = ~((scaled >= self.span[0]) & (scaled < self.span[1] + 1))
            if outside.any():
                self._refuse(array[outside].flat[0])
            return np.asarray(scaled.astype(self.word))
        for end in (array.min(), array.max()) if array.size else ():
            if not self.span[0] <= int(end) << self.fraction <= self.span[1]:
                self._refuse(end)
        # Where all bits are a fraction, 0 alone is left.
        return np.asarray(array.astype(self.word) << min(self.fraction, self.bits - 1)).astype(self.word)

    def exactly(self, values: Any) -> NDArray[Any]:
        """The words of numbers of this format.

        Raises
        ------
        RangeError
            If one is none.
        TypeError
            If they are no numbers.
        """
        words, array = self.nearest(values), self._given(values)
        if array.dtype.kind == "f":
            scaled = self._scaled(array)
            between = scaled != np.rint(scaled)
            if between.any():
                raise RangeError(
                    f"{array[between].flat[0]} is no multiple of 2^-{self.fraction}, as numbers of {self} are; give "
                    f"{self}.round(x), or encrypt it, which rounds."
                )
        return words

    def _given(self, values: Any) -> NDArray[Any]:
        dtypes.refuse_matrix(values)
        array = dtypes.unmasked(values)
        if array.dtype.kind == "f" and isinstance(values, list | tuple):
            array = self._of_list(values, array)
        whole = array.dtype.kind == "O" and all(type(one) is int for one in array.flat)
        if not whole and (array.dtype.kind not in "biuf" or array.dtype.itemsize > 8):
            raise TypeError(
                f"Numbers of {self} are floats of up to 64 bits or whole numbers, not {array.dtype}; convert them."
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise RangeError(f"NaN and infinities are no numbers of {self}; replace them first.")
        return array

    @staticmethod
    def _of_list(values: Any, array: NDArray[Any]) -> NDArray[Any]:
        """Numbers of a list, in which numpy makes floats also of whole numbers that these do not hold."""
        objects = np.asarray(values, dtype=object)
        large = [type(one) is int and abs(one) > 2**53 for one in objects.flat]
        if not any(large):
            return array
        if any(type(one) is not int for one in objects.flat):
            raise TypeError("Floats do not hold whole numbers beyond 2^53; give both kinds in arrays of their own.")
        return objects

    def _scaled(self, array: NDArray[Any]) -> NDArray[np.float64]:
        """Floats times `2^fraction`, which is exact, or infinite for what does not fit anyway."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(array.astype(np.float64), self.fraction))

    def _refuse(self, value: Any) -> None:
        more = ", or choose more bits" if self.bits < _BITS[-1] else ", or choose fewer bits of fraction"
        more = more if self.bits < _BITS[-1] or self.fraction else ""
        raise RangeError(f"{value} does not fit {self}; give {self.reach}{more}.")

    def numbers(self, words: Any) -> NDArray[np.float64]:
        """The numbers of words, as float64.

        Raises
        ------
        RangeError
            If one has more than 53 bits, which float64 does not hold.
        """
        words = np.asarray(words)
        found = words.astype(np.float64)
        # The nearest float of the largest words is one more than these, and no word.
        fits = found < float(self.span[1] + 1)
        if not np.array_equal(np.where(fits, found, 0).astype(self.word), np.where(fits, words, self.word.type(1))):
            raise RangeError(
                "A number has more than 53 bits, which float64 does not hold; decrypt x.words(), which are "
                f"2^{self.fraction} times as large."
            )
        return np.asarray(np.ldexp(found, -self.fraction))

    def ends(self, bound: Any) -> tuple[int, int]:
        """The words of a bound: a pair of the least and the largest number, or the largest absolute value.

        Raises
        ------
        RangeError
            If the least is above the largest, or one of them is no number of this format.
        TypeError
            If it is no bound.
        """
        given = bound if isinstance(bound, tuple | list) else (bound,)
        if not 1 <= len(given) <= 2 or (len(given) == 1 and given is bound) or any(np.ndim(end) for end in given):
            raise TypeError("bound must be the largest absolute value, or a pair of the least and the largest value.")
        words = [int(self.exactly(end)) for end in given]
        low = words[0] if len(words) == 2 else -words[0] if self.signed else 0
        if low > words[-1]:
            raise RangeError(f"bound={bound} is empty; give the least and the largest value.")
        return low, words[-1]

    def within(self, words: Any, ends: tuple[int, int]) -> tuple[int, int]:
        """The ends, if words in the clear lie between them.

        Raises
        ------
        RangeError
            If one does not.
        """
        array = np.asarray(words)
        if array.size and not ends[0] <= int(array.min()) <= int(array.max()) <= ends[1]:
            raise RangeError(
                f"A number is beyond {ends[0] * self.step} to {ends[1] * self.step}, the range that was declared; give "
                "a larger bound."
            )
        return ends

    # Encrypted ones

    def of(self, words: EncryptedIntegers) -> EncryptedFixed:
        """The numbers of encrypted words, which nothing changes: the way back from `x.words()`.

        Raises
        ------
        TypeError
            If these are no encrypted whole numbers in digits, or of another dtype than `word`.
        """
        from aglet.arrays.digits.array import EncryptedIntegers
        from aglet.arrays.fixed.array import EncryptedFixed

        if not isinstance(words, EncryptedIntegers) or words.dtype != self.word:
            what = getattr(words, "dtype", type(words).__name__)
            raise TypeError(f"The words of {self} are encrypted {self.word} in digits, not {what}; cast them first.")
        return EncryptedFixed(words, self)

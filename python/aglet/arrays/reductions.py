"""Sums, means, extremes and products, as methods of encrypted arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aglet.arrays import along, options, order, products, sums
from aglet.arrays.interval import Interval

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["Reductions"]


class Reductions:
    """Mixed into `EncryptedArray`."""

    __slots__ = ()

    @property
    def real(self: Any) -> EncryptedArray:
        """The real parts, as in numpy. Those of complex numbers use a level."""
        found: EncryptedArray = self if self.is_real else self._part(False)
        return found

    @property
    def imag(self: Any) -> EncryptedArray:
        """The imaginary parts, as in numpy. Those of complex numbers use a level, those of real ones are zeros."""
        found: EncryptedArray = self * 0 if self.is_real else self._part(True)
        return found

    def _part(self: Any, imaginary: bool) -> EncryptedArray:
        self.need(1)
        size, machine = self.interval.size, self.session.machine
        found: EncryptedArray = self.each(
            lambda chunk: machine.part(chunk, imaginary),
            Interval(-size, size),
            lambda filler: complex(filler).imag if imaginary else complex(filler).real,
        )
        return found

    # Options of numpy's: `where` names elements, which uses a level, `initial` is what the result begins with, and
    # `out` is refused.

    def sum(
        self: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> EncryptedArray:
        """Sum over one axis, several, or all.

        It uses no level if the slots without an element hold one known number.
        """
        options.new(out)
        options.float_only(dtype, self.dtype)
        found: EncryptedArray = sums.total(options.chosen(self, where, 0), axis, keepdims)
        return options.joined(found, np.add, initial)  # type: ignore[no-any-return]

    def mean(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = None
    ) -> EncryptedArray:
        """The mean over one axis, several, or all, of the elements that `where` in the clear names. Uses one level."""
        options.new(out)
        options.float_only(dtype, self.dtype)
        if where is not None:
            return options.mean(self, axis, keepdims, where)  # type: ignore[no-any-return]
        return sums.mean(self, axis, keepdims)

    def var(self: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> EncryptedArray:
        """The variance over one axis, several, or all, as in numpy: real numbers.

        Uses two levels; ddof and complex numbers use one more each.
        """
        return sums.variance(self, axis, ddof, keepdims)

    def std(
        self: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, bound: Any = None
    ) -> EncryptedArray:
        """The standard deviation over one axis, several, or all.

        Parameters
        ----------
        bound
            A pair, the least and the largest value that the result may have; both are above 0. It is needed, because
            no polynomial is close to the square root near 0.

        Raises
        ------
        RangeError
            Without a bound above 0, or if it reaches so near 0 that no polynomial is precise.
        """
        return sums.deviation(self, axis, ddof, keepdims, bound)

    def prod(
        self: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> EncryptedArray:
        """The product over one axis, several, or all. It uses `ceil(log2(n))` levels for n elements."""
        options.new(out)
        options.float_only(dtype, self.dtype)
        found = along.product(options.chosen(self, where, 1), axis, keepdims)
        return options.joined(found, np.multiply, initial)  # type: ignore[no-any-return]

    def cumsum(self: Any, axis: Any = None) -> EncryptedArray:
        """The running sums along an axis, or of all elements in numpy's order. Uses one level."""
        return along.cumsum(self, axis)

    def argmax(self: Any, axis: Any = None, *, keepdims: bool = False) -> EncryptedArray:
        """The index of the largest element along an axis, close to a whole number; see `numpy.sort`."""
        return order.argmax(self, axis, keepdims)

    def argmin(self: Any, axis: Any = None, *, keepdims: bool = False) -> EncryptedArray:
        """The index of the smallest element along an axis, close to a whole number; see `numpy.sort`."""
        return order.argmin(self, axis, keepdims)

    def argsort(self: Any, axis: Any = -1) -> EncryptedArray:
        """The indices that sort the elements along an axis, close to whole numbers; see `numpy.sort`."""
        return order.argsort(self, axis)

    def max(
        self: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> EncryptedArray:
        """The largest element over one axis, several, or all; see `numpy.sort`."""
        options.new(out)
        found = order.largest(options.among(self, where, initial), axis, keepdims)
        return options.joined(found, np.maximum, initial)  # type: ignore[no-any-return]

    def min(
        self: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> EncryptedArray:
        """The smallest element over one axis, several, or all; see `numpy.sort`."""
        options.new(out)
        found = order.smallest(options.among(self, where, initial), axis, keepdims)
        return options.joined(found, np.minimum, initial)  # type: ignore[no-any-return]

    def dot(self: Any, other: Any) -> EncryptedArray:
        """As `numpy.dot`: `x @ y`, or `x * y` with a number."""
        found: EncryptedArray = products.dot(self, other)
        return found

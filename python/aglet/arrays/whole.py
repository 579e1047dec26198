"""What arrays of encrypted booleans and whole numbers share, in digits or in slots: operators, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aglet import checks
from aglet.arrays import borders, casts, options
from aglet.arrays.digits import operations
from aglet.arrays.moved import Moved
from aglet.arrays.unseen import Unseen

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["WholeNumbers"]

_AS_THEY_ARE = frozenset(
    {
        *(np.searchsorted, np.digitize, np.histogram, np.isin, np.bincount, np.ediff1d, np.pad),
        *(getattr(np, name) for name in ("trapezoid",) if hasattr(np, name)),
    }
)
"""numpy's functions for which whole numbers beside floats stay so: edges, test elements, weights, ends, borders."""


def _two(ufunc: np.ufunc, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """The operator of a universal function of two arrays."""

    def operator(self: Any, other: Any) -> Any:
        pair = (other, self) if reflected else (self, other)
        # Most operands need no look at their kind.
        if type(other) is type(self) or _is_alike(other, self):
            return self._apply(ufunc, pair)
        if not operations.is_operand(other):
            # Python would answer by identity.
            if ufunc in (np.equal, np.not_equal) and other is not None:
                raise TypeError(
                    f"Encrypted integers are compared with arrays and whole numbers, not with {type(other).__name__}; "
                    "convert it first."
                )
            return NotImplemented
        return _of_other_kinds(self, ufunc, pair)

    return operator


def _of_other_kinds(array: Any, ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of whole numbers beside floats or numbers in the clear."""
    _of_one_kind(inputs)
    compared = borders.compared(ufunc, inputs)
    if compared is not None:
        return compared
    floats = casts.lifted(*inputs)
    return array._apply(ufunc, inputs) if floats is None else ufunc(*floats)


def _is_alike(value: Any, array: Any) -> bool:
    """Whether a value is of the kind of an array, or an array of whole numbers in the clear: most operands are."""
    return type(value) is type(array) or (type(value) is np.ndarray and value.dtype.kind in "iu")


def _of_one_kind(values: Any) -> None:
    """Refuse digits beside slots.

    Raises
    ------
    TypeError
        If there are both.
    """
    if len({one.representation for one in values if isinstance(one, WholeNumbers)}) > 1:
        raise TypeError(
            'One of these arrays is in digits and one in slots; call x.to("slots") or x.to("digits") on one of them.'
        )


def _leads(kind: type) -> bool:
    """Whether a class computes with whole numbers, or refuses them, itself."""
    return issubclass(kind, Unseen) and kind._leads


def _one(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """The operator of a universal function of one array."""
    return lambda self: self._apply(ufunc, (self,))


class WholeNumbers(Moved):
    """The base of `EncryptedIntegers` and `EncryptedSlots`."""

    __slots__ = ()

    dtype: np.dtype[Any]
    representation: Any
    """How the values are stored: "digits" or "slots"."""
    _apply: Callable[[np.ufunc, Sequence[Any]], Any]
    """A universal function of arrays of this kind and numbers in the clear."""
    _function: Callable[[Any, Sequence[Any], dict[str, Any]], Any]
    """Another function of numpy."""
    _crossed: Callable[[], Any]
    """The same values in the other representation."""
    _reductions: Any
    """The module of its reductions, which gives each the same name for both kinds."""
    _joined: Callable[[Sequence[Any]], Any]
    """The elements of all, on one axis."""
    _missing: Callable[[str], str]
    """What is said of an attribute that there is not."""
    _mean: Callable[[Any, bool], Any]
    """The mean over an axis, kept with length 1 or not."""
    astype: Callable[..., Any]
    """The same values in another dtype."""

    # Elements

    def to(self, representation: str) -> Any:
        """The same values in another representation: "digits" of FHEW, or "slots" of integers; by a scheme switch.

        To digits, an element has as many digits of two bits as its dtype; each takes a table in slots and a conversion,
        and no bootstrap of FHEW; numbers with a table have up to 8,192 values. To slots, many elements take the time of
        one, and numbers must fit the modulus, as `assume` declares. Both ways are exact: what noise might change more
        often than the switch allows is refused.

        Raises
        ------
        ParameterError
            If there is no such representation.
        MissingKeyError
            If the keys have none of the other family, or no switch.
        RangeError
            If the numbers have too large a range, or too much noise.
        LevelError
            If slots have no level left, and there is no bootstrap.
        """
        if checks.choice("representation", representation, ("digits", "slots")) == self.representation:
            return self
        return self._crossed()

    # Reductions

    # Options of numpy's: `where` names elements, `initial` is what the result begins with, and `out` is refused.

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Self:
        """As `numpy.sum`. Digits of many elements are added before a bootstrap reads them.

        Raises
        ------
        RangeError
            If the sum, of slots, may not fit the modulus.
        """
        options.new(out)
        found = self._reductions.total(options.chosen(self, where, 0), axis, dtype, keepdims)
        joined: Self = options.joined(found, np.add, initial)
        return joined

    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Self:
        """As `numpy.prod`, by a tree of products: in slots a level for each doubling."""
        options.new(out)
        found = self._reductions.product(options.chosen(self, where, 1), axis, dtype, keepdims)
        joined: Self = options.joined(found, np.multiply, initial)
        return joined

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Self:
        """As `numpy.cumsum`: in slots one move, and a logarithmic number of rotations."""
        options.new(out)
        found: Self = self._reductions.cumsum(self, axis, dtype)
        return found

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> Self:
        """As `numpy.any`: in slots by a sum and a table."""
        options.new(out)
        found: Self = self._reductions.some(options.chosen(self, where, 0), axis, keepdims)
        return found

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> Self:
        """As `numpy.all`: in slots by a sum and a table."""
        options.new(out)
        found: Self = self._reductions.every(options.chosen(self, where, 1), axis, keepdims)
        return found

    def min(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Self:
        """As `numpy.min`, by a tree of comparisons."""
        options.new(out)
        found = self._reductions.least(options.among(self, where, initial), axis, keepdims)
        joined: Self = options.joined(found, np.minimum, initial)
        return joined

    def max(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Self:
        """As `numpy.max`, by a tree of comparisons."""
        options.new(out)
        found = self._reductions.most(options.among(self, where, initial), axis, keepdims)
        joined: Self = options.joined(found, np.maximum, initial)
        return joined

    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = None
    ) -> Any:
        """As `numpy.mean`, a float of CKKS: the sum of whole numbers becomes one.

        Raises
        ------
        MissingKeyError
            If the keys have no CKKS, or no switch to it.
        TypeError
            If `where` is encrypted.
        """
        options.new(out)
        options.float_only(dtype)
        return self._mean(axis, keepdims) if where is None else options.mean(self, axis, keepdims, where)

    def var(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        """As `numpy.var`, of the elements as floats of CKKS; errors are those of `astype`."""
        return self.astype(np.float64).var(axis, ddof=ddof, keepdims=keepdims)

    def std(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, bound: Any = None) -> Any:
        """As `numpy.std`, of the elements as floats of CKKS; `bound` is that of `EncryptedArray.std`."""
        return self.astype(np.float64).std(axis, ddof=ddof, keepdims=keepdims, bound=bound)

    def dot(self, other: Any) -> Self:
        """As `numpy.dot`, with one or two axes of the other. Of digits, clear weights take the fewest bootstraps."""
        found: Self = self._reductions.dot(self, other)
        return found

    # Operators, as numpy's

    def __pow__(self, exponent: Any) -> Any:
        # numpy squares by another function, whose result for booleans has another dtype.
        return _one(np.square)(self) if type(exponent) is int and exponent == 2 else _two(np.power)(self, exponent)

    __add__, __radd__ = _two(np.add), _two(np.add, True)
    __sub__, __rsub__ = _two(np.subtract), _two(np.subtract, True)
    __mul__, __rmul__ = _two(np.multiply), _two(np.multiply, True)
    __rpow__ = _two(np.power, True)
    __truediv__, __rtruediv__ = _two(np.true_divide), _two(np.true_divide, True)
    __floordiv__, __rfloordiv__ = _two(np.floor_divide), _two(np.floor_divide, True)
    __mod__, __rmod__ = _two(np.remainder), _two(np.remainder, True)
    __divmod__, __rdivmod__ = _two(np.divmod), _two(np.divmod, True)
    __lshift__, __rlshift__ = _two(np.left_shift), _two(np.left_shift, True)
    __rshift__, __rrshift__ = _two(np.right_shift), _two(np.right_shift, True)
    __and__, __rand__ = _two(np.bitwise_and), _two(np.bitwise_and, True)
    __or__, __ror__ = _two(np.bitwise_or), _two(np.bitwise_or, True)
    __xor__, __rxor__ = _two(np.bitwise_xor), _two(np.bitwise_xor, True)
    __matmul__, __rmatmul__ = _two(np.matmul), _two(np.matmul, True)
    __lt__, __le__, __gt__, __ge__ = _two(np.less), _two(np.less_equal), _two(np.greater), _two(np.greater_equal)
    __eq__, __ne__ = _two(np.equal), _two(np.not_equal)
    __invert__, __neg__, __pos__, __abs__ = _one(np.invert), _one(np.negative), _one(np.positive), _one(np.absolute)
    __hash__ = None  # type: ignore[assignment]

    # A column or a table of pandas on the left leaves the operator to this class.
    __pandas_priority__ = 5000

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **given: Any) -> Any:
        if method != "__call__":
            return options.by_method(ufunc, method, inputs, given)
        if given:
            options.refuse(ufunc, given)
        if all(_is_alike(one, self) for one in inputs):
            return self._apply(ufunc, inputs)
        if any(_leads(type(one)) for one in inputs):
            return NotImplemented
        return _of_other_kinds(self, ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(map(_leads, types)):
            return NotImplemented
        _of_one_kind([*args, *(args[0] if args and isinstance(args[0], list | tuple) else ())])
        floats = None if function in _AS_THEY_ARE else casts.lifted(args, kwargs)
        return self._function(function, args, kwargs) if floats is None else function(*floats[0], **floats[1])

    def __getattr__(self, name: str) -> NoReturn:
        """Name the replacement of an attribute that numpy's arrays have."""
        raise AttributeError(self._missing(name), name=name, obj=self)

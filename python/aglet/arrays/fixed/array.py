"""`EncryptedFixed`: an encrypted array of numbers of a fixed format, beneath which are whole numbers in digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aglet.arrays import options
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.fixed import casts, functions, operations, refusals
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.moved import Moved

if TYPE_CHECKING:
    from aglet.arrays.digits.session import DigitSession

__all__ = ["EncryptedFixed"]


def _two(ufunc: np.ufunc, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """The operator of a universal function of two arrays."""

    def operator(self: Any, other: Any) -> Any:
        if not operations.is_operand(other):
            # Python would answer by identity.
            if ufunc in (np.equal, np.not_equal) and other is not None:
                raise TypeError(
                    f"Numbers of {self.dtype} are compared with such numbers, not with {type(other).__name__}; convert "
                    "it first."
                )
            return NotImplemented
        return operations.apply(ufunc, (other, self) if reflected else (self, other))

    return operator


def _one(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """The operator of a universal function of one array."""
    return lambda self: operations.apply(ufunc, (self,))


def _without(name: str) -> Callable[..., NoReturn]:
    """What Python asks of a number that it sees."""

    def refused(self: Any, *_: Any) -> NoReturn:
        raise TypeError(refusals.function(name, self.dtype))

    return refused


class EncryptedFixed(Moved):
    """Encrypted numbers of a fixed format in the shape of a numpy array: `session.encrypt(x, dtype=fixed(16, 8))`.

    An element is a word, a whole number in digits, over `2^fraction`. `+ - abs`, comparisons, `minimum`, `maximum`,
    `clip`, `where`, `sort`, `argmin`, `argmax`, `sum`, `cumsum` and moves are those of the words, in results and in
    cost: they wrap around as the words do. Sums are of 64 bits, as numpy's; `dtype=` chooses fewer. `*` gives the exact
    product, rounded down (to the multiple of `2^-fraction` below it) and wrapped around; `>>`, `<<` and `/` by powers
    of two in the clear do the same. Operands have the same format, or are numbers in the clear that are exactly in it.
    All else is refused; `x.words()` gives the whole numbers beneath.
    """

    __slots__ = ("_words", "dtype")

    dtype: fixed
    """The format: `aglet.fixed(bits, fraction)`."""
    _leads = True

    def __init__(self, words: EncryptedIntegers, dtype: fixed) -> None:
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "dtype", dtype)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name):
            raise AttributeError(
                f"Encrypted arrays never change, so {name} cannot be set; reshape, astype and assume give new ones."
            )
        object.__setattr__(self, name, value)

    # What it is

    def words(self) -> EncryptedIntegers:
        """The whole numbers beneath, `2^fraction` times as large, at no cost; `x.dtype.of(words)` is the way back."""
        return self._words

    @property
    def session(self) -> DigitSession:
        """The session of digits that it belongs to."""
        return self._words.session

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._words.shape

    @property
    def representation(self) -> str:
        """How the values are stored: "digits"."""
        return self._words.representation

    @property
    def noise(self) -> float:
        """As `EncryptedIntegers.noise`."""
        return self._words.noise

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return self._words.nbytes

    def __repr__(self) -> str:
        return f"<EncryptedFixed {self.shape}: {self.dtype}, {self._words.stored_as()}>"

    def __getattr__(self, name: str) -> NoReturn:
        """Name the replacement of an attribute that numpy's arrays have."""
        raise AttributeError(refusals.attribute(name, self.dtype), name=name, obj=self)

    # Elements

    def moved(self, move: Callable[[Any], Any]) -> EncryptedFixed:
        """The elements where numpy moves them to. It costs nothing."""
        return self.dtype.of(self._words.moved(move))

    def refresh(self) -> EncryptedFixed:
        """Bootstrap all digits, in place, and return the array."""
        self._words.refresh()
        return self

    def assume(self, *, bound: Any) -> EncryptedFixed:
        """Declare the least and the largest number, which nobody can check, as `EncryptedIntegers.assume` does.

        Parameters
        ----------
        bound
            The largest absolute value, or a pair of the least and the largest value: numbers of this format.

        Raises
        ------
        RangeError
            If the least is above the largest, or one of them is no number of this format.
        """
        return self.dtype.of(self._words.assume(bound=self.dtype.ends(bound)))

    def astype(self, dtype: Any, casting: str = "safe") -> Any:
        """The same numbers in another format, as whole numbers, or as floats of CKKS.

        More bits of fraction cost nothing if they are an even number, and else a bootstrap for each digit; fewer round
        down, towards minus infinity, and so do whole numbers. float64 is what `EncryptedIntegers.astype` gives of the
        words, times `2^-fraction`: it takes a level more.

        Raises
        ------
        TypeError
            If values may change, by rounding or as they do not fit, and casting is not "unsafe"; or if there is no
            such cast. Floats keep words of up to 16 bits, which `assume` may declare.
        MissingKeyError
            If floats are asked for, and the keys have no switch to CKKS.
        """
        return casts.cast(self, dtype, casting)

    # Reductions

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> EncryptedFixed:
        """As `numpy.sum` of the words, in a format of 64 bits; `dtype=fixed(bits, fraction)` chooses another width."""
        found = functions.format_of_sum(self.dtype, dtype)
        first = None if initial is None else operations.words_of(initial, found)
        return found.of(self._words.sum(axis, found.word, out, keepdims, first, where))

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> EncryptedFixed:
        """As `numpy.cumsum` of the words, in formats as those of `sum`."""
        found = functions.format_of_sum(self.dtype, dtype)
        return found.of(self._words.cumsum(axis, found.word, out))

    def min(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> EncryptedFixed:
        """As `numpy.min`, by a tree of comparisons."""
        first = None if initial is None else operations.words_of(initial, self.dtype)
        return self.dtype.of(self._words.min(axis, out, keepdims, first, where))

    def max(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> EncryptedFixed:
        """As `numpy.max`, by a tree of comparisons."""
        first = None if initial is None else operations.words_of(initial, self.dtype)
        return self.dtype.of(self._words.max(axis, out, keepdims, first, where))

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> EncryptedIntegers:
        """As `numpy.any`: whether one is not 0."""
        return self._words.any(axis, out, keepdims, where)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = None) -> EncryptedIntegers:
        """As `numpy.all`: whether none is 0."""
        return self._words.all(axis, out, keepdims, where)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
        """As `numpy.argmin`."""
        return self._words.argmin(axis, out, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
        """As `numpy.argmax`."""
        return self._words.argmax(axis, out, keepdims=keepdims)

    def clip(self, min: Any = None, max: Any = None) -> EncryptedFixed:
        """As `numpy.clip`, with the names that `numpy.ndarray.clip` has."""
        return functions.clip(self, min, max)

    # Operators, all of Python's: what has no rule is refused in a sentence.

    __add__, __radd__ = _two(np.add), _two(np.add, True)
    __sub__, __rsub__ = _two(np.subtract), _two(np.subtract, True)
    __mul__, __rmul__ = _two(np.multiply), _two(np.multiply, True)
    __truediv__, __rtruediv__ = _two(np.true_divide), _two(np.true_divide, True)
    __lshift__, __rlshift__ = _two(np.left_shift), _two(np.left_shift, True)
    __rshift__, __rrshift__ = _two(np.right_shift), _two(np.right_shift, True)
    __lt__, __le__, __gt__, __ge__ = _two(np.less), _two(np.less_equal), _two(np.greater), _two(np.greater_equal)
    __eq__, __ne__ = _two(np.equal), _two(np.not_equal)
    __neg__, __pos__, __abs__ = _one(np.negative), _one(np.positive), _one(np.absolute)
    __floordiv__, __rfloordiv__ = _two(np.floor_divide), _two(np.floor_divide, True)
    __mod__, __rmod__ = _two(np.remainder), _two(np.remainder, True)
    __divmod__, __rdivmod__ = _two(np.divmod), _two(np.divmod, True)
    __pow__, __rpow__ = _two(np.power), _two(np.power, True)
    __matmul__, __rmatmul__ = _two(np.matmul), _two(np.matmul, True)
    __and__, __rand__ = _two(np.bitwise_and), _two(np.bitwise_and, True)
    __or__, __ror__ = _two(np.bitwise_or), _two(np.bitwise_or, True)
    __xor__, __rxor__ = _two(np.bitwise_xor), _two(np.bitwise_xor, True)
    __invert__ = _one(np.invert)
    __hash__ = None  # type: ignore[assignment]
    __round__, __floor__, __ceil__, __trunc__ = (_without(name) for name in ("round", "floor", "ceil", "trunc"))

    # A column or a table of pandas on the left leaves the operator to this class.
    __pandas_priority__ = 5000

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **given: Any) -> Any:
        if method != "__call__":
            return options.by_method(ufunc, method, inputs, given)
        if given:
            options.refuse(ufunc, given)
        return operations.apply(ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return functions.call(function, args, kwargs)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "These values are encrypted and cannot become a numpy array; decrypt them with session.decrypt(x), join "
            "arrays with numpy.stack([x, y]), and call x.astype(numpy.float64) beside floats of CKKS."
        )

    def __index__(self) -> NoReturn:
        raise TypeError(
            "Nobody without the secret key sees an encrypted number; session.decrypt(x) gives it, and "
            "numpy.where(mask, x, 0) chooses elements."
        )

    __int__ = __float__ = __complex__ = __index__

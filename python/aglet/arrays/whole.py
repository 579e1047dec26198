"""What arrays of encrypted booleans and whole numbers share, in digits or in slots: operators, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from aglet.arrays import casts
from aglet.arrays.digits import operations

__all__ = ["WholeNumbers"]


def _two(ufunc: np.ufunc, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """The operator of a universal function of two arrays."""

    def operator(self: Any, other: Any) -> Any:
        if not operations.is_operand(other):
            # Python would answer by identity.
            if ufunc in (np.equal, np.not_equal) and other is not None:
                raise TypeError(
                    f"Encrypted integers are compared with arrays and whole numbers, not with {type(other).__name__}; "
                    "convert it first."
                )
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        floats = casts.lifted(*pair)
        return self._apply(ufunc, pair) if floats is None else ufunc(*floats)

    return operator


def _one(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """The operator of a universal function of one array."""
    return lambda self: self._apply(ufunc, (self,))


class WholeNumbers:
    """The base of `EncryptedIntegers` and `EncryptedSlots`."""

    __slots__ = ()

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    _apply: Callable[[np.ufunc, Sequence[Any]], Any]
    """A universal function of arrays of this kind and numbers in the clear."""
    _called: Callable[[np.ufunc, str, Sequence[Any], dict[str, Any]], Any]
    """The same, by any method of it, with options."""
    _function: Callable[[Any, Sequence[Any], dict[str, Any]], Any]
    """Another function of numpy."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("An encrypted number has no length, because its shape is ().")
        return self.shape[0]

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

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        floats = casts.lifted(*inputs)
        if floats is not None:
            return getattr(ufunc, method)(*floats, **options)
        return self._called(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        floats = casts.lifted(args, kwargs)
        return self._function(function, args, kwargs) if floats is None else function(*floats[0], **floats[1])

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("These values are encrypted and cannot become a numpy array; call session.decrypt(x).")

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "Nobody without the secret key can tell whether an encrypted value is true; use numpy.where(flag, x, y)."
        )

    def __index__(self) -> NoReturn:
        raise TypeError("An encrypted value is no index; of digits, session.take(table, x) looks it up in a table.")

    __int__ = __float__ = __index__

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("An array belongs to its session and cannot be pickled; write it with session.save(x, folder).")

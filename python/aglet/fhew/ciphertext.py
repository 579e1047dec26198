"""`FhewCiphertext`: an array of encrypted bits or integers that indexes, broadcasts and reshapes like a numpy array.

Each indexing or shape operation is applied by numpy to an array of positions. The result holds the ciphertexts at these
positions. Ciphertexts are shared, so none of this copies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet.errors import ParameterError, RangeError
from aglet.shaped import Shaped

__all__ = ["FhewCiphertext", "blocks"]

Places = NDArray[np.int64]

_BLOCK = 2**14
"""So many ciphertexts at a time, as Python looks for Ctrl-C in between. Those of a public key share masks by 2,048."""


def blocks(count: int, each: int = 1) -> Iterator[slice]:
    """The parts of so many rows of `each` ciphertexts that are worked on one after the other; at least one."""
    rows = max(1, _BLOCK // each)
    return (slice(at, min(at + rows, count)) for at in range(0, max(1, count), rows))


_REARRANGE: frozenset[Callable[..., Any]] = frozenset(
    {
        np.append, np.array_split, np.atleast_1d, np.atleast_2d, np.broadcast_arrays, np.broadcast_to, np.concatenate,
        np.dsplit, np.dstack, np.expand_dims, np.flip, np.fliplr, np.flipud, np.hsplit, np.hstack, np.moveaxis,
        np.ndim, np.ravel, np.repeat, np.reshape, np.roll, np.rollaxis, np.rot90, np.shape, np.size, np.split,
        np.squeeze, np.stack, np.sum, np.swapaxes, np.take, np.tile, np.transpose, np.vsplit, np.vstack,
    }
)  # fmt: skip
"""numpy functions that only move elements and ignore their values, and `numpy.sum`."""

_OPERANDS: dict[Callable[..., Any], int | None] = {
    np.append: 2, np.atleast_1d: None, np.atleast_2d: None, np.broadcast_arrays: None,
}  # fmt: skip
"""How many leading arguments are arrays to be moved. None means all; functions that are not listed have one."""

_NAMES = frozenset({"a", "A", "arr", "array", "arrays", "ary", "m", "tup", "values"})
"""The names of these arguments, if given by keyword."""

_IN_THE_CLEAR = ("dtype", "out")
"""Arguments that would change the array of positions or write it somewhere."""


class FhewCiphertext(Shaped):
    """An array of encrypted bits or integers, of any shape. Engines make it, and it never changes.

    It indexes, slices, reshapes, transposes (`T`) and iterates like a numpy array. numpy functions that only move
    elements work on it as well: `numpy.concatenate`, `stack`, `broadcast_to`, `roll` and the like.

    Integers have `x + y`, `x - y`, `-x` and `x.sum(axis)`. With whole numbers in the clear they have `x + 3`, `5 - x`
    and `2 * x`. None of these needs a key, and all broadcast. Bits have `~x`; every other operation on bits is a gate
    of the engine. Each ciphertext records which noises it is a sum of. Tables and `decrypt` use this record to refuse a
    result that would be wrong too often.

    Only the secret key can tell whether a sum is in range, so keep sums in range yourself. Before a table is evaluated,
    a sum of padded messages must be a message of the engine, 0 to 2^bits - 1, and a sum of signed integers must be in
    their range. A sum outside the range is read as another number. Sums in the domains "full" and "negacyclic" and sums
    of unsigned integers wrap around modulo 2^bits and are always in range.

    Examples
    --------
    >>> from aglet import FhewEngine
    >>> engine = FhewEngine(bits=2)
    >>> key = engine.create_secret_key()
    >>> x = engine.encrypt([[0, 1], [2, 3]], key)
    >>> engine.decrypt(x[:, 0] + 1, key)
    array([1, 3])
    """

    __slots__ = ("_array",)
    _array: _core.FhewArray
    # numpy leaves the operators to this class.
    __array_ufunc__ = None

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("Engines make ciphertexts; call engine.encrypt(values, secret_key).")

    @classmethod
    def _of(cls, array: _core.FhewArray) -> FhewCiphertext:
        made = object.__new__(cls)
        made._array = array
        return made

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(self._array.shape)

    @property
    def bits(self) -> int:
        """The number of bits of a message; 1 if it holds bits for gates."""
        return self._array.bits

    @property
    def is_bits(self) -> bool:
        """True if it holds bits for gates, False if it holds integers for tables."""
        return self._array.is_bits

    @property
    def form(self) -> str:
        """What it holds: "bits", messages ("padded", "full", "negacyclic"), or integers ("signed", "unsigned")."""
        return self._array.form

    @property
    def key_id(self) -> str:
        """Short id of the secret key that decrypts it."""
        return self._array.key_id

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._array.preset

    @property
    def nbytes(self) -> int:
        """Bytes in memory. Arrays that were indexed or reshaped from one another share them."""
        return self._array.byte_count

    def __repr__(self) -> str:
        what = "bits" if self.is_bits else f"{self.form} integers of {self.bits} bits"
        return f"<FhewCiphertext: {what}, shape {self.shape}, preset {self.preset}, key {self.key_id}>"

    # Places

    def _places(self) -> Places:
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def _at(self, places: Any) -> FhewCiphertext:
        found = np.asarray(places, dtype=np.int64)
        return self._of(self._array.take(found.ravel(), list(found.shape)))

    @classmethod
    def _joined(cls, parts: Sequence[_core.FhewArray], shape: Sequence[int]) -> FhewCiphertext:
        """The ciphertexts of all parts, in this shape."""
        whole = cls._of(parts[0] if len(parts) == 1 else _core.FhewArray.joined(list(parts)))
        return whole if whole.shape == tuple(shape) else whole.reshape(tuple(shape))

    def __getitem__(self, index: Any) -> FhewCiphertext:
        return self._at(checks.rearranged("index", self.shape, lambda: self._places()[index]))

    def reshape(self, *shape: Any) -> FhewCiphertext:
        """The same ciphertexts in another shape, as `numpy.ndarray.reshape`."""
        return self._at(checks.rearranged("shape", self.shape, lambda: self._places().reshape(*shape)))

    def ravel(self) -> FhewCiphertext:
        """The same ciphertexts on one axis."""
        return self.reshape(-1)

    def transpose(self, *axes: Any) -> FhewCiphertext:
        """The same ciphertexts with the axes in another order; without arguments the order is reversed."""
        return self._at(checks.rearranged("order of axes", self.shape, lambda: self._places().transpose(*axes)))

    @property
    def T(self) -> FhewCiphertext:  # noqa: N802, the name that numpy gives it
        """The same ciphertexts with the axes reversed."""
        return self.transpose()

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in _REARRANGE:
            if not all(issubclass(kind, FhewCiphertext) for kind in types):
                return NotImplemented
            raise TypeError(
                f"numpy.{function.__name__} needs a bootstrap key, which a FhewCiphertext does not have; call methods "
                "of the engine, such as lookup and compare, or encrypt with session.encrypt(values, dtype=numpy.uint8)."
            )
        if function is np.sum:
            return _sum(*args, **kwargs)
        pool: list[FhewCiphertext] = []

        def places(value: Any) -> Any:
            if isinstance(value, FhewCiphertext):
                start = sum(one.size for one in pool)
                pool.append(value)
                return value._places() + start
            if isinstance(value, list | tuple):
                return type(value)(places(one) for one in value)
            raise TypeError(
                f"numpy.{function.__name__} cannot mix encrypted values with {type(value).__name__} in the clear; "
                "encrypt it first, with engine.encrypt(values, secret_key)."
            )

        moved = _OPERANDS.get(function, 1)
        if any(kwargs.get(name) is not None for name in _IN_THE_CLEAR):
            raise TypeError(
                f"numpy.{function.__name__} of encrypted values takes no "
                f"{' and no '.join(_IN_THE_CLEAR)}; leave them out."
            )
        if any(isinstance(value, FhewCiphertext) for value in args[moved:]):
            raise TypeError(
                f"The options of numpy.{function.__name__} must be in the clear, and one is encrypted; give a "
                "plain number."
            )
        found = function(
            *(places(value) for value in args[:moved]),
            *args[moved:],
            **{name: places(value) if name in _NAMES else value for name, value in kwargs.items()},
        )
        if isinstance(found, np.ndarray) and any(found is value for value in args):
            raise TypeError(f"numpy.{function.__name__} cannot write encrypted values into an array; leave out= out.")
        joined = self._of(_core.FhewArray.joined([one._array for one in pool]))

        def taken(value: Any) -> Any:
            # A single element comes out of numpy as a number: the place of it.
            if isinstance(value, np.ndarray | np.integer):
                return joined._at(value)
            return type(value)(taken(one) for one in value) if isinstance(value, list) else value

        if function is np.broadcast_arrays:
            return tuple(joined._at(one) for one in found)
        return found if function in (np.shape, np.size, np.ndim) else taken(found)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("These values are encrypted and cannot become a numpy array; call engine.decrypt(x, key).")

    def broadcast_to(self, shape: tuple[int, ...]) -> FhewCiphertext:
        """The same ciphertexts, repeated along new axes and axes of length 1, as `numpy.broadcast_to`."""
        return self._at(
            checks.rearranged("shape", self.shape, lambda: np.broadcast_to(self._places(), checks.shape(shape)))
        )

    # Sums

    def sum(self, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> FhewCiphertext:
        """The sum over some axes, or over all axes if none is given, as `numpy.sum`. It is far faster than many `+`.

        Raises
        ------
        ParameterError
            If the array holds bits, which cannot be added.
        RangeError
            If there is nothing to add.
        """
        axes = _axes(axis, self.ndim)
        kept = [at for at in range(self.ndim) if at not in axes]
        count = int(np.prod([self.shape[at] for at in axes], dtype=np.int64))
        if count == 0:
            raise RangeError("A sum of no ciphertexts has no value and no key; sum at least one.")
        shape = tuple(1 if at in axes else n for at, n in enumerate(self.shape) if keepdims or at not in axes)
        rows = self.transpose(*kept, *axes) if self.ndim else self
        return self._joined(rows._sums(count), shape)

    def _sums(self, count: int) -> list[_core.FhewArray]:
        """The sums of each `count` consecutive ciphertexts, a block after the other."""
        if self.size <= _BLOCK:
            return [self._array.sums(count)]
        whole = self.ravel()
        if count <= _BLOCK:
            rows = (slice(count * part.start, count * part.stop) for part in blocks(self.size // count, count))
            return [whole[part]._array.sums(count) for part in rows]
        parts = [[whole[at : at + count][part]._array for part in blocks(count)] for at in range(0, self.size, count)]
        short = [_core.FhewArray.joined([one.sums(one.shape[0]) for one in row]) for row in parts]
        return [one.sums(one.shape[0]) for one in short]

    def _with(self, other: FhewCiphertext, weight: int) -> FhewCiphertext:
        shape = checks.common_shape(self.shape, other.shape)
        mine, others = (np.broadcast_to(x._places(), shape).ravel() for x in (self, other))
        parts = [self._at(mine[part])._array.plus(other._at(others[part])._array, weight) for part in blocks(mine.size)]
        return self._joined(parts, shape)

    def _numbers(self, numbers: Any) -> tuple[FhewCiphertext, Places] | None:
        found = _as_numbers(numbers)
        if found is None:
            return None
        shape = checks.common_shape(self.shape, found.shape)
        mine = self._at(np.broadcast_to(self._places(), shape))
        return mine, np.ascontiguousarray(np.broadcast_to(found, shape)).ravel()

    def _plus_clear(self, numbers: Any, sign: int) -> Any:
        found = self._numbers(numbers)
        if found is None:
            return NotImplemented
        return self._of(found[0]._array.plus_clear(sign * found[1]))

    def __add__(self, other: Any) -> Any:
        return self._with(other, 1) if isinstance(other, FhewCiphertext) else self._plus_clear(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, -1) if isinstance(other, FhewCiphertext) else self._plus_clear(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus_clear(other, 1)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, FhewCiphertext):
            raise ParameterError(
                "Two ciphertexts are multiplied by a table on both, with lookup2; `*` takes one and a whole number."
            )
        found = self._numbers(factor)
        if found is None:
            return NotImplemented
        whole, factors = found
        parts = [whole.ravel()[part]._array.times(factors[part]) for part in blocks(whole.size)]
        return self._joined(parts, whole.shape)

    __rmul__ = __mul__

    def __neg__(self) -> FhewCiphertext:
        return self._of(self._array.times(np.full(self.size, -1, dtype=np.int64)))

    def __invert__(self) -> FhewCiphertext:
        return self._of(self._array.negated())

    # What only a key could tell

    def _hidden(self, *_: Any) -> NoReturn:
        raise TypeError("Python does not compare encrypted values; use a gate or table on them, or decrypt them first.")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _hidden
    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return FhewCiphertext._of, (self._array,)

    def __copy__(self) -> FhewCiphertext:
        return self

    def __deepcopy__(self, _memo: Any) -> FhewCiphertext:
        return self


def _axes(axis: Any, count: int) -> tuple[int, ...]:
    """Axes as numbers of 0 or more.

    Raises
    ------
    RangeError
        If an axis does not exist or is given twice.
    """
    given = range(count) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(checks.whole("axis", at) for at in given)
    found = tuple(at + count if at < 0 else at for at in axes)
    if len(set(found)) < len(found) or not all(0 <= at < count for at in found):
        raise RangeError(f"axis={axis} does not name axes of this array; it has {count}, and each may be given once.")
    return found


def _sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """`numpy.sum` of a ciphertext."""
    if not isinstance(a, FhewCiphertext) or dtype is not None or out is not None or others:
        raise TypeError("numpy.sum of encrypted values takes the array, axis and keepdims.")
    return a.sum(axis, keepdims=checks.flag("keepdims", keepdims))


def _as_numbers(numbers: Any) -> Places | None:
    """Whole numbers in the clear as int64, or None if the argument is not a number."""
    if isinstance(numbers, str | bytes) or numbers is None:
        return None
    if isinstance(numbers, np.ma.MaskedArray):
        raise TypeError("This array is masked, and ciphertexts have no mask; give .filled(value) in its place.")
    if isinstance(numbers, np.matrix):
        raise TypeError("The * of numpy.matrix is a matrix product; give numpy.asarray(m) for one of each element.")
    try:
        found = np.asarray(numbers)
    except ValueError as error:
        raise TypeError("The rows of these numbers differ in length; give equal rows.") from error
    if found.dtype.kind not in "iu" or (found.dtype.kind == "u" and found.size and int(found.max()) >= 2**63):
        if found.dtype.kind in "bfcuO" or isinstance(numbers, np.ndarray | np.generic):
            raise TypeError(
                f"Encrypted integers are added to whole numbers of up to 63 bits, or multiplied by them, not by "
                f"{found.dtype}; convert them first."
            )
        return None
    return found.astype(np.int64)

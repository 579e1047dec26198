"""`EncryptedArray`: an array of any shape over as many ciphertexts as it needs, with numpy's operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import functions, moves, order, places, products, protocols, sums
from aglet.arrays.interval import Interval
from aglet.ckks import values
from aglet.errors import LevelError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.machine import Chunk
    from aglet.arrays.session import Session

__all__ = ["EncryptedArray"]

Index = NDArray[np.int64]


class EncryptedArray:
    """Encrypted numbers in the shape of a numpy array; sessions make them (`session.encrypt`).

    Elements stand in slots of chunks (ciphertexts) as `index` says: place `slot_count * chunk + slot`. Views (slices,
    `reshape`, `T`, joins) choose places and cost nothing. What lies between is somewhere in the interval of the values
    too, as a refresh minds every slot. Operators take and give arrays; nothing is decrypted, compared or refreshed
    without being asked for, but for `refresh="auto"`, which gives the same values more levels.
    """

    __slots__ = ("_chunks", "filler", "index", "interval", "period", "session")

    session: Session
    index: Index
    """The place of each element, in the shape of the array."""
    interval: Interval
    """What all slots are within."""
    filler: complex | None
    """What slots without an element hold, as far as it is one known number."""
    period: int | None
    """A step after which the slots of a chunk repeat, if one is known: one whose size divides a chunk is written into
    it over and over, and sums around a chunk come out so. Broadcasting to such places costs nothing."""

    def __init__(
        self,
        session: Session,
        chunks: Sequence[Chunk],
        index: Index,
        interval: Interval,
        filler: complex | None = None,
        period: int | None = None,
    ) -> None:
        self.session, self._chunks = session, list(chunks)
        self.index, self.filler, self.period = index, filler, period
        # Complex numbers have a size, and no least one.
        self.interval = interval if self.is_real else interval.disc

    def replaced(self, **changes: Any) -> EncryptedArray:
        """An array of the same session, and the same but for what is named: arguments of the class."""
        names = ("chunks", "index", "interval", "filler", "period")
        return EncryptedArray(self.session, **{name: getattr(self, name) for name in names} | changes)

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        """As numpy's."""
        return self.index.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.index.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.index.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of what is decrypted: float64 or complex128."""
        return np.dtype(np.float64 if self.is_real else np.complex128)

    @property
    def is_real(self) -> bool:
        """Whether all values are real, by the types that they were made of."""
        return all(chunk.is_real for chunk in self._chunks)

    @property
    def level(self) -> int:
        """The number of multiplications left, of the lowest chunk."""
        return int(min(chunk.level for chunk in self._chunks))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The ciphertexts."""
        return tuple(self._chunks)

    @property
    def bound(self) -> float:
        """The largest absolute value that an element may have."""
        return self.interval.size

    def __repr__(self) -> str:
        what = "real" if self.is_real else "complex"
        return (
            f"<EncryptedArray {self.shape}: {what}, level {self.level}, within [{self.interval.low:.4g}, "
            f"{self.interval.high:.4g}], {len(self._chunks)} ciphertext{'s' * (len(self._chunks) != 1)}>"
        )

    def _repr_html_(self) -> str:
        most = max(self.session.max_level, self.level, 1)
        return (
            f"<b>EncryptedArray</b> {self.shape}, {'real' if self.is_real else 'complex'}, "
            f"{len(self._chunks)} ciphertexts<br>level <progress max='{most}' value='{self.level}'></progress> "
            f"{self.level} of {most}, values within [{self.interval.low:.4g}, {self.interval.high:.4g}]"
        )

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("An encrypted number has no length; its shape is ().")
        return self.shape[0]

    # What would need the values

    def _refuse(self, what: str) -> NoReturn:
        raise TypeError(f"{what} needs the values, and these are encrypted; decrypt them first: session.decrypt(x).")

    def __bool__(self) -> bool:
        self._refuse("A condition")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("A numpy array")

    def __float__(self) -> float:
        self._refuse("A float")

    def __int__(self) -> int:
        self._refuse("An int")

    def __complex__(self) -> complex:
        self._refuse("A complex number")

    def __eq__(self, other: object) -> Any:
        self._refuse("A comparison for equality")

    def __ne__(self, other: object) -> Any:
        self._refuse("A comparison for equality")

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("An array belongs to its session; write it with session.save(x, folder).")

    # Views

    def __getitem__(self, key: Any) -> EncryptedArray:
        if any(isinstance(part, EncryptedArray) for part in (key if isinstance(key, tuple) else (key,))):
            self._refuse("An index")
        return self._view(checks.rearranged("index", self.shape, lambda: self.index[key]))

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("An encrypted number has no elements.")
        return (self[i] for i in range(len(self)))

    def _view(self, index: Any) -> EncryptedArray:
        """The elements at these places; chunks without one are left out."""
        index = np.asarray(index, dtype=np.int64)
        if not index.size:
            raise RangeError("This choice has no element, and an encrypted array has one at least.")
        slots = self.session.slots
        used, inverse = np.unique(index // slots, return_inverse=True)
        placed = inverse.reshape(index.shape) * slots + index % slots
        chosen = self.replaced(chunks=[self._chunks[i] for i in used], index=placed, filler=None)
        # What was an element and is none now does not hold the filler.
        if self.filler is not None and index.size >= self.size and chosen.place_count == self.place_count:
            chosen.filler = self.filler
        return chosen

    def reshape(self, *shape: Any) -> EncryptedArray:
        """As numpy's; it costs nothing."""
        return self._view(checks.rearranged("shape", self.shape, lambda: self.index.reshape(*shape)))

    def ravel(self) -> EncryptedArray:
        """As numpy's; it costs nothing."""
        return self._view(self.index.ravel())

    flatten = ravel

    def transpose(self, *axes: Any) -> EncryptedArray:
        """As numpy's; it costs nothing."""
        return self._view(checks.rearranged("order of axes", self.shape, lambda: self.index.transpose(*axes)))

    @property
    def T(self) -> EncryptedArray:  # noqa: N802
        """The transposed array; it costs nothing."""
        return self.transpose()

    def compact(self) -> EncryptedArray:
        """The elements in a row from slot 0 of as few chunks as hold them; one level, unless they lie so already."""
        return moves.compact(self)

    # Levels and bounds

    def assume(self, *, bound: Any) -> EncryptedArray:
        """The same values, said to lie within a bound that arithmetic on intervals cannot see.

        Parameters
        ----------
        bound
            The largest absolute value, or a pair of the least and the largest value. It must hold for slots without an
            element too; if some operation left other values there, they are set to a value within.
        """
        interval = Interval.of(bound) if self.is_real else Interval.of(bound).disc
        whole = self if self.all_within(interval) else moves.cleaned(self, interval.inside)
        chunks = [self.session.machine.known(chunk, interval.size) for chunk in whole._chunks]
        return whole.replaced(chunks=chunks, interval=interval)

    def all_within(self, interval: Interval) -> bool:
        """Whether slots without an element are known to lie in the interval where all elements do."""
        return self.filler in interval if self.filler is not None else self.covers_all

    @property
    def covers_all(self) -> bool:
        """Whether every slot holds an element."""
        period = self.period or self.session.slots
        return places.count(self, period) == len(self._chunks) * period

    @property
    def place_count(self) -> int:
        """How many slots hold an element."""
        return places.count(self, self.session.slots)

    @property
    def uniform(self) -> bool:
        """Whether all elements are one number, which stands in every slot of one chunk."""
        return self.period == 1 and len(self._chunks) == 1

    def refresh(self) -> EncryptedArray:
        """The same values at the level that a bootstrap leaves; real chunks go in pairs."""
        fresh = self.replaced()
        fresh._refresh()
        return fresh

    def _refresh(self) -> None:
        self._chunks = self.session.refreshed(self._chunks, self.interval, self.is_real)

    def need(self, levels: int) -> None:
        """Have so many levels: with `refresh="auto"` all chunks are refreshed together where they have fewer.

        Raises
        ------
        LevelError
            If levels are missing and the session does not refresh, or a refresh leaves fewer.
        """
        if self.level >= levels:
            return
        self.session.may_refresh(levels, self.level)
        self._refresh()

    # Arithmetic

    def _slotwise(
        self, other: EncryptedArray, operation: Callable[[Chunk, Chunk], Chunk], interval: Interval, filler: Any
    ) -> EncryptedArray:
        """An operation on chunks, once the elements of both lie in the same places."""
        left, right = moves.aligned(self, other)
        pairs = zip(left.matched(right), right.matched(left), strict=True)
        known = left.filler is not None and right.filler is not None
        frame = right if left.uniform else left
        return frame.replaced(
            chunks=[operation(x, y) for x, y in pairs],
            interval=interval,
            filler=filler(left.filler, right.filler) if known else None,
            period=_together(left.period, right.period),
        )

    def matched(self, other: EncryptedArray) -> list[Chunk]:
        """Chunks, as many as the other array has where this one is a number in every slot."""
        return self._chunks * len(other._chunks) if self.uniform else self._chunks

    def each(
        self, operation: Callable[[Chunk], Chunk], interval: Interval, filler: Callable[[Any], Any] | None
    ) -> EncryptedArray:
        """An operation on every chunk."""
        value = None if self.filler is None or filler is None else filler(self.filler)
        return self.replaced(chunks=[operation(chunk) for chunk in self._chunks], interval=interval, filler=value)

    def plain(self, other: Any) -> Any:
        """Numbers that are no secret: one number, or an array of doubles.

        Doubles, as small integers and booleans would wrap or refuse where they are negated, and small floats round.
        """
        return values.as_number(other) if values.is_number(other) else values.as_operand(other)

    def negative(self, other: Any) -> Any:
        """The negative of another operand, encrypted or not."""
        return -other if isinstance(other, EncryptedArray) else -self.plain(other)

    def times_whole(self, factor: int) -> EncryptedArray:
        """Times a whole number; no level."""
        multiply = self.session.machine.multiply
        return self.each(lambda x: multiply(x, factor), self.interval.times(factor), lambda x: x * factor)

    def within(self, interval: Interval) -> EncryptedArray:
        """The same; its elements are known to lie in this interval too, which it states if all slots do."""
        low, high = max(self.interval.low, interval.low), min(self.interval.high, interval.high)
        return self.replaced(interval=Interval(low, high)) if self.all_within(interval) else self

    def reshape_uniform(self, shape: tuple[int, ...]) -> EncryptedArray:
        """One number in every slot, as an array of another shape."""
        return self.replaced(index=np.zeros(shape, dtype=np.int64), period=1)

    def spelled_out(self) -> EncryptedArray:
        """A number in every slot as an array in consecutive places; it costs nothing."""
        slots, count = self.session.slots, self.index.size
        index = np.arange(count, dtype=np.int64).reshape(self.shape)
        return self.replaced(chunks=self._chunks * -(-count // slots), index=index, filler=None, period=1)

    def broadcast_to(self, shape: tuple[int, ...]) -> EncryptedArray:
        """As numpy's; a number in every slot is broadcast for nothing, other elements are copied to more slots."""
        shape = checks.shape(shape)
        if shape == self.shape:
            return self
        index = checks.rearranged("shape", self.shape, lambda: np.broadcast_to(self.index, shape))
        return self.reshape_uniform(shape) if self.uniform else moves.laid_out(self, index)

    def __add__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            self.session.same(other)
            interval = self.interval + other.interval
            return self._slotwise(other, self.session.machine.add, interval, lambda x, y: x + y)
        return functions.add_plain(self, self.plain(other))

    __radd__ = __add__

    def __neg__(self) -> EncryptedArray:
        return self.each(self.session.machine.negate, -self.interval, lambda x: -x)

    def __pos__(self) -> EncryptedArray:
        return self

    def __sub__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            self.session.same(other)
            interval = self.interval - other.interval
            return self._slotwise(other, self.session.machine.subtract, interval, lambda x, y: x - y)
        return functions.add_plain(self, self.negative(other))

    def __rsub__(self, other: Any) -> EncryptedArray:
        return functions.add_plain(-self, self.plain(other))

    def __mul__(self, other: Any) -> EncryptedArray:
        if not isinstance(other, EncryptedArray):
            return functions.multiply_plain(self, self.plain(other))
        self.session.same(other)
        if other is self:
            return self.square()
        left, right = moves.aligned(self, other)
        left.need(1)
        right.need(1)
        interval = left.interval * right.interval if left.is_real and right.is_real else _disc(left, right)
        return left._slotwise(right, self.session.machine.multiply, interval, lambda x, y: x * y)

    __rmul__ = __mul__

    def square(self) -> EncryptedArray:
        """`x * x`, cheaper than a product."""
        self.need(1)
        return self.each(self.session.machine.square, self.interval.square(self.is_real), lambda x: x * x)

    def __truediv__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            raise TypeError(
                "Encrypted numbers are no divisors; fit 1/x on the range of the divisor: "
                "session.chebyshev(x, numpy.polynomial.chebyshev.chebinterpolate(...))."
            )
        divisor = np.asarray(self.plain(other))
        if not divisor.all():
            raise ZeroDivisionError("The divisor is zero somewhere.")
        with np.errstate(over="ignore"):
            factor = 1 / divisor
        return self * (factor if divisor.ndim else factor.item())

    def __rtruediv__(self, other: Any) -> EncryptedArray:
        raise TypeError(
            "Encrypted numbers are no divisors; fit 1/x on the range of the divisor and take session.poly or "
            "session.chebyshev."
        )

    def __pow__(self, power: Any) -> EncryptedArray:
        exponent = values.as_number(power) if values.is_number(power) else 0
        if isinstance(exponent, complex) or not 1 <= exponent < 2**20 or exponent != int(exponent):
            raise TypeError("Only whole powers from 1 are served; session.chebyshev takes other functions.")
        if exponent == 1:
            return self
        if exponent == 2:
            return self.square()
        return self.session.poly(self, [0] * int(exponent) + [1])

    def __matmul__(self, other: Any) -> EncryptedArray:
        return products.matmul(self, other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return products.rmatmul(other, self)

    def __gt__(self, other: Any) -> EncryptedArray:
        return functions.compare("compare", self, other)

    def __lt__(self, other: Any) -> EncryptedArray:
        return functions.compare("compare", -self, self.negative(other))

    # Where two values are equal, the comparison is undecided either way.
    __ge__ = __gt__
    __le__ = __lt__

    def __abs__(self) -> EncryptedArray:
        return functions.compare("maximum", self, -self)

    # Sums and moves

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> EncryptedArray:
        """The sum over one axis, several, or all; no level where slots without an element hold a known number."""
        return sums.total(self, axis, keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> EncryptedArray:
        """The mean over one axis, several, or all; one level."""
        return sums.mean(self, axis, keepdims)

    def var(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> EncryptedArray:
        """The variance over one axis, several, or all, as numpy's."""
        return sums.variance(self, axis, ddof, keepdims)

    def argmax(self) -> EncryptedArray:
        """The place of the largest of a vector, near a whole number; see `numpy.sort`."""
        return order.argmax(self)

    def argmin(self) -> EncryptedArray:
        """The place of the smallest of a vector, near a whole number."""
        return order.argmin(self)

    def max(self) -> EncryptedArray:
        """The largest of a vector."""
        return order.largest(self)

    def min(self) -> EncryptedArray:
        """The smallest of a vector."""
        return order.smallest(self)

    def dot(self, other: Any) -> EncryptedArray:
        """As `numpy.dot`: `x @ y`, or `x * y` for a number."""
        found: EncryptedArray = products.dot(self, other)
        return found

    def conj(self) -> EncryptedArray:
        """The complex conjugates; no level."""
        if self.is_real:
            return self
        return self.each(self.session.machine.conjugate, self.interval, lambda x: np.conj(x))

    conjugate = conj

    # numpy

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return protocols.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, _types: Any, given: Any, options: Any) -> Any:
        return protocols.function(function, given, options)


def _together(left: int | None, right: int | None) -> int | None:
    """The period of an operation on two: both are powers of two."""
    return max(left, right) if left and right else None


def _disc(left: EncryptedArray, right: EncryptedArray) -> Interval:
    size = left.interval.size * right.interval.size
    if not math.isfinite(size):
        raise LevelError("The range of this product is beyond all numbers; say what it is: x.assume(bound=...).")
    return Interval(-size, size)

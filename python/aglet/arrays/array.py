"""`EncryptedArray`: an array of any shape, stored in as many ciphertexts as it needs, with numpy's operators."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet import checks
from aglet.arrays import casts, fits, functions, moves, places, products, protocols
from aglet.arrays.interval import Interval
from aglet.arrays.reductions import Reductions
from aglet.arrays.refusals import Refusals
from aglet.arrays.rounding import Rounded
from aglet.arrays.views import Views
from aglet.ckks import values
from aglet.shaped import Shaped

if TYPE_CHECKING:
    from aglet.arrays.machine import Chunk
    from aglet.arrays.session import Session

__all__ = ["EncryptedArray"]

Index = NDArray[np.int64]


def _beside_digits(method: Callable[[Any, Any], EncryptedArray]) -> Callable[[Any, Any], EncryptedArray]:
    """An operator that takes digits as floats, as numpy does with whole numbers."""

    def lifting(self: Any, other: Any) -> EncryptedArray:
        return method(self, casts.floats(other))

    return functools.update_wrapper(lifting, method)


class EncryptedArray(Views, Reductions, Rounded, Refusals, Shaped):
    """Encrypted numbers in the shape of a numpy array. `session.encrypt` makes one.

    The array is stored in chunks: ciphertexts of `slot_count` slots each. `index` holds the place of each element,
    which is `slot_count * chunk + slot`. Views (slices, `reshape`, `T`, joins) only choose places and cost nothing. The
    other slots hold values of the same interval, because a bootstrap needs all slots within its bound. Operators take
    and return arrays. Nothing is decrypted, compared or bootstrapped unless asked for, except that `refresh="auto"`
    bootstraps when levels run out.
    """

    __slots__ = ("_state", "index", "interval", "period", "session")

    session: Session
    index: Index
    """The place of each element, in the shape of the array."""
    interval: Interval
    """The interval that the values of all slots lie in."""
    period: int | None
    """The period of the slots of a chunk, if one is known: the slots repeat after this step. An array whose size
    divides a chunk is written into it repeatedly, and sums around a chunk are periodic too. Broadcasting a periodic
    array costs nothing.
    """

    def __init__(
        self,
        session: Session,
        chunks: Sequence[Chunk],
        index: Index,
        interval: Interval,
        filler: complex | None = None,
        period: int | None = None,
    ) -> None:
        self.session, self.index, self.period = session, index, period
        # Both at once: another thread may bootstrap meanwhile, which changes both.
        self._state: tuple[tuple[Chunk, ...], complex | None] = tuple(chunks), filler
        # Complex numbers have a size, and no least one.
        self.interval = interval if self.is_real else interval.disc

    def replaced(self, **changes: Any) -> EncryptedArray:
        """Copy the array, with the named arguments of the class replaced."""
        chunks, filler = self._state
        own: dict[str, Any] = {"chunks": chunks, "index": self.index, "filler": filler, "period": self.period}
        return EncryptedArray(self.session, **own | {"interval": self.interval} | changes)

    def still(self) -> EncryptedArray:
        """The array as it is now, for those who ask for its ciphertexts and for their filler."""
        return self if self.filler is None else self.replaced()

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, as in numpy."""
        return self.index.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the decrypted array: float64 or complex128."""
        return np.dtype(np.float64 if self.is_real else np.complex128)

    @property
    def is_real(self) -> bool:
        """Whether all values are real. This follows from the dtypes that they were made from."""
        return all(chunk.is_real for chunk in self.chunks)

    @property
    def level(self) -> int:
        """The number of multiplications that are left, in the chunk with the fewest."""
        return int(min(chunk.level for chunk in self.chunks))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The ciphertexts."""
        return self._state[0]

    @property
    def filler(self) -> complex | None:
        """The value of the slots without an element, if it is one known number."""
        return self._state[1]

    @property
    def bound(self) -> float:
        """The largest absolute value that an element may have."""
        return self.interval.size

    def __repr__(self) -> str:
        what = "real" if self.is_real else "complex"
        return (
            f"<EncryptedArray {self.shape}: {what}, level {self.level}, within [{self.interval.low:.4g}, "
            f"{self.interval.high:.4g}], {len(self.chunks)} ciphertext{'s' * (len(self.chunks) != 1)}>"
        )

    def _repr_html_(self) -> str:
        most = max(self.session.max_level, self.level, 1)
        return (
            f"<b>EncryptedArray</b> {self.shape}, {'real' if self.is_real else 'complex'}, "
            f"{len(self.chunks)} ciphertexts<br>level <progress max='{most}' value='{self.level}'></progress> "
            f"{self.level} of {most}, values within [{self.interval.low:.4g}, {self.interval.high:.4g}]"
        )

    # Levels and bounds

    def assume(self, *, bound: Any) -> EncryptedArray:
        """Declare a bound on the values that is smaller than the one which interval arithmetic computes.

        Parameters
        ----------
        bound
            The largest absolute value, or a pair of the least and the largest value. If a slot without an element may
            hold another value, it is set to a value within the bound.
        """
        interval = Interval.of(bound) if self.is_real else Interval.of(bound).disc
        now = self.still()
        whole = now if now.all_within(interval) else moves.cleaned(now, interval.inside)
        chunks = [self.session.machine.known(chunk, interval.size) for chunk in whole.chunks]
        return whole.replaced(chunks=chunks, interval=interval)

    def all_within(self, interval: Interval) -> bool:
        """Whether the slots without an element are known to lie in the interval of the elements."""
        return self.filler in interval if self.filler is not None else self.covers_all

    @property
    def covers_all(self) -> bool:
        """Whether every slot holds an element."""
        period = self.period or self.session.slots
        return places.count(self, period) == len(self.chunks) * period

    @property
    def place_count(self) -> int:
        """The number of slots that hold an element."""
        return places.count(self, self.session.slots)

    @property
    def uniform(self) -> bool:
        """Whether all elements are the same number, in every slot of one chunk."""
        return self.period == 1 and len(self.chunks) == 1

    def refresh(self) -> EncryptedArray:
        """Bootstrap the array. Real chunks are bootstrapped in pairs."""
        fresh = self.replaced()
        fresh._refresh()
        return fresh

    def _refresh(self) -> None:
        # The range is centred: an error grows with the bound, and slots of one number have one error, which is 0 for 0.
        # The sum of all slots would add up the error of those without an element.
        middle = self.interval.inside
        chunks, filler = (self if self.filler is None else moves.cleaned(self, middle))._state
        self._state = tuple(self.session.refreshed(chunks, self.interval, self.is_real)), filler

    def need(self, levels: int) -> None:
        """Return an array with at least this many levels.

        With `refresh="auto"` all chunks are bootstrapped if one has fewer.

        Raises
        ------
        LevelError
            If levels are missing and the session does not bootstrap, or a bootstrap leaves fewer levels.
        """
        if self.level >= levels:
            return
        self.session.may_refresh(levels, self.level)
        self._refresh()

    # Arithmetic

    def _slotwise(
        self, other: EncryptedArray, operation: Callable[[Chunk, Chunk], Chunk], interval: Interval, filler: Any
    ) -> EncryptedArray:
        """Apply an operation to chunks, after the elements of both arrays have the same places."""
        left, right = moves.aligned(self, other)
        (xs, of_left), (ys, of_right) = left._state, right._state
        count = max(len(xs), len(ys))
        # One number in every slot meets all chunks of the other.
        xs, ys = (xs * count if left.uniform else xs), (ys * count if right.uniform else ys)
        known = of_left is not None and of_right is not None
        frame = right if left.uniform else left
        return frame.replaced(
            chunks=[operation(x, y) for x, y in zip(xs, ys, strict=True)],
            interval=interval,
            filler=filler(of_left, of_right) if known else None,
            # Both are powers of two.
            period=max(left.period, right.period) if left.period and right.period else None,
        )

    def each(
        self, operation: Callable[[Chunk], Chunk], interval: Interval, filler: Callable[[Any], Any] | None
    ) -> EncryptedArray:
        """Apply an operation to every chunk."""
        chunks, own = self._state
        value = None if own is None or filler is None else filler(own)
        return self.replaced(chunks=[operation(chunk) for chunk in chunks], interval=interval, filler=value)

    def within(self, interval: Interval) -> EncryptedArray:
        """The same array, known to lie in this interval too.

        The interval is stated if all slots lie in it.
        """
        low, high = max(self.interval.low, interval.low), min(self.interval.high, interval.high)
        now = self.still()
        return now.replaced(interval=Interval(low, high)) if now.all_within(interval) else self

    def reshape_uniform(self, shape: tuple[int, ...]) -> EncryptedArray:
        """Reshape an array that has one number in every slot."""
        with checks.in_memory(f"An array of shape {shape} does not fit in memory; work on it in parts."):
            return self.replaced(index=np.zeros(shape, dtype=np.int64), period=1)

    def broadcast_to(self, shape: tuple[int, ...]) -> EncryptedArray:
        """As in numpy. One number in every slot costs nothing, other elements are copied to more slots."""
        shape = checks.shape(shape)
        if shape == self.shape:
            return self
        index = checks.rearranged("shape", self.shape, lambda: np.broadcast_to(self.index, shape))
        return self.reshape_uniform(shape) if self.uniform else moves.spread_out(self, index)

    @_beside_digits
    def __add__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            self.session.same(other)
            return self._slotwise(other, self.session.machine.add, self.interval + other.interval, operator.add)
        return functions.add_plain(self, functions.plain(other))

    __radd__ = __add__

    def __neg__(self) -> EncryptedArray:
        return self.each(self.session.machine.negate, -self.interval, lambda x: -x)

    def __pos__(self) -> EncryptedArray:
        return self

    @_beside_digits
    def __sub__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            self.session.same(other)
            return self._slotwise(other, self.session.machine.subtract, self.interval - other.interval, operator.sub)
        return functions.add_plain(self, functions.negated(other))

    def __rsub__(self, other: Any) -> EncryptedArray:
        return functions.add_plain(-self, functions.plain(other))

    @_beside_digits
    def __mul__(self, other: Any) -> EncryptedArray:
        if not isinstance(other, EncryptedArray):
            return functions.multiply_plain(self, functions.plain(other))
        self.session.same(other)
        if other is self:
            return self.square()
        left, right = moves.aligned(self, other)
        left.need(1)
        right.need(1)
        return left._slotwise(right, self.session.machine.multiply, left.interval * right.interval, operator.mul)

    __rmul__ = __mul__

    def square(self) -> EncryptedArray:
        """Compute `x * x`, faster than a product."""
        self.need(1)
        return self.each(self.session.machine.square, self.interval.square(self.is_real), lambda x: x * x)

    @_beside_digits
    def __truediv__(self, other: Any) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            self.session.same(other)
            return self * fits.reciprocal(other)
        divisor = np.asarray(functions.plain(other))
        if not divisor.all():
            raise ZeroDivisionError("The divisor contains a zero; divide by numbers that are not zero.")
        with np.errstate(over="ignore"):
            factor = 1 / divisor
        return self * (factor if divisor.ndim else factor.item())

    def __rtruediv__(self, other: Any) -> EncryptedArray:
        divided = functions.plain(other)
        found = fits.reciprocal(self)
        return found if values.is_number(divided) and divided == 1 else found * divided

    def __pow__(self, power: Any) -> EncryptedArray:
        exponent = values.as_number(power) if values.is_number(power) else -1
        if isinstance(exponent, complex) or not 0 <= exponent < 2**20 or exponent != int(exponent):
            raise TypeError(
                "An exponent must be a whole number of at least 0; write 1 / x or numpy.sqrt(x), or fit other "
                "functions with session.function."
            )
        if exponent == 0:
            # Ones for every value, as in numpy.
            return self * 0 + 1
        if exponent == 1:
            return self
        if exponent == 2:
            return self.square()
        return self.session.poly(self, [0] * int(exponent) + [1])

    @_beside_digits
    def __matmul__(self, other: Any) -> EncryptedArray:
        return products.matmul(self, other)

    def __rmatmul__(self, other: Any) -> EncryptedArray:
        return products.rmatmul(other, self)

    @_beside_digits
    def __gt__(self, other: Any) -> EncryptedArray:
        return functions.compare("compare", self, other)

    @_beside_digits
    def __lt__(self, other: Any) -> EncryptedArray:
        return functions.compare("compare", -self, functions.negated(other))

    # Where two values are equal, the comparison is undecided either way.
    __ge__ = __gt__
    __le__ = __lt__

    def __abs__(self) -> EncryptedArray:
        return functions.compare("maximum", self, -self)

    def conj(self) -> EncryptedArray:
        """The complex conjugates. Uses no level."""
        if self.is_real:
            return self
        return self.each(self.session.machine.conjugate, self.interval, lambda x: np.conj(x))

    conjugate = conj

    # numpy

    __array_priority__ = 1000
    # A column or a table of pandas on the left leaves the operator to this class; without, it asks for the values.
    __pandas_priority__ = 5000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        floats = casts.lifted(*inputs)
        return protocols.ufunc(ufunc, method, inputs if floats is None else floats, options)

    def __array_function__(self, function: Any, _types: Any, given: Any, options: Any) -> Any:
        floats = casts.lifted(given, options)
        return protocols.function(function, *((given, options) if floats is None else floats))

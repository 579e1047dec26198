"""Numbers modulo t in slots: sums and products wrap at the modulus of the engine, and there is no order.

Whole numbers in slots are refused where they may pass the modulus. Here that is what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes, rows
from aglet.arrays.slots import arithmetic, functions, sums
from aglet.arrays.slots.array import EncryptedSlots
from aglet.arrays.slots.direct import direct
from aglet.arrays.slots.places import aligned, clear, is_slots, one_session
from aglet.arrays.slots.values import Numbers
from aglet.errors import ParameterError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.slots.session import SlotSession

__all__ = ["EncryptedResidues", "encrypted", "zmod"]

_INT64 = np.dtype(np.int64)


@dataclass(frozen=True)
class zmod:  # noqa: N801
    """The dtype of numbers modulo t, as `session.encrypt(x, dtype=zmod(65537))` takes it.

    Parameters
    ----------
    modulus
        The plaintext modulus t of the engine: 65537, or what `IntegerEngine(plaintext_modulus=t)` says.
    """

    modulus: int

    def of(self, session: SlotSession) -> int:
        """The modulus, which a session must have.

        Raises
        ------
        ParameterError
            If it has another one.
        """
        t = session.engine.plaintext_modulus
        if checks.whole("modulus", self.modulus) != t:
            raise ParameterError(
                f"These keys are for numbers modulo {t}; give zmod({t}), or make an engine with "
                f"IntegerEngine(plaintext_modulus={self.modulus})."
            )
        return t


def _refuse(*_: Any, **__: Any) -> Any:
    raise TypeError(
        "Numbers modulo t have + - * ** @, sum, prod, cumsum, dot, and moves; for an order, tables and the rest of "
        "numpy say which numbers they are, with x.assume(bound=(low, high))."
    )


class EncryptedResidues(EncryptedSlots):
    """Encrypted numbers modulo t in the shape of a numpy array: `session.encrypt(x, dtype=zmod(t))` makes one.

    `+ - * ** @`, `sum`, `prod`, `cumsum`, `dot` and moves of elements wrap at t, with encrypted operands and numbers in
    the clear. `x.assume(bound=(low, high))` gives whole numbers, of which there are fewer than t, and
    `x.astype(zmod(t))` of whole numbers in slots the way back. They decrypt to 0 ... t - 1.
    """

    __slots__ = ()

    _reductions: Any = SimpleNamespace(
        total=sums.total, product=sums.product, cumsum=sums.cumsum, dot=sums.dot,
        **dict.fromkeys(("some", "every", "least", "most"), _refuse),
    )  # fmt: skip

    def __init__(
        self,
        session: SlotSession,
        numbers: Numbers,
        table: Any,
        dtype: Any,
        index: Any,
        *,
        everywhere: bool = False,
    ) -> None:
        whole = numbers.whole(session) if table is None else _refuse()
        numbers = Numbers(whole.digits, 0, 0, session.engine.plaintext_modulus - 1)
        super().__init__(session, numbers, None, _INT64, index, everywhere=everywhere)

    @property
    def modulus(self) -> int:
        """The modulus t."""
        return self.numbers.high + 1

    def __repr__(self) -> str:
        return (
            f"<EncryptedResidues {self.shape}: zmod({self.modulus}), slots of {self.session.engine.preset}, "
            f"level {self.level}>"
        )

    def replaced(self, numbers: Numbers, table: Any, dtype: Any) -> EncryptedResidues:
        """Other elements in these places."""
        return EncryptedResidues(self.session, numbers, table, dtype, self.index, everywhere=self.everywhere)

    def assume(self, *, bound: Any) -> EncryptedSlots:
        """The numbers as whole numbers of int64, of which the least and the largest are declared.

        Raises
        ------
        RangeError
            If there are as many as the modulus has, or more.
        """
        low, high = dtypes.ends(bound, _INT64)
        whole = self.session.modular_of
        whole.check_range(low, high)
        numbers = Numbers(self.numbers.digits, 0, low, high)
        return EncryptedSlots(whole, numbers, None, _INT64, self.index, everywhere=self.everywhere)

    def astype(self, dtype: Any, casting: str = "safe") -> Any:
        """The same array for `zmod(t)`.

        Raises
        ------
        TypeError
            For other dtypes, which need a range: `x.assume(bound=...)`.
        """
        return self if isinstance(dtype, zmod) and dtype.of(self.session) else _refuse()

    _crossed = _mean = argmin = argmax = clip = _refuse

    def _apply(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
        return _apply(ufunc, inputs)

    def _function(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            condition, x, y = args
            return y + np.asarray(condition, dtype=bool) * (x - y) if not is_slots(condition) else _refuse()
        return functions.call(function, args, kwargs) if function in _FUNCTIONS else _refuse()


_FUNCTIONS = frozenset({
    np.sum, np.prod, np.cumsum, np.dot, np.shape, np.size, np.ndim, np.einsum, np.convolve, np.outer, np.diff,
    *rows.REARRANGE,
})  # fmt: skip


def _apply(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """A universal function of numbers modulo t, encrypted or in the clear."""
    first = next(one for one in inputs if isinstance(one, EncryptedResidues))
    t = first.modulus
    one_session(*(one for one in inputs if is_slots(one)))
    if ufunc is np.power:
        return _power(*inputs)
    given = [one if is_slots(one) else _residues(one, t) for one in inputs]
    if ufunc is np.matmul:
        return sums.matmul(*given)
    if ufunc in (np.negative, np.positive, np.square):
        one = given[0]
        return {np.negative: lambda: 0 - one, np.positive: lambda: one, np.square: lambda: one * one}[ufunc]()
    if ufunc not in (np.add, np.subtract, np.multiply):
        return _refuse()
    found = direct(ufunc, given)
    if found is not None:
        return found
    x, y = aligned(*given)
    like = x if is_slots(x) else y
    if ufunc is np.multiply:
        return like.replaced(arithmetic.times(x, y), None, _INT64)
    return like.replaced(arithmetic.combined(x, y, 1 if ufunc is np.add else -1), None, _INT64)


def _residues(value: Any, t: int) -> Any:
    """Numbers in the clear modulo t, nearest to 0."""
    array = clear(value)
    if array.size and -t < 2 * int(array.min()) and 2 * int(array.max()) < t:
        return array.astype(np.int64, copy=False)
    found = _modulo(array, t)
    return np.where(found > t // 2, found - t, found)


def _modulo(array: Any, t: int) -> Any:
    """Numbers of any size from 0 to t - 1."""
    wide = array if array.dtype == np.uint64 or array.dtype.kind == "O" else array.astype(np.int64)
    return np.asarray(wide % t).astype(np.int64)


def _power(x: Any, exponent: Any) -> Any:
    """`x**n` by squares and products: `ceil(log2(n))` levels, and bootstraps where these run out.

    Raises
    ------
    RangeError
        If the exponent is no whole number from 1 on.
    """
    if is_slots(exponent) or np.ndim(exponent):
        return _refuse()
    n = checks.whole("exponent", exponent)
    if n < 1:
        raise RangeError(f"The exponent is {n}; give a whole number from 1 on.")
    found, square = None, x
    while n:
        if n % 2:
            found = square if found is None else found * square
        n //= 2
        square = square * square if n else square
    return found


def encrypted(session: SlotSession, values: Any, dtype: zmod, made: Callable[[Any], Any]) -> EncryptedResidues:
    """Numbers of any size modulo t."""
    t, array = dtype.of(session), dtypes.unmasked(values)
    if array.dtype.kind not in "biuO" or any(type(one) is not int for one in array.flat if array.dtype.kind == "O"):
        raise TypeError(f"Slots of integers hold whole numbers, not {array.dtype}; convert them first.")
    index, count = session.laid_out(array.shape)
    flat = np.zeros(count * session.slots, dtype=np.int64)
    flat[index] = _modulo(array, t)
    flat = flat[: int(index.max(initial=0)) + 1]
    return EncryptedResidues(session.modular, Numbers((made(flat),), 0, 0, t - 1), None, _INT64, index)

"""`EncryptedIntegers`: an encrypted numpy array of booleans or whole numbers, as digits in FHEW ciphertexts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays import casts, missing
from aglet.arrays.digits import dtypes, functions, operations, rows
from aglet.arrays.digits.sums import ZERO, AnyDigit, Digit
from aglet.arrays.fixed.casts import of_whole
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.whole import WholeNumbers

if TYPE_CHECKING:
    from aglet.arrays.digits.session import DigitSession

__all__ = ["EncryptedIntegers"]


class EncryptedIntegers(WholeNumbers):
    """Encrypted booleans or whole numbers in the shape of a numpy array. `session.encrypt` makes one.

    It computes what numpy computes on the same dtypes: values wrap around, operands broadcast, and dtypes are promoted.
    Operators take encrypted arrays and numbers in the clear. Each element has a digit for every two bits. Most
    operations take one bootstrap for each digit. Digits are refreshed where their noise would grow too large, and
    whatever may be wrong more often than the session allows is refused.

    Comparisons give encrypted booleans for `numpy.where`, `&`, `|`, `~` and sums. Nothing is decrypted unless asked
    for, so `if` and an index refuse them.
    """

    __slots__ = ("bound", "digits", "dtype", "session", "shape")

    _reductions = functions
    session: DigitSession
    digits: list[AnyDigit]
    """The digits of all elements, the lowest first. A digit may be known to everybody, as that of a wider dtype."""
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    bound: tuple[int, int] | None
    """The least and the largest value, if `assume` declared them. Results of operations have none."""

    def __init__(
        self,
        session: DigitSession,
        digits: Sequence[AnyDigit],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        bound: tuple[int, int] | None = None,
    ) -> None:
        self.session, self.dtype, self.shape, self.bound = session, dtype, shape, bound
        self.digits = [one if isinstance(one, Digit) else np.broadcast_to(one, shape) for one in digits]

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name):
            raise AttributeError(
                f"Encrypted arrays never change, so {name} cannot be set; reshape, astype and assume give new ones."
            )
        object.__setattr__(self, name, value)

    def with_digits(self, digits: Sequence[AnyDigit], dtype: np.dtype[Any] | None = None) -> EncryptedIntegers:
        """Other digits in the same shape."""
        return EncryptedIntegers(self.session, digits, self.dtype if dtype is None else dtype, self.shape)

    # What it is

    @property
    def representation(self) -> str:
        """How the values are stored: "digits"."""
        return "digits"

    def _crossed(self) -> Any:
        from aglet.arrays.slots.crossing import to_slots

        return to_slots(self)

    @property
    def noise(self) -> float:
        """The largest standard deviation of the noise of a digit, as a part of the torus. Messages lie 1/32 apart."""
        machine = self.session.machine
        cells = [digit.cells for digit in self.digits if isinstance(digit, Digit)]
        return math.sqrt(max((machine.variance(one) for one in cells), default=0.0))

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts in memory."""
        return sum(getattr(digit.cells, "nbytes", 0) for digit in self.digits if isinstance(digit, Digit))

    def __repr__(self) -> str:
        return f"<EncryptedIntegers {self.shape}: {self.dtype}, {self.stored_as()}>"

    def stored_as(self) -> str:
        """How the values are stored, in words."""
        noise = f"2^{np.log2(self.noise):.1f}" if self.noise else "0"
        count = sum(isinstance(digit, Digit) for digit in self.digits)
        return (
            f"digits of {self.session.engine.preset}, {count} encrypted for each of {self.size} elements, noise {noise}"
        )

    def _missing(self, name: str) -> str:
        return missing.attribute(name, "Encrypted integers", functions.known())

    _apply = staticmethod(operations.apply)
    _function = staticmethod(functions.call)
    _joined = staticmethod(rows.concatenated)

    # Elements

    def moved(self, move: Callable[[Any], Any]) -> EncryptedIntegers:
        """The elements where numpy moves them to. It costs nothing."""
        places = np.asarray(move(np.arange(self.size).reshape(self.shape)))
        digits: list[AnyDigit] = []
        for digit in self.digits:
            if isinstance(digit, Digit):
                digits.append(Digit(digit.cells.reshape(-1)[places], digit.low, digit.high))
            else:
                digits.append(digit.reshape(-1)[places])
        return EncryptedIntegers(self.session, digits, self.dtype, places.shape, self.bound)

    # Numbers

    def assume(self, *, bound: Any) -> EncryptedIntegers:
        """Declare the least and the largest value, which nobody can check. Digits that are 0 then cost nothing.

        Parameters
        ----------
        bound
            The largest absolute value, or a pair of the least and the largest value: whole numbers of the dtype.

        Raises
        ------
        RangeError
            If the least is above the largest, or one of them does not fit the dtype.
        """
        low, high = dtypes.ends(bound, self.dtype)
        used = -(-high.bit_length() // 2) if low >= 0 else len(self.digits)
        digits = [digit if at < used else ZERO for at, digit in enumerate(self.digits)]
        return EncryptedIntegers(self.session, digits, self.dtype, self.shape, (low, high))

    def astype(self, dtype: Any, casting: str = "safe") -> Any:
        """The same values in another dtype of digits, as `aglet.fixed` too, as floats of CKKS, or modulo t in slots.

        A wider unsigned dtype costs nothing, a wider signed one a bootstrap. Booleans take about one bootstrap for
        five digits. float64, or complex128, gives an `EncryptedArray` of the session of CKKS that has the same keys: it
        takes about a bootstrap for each bit of an element, none for booleans, and one of CKKS for all elements.

        Raises
        ------
        TypeError
            If values may change and casting is not "unsafe", or if digits do not hold the dtype. Floats keep whole
            numbers of up to 16 bits, which `assume` may declare; with casting "unsafe" the highest bits of more, 21 at
            least.
        MissingKeyError
            If the keys have no switch to CKKS.
        """
        if isinstance(dtype, fixed):
            return of_whole(self, dtype, casting)
        if hasattr(dtype, "modulus"):
            return self.to("slots").astype(dtype, casting)
        inexact = dtypes.of_numpy(dtype)
        if inexact.kind in "fc":
            return casts.to_inexact(self, inexact, casting, lambda: casts.to_floats(self, casting))
        wanted = dtypes.known(dtype)
        how: Any = checks.choice("casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
        if not np.can_cast(self.dtype, wanted, how):
            if wanted == np.bool_:
                raise TypeError(f'{self.dtype} may not fit bool; write x != 0, which is what casting="unsafe" gives.')
            raise TypeError(
                f'{self.dtype} may not fit {wanted}; say casting="unsafe" to take what wraps around, or choose a wider '
                "dtype."
            )
        return operations.cast(self, wanted)

    def refresh(self) -> EncryptedIntegers:
        """Bootstrap all digits, in place, and return the array."""
        self.session.machine.refresh(self.digits)
        return self

    def clip(self, min: Any = None, max: Any = None) -> EncryptedIntegers:
        """As `numpy.clip`, with the names that `numpy.ndarray.clip` has."""
        found: Any = self
        return np.clip(found, min, max)  # type: ignore[no-any-return]

    def _mean(self, axis: Any, keepdims: bool) -> Any:
        total = functions.total(self, axis, None, keepdims)
        count = self.size // total.size if total.size else 1
        low, high = (end * count for end in casts.span(self))
        least, most = dtypes.span(total.dtype)
        if low < least or high > most:
            # numpy's sum for a mean does not wrap around, as it is one of floats.
            return self.astype(np.float64, casting="unsafe").mean(axis, keepdims=keepdims)
        total = EncryptedIntegers(self.session, total.digits, total.dtype, total.shape, (low, high))
        return total.astype(np.float64, casting="unsafe") / count

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
        """As `numpy.argmin`."""
        return functions.argmin(self, axis, out, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> EncryptedIntegers:
        """As `numpy.argmax`."""
        return functions.argmax(self, axis, out, keepdims=keepdims)

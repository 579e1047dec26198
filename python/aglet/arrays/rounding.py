"""Casts from arrays of floats to arrays of digits, by scheme switching: the digits of the nearest whole numbers.

Slots go down as LWE ciphertexts with a whole number of the torus for `2^bits`. Two bootstraps take off what a value
lacks to a whole number, without a border where noise decides; two to four read each four bits (`Machine.nearest`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes, operations
from aglet.arrays.digits.circuits.bits import sign_digit
from aglet.arrays.digits.sums import ZERO, AnyDigit, Digit
from aglet.arrays.fixed import casts as fixed_casts
from aglet.arrays.fixed.formats import fixed

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.digits.array import EncryptedIntegers

__all__ = ["MOST_BITS", "Rounded"]

MOST_BITS = 20
"""Bits of whole numbers that slots are read as."""
_NEARLY = 0.25
"""By how much values may be larger than the largest number of so many bits, where they are read."""
_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


class Rounded:
    """Mixed into `EncryptedArray`."""

    __slots__ = ()

    def astype(self: Any, dtype: Any, casting: str = "safe", *, noise: float | None = None) -> Any:
        """The array itself, if this is its dtype; or the nearest whole numbers as digits of FHEW, by scheme switching.

        numpy cuts fractions off. Here values have noise, so they are rounded: whole numbers become these numbers, and
        values nearer to half way between two than `half_way` says become either. An element of 8 bits takes 7
        bootstraps, one of 16 bits 13.

        Parameters
        ----------
        dtype
            The dtype of this array, complex128, or one of uint8 to uint64 and int8 to int64. `aglet.fixed(bits,
            fraction)` takes the nearest multiples of `2^-fraction`, by the words; a fraction takes a level.
            `aglet.zmod(t)` takes the nearest whole numbers to slots.
        casting
            With "unsafe", values that may not fit wrap around, as whole numbers do, and float64 takes the real parts of
            complex numbers.
        noise
            The root mean square of the error of an element, as the caller knows it, where ciphertexts state none (they
            do not after casts from digits and bootstraps) or a larger one. If the error is larger, results are wrong
            more often than the session accepts.

        Raises
        ------
        TypeError
            If the range of the values may not fit the dtype and casting is not "unsafe", or has more than 20 bits.
            Complex numbers and booleans are refused.
        MissingKeyError
            If the keys have no FHEW for messages of 4 bits, or no switch to it.
        RangeError
            If the noise of the values is not known, or a digit would be wrong more often than the session accepts.
        """
        checks.choice("casting", casting, _CASTING)
        if isinstance(dtype, fixed):
            return fixed_casts.of_floats(self, dtype, casting, noise)
        if hasattr(dtype, "modulus"):
            return to_digits(self, np.dtype(np.int64), casting, noise).astype(dtype)
        if dtypes.of_numpy(dtype) == self.dtype:
            return self
        if dtypes.of_numpy(dtype) == np.float64 and casting == "unsafe":
            return self.real
        if self.is_real and dtypes.of_numpy(dtype) == np.complex128:
            if casting in ("no", "equiv"):
                raise TypeError('float64 is not complex128; casting="safe", the default, allows it.')
            return self + 0j
        return to_digits(self, dtypes.of_numpy(dtype), casting, noise)

    def half_way(self: Any, dtype: Any, *, noise: float | None = None) -> float:
        """How near to half way between two whole numbers an element may lie, and become either of them by `astype`.

        Farther ones become the nearest one, but for the probability that the session accepts. It converts one slot of
        each ciphertext. Arguments and errors are those of `astype`.
        """
        if isinstance(dtype, fixed):
            scale = 2.0**dtype.fraction
            return half_way(self * scale, dtype.word, None if noise is None else noise * scale) / scale
        return half_way(self, dtypes.of_numpy(dtype), noise)


def to_digits(x: EncryptedArray, dtype: np.dtype[Any], casting: str, noise: float | None) -> EncryptedIntegers:
    """Floats as digits of the nearest whole numbers, as `Rounded.astype` says.

    Raises
    ------
    TypeError
        If the range of the values may not fit and casting is not "unsafe".
    """
    wanted = _wanted(x, dtype)
    checks.choice("casting", casting, _CASTING)
    low, high, fits = _ends(x, wanted)
    signed = np.dtype(f"i{wanted.itemsize}")
    if not fits and wanted.kind == "u" and casting == "unsafe" and _ends(x, signed)[2]:
        # Few bits are read, and the sign fills the others.
        return operations.cast(to_digits(x, signed, casting, noise), wanted)
    if casting in ("no", "equiv") or (not fits and casting != "unsafe"):
        raise TypeError(
            f"Encrypted floats within [{x.interval.low:.6g}, {x.interval.high:.6g}] may not fit {wanted}; declare a "
            'smaller range with x.assume(bound=(low, high)), or say casting="unsafe" to take what wraps around.'
        )
    digits = x.session._digits()
    bits, count = _read_bits(x, wanted, fits)
    # Elements may share a slot.
    places, inverse = np.unique(x.index, return_inverse=True)
    cells = digits.machine.nearest(_words(x, places, bits, noise), bits, count)
    back = inverse.reshape(x.shape)
    most = [3] * count
    if fits and low >= 0:
        most = [min(3, high >> 2 * at) for at in range(count)]
    found: list[AnyDigit] = [Digit(one[back], 0, top) for one, top in zip(cells, most, strict=True)]
    missing = dtypes.width(wanted) - count
    if missing:
        fill: AnyDigit = sign_digit(digits.machine, found) if low < 0 else ZERO
        found += [fill] * missing
    from aglet.arrays.digits.array import EncryptedIntegers

    return EncryptedIntegers(digits, found, wanted, x.shape, (low, high) if fits else None)


def half_way(x: EncryptedArray, dtype: np.dtype[Any], noise: float | None) -> float:
    """As `Rounded.half_way` says."""
    wanted = _wanted(x, dtype)
    bits, _ = _read_bits(x, wanted, _ends(x, wanted)[2])
    first = [np.array([at * x.session.slots]) for at in range(len(x.chunks))]
    machine = x.session._digits().machine
    return max(machine.half_way(_words(x, at, bits, noise), bits) for at in first)


def _wanted(x: EncryptedArray, wanted: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the digits.

    Raises
    ------
    TypeError
        If there is no cast to it.
    """
    if not x.is_real:
        raise TypeError(f"Complex numbers do not become {wanted}; cast their real parts, x.real.")
    if wanted.kind == "b":
        raise TypeError(
            "Encrypted floats do not become booleans, as their zeros have noise; compare values, as in x > 0.5, or "
            "whole numbers, as in x.astype(numpy.int16) != 0."
        )
    if wanted.kind not in "iu":
        raise TypeError(
            f"Encrypted {x.dtype} becomes complex128 or whole numbers of 8 to 64 bits, not {wanted}; choose one."
        )
    return dtypes.known(wanted)


def _ends(x: EncryptedArray, wanted: np.dtype[Any]) -> tuple[int, int, bool]:
    """The least and the largest nearest whole number of any slot, and whether both fit the dtype."""
    if not math.isfinite(x.interval.size):
        raise TypeError("The range of these floats is not known; declare it with x.assume(bound=...).")
    low, high = math.ceil(x.interval.low - 0.5), math.floor(x.interval.high + 0.5)
    least, most = dtypes.span(wanted)
    return low, high, least <= low and high <= most


def _read_bits(x: EncryptedArray, wanted: np.dtype[Any], fits: bool) -> tuple[int, int]:
    """With how many bits slots are read, and how many of their digits are wanted.

    Raises
    ------
    TypeError
        If slots are not read with so many bits.
    """
    low, high, _ = _ends(x, wanted)
    own = dtypes.bits(low, high)
    count = max(1, -(-own // 2)) if fits else dtypes.width(wanted)
    bits = max(2 * -(-own // 2), 2 * count)
    while x.interval.size > 2**bits - 1 + _NEARLY:
        bits += 2
    if bits > MOST_BITS:
        raise TypeError(
            f"Encrypted floats within [{x.interval.low:.6g}, {x.interval.high:.6g}] have up to {bits} bits, and "
            f"{MOST_BITS} are read; declare a smaller range with x.assume(bound=...), or divide them first."
        )
    return bits, count


def _words(x: EncryptedArray, places: Any, bits: int, noise: float | None) -> Any:
    """The slots at these places as numbers modulo `2^bits`, in their order."""
    slots, most = x.session.slots, min(x.interval.size, 2.0**bits - 1)
    parts = []
    for at, chunk in enumerate(x.chunks):
        own = places[places // slots == at] % slots
        if own.size:
            parts.append(x.session.machine.to_words(chunk, own, bits, most, noise))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

"""Casts of numbers of a fixed format: to other formats by shifts, to and from whole numbers and floats of CKKS."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits import dtypes
from aglet.arrays.fixed.formats import fixed

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.fixed.array import EncryptedFixed

__all__ = ["cast", "of_floats", "of_whole"]

_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def cast(x: EncryptedFixed, dtype: Any, casting: str) -> Any:
    """What `EncryptedFixed.astype` does."""
    how = checks.choice("casting", casting, _CASTING)
    if isinstance(dtype, fixed):
        return x if dtype == x.dtype else _to_format(x, dtype, how)
    wanted = dtypes.of_numpy(dtype)
    if wanted.kind in "fc":
        found = _short(x.words()).astype(wanted, how)
        return found * x.dtype.step if x.dtype.fraction else found
    return _to_whole(x, dtypes.known(dtype), how)


def _short(words: Any) -> Any:
    """Words of the shortest dtype that has those that were declared: floats take a bootstrap for each bit."""
    if words.bound is None:
        return words
    kind, bound = words.dtype.kind, words.bound
    for size in (1, 2, 4):
        low, high = dtypes.span(np.dtype(f"{kind}{size}"))
        if size < words.dtype.itemsize and low <= bound[0] and bound[1] <= high:
            return words.astype(f"{kind}{size}", casting="unsafe").assume(bound=bound)
    return words


def _to_whole(x: EncryptedFixed, wanted: np.dtype[Any], casting: str) -> Any:
    words, fraction = x.words(), x.dtype.fraction
    if wanted.kind == "b" and casting != "unsafe":
        raise TypeError(f'{x.dtype} may not fit bool; write x != 0, which is what casting="unsafe" gives.')
    if not fraction or wanted.kind == "b":
        return words.astype(wanted, casting)
    if casting != "unsafe":
        raise TypeError(
            f'{x.dtype} has a fraction, which {wanted} has not; say casting="unsafe" to round down, as floor does, and '
            "take what wraps around."
        )
    return (words >> fraction).astype(wanted, casting="unsafe")


def _to_format(x: EncryptedFixed, wanted: fixed, casting: str) -> EncryptedFixed:
    own, more = x.dtype, wanted.fraction - x.dtype.fraction
    low, high = x.words().bound or own.span
    exact = more >= 0 and wanted.span[0] <= low << more and high << more <= wanted.span[1]
    if casting != "unsafe" and not (exact and casting in ("safe", "same_kind")):
        if more < 0:
            raise TypeError(
                f'{wanted} has fewer bits of fraction than {own}; say casting="unsafe" to round down, as floor does.'
            )
        raise TypeError(
            f'{own} may not fit {wanted}; declare a smaller range with x.assume(bound=...), or say casting="unsafe" to '
            "take what wraps around."
        )
    words = x.words()
    if more < 0:
        words = words >> -more
    words = words.astype(wanted.word, casting="unsafe")
    return wanted.of(words << more if more > 0 else words)


def of_whole(x: Any, wanted: fixed, casting: str) -> EncryptedFixed:
    """Encrypted whole numbers or booleans in digits as numbers of a format: exact, or what wraps around.

    Raises
    ------
    TypeError
        If they may not fit and casting is not "unsafe".
    """
    how = checks.choice("casting", casting, _CASTING)
    low, high = x.bound or dtypes.span(x.dtype)
    fits = wanted.span[0] <= low << wanted.fraction and high << wanted.fraction <= wanted.span[1]
    if how != "unsafe" and not (fits and how in ("safe", "same_kind")):
        raise TypeError(
            f"{x.dtype} may not fit {wanted}, whose numbers lie from {wanted.reach}; declare a "
            'smaller range with x.assume(bound=...), or say casting="unsafe" to take what wraps around.'
        )
    words = x.astype(wanted.word, casting="unsafe")
    return wanted.of(words << wanted.fraction if wanted.fraction else words)


def of_floats(x: EncryptedArray, wanted: fixed, casting: str, noise: float | None) -> EncryptedFixed:
    """Floats of CKKS as the nearest numbers of a format, as `Rounded.astype` says of whole numbers.

    Raises
    ------
    TypeError
        If they may not fit and casting is not "unsafe", or are complex.
    """
    from aglet.arrays.rounding import MOST_BITS

    how = checks.choice("casting", casting, _CASTING)
    scale = 2.0**wanted.fraction
    if x.is_real and math.isfinite(x.interval.size):
        low, high = math.ceil(x.interval.low * scale - 0.5), math.floor(x.interval.high * scale + 0.5)
        fits = wanted.span[0] <= low and high <= wanted.span[1]
        if how in ("no", "equiv") or (not fits and how != "unsafe"):
            raise TypeError(
                f"Encrypted floats within [{x.interval.low:.6g}, {x.interval.high:.6g}] may not fit {wanted}; declare "
                'a smaller range with x.assume(bound=(low, high)), or say casting="unsafe" to take what wraps around.'
            )
        own = dtypes.bits(low, high)
        if max(own, 0 if fits else wanted.bits) > MOST_BITS:
            raise TypeError(
                f"Encrypted floats within [{x.interval.low:.6g}, {x.interval.high:.6g}] may have "
                f"{own if fits else wanted.bits} bits in {wanted}, and {MOST_BITS} are read; declare a smaller range "
                "with x.assume(bound=...), or choose fewer bits of fraction."
            )
    scaled: Any = x * scale if wanted.fraction else x
    return wanted.of(scaled.astype(wanted.word, how, noise=None if noise is None else noise * scale))

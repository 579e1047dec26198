"""The part of `LookupEngine` with numbers: signs and comparisons, floors and digits of encrypted integers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from aglet import _core, checks
from aglet._core import LookupKey
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.gates import broadcast, ciphertext, log2_failure, lookup_key
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["Numbers"]


class Numbers:
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    def sign(
        self,
        x: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 where an integer is 0 or more and 0 where it is negative, as messages for tables.

        Integers were encrypted with `bits=`. A sign of 20 bits takes six bootstraps, one of 4 bits a single one. Other
        arguments and errors are those of `lookup`.
        """
        array, own, most = ciphertext(x)._array, lookup_key(key), log2_failure(max_failure)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.sign(array, own, most, report))

    def compare(
        self,
        order: str,
        x: LweCiphertext,
        y: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 where `x < y` (or what `order` says) and 0 elsewhere, as messages for tables.

        Parameters
        ----------
        order
            "<", "<=", ">", ">=", one sign for each pair, or "==", two.
        x, y
            Integers that were encrypted with `bits=`. Differences must fit them too: both numbers are 0 or more, or at
            least half as small as the range allows.

        Other arguments and errors are those of `lookup`.
        """
        arrays, own, most = broadcast(x, y), lookup_key(key), log2_failure(max_failure)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.compare(checks.word("order", order), arrays, own, most, report))

    def floor(
        self,
        x: LweCiphertext,
        bits: int,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """`x >> bits`, as integers of so many bits fewer: two bootstraps for every five bits, or more.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=` and `signed=False`.
        bits
            The low bits that go, 1 to all but one.

        Other arguments and errors are those of `lookup`. A ciphertext of many bits has little room for noise: preset
        "wide" takes 10 off 15 bits, and what fails too often is refused with the figure.

        Examples
        --------
        >>> from aglet import LookupEngine
        >>> engine = LookupEngine(bits=4)
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_lookup_key(secret_key)
        >>> x = engine.encrypt([19, 63], secret_key, bits=6, signed=False)
        >>> engine.decrypt(engine.floor(x, 2, key), secret_key)
        array([ 4, 15])
        """
        array, own, most = ciphertext(x)._array, lookup_key(key), log2_failure(max_failure)
        low = checks.count("bits", bits)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.floor(array, low, own, most, report))

    def digits(
        self,
        x: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The digits of integers as messages for tables: a new first axis of them, the lowest first.

        A digit has as many bits as a message of the engine, the last perhaps fewer. Two to four bootstraps for each.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=` and `signed=False`; up to 16 bits in preset "wide".

        Other arguments and errors are those of `lookup`.

        Examples
        --------
        >>> from aglet import LookupEngine
        >>> engine = LookupEngine(preset="wide")
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_lookup_key(secret_key)
        >>> x = engine.encrypt([0x1234, 0xABCD], secret_key, bits=16, signed=False)
        >>> engine.decrypt(engine.digits(x, key), secret_key)[:, 0]
        array([4, 3, 2, 1])
        """
        array, own, most = ciphertext(x)._array, lookup_key(key), log2_failure(max_failure)
        with progress_bar(progress) as report:
            found = self._core.digits(array, own, most, report)
        made: Any = np.stack([LweCiphertext._of(digit) for digit in found])
        return cast("LweCiphertext", made)

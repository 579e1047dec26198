"""The part of `LookupEngine` with signs and comparisons of encrypted integers."""

from __future__ import annotations

from aglet import _core
from aglet._core import LookupKey
from aglet.ckks import checks
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

"""The part of `LookupEngine` that ranks: the smallest, the greatest and the k greatest of encrypted integers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from aglet import _core, checks
from aglet._core import LookupKey
from aglet.errors import RangeError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.gates import ciphertext
from aglet.lookup.table import Table
from aglet.progress import ProgressCallback

__all__ = ["Ranking"]


class Ranking:
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    def argmin(
        self,
        x: LweCiphertext,
        key: LookupKey,
        *,
        one_hot: bool = False,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the smallest integer along the last axis, the first of several that are equal, as a message.

        All pairs are compared, whose results add up to ranks: for n integers n (n - 1) / 2 signs, of six bootstraps
        each at 20 bits, and n bootstraps more.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=`, in the shape (..., n), n from 2 to 2^bits of the engine: 16 in
            one of 4 bits. Differences must fit their bits, as in `compare`.
        one_hot
            Give the shape (..., n) with 1 for the smallest and 0 for all others, which has less noise and goes up
            over a bridge.

        Raises
        ------
        RangeError
            If there are too many integers in a row, or only one, or the result would be wrong more often than accepted.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If array and key do not belong together.
        """
        words: dict[str, Any] = {"max_failure": max_failure, "progress": progress}
        if checks.flag("one_hot", one_hot):
            return self._best(x, 1, key, words)
        return self._place(self._ranks(x, key, words), key, words)

    def argmax(
        self,
        x: LweCiphertext,
        key: LookupKey,
        *,
        one_hot: bool = False,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the greatest integer along the last axis, the first of several that are equal; as `argmin`."""
        return self.argmin(-ciphertext(x), key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def top_k(
        self,
        x: LweCiphertext,
        k: int,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 for the k greatest integers along the last axis and 0 for the others, in the shape of x; as `argmin`."""
        return self._best(-ciphertext(x), k, key, {"max_failure": max_failure, "progress": progress})

    def _best(self: Any, x: LweCiphertext, k: int, key: LookupKey, words: dict[str, Any]) -> LweCiphertext:
        """1 for the k smallest of each row: those that are not above so many others."""
        n = ciphertext(x).shape[-1] if x.shape else 0
        wanted = checks.count("k", k, 1)
        if 2 <= n <= wanted:
            raise RangeError(f"k={k} of {n} integers leaves none out; give 1 to {n - 1}.")
        table = Table(lambda count: int(count >= n - wanted))
        stacked: Any = np.stack(cast("Any", self._ranks(x, key, words)), axis=-1)
        return cast("LweCiphertext", self.lookup(stacked, table, key, **words))

    def _place(self: Any, ranks: list[LweCiphertext], key: LookupKey, words: dict[str, Any]) -> LweCiphertext:
        """The place that all others are above. A table gives each: multiples of 0 and 1 have multiples of noise."""
        found = [self.lookup(ranks[n], _first(n, len(ranks)), key, **words) for n in range(1, len(ranks))]
        return _total(found)

    def _ranks(self: Any, x: LweCiphertext, key: LookupKey, words: dict[str, Any]) -> list[LweCiphertext]:
        """For each place of the last axis how many others are above it."""
        n = ciphertext(x).shape[-1] if ciphertext(x).shape else 0
        if not 2 <= n <= 2**self.bits:
            raise RangeError(f"{n} integers in a row are not ranked by this engine; give 2 to {2**self.bits}.")
        first, second = np.triu_indices(n, 1)
        # Of two that are equal, the first one wins.
        wins = self.sign(x[..., second] - x[..., first], key, **words)
        counts = []
        for place in range(n):
            won = [wins[..., pair] for pair in np.flatnonzero(first == place)]
            lost = [wins[..., pair] for pair in np.flatnonzero(second == place)]
            terms = won + [1 - one for one in lost]
            counts.append(_total(terms))
        return counts


def _first(place: int, n: int) -> Table:
    """The place where n - 1 others are above, else 0."""
    return Table(lambda count: place * int(count >= n - 1))


def _total(terms: list[LweCiphertext]) -> LweCiphertext:
    return sum(terms[1:], terms[0])

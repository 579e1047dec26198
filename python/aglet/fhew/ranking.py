"""The part of `FhewEngine` that ranks encrypted integers: the smallest, the largest, and the k largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aglet import _core, checks
from aglet._core import FhewBootstrapKey
from aglet.errors import RangeError
from aglet.fhew.calls import FhewOptions, ciphertext
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Ranking"]


class Ranking:
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    def argmin(
        self, x: FhewCiphertext, key: FhewBootstrapKey, *, one_hot: bool = False, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """The index of the smallest integer along the last axis, as a message; the first one if several are equal.

        All pairs are compared, and the results are added up to ranks. For n integers this takes n (n - 1) / 2 signs
        (six bootstraps each at 20 bits) and n bootstraps.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=`, in the shape (..., n). n is 2 to 2^bits of the engine, so 16 for
            an engine of 4 bits. Differences must fit their bits, as in `compare`.
        one_hot
            Return the shape (..., n) instead, with 1 for the smallest integer and 0 for the others. This has less noise
            and can be switched back to CKKS.

        Raises
        ------
        RangeError
            If a row has too many integers or only one, or the result would be wrong more often than accepted.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If array and key do not belong together.
        """
        if checks.flag("one_hot", one_hot):
            return self._best(x, 1, key, options)
        return self._place(self._ranks(x, key, options), key, options)

    def argmax(
        self, x: FhewCiphertext, key: FhewBootstrapKey, *, one_hot: bool = False, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """The index of the largest integer along the last axis (the first of equal ones). Details: `argmin`."""
        return self.argmin(-ciphertext(x), key, one_hot=one_hot, **options)

    def top_k(self, x: FhewCiphertext, k: int, key: FhewBootstrapKey, **options: Unpack[FhewOptions]) -> FhewCiphertext:
        """1 for the k largest integers along the last axis, 0 for the others; the shape is that of x. As `argmin`."""
        return self._best(-ciphertext(x), k, key, options)

    def _best(self: Any, x: FhewCiphertext, k: int, key: FhewBootstrapKey, options: FhewOptions) -> FhewCiphertext:
        """1 for the k smallest integers of each row: those that at least n - k others exceed."""
        n = ciphertext(x).shape[-1] if x.shape else 0
        wanted = checks.count("k", k, 1)
        if 2 <= n <= wanted:
            raise RangeError(f"k={k} selects all of {n} integers; give 1 to {n - 1}.")
        table = Table(lambda count: int(count >= n - wanted))
        stacked: Any = np.stack(cast("Any", self._ranks(x, key, options)), axis=-1)
        return cast("FhewCiphertext", self.lookup(stacked, table, key, **options))

    def _place(self: Any, ranks: list[FhewCiphertext], key: FhewBootstrapKey, options: FhewOptions) -> FhewCiphertext:
        """The index that all others exceed. A table for each index gives the index or 0; the results are added."""
        found = [self.lookup(ranks[n], _first(n, len(ranks)), key, **options) for n in range(1, len(ranks))]
        return _total(found)

    def _ranks(self: Any, x: FhewCiphertext, key: FhewBootstrapKey, options: FhewOptions) -> list[FhewCiphertext]:
        """For each index of the last axis, how many other integers exceed it."""
        n = ciphertext(x).shape[-1] if ciphertext(x).shape else 0
        if not 2 <= n <= 2**self.bits:
            raise RangeError(f"This engine does not rank {n} integers in a row; give 2 to {2**self.bits}.")
        first, second = np.triu_indices(n, 1)
        # Of two that are equal, the first one wins.
        wins = self.sign(x[..., second] - x[..., first], key, **options)
        counts = []
        for place in range(n):
            won = [wins[..., pair] for pair in np.flatnonzero(first == place)]
            lost = [wins[..., pair] for pair in np.flatnonzero(second == place)]
            terms = won + [1 - one for one in lost]
            counts.append(_total(terms))
        return counts


def _first(place: int, n: int) -> Table:
    """A table that gives the index if n - 1 others exceed it, else 0."""
    return Table(lambda count: place * int(count >= n - 1))


def _total(terms: list[FhewCiphertext]) -> FhewCiphertext:
    return sum(terms[1:], terms[0])

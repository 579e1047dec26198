"""The part of `LookupEngine` with tables, of one encrypted integer and of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from aglet import _core, checks
from aglet._core import LookupKey, PackingKey
from aglet.errors import ParameterError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.gates import broadcast, ciphertext, log2_failure, lookup_key
from aglet.lookup.table import Table
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["Tables", "tables"]

OneTable = Table | Callable[..., Any] | Sequence[int] | np.ndarray[Any, Any]
"""What a table is made of."""
ManyTables = Sequence[Table | Callable[..., Any] | Sequence[int] | np.ndarray[Any, Any]]
"""Several of them."""


class Tables:
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    @overload
    def lookup(
        self,
        x: LweCiphertext,
        table: OneTable,
        key: LookupKey,
        *,
        domain: str | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext: ...
    @overload
    def lookup(
        self,
        x: LweCiphertext,
        table: ManyTables,
        key: LookupKey,
        *,
        domain: str | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[LweCiphertext, ...]: ...
    def lookup(
        self,
        x: LweCiphertext,
        table: OneTable | ManyTables,
        key: LookupKey,
        *,
        domain: str | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext | tuple[LweCiphertext, ...]:
        """A table on encrypted integers: `table[m]` in place of each message m; one bootstrap for each, or two.

        Parameters
        ----------
        table
            A `Table`, or what one is made of: a callable, a list or an array. A list of tables gives a tuple of
            results, in one bootstrap if the noise of the set allows it (preset "wide" is made for that), else in one
            for each.
        domain
            The domain that the messages were encrypted in, to be checked; it is theirs anyway.
        max_failure
            The probability of a wrong integer that is accepted, 2^-128 if not given: SECURITY.md says what a failure
            may tell.
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work.

        Raises
        ------
        RangeError
            If the table has another number of values or one that is no message, or a result would be wrong more often
            than accepted, as for sums of many terms.
        ParameterError
            If the ciphertexts are bits, or there is no such domain.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If ciphertexts and key do not belong together.
        """
        if domain is not None and checks.word("domain", domain) != ciphertext(x).form:
            raise ParameterError(
                f'These messages are of the form "{x.form}", not of the domain "{domain}"; encrypt them in it.'
            )
        made, several = tables(table)
        values = [one.values(self._core.messages) for one in made]
        array, own, most = ciphertext(x)._array, lookup_key(key), log2_failure(max_failure)
        with progress_bar(progress) as report:
            found = self._core.lookup(array, values, own, most, report)
        return _results(found, several)

    @overload
    def lookup2(
        self,
        high: LweCiphertext,
        low: LweCiphertext,
        table: OneTable,
        key: LookupKey,
        packing_key: PackingKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext: ...
    @overload
    def lookup2(
        self,
        high: LweCiphertext,
        low: LweCiphertext,
        table: ManyTables,
        key: LookupKey,
        packing_key: PackingKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[LweCiphertext, ...]: ...
    def lookup2(
        self,
        high: LweCiphertext,
        low: LweCiphertext,
        table: OneTable | ManyTables,
        key: LookupKey,
        packing_key: PackingKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext | tuple[LweCiphertext, ...]:
        """A table on pairs of encrypted integers: `table[16 * high + low]` of a byte in two messages of four bits.

        One bootstrap for the low message and one for each table; in the full domain two more. Made for preset "wide":
        in other sets most tables would leave too much noise, and are refused.

        Parameters
        ----------
        high, low
            Messages of the domain "padded" or "full", whose shapes are broadcast as in numpy.
        table
            A callable of both messages, or a flat list or array of values, the high message in steps of 2^bits; each
            gives one message. A list of tables gives a tuple of results: both nibbles of a byte, for example.
        packing_key
            From `create_packing_key(secret_key)`.

        Other arguments and errors are those of `lookup`.

        Examples
        --------
        >>> from aglet import LookupEngine
        >>> engine = LookupEngine(preset="wide")
        >>> secret_key = engine.create_secret_key()
        >>> key, packing_key = engine.create_lookup_key(secret_key), engine.create_packing_key(secret_key)
        >>> x, y = engine.encrypt([[3, 7], [5, 11]], secret_key)
        >>> tables = [lambda x, y: x * y // 16, lambda x, y: x * y % 16]
        >>> high, low = engine.lookup2(x, y, tables, key, packing_key)
        >>> engine.decrypt(high, secret_key) * 16 + engine.decrypt(low, secret_key)
        array([15, 77])
        """
        made, several = tables(table)
        values = [one.pair_values(self._core.messages) for one in made]
        pair, own, most = broadcast(high, low), lookup_key(key), log2_failure(max_failure)
        packing = checks.need(packing_key, PackingKey, "engine.create_packing_key(secret_key)")
        with progress_bar(progress) as report:
            found = self._core.lookup_pairs(pair, values, own, packing, most, report)
        return _results(found, several)


def tables(table: Any) -> tuple[list[Table], bool]:
    """Tables, and whether they are a list of them."""
    several = isinstance(table, list | tuple) and any(_is_table(one) for one in table)
    made = [one if isinstance(one, Table) else Table(one) for one in (table if several else [table])]
    return made, several


def _is_table(value: Any) -> bool:
    """Whether it stands for a table, not for a value of one."""
    return isinstance(value, Table | list | tuple) or callable(value) or np.ndim(value) > 0


def _results(found: list[_core.LweArray], several: bool) -> LweCiphertext | tuple[LweCiphertext, ...]:
    made = tuple(LweCiphertext._of(array) for array in found)
    return made if several else made[0]

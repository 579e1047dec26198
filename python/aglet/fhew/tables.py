"""The part of `FhewEngine` that evaluates lookup tables (LUTs) on one or two encrypted integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from aglet import _core, checks
from aglet._core import FhewBootstrapKey, PackingKey
from aglet.errors import ParameterError
from aglet.fhew.calls import FhewOptions, broadcast, ciphertext, log2_failure, run
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.table import Table
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aglet._core import FhewArray

__all__ = ["Tables", "steps", "tables"]

OneTable = Table | Callable[..., Any] | Sequence[int] | np.ndarray[Any, Any]
"""What a table can be made of."""
ManyTables = Sequence[Table | Callable[..., Any] | Sequence[int] | np.ndarray[Any, Any]]
"""A list of tables."""


class LookupOptions(FhewOptions, total=False):
    """What `FhewEngine.lookup` takes by name."""

    domain: str | None
    step: int | None


class Tables:
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    @overload
    def lookup(
        self, x: FhewCiphertext, table: OneTable, key: FhewBootstrapKey, **options: Unpack[LookupOptions]
    ) -> FhewCiphertext: ...
    @overload
    def lookup(
        self, x: FhewCiphertext, table: ManyTables, key: FhewBootstrapKey, **options: Unpack[LookupOptions]
    ) -> tuple[FhewCiphertext, ...]: ...
    def lookup(
        self, x: FhewCiphertext, table: OneTable | ManyTables, key: FhewBootstrapKey, **options: Unpack[LookupOptions]
    ) -> FhewCiphertext | tuple[FhewCiphertext, ...]:
        """Evaluate a lookup table: each message m becomes `table[m]`. One bootstrap each, or two in the domain "full".

        Parameters
        ----------
        table
            A `Table`, or a callable, list or array to make one of. A list of tables gives a tuple of results. They
            share one bootstrap if the noise of the set allows it (preset "wide" is made for this); otherwise each table
            takes its own.
        domain
            Check that the messages were encrypted in this domain. It changes nothing else.
        step
            Say that all messages are multiples of this power of two; 1 by default. The table is asked only for these. A
            sum may then have more noise, and more tables share one bootstrap.
        max_failure
            The largest accepted probability of a wrong integer; 2^-128 by default. SECURITY.md explains what a failure
            may reveal.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

        Raises
        ------
        RangeError
            If the table has a wrong number of values or a value that is not a message, or a result would be wrong more
            often than accepted, as for sums of many terms.
        ParameterError
            If the ciphertexts are bits, or there is no such domain.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If ciphertexts and key do not belong together.
        """
        domain = options.get("domain")
        if domain is not None and checks.string("domain", domain) != ciphertext(x).form:
            raise ParameterError(
                f'These messages have the form "{x.form}", not the domain "{domain}"; encrypt them with domain=.'
            )
        made, several = tables(table)
        step = steps(options.get("step"), self._core.messages)
        values = [one.values(self._core.messages, step) for one in made]
        array = ciphertext(x)._array

        def call(key: FhewBootstrapKey, most: float | None, report: Any) -> list[_core.FhewArray]:
            return self._core.lookup(array, values, key, most, report, step)

        return _results(run(call, key, options, LookupOptions), several)

    @overload
    def lookup2(
        self,
        high: FhewCiphertext,
        low: FhewCiphertext,
        table: OneTable,
        key: FhewBootstrapKey,
        packing_key: PackingKey,
        **options: Unpack[FhewOptions],
    ) -> FhewCiphertext: ...
    @overload
    def lookup2(
        self,
        high: FhewCiphertext,
        low: FhewCiphertext,
        table: ManyTables,
        key: FhewBootstrapKey,
        packing_key: PackingKey,
        **options: Unpack[FhewOptions],
    ) -> tuple[FhewCiphertext, ...]: ...
    def lookup2(
        self,
        high: FhewCiphertext,
        low: FhewCiphertext,
        table: OneTable | ManyTables,
        key: FhewBootstrapKey,
        packing_key: PackingKey,
        **options: Unpack[FhewOptions],
    ) -> FhewCiphertext | tuple[FhewCiphertext, ...]:
        """Evaluate a lookup table on pairs of integers: `table[16 * high + low]` for a byte in two messages of 4 bits.

        It takes one bootstrap for the low message and one for each table; in the full domain two more. Preset "wide" is
        made for it. In other sets most tables would add too much noise and are refused.

        Parameters
        ----------
        high, low
            Messages of the domain "padded" or "full". Their shapes broadcast as in numpy.
        table
            A callable of both messages, or a flat list or array where the high message counts in steps of 2^bits. Each
            table gives one message. A list of tables gives a tuple of results, for example both nibbles of a byte.
        packing_key
            From `create_packing_key(secret_key)`.

        Other arguments and errors are those of `lookup`.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> engine = FhewEngine(preset="wide")
        >>> secret_key = engine.create_secret_key()
        >>> key, packing_key = engine.create_bootstrap_key(secret_key), engine.create_packing_key(secret_key)
        >>> x, y = engine.encrypt([[3, 7], [5, 11]], secret_key)
        >>> tables = [lambda x, y: x * y // 16, lambda x, y: x * y % 16]
        >>> high, low = engine.lookup2(x, y, tables, key, packing_key)
        >>> engine.decrypt(high, secret_key) * 16 + engine.decrypt(low, secret_key)
        array([15, 77])
        """
        made, several = tables(table)
        values = [one.pair_values(self._core.messages) for one in made]
        return _results(self._lookup_tree(broadcast(high, low), values, key, packing_key, options), several)

    def _lookup_tree(
        self,
        arrays: list[FhewArray],
        values: Sequence[bytes | list[int]],
        key: Any,
        packing_key: Any,
        options: FhewOptions,
    ) -> list[FhewArray]:
        """Tables of two to four messages of one shape, the first of which counts most, by their values."""
        packing = checks.need(packing_key, PackingKey, "engine.create_packing_key(secret_key)")
        return run(lambda own, *rest: self._core.lookup_tree(arrays, values, own, packing, *rest), key, options)

    def compress(
        self,
        x: FhewCiphertext,
        packing_key: PackingKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """Pack and round ciphertexts for sending: the same values in as few bytes as their noise allows.

        Up to N ciphertexts become coefficients of one sample (N is 512 to 2,048, by the set), and words are rounded.
        With preset "lut4", 2,048 nibbles take 6.4 kB in a file, 0.8 bytes a bit; single ciphertexts of a bootstrap take
        12 kB each. The mask of a sample is most of a small array: three nibbles take 4 kB. It takes no bootstrap, about
        0.1 ms a ciphertext.

        The result is for sending and decrypting. Bootstraps refuse it, as its noise is as large as decryption allows.

        Parameters
        ----------
        x
            Ciphertexts of any kind and shape.
        packing_key
            From `create_packing_key(secret_key)`.
        max_failure
            The largest accepted probability that a value is decrypted wrongly; 2^-128 by default. Decryption needs the
            same.

        Raises
        ------
        RangeError
            If the noise of the ciphertexts and of packing leaves no room for rounding; bootstrap them first.
        KeyMismatchError
            If the key is of another secret key.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> engine = FhewEngine(bits=4)
        >>> secret_key = engine.create_secret_key()
        >>> packing_key = engine.create_packing_key(secret_key)
        >>> x = engine.encrypt([3, 14, 15], secret_key)
        >>> engine.decrypt(engine.compress(x, packing_key), secret_key)
        array([ 3, 14, 15])
        """
        key, most = (
            checks.need(packing_key, PackingKey, "engine.create_packing_key(secret_key)"),
            log2_failure(max_failure),
        )
        with progress_bar(progress) as report:
            return FhewCiphertext._of(self._core.compress(ciphertext(x)._array, key, most, report))


def steps(step: Any, messages: int) -> int:
    """The step between messages; None is 1.

    Raises
    ------
    ParameterError
        If it is not a power of two that leaves at least two messages.
    """
    found = 1 if step is None else checks.count("step", step, 1)
    if messages % found or 2 * found > messages:
        raise ParameterError(f"step={found} is not a power of two up to {messages // 2}; give one.")
    return found


def tables(table: Any) -> tuple[list[Table], bool]:
    """The tables, and whether the argument was a list of tables."""
    several = isinstance(table, list | tuple) and any(_is_table(one) for one in table)
    made = [one if isinstance(one, Table) else Table(one) for one in (table if several else [table])]
    return made, several


def _is_table(value: Any) -> bool:
    """True if the value is a table, False if it is one value of a table."""
    return isinstance(value, Table | list | tuple) or callable(value) or np.ndim(value) > 0


def _results(found: list[_core.FhewArray], several: bool) -> FhewCiphertext | tuple[FhewCiphertext, ...]:
    made = tuple(FhewCiphertext._of(array) for array in found)
    return made if several else made[0]

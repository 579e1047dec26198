"""The part of `IntegerEngine` with circuits: powers, polynomials, lookup tables, comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from aglet import _core, checks
from aglet._core import IntegerBootstrapKey, IntegerCiphertext, IntegerRelinearizationKey
from aglet.errors import ParameterError
from aglet.integer import operands, values
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["CircuitPlan", "IntegerCircuits", "PartsPlan"]


class CircuitPlan(NamedTuple):
    """What a circuit will take."""

    levels: int
    """The levels that it takes from its inputs."""
    relinearizations: int
    """Products of ciphertexts with a key switch each. They take most of the time."""


class PartsPlan(NamedTuple):
    """What a table, a polynomial or a comparison will take with a bootstrap key."""

    bootstraps: int
    """Of the number itself, and of powers of it."""
    relinearizations: int
    """Products of ciphertexts with a key switch each, outside bootstraps."""
    output_level: int
    """The level of the result, 1 at least."""
    noise_excess: float
    """Bits of noise above a rounding that the result has at most; a bootstrap takes 3 at level 1."""


class IntegerCircuits:
    """Mixed into `IntegerEngine`.

    Every circuit takes a relinearization key and never changes its inputs. Ctrl-C stops it, and it calls
    `progress(done, total, what)` if one is given. Its levels are known in advance: if an input has too few, a
    `LevelError` is raised before anything is computed. Keys and ciphertexts of other engines raise a
    `KeyMismatchError`.
    """

    _core: _core.IntegerEngine

    def power(
        self,
        ciphertext: IntegerCiphertext,
        exponent: int,
        relinearization_key: IntegerRelinearizationKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The power x^exponent modulo t in every slot, for an exponent of 1 or more: ceil(log2(exponent)) levels.

        Raises
        ------
        ParameterError
            If the exponent is below 1.
        LevelError
            If there are too few levels.
        """
        ct, n = operands.ciphertext(ciphertext), checks.count("exponent", exponent, 1)
        key = operands.relinearization_key(relinearization_key)
        with progress_bar(progress) as report:
            return self._core.power(ct, n, key, report)

    def evaluate_polynomial(
        self,
        ciphertext: IntegerCiphertext,
        coefficients: Any,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bootstrap_key: IntegerBootstrapKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The sum of coefficients[k] x^k modulo t in every slot: ceil(log2(degree + 1)) levels.

        Coefficients are integers of any size, the constant term first. With packing="coefficients", x is the whole
        message polynomial, and x^k is its power.

        Parameters
        ----------
        bootstrap_key
            As in `lookup`, of up to 8,192 coefficients. `plan_polynomial_in_parts` tells the bootstraps.

        Raises
        ------
        ParameterError
            If the polynomial is constant modulo t.
        RangeError
            If there are too many coefficients for a bootstrap key.
        LevelError
            If there are too few levels.
        NoiseError
            If a power has more noise than a bootstrap takes.
        """
        ct, found = operands.ciphertext(ciphertext), values.as_coefficients(coefficients, self._core.plaintext_modulus)
        key, again = operands.relinearization_key(relinearization_key), _optional(bootstrap_key)
        with progress_bar(progress) as report:
            return self._core.evaluate_polynomial(ct, found, key, again, report)

    def plan_polynomial_in_parts(self, coefficients: Any, level: int) -> PartsPlan | None:
        """What `evaluate_polynomial` with a bootstrap key will take, as `plan_lookup_in_parts`."""
        found = values.as_coefficients(coefficients, self._core.plaintext_modulus)
        return _parts(self._core.plan_polynomial_in_parts(found, checks.count("level", level)))

    def lookup(
        self,
        ciphertext: IntegerCiphertext | Iterable[IntegerCiphertext],
        table: Any,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bootstrap_key: IntegerBootstrapKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """Replace x by table[x] in every slot, for integers from 0 to len(table) - 1.

        A list of ciphertexts gives x in digits, the lowest first: two digits of 4 bits for a table of 256 values, three
        for 4,096. Digits take fewer levels: two of 4 bits take 6, one variable of 8 bits takes 8. `plan_lookup` tells
        how many. An index outside the table gives an arbitrary value.

        Parameters
        ----------
        table
            2 to 8,192 integers between -t and t, not all equal. For d digits their number must be base^d.
        bootstrap_key
            With it, one ciphertext may have fewer levels than the table takes: its polynomial goes in parts, and powers
            of x are bootstrapped between, as few as `plan_lookup_in_parts` tells. The result has level 1 at least. Take
            x as a bootstrap, a product or `mod_switch` leaves it: noise beyond that is squared (`noise_excess`).

        Raises
        ------
        RangeError
            If the table has too few or too many values, or they are out of range.
        LevelError
            If there are too few levels.
        NoiseError
            If a power has more noise than a bootstrap takes.
        ParameterError
            If packing is "coefficients", all values of the table are equal, or there is a bootstrap key for several
            digits: these are bootstrapped before.
        """
        found = values.as_table(table, self._core.plaintext_modulus)
        keys = relinearization_key, bootstrap_key
        return self._looked_up([_digits(ciphertext)], ([found], 0), keys, progress)[0][0]

    def lookup_many(
        self,
        ciphertexts: Iterable[IntegerCiphertext | Iterable[IntegerCiphertext]],
        tables: Any,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bootstrap_key: IntegerBootstrapKey | None = None,
        spare_levels: int = 0,
        progress: ProgressCallback | None = None,
    ) -> list[list[IntegerCiphertext]]:
        """`lookup` of several numbers in several tables: for each number the results of all tables.

        Tables share the powers of a number: four of 16 values take 16 relinearizations, one takes 7. With a bootstrap
        key, numbers and their powers are bootstrapped side by side, as the lowest of them has to be.

        Parameters
        ----------
        ciphertexts
            Numbers, each a ciphertext or a list of digits.
        tables
            Tables of one length: a list of lists, or an array with a row for each.
        spare_levels
            Levels more that tables of one ciphertext may take without a bootstrap key, if that saves relinearizations:
            with one, four tables of 16 values take 11.

        Raises
        ------
        RangeError
            If there is no table, or their lengths differ. Other errors are those of `lookup`.
        ParameterError
            If numbers have different counts of digits. Other errors are those of `lookup`.
        """
        numbers = [_digits(one) for one in checks.each("ciphertexts", ciphertexts)]
        if len({len(one) for one in numbers}) > 1:
            raise ParameterError("Numbers of one call have the same count of digits; call lookup_many for each count.")
        found = values.as_tables(tables, self._core.plaintext_modulus)
        spare = checks.count("spare_levels", spare_levels)
        return self._looked_up(numbers, (found, spare), (relinearization_key, bootstrap_key), progress)

    def _looked_up(
        self,
        numbers: list[list[IntegerCiphertext]],
        tables: tuple[list[values.Integers], int],
        keys: Sequence[Any],
        progress: ProgressCallback | None,
    ) -> list[list[IntegerCiphertext]]:
        """Of tables with their spare levels, and of both keys."""
        key, again = operands.relinearization_key(keys[0]), _optional(keys[1])
        if again is not None and any(len(digits) > 1 for digits in numbers):
            raise ParameterError("Digits are not bootstrapped within a table; call bootstrap_many on them first.")
        with progress_bar(progress) as report:
            return self._core.lookup_many(numbers, *tables, key, again, report)

    def plan_lookup(self, table: Any, digits: int = 1, *, spare_levels: int = 0) -> CircuitPlan:
        """What `lookup` of this table with this number of digits will take. Errors are those of `lookup`.

        Several tables, as `lookup_many` has them, are those of one number.
        """
        found = values.as_tables(table, self._core.plaintext_modulus)
        spare = checks.count("spare_levels", spare_levels)
        return CircuitPlan(*self._core.plan_lookup(found, checks.count("digits", digits, 1), spare))

    def plan_lookup_in_parts(self, table: Any, level: int) -> PartsPlan | None:
        """What `lookup` with a bootstrap key will take of one ciphertext at this level, or of its several tables.

        It is the way with the fewest bootstraps. None if bootstraps leave too few levels for any.

        Raises
        ------
        ParameterError
            If the parameters have no bootstrap. Other errors are those of `lookup`.
        """
        found = values.as_tables(table, self._core.plaintext_modulus)
        return _parts(self._core.plan_lookup_in_parts(found, checks.count("level", level)))

    def less(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        bootstrap_key: IntegerBootstrapKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """1 where a < b and 0 elsewhere, for integers of `bits` bits: bits + 1 levels.

        Parameters
        ----------
        bits
            1 to 12. The integers are 0 to 2^bits - 1, or any others whose differences are below 2^bits. A larger
            difference gives an arbitrary value.
        bootstrap_key
            As in `lookup`: the difference may have fewer levels. `plan_compare_in_parts` tells the bootstraps.

        Raises
        ------
        RangeError
            If there are too many bits for the engine or for t.
        LevelError
            If there are too few levels.
        NoiseError
            If the difference, or a power of it, has more noise than a bootstrap takes.
        """
        return self._compare("<", (a, b), (relinearization_key, bootstrap_key), bits, progress)

    def equal(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        bootstrap_key: IntegerBootstrapKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """1 where a == b and 0 elsewhere. Arguments and errors are those of `less`."""
        return self._compare("==", (a, b), (relinearization_key, bootstrap_key), bits, progress)

    def maximum(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        bootstrap_key: IntegerBootstrapKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The larger of a and b in every slot. Arguments and errors are those of `less`."""
        return self._compare("maximum", (a, b), (relinearization_key, bootstrap_key), bits, progress)

    def plan_compare(self, bits: int) -> CircuitPlan:
        """What `less` on integers of this number of bits will take. Errors are those of `less`."""
        return CircuitPlan(*self._core.plan_compare("<", checks.count("bits", bits, 1)))

    def plan_compare_in_parts(self, bits: int, level: int) -> PartsPlan | None:
        """What `less` with a bootstrap key will take of numbers at this level, as `plan_lookup_in_parts`."""
        size, at = checks.count("bits", bits, 1), checks.count("level", level)
        return _parts(self._core.plan_compare_in_parts("<", size, at))

    def _compare(
        self, what: str, numbers: Sequence[Any], keys: Sequence[Any], bits: Any, progress: ProgressCallback | None
    ) -> IntegerCiphertext:
        left, right = (operands.ciphertext(one) for one in numbers)
        size, key, again = checks.count("bits", bits, 1), operands.relinearization_key(keys[0]), _optional(keys[1])
        with progress_bar(progress) as report:
            return self._core.compare(what, left, right, size, key, again, report)


def _optional(bootstrap_key: Any) -> IntegerBootstrapKey | None:
    return None if bootstrap_key is None else operands.bootstrap_key(bootstrap_key)


def _parts(found: tuple[int, int, int, float] | None) -> PartsPlan | None:
    return None if found is None else PartsPlan(*found)


def _digits(ciphertext: Any) -> list[IntegerCiphertext]:
    """A number as its digits, the lowest first."""
    given = [ciphertext] if isinstance(ciphertext, IntegerCiphertext) else ciphertext
    found = [operands.ciphertext(x) for x in checks.each("ciphertext", given)]
    if not found:
        raise ParameterError("lookup takes one ciphertext or more, and this list is empty; give one for each digit.")
    return found

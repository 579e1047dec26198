"""The part of `IntegerEngine` with circuits: powers, polynomials, lookup tables, comparisons."""

from __future__ import annotations

from collections.abc import Iterable
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
    """What a table will take that is looked up with a bootstrap key."""

    bootstraps: int
    """Of the number itself, and of powers of it."""
    relinearizations: int
    """Products of ciphertexts with a key switch each, outside bootstraps."""
    output_level: int
    """The level of the result, 1 at least."""


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
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The sum of coefficients[k] x^k modulo t in every slot: ceil(log2(degree + 1)) levels.

        Coefficients are integers of any size, the constant term first. With packing="coefficients", x is the whole
        message polynomial, and x^k is its power.

        Raises
        ------
        ParameterError
            If the polynomial is constant modulo t.
        LevelError
            If there are too few levels.
        """
        ct, found = operands.ciphertext(ciphertext), values.as_coefficients(coefficients, self._core.plaintext_modulus)
        key = operands.relinearization_key(relinearization_key)
        with progress_bar(progress) as report:
            return self._core.evaluate_polynomial(ct, found, key, report)

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
        if isinstance(ciphertext, IntegerCiphertext):
            ciphertext = [ciphertext]
        digits = [operands.ciphertext(x) for x in checks.each("ciphertext", ciphertext)]
        if not digits:
            raise ParameterError(
                "lookup takes one ciphertext or more, and this list is empty; give one for each digit."
            )
        found = values.as_table(table, self._core.plaintext_modulus)
        key = operands.relinearization_key(relinearization_key)
        again = None if bootstrap_key is None else operands.bootstrap_key(bootstrap_key)
        if again is not None and len(digits) > 1:
            raise ParameterError("Digits are not bootstrapped within a table; call bootstrap_many on them first.")
        with progress_bar(progress) as report:
            if again is not None:
                return self._core.lookup_in_parts(digits[0], found, key, again, report)
            return self._core.lookup(digits, found, key, report)

    def plan_lookup(self, table: Any, digits: int = 1) -> CircuitPlan:
        """What `lookup` of this table with this number of digits will take. Errors are those of `lookup`."""
        found = values.as_table(table, self._core.plaintext_modulus)
        return CircuitPlan(*self._core.plan_lookup(found, checks.count("digits", digits, 1)))

    def plan_lookup_in_parts(self, table: Any, level: int) -> PartsPlan | None:
        """What `lookup` with a bootstrap key will take of one ciphertext at this level.

        It is the way with the fewest bootstraps. None if bootstraps leave too few levels for any.

        Raises
        ------
        ParameterError
            If the parameters have no bootstrap. Other errors are those of `lookup`.
        """
        found = values.as_table(table, self._core.plaintext_modulus)
        parts = self._core.plan_lookup_in_parts(found, checks.count("level", level))
        return None if parts is None else PartsPlan(*parts)

    def less(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """1 where a < b and 0 elsewhere, for integers of `bits` bits: bits + 1 levels.

        Parameters
        ----------
        bits
            1 to 12. The integers are 0 to 2^bits - 1, or any others whose differences are below 2^bits. A larger
            difference gives an arbitrary value.

        Raises
        ------
        RangeError
            If there are too many bits for the engine or for t.
        LevelError
            If there are too few levels.
        """
        return self._compare("<", a, b, relinearization_key, bits, progress)

    def equal(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """1 where a == b and 0 elsewhere. Arguments and errors are those of `less`."""
        return self._compare("==", a, b, relinearization_key, bits, progress)

    def maximum(
        self,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        relinearization_key: IntegerRelinearizationKey,
        *,
        bits: int,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The larger of a and b in every slot. Arguments and errors are those of `less`."""
        return self._compare("maximum", a, b, relinearization_key, bits, progress)

    def plan_compare(self, bits: int) -> CircuitPlan:
        """What `less` on integers of this number of bits will take. Errors are those of `less`."""
        return CircuitPlan(*self._core.plan_compare("<", checks.count("bits", bits, 1)))

    def _compare(
        self, what: str, a: Any, b: Any, relinearization_key: Any, bits: Any, progress: ProgressCallback | None
    ) -> IntegerCiphertext:
        left, right, size = operands.ciphertext(a), operands.ciphertext(b), checks.count("bits", bits, 1)
        key = operands.relinearization_key(relinearization_key)
        with progress_bar(progress) as report:
            return self._core.compare(what, left, right, size, key, report)

"""The part of `IntegerEngine` with arithmetic: sums, products, rotations, modulus switching."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import (
    IntegerCiphertext,
    IntegerFixedRotationKey,
    IntegerPlaintext,
    IntegerRelinearizationKey,
    IntegerRotationKey,
)
from aglet.errors import KeyMismatchError, LevelError, ParameterError
from aglet.integer import operands, values

__all__ = ["SCHEMES", "IntegerArithmetic"]

SCHEMES = ("bfv", "bgv")

Operand = Any
"""A ciphertext, a plaintext, a whole number, or a list or array of whole numbers."""


def _ciphertext_first(a: Operand, b: Operand) -> tuple[Any, Any]:
    """Operands of a commutative operation: what is in the clear comes second."""
    return (b, a) if isinstance(b, IntegerCiphertext) and not isinstance(a, IntegerCiphertext) else (a, b)


class IntegerArithmetic:
    """Mixed into `IntegerEngine`."""

    _core: _core.IntegerEngine
    packing: Any

    def add(self, a: Operand, b: Operand) -> IntegerCiphertext:
        """The sum a + b of two ciphertexts, or of a ciphertext and numbers in the clear, in either order.

        The lower level of the two remains.

        A list or array that is shorter than a ciphertext is filled up with zeros, in sums and in products.
        One number is added to every integer, as in numpy, also where these are coefficients: add `[number]` for the
        constant polynomial.

        Raises
        ------
        NoiseError
            If the sum might not decrypt.
        RangeError
            If numbers in the clear are out of range; see `encode`.
        """
        a, b = _ciphertext_first(a, b)
        if isinstance(b, IntegerCiphertext):
            return self._core.add(operands.ciphertext(a), b)
        if values.is_number(b):
            return self._core.add_number(operands.ciphertext(a), values.as_number(b, self._core.plaintext_modulus))
        return self._core.add_plain(operands.ciphertext(a), self._encoded(b))

    def subtract(self, a: Operand, b: Operand) -> IntegerCiphertext:
        """The difference a - b. Operands and errors are those of `add`."""
        if isinstance(b, IntegerCiphertext) and not isinstance(a, IntegerCiphertext):
            return self.add(self.negate(b), a)
        if isinstance(b, IntegerCiphertext):
            return self._core.subtract(operands.ciphertext(a), b)
        if values.is_number(b):
            return self._core.add_number(operands.ciphertext(a), -values.as_number(b, self._core.plaintext_modulus))
        taken = self._core.decode(b) if isinstance(b, IntegerPlaintext) else self._integers(b)
        return self._core.add_plain(operands.ciphertext(a), self._core.encode(-taken))

    def negate(self, ciphertext: IntegerCiphertext) -> IntegerCiphertext:
        """The negated integers, -x."""
        return self._core.negate(operands.ciphertext(ciphertext))

    def multiply(
        self,
        a: Operand,
        b: Operand,
        relinearization_key: IntegerRelinearizationKey | None = None,
        *,
        method: str = "modulus-switching",
    ) -> IntegerCiphertext:
        """The product a * b, one level below the lower of the two.

        A product with numbers in the clear, which may be `a` or `b`, takes no level, only noise.

        Without a key, the product of two ciphertexts has three polynomials and stays at its level. `relinearize` makes
        it two polynomials and takes the level. A sum of such products then needs only one relinearization.

        The method "scale-invariant" is the product of BFV. Its result stays at the lower level of the two operands, and
        it works at level 0 as well. It takes its bits from the noise budget, about as many as a level has, and it is
        slower. Use it for programs that count a noise budget instead of levels; about as many products fit.

        Raises
        ------
        LevelError
            If a ciphertext has no level left.
        MissingKeyError
            If a scale-invariant product has no key.
        NoiseError
            If the product might not decrypt.
        ParameterError
            If there is no such method, or a method is given for numbers in the clear.
        RangeError
            If numbers in the clear are out of range; see `encode`.
        """
        a, b = _ciphertext_first(a, b)
        left, scaled = operands.ciphertext(a), method == "scale-invariant"
        checks.choice("method", method, ("modulus-switching", "scale-invariant"))
        if isinstance(b, IntegerCiphertext):
            key = relinearization_key
            if scaled:
                return self._core.multiply_scaled(left, b, operands.relinearization_key(key))
            return self._core.multiply(left, b, None if key is None else operands.relinearization_key(key))
        if scaled:
            raise ParameterError("A product with numbers in the clear takes no method=; leave it out.")
        if values.is_number(b):
            return self._core.multiply_number(left, values.as_number(b, self._core.plaintext_modulus))
        return self._core.multiply_plain(left, self._encoded(b))

    def weighted_sum(self, ciphertexts: Iterable[IntegerCiphertext], weights: Iterable[Operand]) -> IntegerCiphertext:
        """Compute `sum weight * ciphertext`, several times as fast as one by one. It takes no level, only noise.

        Parameters
        ----------
        ciphertexts
            Ciphertexts of any levels; the result is at the lowest.
        weights
            One weight for each ciphertext, in the clear: a whole number, a list or array, or a plaintext. Numbers that
            repeat along both rows of slots, with a power of two as period, are faster and make less noise.

        Raises
        ------
        NoiseError
            If the sum might not decrypt.
        RangeError
            If there is no ciphertext, the numbers of ciphertexts and weights differ, or a weight is out of range.
        """
        terms = [operands.ciphertext(ciphertext) for ciphertext in checks.each("ciphertexts", ciphertexts)]
        return self._core.weighted_sum(terms, [self._weight(weight) for weight in checks.each("weights", weights)])

    def product_sum(
        self,
        left: Iterable[IntegerCiphertext],
        right: Iterable[IntegerCiphertext],
        relinearization_key: IntegerRelinearizationKey,
    ) -> IntegerCiphertext:
        """Compute `sum left * right`. The whole sum uses one level and one relinearization.

        Parameters
        ----------
        left, right
            As many ciphertexts each, of any levels. The result is one level below the lowest.

        Raises
        ------
        RangeError
            If there is no ciphertext, or the lists have different lengths.
        LevelError
            If a ciphertext is at level 0.
        NoiseError
            If the sum might not decrypt.
        """
        factors = [
            [operands.ciphertext(one) for one in checks.each(name, given)]
            for name, given in (("left", left), ("right", right))
        ]
        return self._core.product_sum(factors[0], factors[1], operands.relinearization_key(relinearization_key))

    def square(
        self, ciphertext: IntegerCiphertext, relinearization_key: IntegerRelinearizationKey | None = None
    ) -> IntegerCiphertext:
        """The square x * x. Levels, key and errors are those of `multiply`."""
        return self.multiply(ciphertext, operands.ciphertext(ciphertext), relinearization_key)

    def relinearize(
        self, ciphertext: IntegerCiphertext, relinearization_key: IntegerRelinearizationKey
    ) -> IntegerCiphertext:
        """Relinearize a product: two polynomials, one level lower.

        A ciphertext that has two already is returned as it is.
        """
        key = operands.relinearization_key(relinearization_key)
        return self._core.relinearize(operands.ciphertext(ciphertext), key)

    def mod_switch(self, ciphertext: IntegerCiphertext, level: int) -> IntegerCiphertext:
        """Modulus switching: the same integers at a lower level, smaller and faster, with the least possible noise.

        Raises
        ------
        LevelError
            If the ciphertext is below that level, or the level does not exist.
        """
        now = operands.ciphertext(ciphertext).level
        to = values.as_level(level, self._core.max_level)
        if to > now:
            raise LevelError(
                f"A ciphertext at level {now} cannot be brought to level {to}: levels only go down; bootstrap it to "
                "gain levels, or encrypt it higher."
            )
        return self._core.level_down(ciphertext, to)

    def rescale(self, ciphertext: IntegerCiphertext) -> IntegerCiphertext:
        """Divide a ciphertext by its highest prime: the same integers one level lower, with the least possible noise.

        `mod_switch` multiplies before it divides, so that all ciphertexts of a level have one correction factor and can
        be added. After a product with numbers that leaves up to 16 bits more noise. Take `rescale` between products;
        sums with ciphertexts of another history multiply by up to t / 2 then.

        Raises
        ------
        LevelError
            If the ciphertext is at level 0.
        """
        return self._core.rescale(operands.ciphertext(ciphertext))

    def as_scheme(self, ciphertext: IntegerCiphertext, scheme: str) -> IntegerCiphertext:
        """Return the ciphertext itself: "bfv" and "bgv" read the same ciphertexts here, so no conversion is needed.

        It exists for programs that convert explicitly.

        Raises
        ------
        ParameterError
            If there is no such scheme.
        """
        checks.choice("scheme", scheme, SCHEMES)
        return operands.ciphertext(ciphertext)

    def rotate_rows(
        self,
        ciphertext: IntegerCiphertext,
        rotation_key: IntegerRotationKey | IntegerFixedRotationKey,
        delta: int | None = None,
    ) -> IntegerCiphertext:
        """Rotate both rows by delta slots to the right: numpy.roll(x.reshape(2, -1), delta, axis=1). It takes no level.

        Parameters
        ----------
        rotation_key
            A rotation key, which allows every `delta` and takes a key switch for each binary digit of the step to the
            left, or a fixed rotation key, which has its own step and takes one.

        Raises
        ------
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If `delta` differs from the step of a fixed rotation key.
        LevelError
            If the ciphertext is above the level of the fixed rotation key.
        ParameterError
            If packing is "coefficients".
        """
        ct, step = operands.ciphertext(ciphertext), None if delta is None else checks.step(delta)
        if isinstance(rotation_key, IntegerFixedRotationKey):
            if step is not None and (step - rotation_key.delta) % (self._core.count // 2):
                raise KeyMismatchError(
                    f"This fixed rotation key rotates by {rotation_key.delta}, not by {delta}; make one with "
                    f"engine.create_fixed_rotation_key(secret_key, {delta})."
                )
            return self._core.rotate_rows(ct, rotation_key, rotation_key.delta)
        key = operands.rotation_key(rotation_key)
        if step is None:
            raise TypeError("rotate_rows needs the step with this key; call rotate_rows(ciphertext, key, delta).")
        return self._core.rotate_rows(ct, key, step)

    def rotate_columns(self, ciphertext: IntegerCiphertext, rotation_key: IntegerRotationKey) -> IntegerCiphertext:
        """Swap the two rows: x.reshape(2, -1)[::-1]. It takes no level. Errors are those of `rotate_rows`."""
        return self._core.rotate_columns(operands.ciphertext(ciphertext), operands.rotation_key(rotation_key))

    def sum_slots(self, ciphertext: IntegerCiphertext, rotation_key: IntegerRotationKey) -> IntegerCiphertext:
        """The sum of all slots modulo t, in every slot. It takes no level. Errors are those of `rotate_rows`."""
        return self._core.sum_slots(operands.ciphertext(ciphertext), operands.rotation_key(rotation_key))

    def _encoded(self, operand: Any) -> IntegerPlaintext:
        return operand if isinstance(operand, IntegerPlaintext) else self._core.encode(self._integers(operand))

    def _weight(self, weight: Any) -> IntegerPlaintext:
        if not values.is_number(weight):
            return self._encoded(weight)
        # The same number in every slot, or the constant polynomial.
        places = self._core.count if self.packing == "slots" else 1
        return self._core.encode(np.full(places, values.as_number(weight, self._core.plaintext_modulus)))

    def _integers(self, operand: Any) -> values.Integers:
        if operand is None:
            raise TypeError(
                "An operand is a ciphertext, a plaintext, a whole number, or a list or array of them, not None."
            )
        return values.as_integers(operand, self._core.count, self._core.plaintext_modulus)

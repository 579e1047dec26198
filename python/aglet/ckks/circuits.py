"""The circuits of `Engine`: polynomials, weighted sums, batches of rotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import Ciphertext, EncodedWeights, FixedRotationKey, Plaintext, RelinearizationKey, RotationKey
from aglet.ckks import operands, values
from aglet.ckks.gates import BitGates
from aglet.ckks.light import LightPlaintext
from aglet.errors import RangeError
from aglet.progress import ProgressCallback

# Beyond it no engine has the levels.
_MOST_DEGREE = 2**20


class Circuits(BitGates):
    """Mixed into `Engine`."""

    _core: _core.Engine
    _max_level: int

    # Polynomials

    def evaluate_polynomial(
        self,
        ciphertext: Ciphertext,
        coefficients: Any,
        relinearization_key: RelinearizationKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Evaluate `c[0] + c[1] x + c[2] x^2 + ...` in every slot, in `ceil(log2(degree + 1))` levels.

        The method is Paterson-Stockmeyer with exact scales, in the power basis. Values may be complex and of any size,
        as long as their powers fit. Tests assert an error below 2^-22 for all degrees up to 63, for values in the unit
        disc and coefficients up to 1.

        Parameters
        ----------
        coefficients
            A list or array of real or complex numbers, the constant first. A constant polynomial uses no level.

        Raises
        ------
        RangeError
            If there is no coefficient, or a coefficient is not finite or too large.
        LevelError
            If the ciphertext has fewer levels than the polynomial needs.

        Examples
        --------
        >>> from aglet import Engine
        >>> engine = Engine(max_level=2)
        >>> key = engine.create_secret_key()
        >>> relin = engine.create_relinearization_key(key)
        >>> result = engine.evaluate_polynomial(engine.encrypt([2, 3], key), [1, 0, 0, 1], relin)
        >>> engine.decrypt(result, key)[:2].real.round(3).tolist()
        [9.0, 28.0]
        """
        return self._polynomial(ciphertext, coefficients, "power", relinearization_key, progress)

    def evaluate_chebyshev_polynomial(
        self,
        ciphertext: Ciphertext,
        coefficients: Any,
        relinearization_key: RelinearizationKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Evaluate `c[0] + c[1] T_1(x) + c[2] T_2(x) + ...` in every slot, as `numpy.polynomial.chebyshev.chebval`.

        Values lie in [-1, 1]; outside of it, Chebyshev polynomials grow fast. Use this basis to approximate functions:
        a fit over an interval has small coefficients in it, and large ones in powers. Levels and exceptions are those
        of `evaluate_polynomial`. Tests assert an error below 2^-18 for all degrees up to 63 and coefficients up to 1.
        The error is largest at the ends of the interval, where the slope of `T_k` is k^2.
        """
        return self._polynomial(ciphertext, coefficients, "chebyshev", relinearization_key, progress)

    def _polynomial(
        self, ciphertext: Ciphertext, coefficients: Any, basis: str, key: Any, progress: ProgressCallback | None
    ) -> Ciphertext:
        return self._core.evaluate_polynomial(
            operands.ciphertext(ciphertext),
            values.as_vector(coefficients, what="list of coefficients").astype(np.complex128),
            basis,
            operands.relinearization_key(key),
            progress,
        )

    def make_power_basis(
        self,
        ciphertext: Ciphertext,
        degree: int | None = None,
        relinearization_key: RelinearizationKey | None = None,
        *,
        max_power: int | None = None,
    ) -> list[Ciphertext]:
        """Compute `[x, x^2, ..., x^degree]`. The k-th power is `ceil(log2 k)` levels below `x`.

        Parameters
        ----------
        degree
            The highest power. Its other name is `max_power=`.

        Raises
        ------
        RangeError
            If the degree is below 1.
        LevelError
            If the ciphertext has fewer than `ceil(log2 degree)` levels.
        """
        return self._basis(ciphertext, checks.one_of(degree=degree, max_power=max_power), "power", relinearization_key)

    def make_chebyshev_basis(
        self, ciphertext: Ciphertext, degree: int, relinearization_key: RelinearizationKey
    ) -> list[Ciphertext]:
        """Compute `[T_1(x), ..., T_degree(x)]` for values in [-1, 1]. Levels and errors as in `make_power_basis`."""
        return self._basis(ciphertext, degree, "chebyshev", relinearization_key)

    def _basis(self, ciphertext: Ciphertext, degree: Any, basis: str, key: Any) -> list[Ciphertext]:
        degree = checks.whole("degree", degree)
        if not 1 <= degree <= _MOST_DEGREE:
            raise RangeError(f"degree={degree} is out of range; give a degree from 1 to 2^20.")
        key = operands.relinearization_key(key)
        return self._core.make_basis(operands.ciphertext(ciphertext), degree, basis, key)

    # Sums and rotations

    def weighted_sum(self, ciphertexts: Iterable[Ciphertext], weights: Iterable[Any]) -> Ciphertext:
        """Compute `sum weight * ciphertext`. The whole sum uses one level and one rescale.

        Parameters
        ----------
        ciphertexts
            Ciphertexts of any levels. The result is one level below the lowest.
        weights
            One weight for each ciphertext: a number, a list or array of at most `slot_count` numbers, a plaintext of
            any level, or what `encode_weights` makes for the level of this sum.

        Raises
        ------
        RangeError
            If there is no ciphertext, the numbers of ciphertexts and weights differ, or a weight is not finite.
        LevelError
            If a ciphertext is at level 0, or a weight was encoded for another level than that of the sum.
        """
        terms = [operands.ciphertext(ciphertext) for ciphertext in checks.each("ciphertexts", ciphertexts)]
        return self._core.weighted_sum(terms, [self._weight(weight) for weight in checks.each("weights", weights)])

    def product_sum(
        self, left: Iterable[Ciphertext], right: Iterable[Ciphertext], relinearization_key: RelinearizationKey
    ) -> Ciphertext:
        """Compute `sum left * right`, slot by slot. The whole sum uses one level, one relinearization and one rescale.

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
        """
        factors = [
            [operands.ciphertext(one) for one in checks.each(name, given)]
            for name, given in (("left", left), ("right", right))
        ]
        return self._core.product_sum(factors[0], factors[1], operands.relinearization_key(relinearization_key))

    def _weight(self, weight: Any) -> Any:
        if isinstance(weight, Plaintext | EncodedWeights):
            return weight
        if isinstance(weight, LightPlaintext):
            return weight.values
        if values.is_number(weight):
            return values.as_number(weight)
        return values.as_slots(weight, self._core.slot_count)

    def rotate_batch(
        self,
        ciphertext: Ciphertext,
        rotation_key: RotationKey | Sequence[FixedRotationKey] | None = None,
        deltas: Iterable[int] | None = None,
        *,
        fixed_rotation_keys: Sequence[FixedRotationKey] | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[Ciphertext]:
        """Rotate one ciphertext by several steps, as `numpy.roll` does. Uses no level.

        Parameters
        ----------
        rotation_key
            A rotation key, or a sequence of fixed rotation keys (also as `fixed_rotation_keys=`).
        deltas
            The steps; needed with a rotation key. The rotations share work (hoisting), so this is faster than single
            calls: steps that are powers of two share one decomposition, and other steps share their common parts. All
            steps from 0 to n - 1 together take n - 1 key switches. With fixed rotation keys each key has its own step,
            and `deltas`, if given, must list these.

        Returns
        -------
        list of Ciphertext
            One ciphertext for each step, in the same order.

        Raises
        ------
        LevelError
            If a fixed rotation key was made for a lower level.
        """
        ciphertext = operands.ciphertext(ciphertext)
        key: Any = checks.one_of(rotation_key=rotation_key, fixed_rotation_keys=fixed_rotation_keys)
        steps = None if deltas is None else [checks.step(delta) for delta in checks.each("deltas", deltas)]
        slots = self._core.slot_count
        if isinstance(key, RotationKey):
            if steps is None:
                raise TypeError(
                    "rotate_batch needs the steps with a rotation key; call rotate_batch(ciphertext, key, deltas)."
                )
            return self._core.rotate_batch(ciphertext, key, [step % slots for step in steps], progress)
        if not isinstance(key, Sequence):
            operands.not_of_a_bootstrap(key)
            checks.need(key, RotationKey, "engine.create_rotation_key(secret_key)")
        maker = "engine.create_fixed_rotation_key(secret_key, delta)"
        keys = [checks.need(one, FixedRotationKey, maker) for one in key]
        if steps is not None and [step % slots for step in steps] != [one.delta % slots for one in keys]:
            raise RangeError(
                "deltas differs from the steps of the fixed rotation keys; leave deltas out, or give these steps "
                "in the order of the keys."
            )
        return self._core.rotate_batch_fixed(ciphertext, keys, progress)

    def sum(self, ciphertext: Ciphertext, rotation_key: RotationKey, axis: int | None = None) -> Ciphertext:
        """Put the sum of all slots into every slot. Uses no level, and `log2(slot_count)` rotations.

        Parameters
        ----------
        axis
            `None` and 1 sum over the slots. 0 sums over units; a ciphertext has one unit, so this changes nothing.
        """
        ciphertext = operands.ciphertext(ciphertext)
        if axis is not None and checks.whole("axis", axis) not in (0, 1):
            raise RangeError(f"axis={axis} does not exist; a ciphertext has axis 0, of one unit, and axis 1, of slots.")
        key = checks.need(rotation_key, RotationKey, "engine.create_rotation_key(secret_key)")
        total = self._core.rotate(ciphertext, key, 0)
        step = 1
        while step < self._core.slot_count and axis != 0:
            total = self._core.add(total, self._core.rotate(total, key, step))
            step *= 2
        return total

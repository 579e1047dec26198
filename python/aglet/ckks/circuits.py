"""The part of `Engine` with polynomials, weighted sums, batches of rotations and matrices."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aglet import _core
from aglet._core import (
    Ciphertext,
    FixedRotationKey,
    MatrixMultiplicationKey,
    Plaintext,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.ckks import checks, values
from aglet.errors import RangeError
from aglet.progress import ProgressCallback, progress_bar


class Circuits:
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
        """`c[0] + c[1] x + c[2] x^2 + ...` in every slot, in the fewest levels: `ceil(log2(degree + 1))`.

        Paterson-Stockmeyer with exact scales, in the power basis as given: nothing is converted, so values may be
        complex, and of any size whose powers fit. The tests assert an error below 2^-22 for all degrees up to 63,
        values in the unit disc and coefficients up to 1.

        Parameters
        ----------
        coefficients
            A list or array of real or complex numbers, the constant first. A constant polynomial takes no level.

        Raises
        ------
        RangeError
            If there is no coefficient, or one is not finite or too large.
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
        """`c[0] + c[1] T_1(x) + c[2] T_2(x) + ...` in every slot, as `numpy.polynomial.chebyshev.chebval`.

        Values lie in [-1, 1]; beyond, Chebyshev polynomials grow fast. This is the basis to choose for approximations:
        a fit of a function over an interval has small coefficients here, and large ones in powers. Levels and
        exceptions are those of `evaluate_polynomial`. The tests assert an error below 2^-18 for all degrees up to 63
        and coefficients up to 1; it is largest at the ends of the interval, where the slope of `T_k` is k^2.
        """
        return self._polynomial(ciphertext, coefficients, "chebyshev", relinearization_key, progress)

    def _polynomial(
        self, ciphertext: Ciphertext, coefficients: Any, basis: str, key: Any, progress: ProgressCallback | None
    ) -> Ciphertext:
        return self._core.evaluate_polynomial(
            checks.ciphertext(ciphertext),
            values.as_vector(coefficients).astype(np.complex128),
            basis,
            checks.relinearization_key(key),
            progress,
        )

    def make_power_basis(
        self, ciphertext: Ciphertext, degree: int, relinearization_key: RelinearizationKey
    ) -> list[Ciphertext]:
        """`[x, x^2, ..., x^degree]`; the k-th power is `ceil(log2 k)` levels below `x`.

        Raises
        ------
        RangeError
            If the degree is below 1.
        LevelError
            If the ciphertext has fewer than `ceil(log2 degree)` levels.
        """
        return self._basis(ciphertext, degree, "power", relinearization_key)

    def make_chebyshev_basis(
        self, ciphertext: Ciphertext, degree: int, relinearization_key: RelinearizationKey
    ) -> list[Ciphertext]:
        """`[T_1(x), T_2(x), ..., T_degree(x)]` for values in [-1, 1]; levels and errors as in `make_power_basis`."""
        return self._basis(ciphertext, degree, "chebyshev", relinearization_key)

    def _basis(self, ciphertext: Ciphertext, degree: int, basis: str, key: Any) -> list[Ciphertext]:
        if isinstance(degree, bool) or not isinstance(degree, numbers.Integral):
            raise TypeError(f"A degree is a whole number, not {type(degree).__name__}.")
        if degree < 1:
            raise RangeError(f"A basis begins with degree 1, and degree={degree} is below; give 1 or more.")
        key = checks.relinearization_key(key)
        return self._core.make_basis(checks.ciphertext(ciphertext), int(degree), basis, key)

    # Sums and rotations

    def weighted_sum(self, ciphertexts: Iterable[Ciphertext], weights: Iterable[Any]) -> Ciphertext:
        """`sum weight * ciphertext`: one level and one rescale for the whole sum.

        Parameters
        ----------
        ciphertexts
            At any levels; the result is one below the lowest.
        weights
            One for each: a number, a list or array of at most `slot_count` numbers, or a plaintext (of any level).

        Raises
        ------
        RangeError
            If there is no ciphertext, the counts differ, or a weight is not finite.
        LevelError
            If a ciphertext is at level 0.
        """
        terms = [checks.ciphertext(ciphertext) for ciphertext in ciphertexts]
        return self._core.weighted_sum(terms, [self._weight(weight) for weight in weights])

    def _weight(self, weight: Any) -> Any:
        if isinstance(weight, Plaintext):
            return weight
        if values.is_number(weight):
            return values.as_number(weight)
        return values.as_slots(weight, self._core.slot_count)

    def rotate_batch(
        self,
        ciphertext: Ciphertext,
        key: RotationKey | Sequence[FixedRotationKey],
        deltas: Iterable[int] | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> list[Ciphertext]:
        """Rotate one ciphertext by several steps, as `numpy.roll`; no level. Faster than one by one: work is shared.

        Parameters
        ----------
        key
            A rotation key, or a sequence of fixed rotation keys.
        deltas
            The steps, with a rotation key. With it, steps that are powers of two share one decomposition, and composed
            steps share every common part; all steps from 0 to n - 1 together take n - 1 key switches. With fixed keys,
            each one rotates by its own step, and `deltas`, if given, must be these.

        Returns
        -------
        list of Ciphertext
            In the order of the steps.

        Raises
        ------
        LevelError
            If a fixed rotation key was made for a lower level.
        """
        ciphertext = checks.ciphertext(ciphertext)
        steps = None if deltas is None else [checks.step(delta) for delta in deltas]
        slots = self._core.slot_count
        if isinstance(key, RotationKey):
            if steps is None:
                raise TypeError(
                    "With a rotation key, rotate_batch needs the steps: rotate_batch(ciphertext, key, deltas)."
                )
            return self._core.rotate_batch(ciphertext, key, [step % slots for step in steps], progress)
        if not isinstance(key, Sequence):
            checks.need(key, RotationKey, "create_rotation_key(secret_key)")
        maker = "create_fixed_rotation_key(secret_key, delta)"
        keys = [checks.need(one, FixedRotationKey, maker) for one in key]
        if steps is not None and [step % slots for step in steps] != [one.delta % slots for one in keys]:
            raise RangeError(
                "The steps are not those of the fixed rotation keys; leave deltas out, or give them in order."
            )
        return self._core.rotate_batch_fixed(ciphertext, keys, progress)

    # Matrices

    def create_matrix_multiplication_key(
        self,
        secret_key: SecretKey,
        *,
        level: int | None = None,
        baby_step_count: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> MatrixMultiplicationKey:
        """The rotations that `multiply_matrix` needs, for matrices of every shape.

        Parameters
        ----------
        level
            The highest level at which it will be used; a lower one makes a smaller key.
        baby_step_count
            A power of two; 32 if not given. More make a larger key and dense matrices faster.

        Raises
        ------
        MemoryLimitError
            Before anything is made, if the machine has too little memory for it.
        """
        wanted = None if level is None else values.as_level(level, self._max_level)
        with progress_bar(progress) as report:
            return self._core.create_matrix_multiplication_key(
                checks.secret_key(secret_key), wanted, baby_step_count, report
            )

    def multiply_matrix(
        self,
        matrix: Any,
        ciphertext: Ciphertext,
        key: MatrixMultiplicationKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """A plaintext matrix times the encrypted vector: `matrix @ x`; one level.

        By diagonals with baby and giant steps (eprint 2020/1203, section 4). Diagonals without an entry cost nothing,
        so banded matrices are fast; a dense block of d rows and columns has 2d - 1 diagonals, at most `slot_count`.

        Parameters
        ----------
        matrix
            A two-dimensional list or array of at most `slot_count` rows and columns. A smaller one acts on the first
            slots, and the slots beyond its rows become zero.

        Raises
        ------
        RangeError
            If the matrix is empty, too large, ragged, or not finite.
        LevelError
            If the ciphertext is at level 0, or above the level of the key.
        """
        array = values.as_matrix(matrix, self._core.slot_count)
        key = checks.need(key, MatrixMultiplicationKey, "create_matrix_multiplication_key(secret_key)")
        return self._core.multiply_matrix(array, checks.ciphertext(ciphertext), key, progress)

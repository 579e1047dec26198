"""The part of `Engine` that multiplies an encrypted vector by a plaintext matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import Ciphertext, MatrixMultiplicationKey, RotationKey, SecretKey
from aglet.ckks import operands, values
from aglet.errors import LevelError, RangeError
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["Matrices", "PlainMatrix"]

# Rotated copies of the vector that are held at a time without a matrix multiplication key.
_MOST_BABY_STEPS = 64


@dataclass(frozen=True, eq=False)
class PlainMatrix:
    """A matrix as `multiply_matrix` takes it, checked. Diagonals are encoded as they are used, so it stays small."""

    entries: values.Vector
    level: int
    """The highest level of a ciphertext that it is multiplied by."""

    def __repr__(self) -> str:
        return f"<PlainMatrix: {self.entries.shape[0]} x {self.entries.shape[1]}, level {self.level}>"


class Matrices:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _max_level: int

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
                operands.secret_key(secret_key),
                wanted,
                checks.optional_count("baby_step_count", baby_step_count),
                report,
            )

    def encode_to_plain_matrix(
        self, matrix: Any, level: int | None = None, diagonal_indices: Iterable[int] | None = None
    ) -> PlainMatrix:
        """A matrix ready for `multiply_matrix`.

        Parameters
        ----------
        matrix
            A two-dimensional list or array of at most `slot_count` rows and columns.
        level
            The highest level at which it will be used; `max_level` if not given.
        diagonal_indices
            The diagonals to keep, `matrix[j][(j + k) % slot_count]` for each `k`; all if not given.

        Raises
        ------
        RangeError
            If the matrix is empty, too large, ragged, or not finite.
        LevelError
            If the level does not exist.
        """
        entries, slots = values.as_matrix(matrix, self._core.slot_count), self._core.slot_count
        if diagonal_indices is not None:
            kept = [checks.step(index) % slots for index in checks.each("diagonal_indices", diagonal_indices)]
            if not kept:
                raise RangeError("diagonal_indices is empty, which keeps no diagonal; leave it out to keep all.")
            rows, columns = (np.arange(length) for length in entries.shape)
            entries[~np.isin((columns - rows[:, None]) % slots, kept)] = 0
        return PlainMatrix(entries, values.as_level(level, self._max_level))

    def multiply_matrix(
        self,
        matrix: Any,
        ciphertext: Ciphertext,
        rotation_key: MatrixMultiplicationKey | RotationKey | None = None,
        *,
        matrix_multiplication_key: MatrixMultiplicationKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """A plaintext matrix times the encrypted vector: `matrix @ x`; one level.

        By diagonals with baby and giant steps (eprint 2020/1203, section 4). Diagonals without an entry cost nothing,
        so banded matrices are fast; a dense block of d rows and columns has 2d - 1 diagonals, at most `slot_count`.

        Parameters
        ----------
        matrix
            A `PlainMatrix`, or a two-dimensional list or array of at most `slot_count` rows and columns. A smaller one
            acts on the first slots, and the slots beyond its rows become zero.
        rotation_key
            A matrix multiplication key, or the rotation key, which is slower and takes the memory of up to 64
            ciphertexts. The former may be given as `matrix_multiplication_key=` too.

        Raises
        ------
        RangeError
            If the matrix is empty, too large, ragged, or not finite.
        LevelError
            If the ciphertext is at level 0, or above the level of the key or of the `PlainMatrix`.
        """
        ciphertext = operands.ciphertext(ciphertext)
        key = checks.one_of(rotation_key=rotation_key, matrix_multiplication_key=matrix_multiplication_key)
        if not isinstance(matrix, PlainMatrix):
            matrix = PlainMatrix(values.as_matrix(matrix, self._core.slot_count), ciphertext.level)
        if ciphertext.level > matrix.level:
            raise LevelError(
                f"This matrix was encoded for level {matrix.level} and the ciphertext is at level {ciphertext.level}; "
                "encode it for that level, or bring the ciphertext down with level_down."
            )
        if max(matrix.entries.shape) > self._core.slot_count:
            raise RangeError(f"This matrix is larger than the {self._core.slot_count} slots of this engine; cut it.")
        if isinstance(key, RotationKey):
            return self._rotate_and_sum(matrix.entries, ciphertext, key, progress)
        operands.not_of_a_bootstrap(key)
        key = checks.need(key, MatrixMultiplicationKey, "create_matrix_multiplication_key(secret_key)")
        return self._core.multiply_matrix(matrix.entries, ciphertext, key, progress)

    def _rotate_and_sum(
        self, entries: values.Vector, x: Ciphertext, key: RotationKey, progress: ProgressCallback | None
    ) -> Ciphertext:
        """By diagonals to the right, for which the rotation key has its steps.

        With `k = g b + i`: `sum_k D_k * roll(x, k) = sum_g roll(sum_i E_gi * roll(x, i), g b)`, where
        `E_gi[j] = matrix[j + g b][j - i]`, summed over g by Horner's rule from the last.
        """
        report, slots, (rows, columns) = checks.callback(progress), self._core.slot_count, entries.shape
        baby = min(_MOST_BABY_STEPS, 1 << (slots.bit_length() // 2))
        place = np.arange(slots)
        turned = self._core.rotate_batch(x, key, list(range(baby)), None)
        total, at = None, 0
        for giant in range(slots // baby - 1, -1, -1):
            report(slots // baby - 1 - giant, slots // baby, "matrix")
            row = (place + giant * baby) % slots
            used: list[tuple[Ciphertext, values.Vector]] = []
            for i in range(baby):
                column = (place - i) % slots
                inside = (row < rows) & (column < columns)
                diagonal: Any = np.zeros_like(entries, shape=slots)
                diagonal[inside] = entries[row[inside], column[inside]]
                if diagonal.any():
                    used.append((turned[i], diagonal))
            if used:
                part = self._core.weighted_sum([ct for ct, _ in used], [weights for _, weights in used])
                if total is not None:
                    part = self._core.add(part, self._core.rotate(total, key, (at - giant) * baby))
                total, at = part, giant
        if total is None:
            zeros: Any = np.zeros_like(entries, shape=slots)
            return self._core.weighted_sum([x], [zeros])
        return self._core.rotate(total, key, at * baby)

"""The methods of `Engine` that multiply a plaintext matrix by an encrypted vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet._core import Ciphertext, EncodedDiagonals, EncodedWeights, MatrixMultiplicationKey, RotationKey, SecretKey
from aglet.ckks import operands, values
from aglet.errors import LevelError, MemoryLimitError, RangeError
from aglet.progress import ProgressCallback, progress_bar
from aglet.reports import gigabytes

__all__ = ["EncodedMatrix", "LightPlainMatrix", "Matrices", "PlainMatrix"]

_GiantStep = tuple[int, list[tuple[int, Any]]]
"""Its number, and weights by baby step: `weighted_sum` takes them."""
# Rotated copies of the vector that are held at a time without a matrix multiplication key.
_MOST_BABY_STEPS = 64


@dataclass(frozen=True, eq=False)
class PlainMatrix:
    """A checked matrix for `multiply_matrix`. It stays small: its diagonals are encoded each time they are used."""

    entries: values.Vector
    level: int
    """The highest level of a ciphertext that the matrix is multiplied by."""

    def __repr__(self) -> str:
        shape = f"{self.entries.shape[0]} x {self.entries.shape[1]}"
        return f"<{type(self).__name__}: {shape}, level {self.level}>"


class LightPlainMatrix(PlainMatrix):
    """Another name of `PlainMatrix`, from the documented interface. Here every `PlainMatrix` is small."""


@dataclass(frozen=True, eq=False)
class EncodedMatrix:
    """A matrix that `encode_matrix` has encoded for ciphertexts at one level and for one kind of key."""

    shape: tuple[int, int]
    level: int
    diagonals: EncodedDiagonals | list[_GiantStep]
    """For a matrix multiplication key, or by giant steps for the rotation key."""

    @property
    def byte_count(self) -> int:
        """Bytes in memory."""
        if isinstance(self.diagonals, EncodedDiagonals):
            return self.diagonals.byte_count
        return sum(weights.byte_count for _, parts in self.diagonals for _, weights in parts)

    def __repr__(self) -> str:
        size = f"{self.byte_count / 1e6:.0f} MB"
        return f"<EncodedMatrix: {self.shape[0]} x {self.shape[1]}, level {self.level}, {size}>"


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
        """Make the rotation keys that `multiply_matrix` needs, for matrices of any shape.

        Parameters
        ----------
        level
            The highest level at which the key will be used. A lower level makes a smaller key.
        baby_step_count
            A power of two; 32 if not given. More baby steps make the key larger and dense matrices faster.

        Raises
        ------
        MemoryLimitError
            If the machine has too little memory for the key, before anything is made.
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
        """Prepare a matrix for `multiply_matrix`.

        Parameters
        ----------
        matrix
            A two-dimensional list or array of at most `slot_count` rows and columns.
        level
            The highest level at which the matrix will be used; `max_level` if not given.
        diagonal_indices
            The diagonals to keep, `matrix[j][(j + k) % slot_count]` for each `k`. The default is all.

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
                raise RangeError("diagonal_indices is empty, so no diagonal would be kept; leave it out to keep all.")
            rows, columns = (np.arange(length) for length in entries.shape)
            entries[~np.isin((columns - rows[:, None]) % slots, kept)] = 0
        return PlainMatrix(entries, values.as_level(level, self._max_level))

    def encode_to_light_plain_matrix(
        self, matrix: Any, level: int | None = None, diagonal_indices: Iterable[int] | None = None
    ) -> LightPlainMatrix:
        """Do the same as `encode_to_plain_matrix`. For speed, and more memory, use `encode_matrix`."""
        made = self.encode_to_plain_matrix(matrix, level, diagonal_indices)
        return LightPlainMatrix(made.entries, made.level)

    def encode_matrix(
        self,
        matrix: Any,
        rotation_key: MatrixMultiplicationKey | RotationKey | None = None,
        *,
        matrix_multiplication_key: MatrixMultiplicationKey | None = None,
        level: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> EncodedMatrix:
        """Encode a matrix once, for many calls of `multiply_matrix`. The results are the same, bit for bit.

        Each diagonal takes the memory of a plaintext. A dense block of d rows and columns has 2d - 1 diagonals.

        Parameters
        ----------
        matrix
            A matrix as `multiply_matrix` takes it.
        rotation_key
            The key that `multiply_matrix` will be called with.
        level
            The level of the ciphertexts; `max_level` if not given.

        Raises
        ------
        RangeError
            If the matrix is empty, too large, ragged, or not finite.
        LevelError
            If the level is 0, does not exist, or is above that of the key.
        MemoryLimitError
            If the machine has too little memory for the encoded matrix, before anything is encoded.
        """
        key = checks.one_of(rotation_key=rotation_key, matrix_multiplication_key=matrix_multiplication_key)
        entries = matrix.entries if isinstance(matrix, PlainMatrix) else values.as_matrix(matrix, self._core.slot_count)
        at = values.as_level(level, self._max_level)
        if isinstance(key, RotationKey):
            used = np.zeros(self._core.slot_count, dtype=bool)
            for number, row in enumerate(entries):
                used[(np.flatnonzero(row) - number) % self._core.slot_count] = True
            count, report = int(used.sum()), checks.callback(progress)
            _refuse_memory(count * self.encode_weights([0], at).byte_count)
            steps: list[_GiantStep] = []
            for giant, parts in self._giant_steps(entries):
                report(sum(len(made) for _, made in steps), count, "matrix")
                steps.append((giant, [(i, self.encode_weights(diagonal, at)) for i, diagonal in parts]))
            return EncodedMatrix(entries.shape, at, steps)
        operands.not_of_a_bootstrap(key)
        key = checks.need(key, MatrixMultiplicationKey, "engine.create_matrix_multiplication_key(secret_key)")
        return EncodedMatrix(entries.shape, at, self._core.encode_matrix(entries, key, at, progress))

    def encode_weights(self, weights: Any, level: int | None = None) -> EncodedWeights:
        """Encode weights once, for many calls of `weighted_sum` at one level. The results are the same, bit for bit.

        Parameters
        ----------
        weights
            A list or array of at most `slot_count` numbers.
        level
            The level of the sum: the lowest level of its ciphertexts. `max_level` if not given.

        Raises
        ------
        RangeError
            If a weight is not finite, or there are no weights or too many.
        LevelError
            If the level is 0 or does not exist.
        """
        level = values.as_level(level, self._max_level)
        return self._core.encode_weights(values.as_slots(weights, self._core.slot_count), level)

    def multiply_matrix(
        self,
        matrix: Any,
        ciphertext: Ciphertext,
        rotation_key: MatrixMultiplicationKey | RotationKey | None = None,
        *,
        matrix_multiplication_key: MatrixMultiplicationKey | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Multiply a plaintext matrix by the encrypted vector: `matrix @ x`. Uses one level.

        The method is the diagonal method with baby steps and giant steps (eprint 2020/1203, section 4). Empty diagonals
        cost nothing, so banded matrices are fast. A dense block of d rows and columns has 2d - 1 diagonals, at most
        `slot_count`.

        Parameters
        ----------
        matrix
            An `EncodedMatrix`, a `PlainMatrix`, or a two-dimensional list or array of at most `slot_count` rows and
            columns. A smaller matrix acts on the first slots, and slots beyond its rows become zero.
        rotation_key
            A matrix multiplication key (also as `matrix_multiplication_key=`), or the rotation key, which is slower and
            takes the memory of up to 64 ciphertexts.

        Raises
        ------
        RangeError
            If the matrix is empty, too large, ragged, or not finite.
        LevelError
            If the ciphertext is at level 0, above the level of the key or the `PlainMatrix`, or not at the level of the
            `EncodedMatrix`.
        TypeError
            If the matrix was encoded for the other kind of key.
        """
        ciphertext = operands.ciphertext(ciphertext)
        key = checks.one_of(rotation_key=rotation_key, matrix_multiplication_key=matrix_multiplication_key)
        if isinstance(matrix, EncodedMatrix):
            return self._multiply_encoded(matrix, ciphertext, key, progress)
        if not isinstance(matrix, PlainMatrix):
            matrix = PlainMatrix(values.as_matrix(matrix, self._core.slot_count), ciphertext.level)
        if ciphertext.level > matrix.level:
            raise _other_level(matrix, ciphertext)
        if max(matrix.entries.shape) > self._core.slot_count:
            raise RangeError(
                f"This matrix is larger than the {self._core.slot_count} slots of this engine; cut it into blocks."
            )
        if isinstance(key, RotationKey):
            return self._rotate_and_sum(self._giant_steps(matrix.entries), ciphertext, key, progress)
        operands.not_of_a_bootstrap(key)
        key = checks.need(key, MatrixMultiplicationKey, "engine.create_matrix_multiplication_key(secret_key)")
        return self._core.multiply_matrix(matrix.entries, ciphertext, key, progress)

    def _multiply_encoded(
        self, matrix: EncodedMatrix, x: Ciphertext, key: Any, progress: ProgressCallback | None
    ) -> Ciphertext:
        by_rotation = isinstance(key, RotationKey)
        if by_rotation == isinstance(matrix.diagonals, EncodedDiagonals):
            raise TypeError(
                "This matrix was encoded for the other kind of key; encode it for the key of this call, with "
                "engine.encode_matrix(matrix, key)."
            )
        if not isinstance(matrix.diagonals, EncodedDiagonals):
            if x.level != matrix.level:
                raise _other_level(matrix, x)
            return self._rotate_and_sum(matrix.diagonals, x, key, progress)
        key = checks.need(key, MatrixMultiplicationKey, "engine.create_matrix_multiplication_key(secret_key)")
        return self._core.multiply_matrix(matrix.diagonals, x, key, progress)

    def _baby_steps(self) -> int:
        return min(_MOST_BABY_STEPS, 1 << (self._core.slot_count.bit_length() // 2))

    def _giant_steps(self, entries: values.Vector) -> Iterator[_GiantStep]:
        """Diagonals to the right, for which the rotation key has its steps, from the last giant step to the first.

        With `k = g b + i`: `sum_k D_k * roll(x, k) = sum_g roll(sum_i E_gi * roll(x, i), g b)`, where
        `E_gi[j] = matrix[j + g b][j - i]`.
        """
        slots, (rows, columns), baby = self._core.slot_count, entries.shape, self._baby_steps()
        place = np.arange(slots)
        for giant in range(slots // baby - 1, -1, -1):
            row = (place + giant * baby) % slots
            used: list[tuple[int, Any]] = []
            for i in range(baby):
                column = (place - i) % slots
                inside = (row < rows) & (column < columns)
                diagonal: Any = np.zeros_like(entries, shape=slots)
                diagonal[inside] = entries[row[inside], column[inside]]
                if diagonal.any():
                    used.append((i, diagonal))
            if used:
                yield giant, used

    def _rotate_and_sum(
        self, steps: Iterable[_GiantStep], x: Ciphertext, key: RotationKey, progress: ProgressCallback | None
    ) -> Ciphertext:
        """The sum over giant steps by Horner's rule, from the last."""
        report, baby = checks.callback(progress), self._baby_steps()
        count = self._core.slot_count // baby
        turned = self._core.rotate_batch(x, key, list(range(baby)), None)
        total, at = None, 0
        for giant, used in steps:
            report(count - 1 - giant, count, "matrix")
            part = self._core.weighted_sum([turned[i] for i, _ in used], [weights for _, weights in used])
            if total is not None:
                part = self._core.add(part, self._core.rotate(total, key, (at - giant) * baby))
            total, at = part, giant
        if total is None:
            return self._core.weighted_sum([x], [np.zeros(self._core.slot_count)])
        return self._core.rotate(total, key, at * baby)


def _other_level(matrix: PlainMatrix | EncodedMatrix, x: Ciphertext) -> LevelError:
    return LevelError(
        f"This matrix was encoded for level {matrix.level} and the ciphertext is at level {x.level}; "
        "encode it for that level, or bring the ciphertext down with level_down."
    )


def _refuse_memory(needed: int) -> None:
    free = _core.doctor()["memory_available_bytes"]
    if free is not None and needed > free:
        raise MemoryLimitError(
            f"This matrix takes {gigabytes(needed)} encoded and {gigabytes(free)} of memory are free; free some, "
            "encode it for a lower level, or multiply by it as it is."
        )

"""The part of `IntegerEngine` that refreshes ciphertexts."""

from __future__ import annotations

from collections.abc import Iterable

from aglet import _core, checks
from aglet._core import IntegerBootstrapKey, IntegerCiphertext, IntegerSecretKey
from aglet.integer import operands
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["BOOTSTRAP_INPUT_LEVEL", "IntegerBootstrapping"]

BOOTSTRAP_INPUT_LEVEL = 1
"""Where a bootstrap takes its ciphertexts: what stands below is its own."""


class IntegerBootstrapping:
    """Mixed into `IntegerEngine`."""

    _core: _core.IntegerEngine

    @property
    def bootstrap_output_level(self) -> int | None:
        """The level after a bootstrap; None where the set has none. The next wants level 1 or above."""
        return self._core.bootstrap_output_level

    def bootstrap_forecast(self) -> tuple[int, int]:
        """Bytes of the bootstrap key, and of the encoded maps that the first bootstrap adds; no key is made.

        Raises
        ------
        ParameterError
            If the parameters have no bootstrap.
        """
        return self._core.bootstrap_forecast()

    def create_bootstrap_key(
        self,
        secret_key: IntegerSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerBootstrapKey:
        """The key that refreshes ciphertexts: rotations and relinearizations of the bootstrap, and a sparse secret's.

        Raises
        ------
        MemoryLimitError
            Before anything is made, if the limit or the free memory is below what the key and a bootstrap take.
        ParameterError
            If the parameters have no bootstrap.
        """
        limit = checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        with progress_bar(progress) as report:
            return self._core.create_bootstrap_key(operands.secret_key(secret_key), limit, report)

    def bootstrap(
        self,
        ciphertext: IntegerCiphertext,
        bootstrap_key: IntegerBootstrapKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> IntegerCiphertext:
        """The same integers, all of them exactly, with `bootstrap_output_level` products ahead.

        By null polynomials modulo t^2 (eprint 2022/1364, 2024/115) after a switch to a sparse secret; a slot is wrong
        with a chance below 2^-128 in a bootstrap.

        Parameters
        ----------
        ciphertext
            At level 1 or above: the lowest level is what the bootstrap itself spends.

        Raises
        ------
        LevelError
            If the ciphertext is at level 0.
        NoiseError
            If it carries so much noise that the result would not be certain.
        KeyMismatchError
            If the key is of another secret key or another engine.
        """
        return self.bootstrap_many([ciphertext], bootstrap_key, progress=progress)[0]

    def bootstrap_many(
        self,
        ciphertexts: Iterable[IntegerCiphertext],
        bootstrap_key: IntegerBootstrapKey,
        *,
        progress: ProgressCallback | None = None,
    ) -> list[IntegerCiphertext]:
        """`bootstrap` of several, side by side: linear maps read their keys and diagonals once. Errors as there."""
        given = [operands.ciphertext(one) for one in checks.each("ciphertexts", ciphertexts)]
        with progress_bar(progress) as report:
            return self._core.bootstrap(given, operands.bootstrap_key(bootstrap_key), report)

    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the latest bootstrap on this engine."""
        return self._core.stage_times()

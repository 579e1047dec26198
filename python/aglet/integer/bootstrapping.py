"""The part of `IntegerEngine` that bootstraps ciphertexts."""

from __future__ import annotations

from collections.abc import Iterable

from aglet import _core, checks, reports
from aglet._core import IntegerBootstrapKey, IntegerCiphertext, IntegerSecretKey
from aglet.integer import operands
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["BOOTSTRAP_INPUT_LEVEL", "IntegerBootstrapping"]

BOOTSTRAP_INPUT_LEVEL = 1
"""The lowest level at which a bootstrap takes ciphertexts; it uses the level below itself."""


class IntegerBootstrapping:
    """Mixed into `IntegerEngine`."""

    _core: _core.IntegerEngine

    @property
    def bootstrap_output_level(self) -> int | None:
        """The level after a bootstrap, or None if the set has no bootstrap.

        The next bootstrap takes level 1 or above.
        """
        return self._core.bootstrap_output_level

    def bootstrap_forecast(self) -> tuple[int, int]:
        """Bytes of the bootstrap key, and of the encoded linear maps that the first bootstrap adds. No key is made.

        Raises
        ------
        ParameterError
            If the parameters have no bootstrap.
        """
        return self._core.bootstrap_forecast()

    def memory_report(self) -> reports.MemoryReport:
        """Forecast the memory of a bootstrap and its key, here and on a card. No key is made.

        Raises
        ------
        ParameterError
            If the parameters have no bootstrap.
        """
        # It says why there is none.
        key, _ = self.bootstrap_forecast()
        plan = self._core.plan()["bootstrap"]
        assert plan is not None
        return reports.integer_memory_report(key, plan)

    def create_bootstrap_key(
        self,
        secret_key: IntegerSecretKey,
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> IntegerBootstrapKey:
        """Make the bootstrap key: rotation and relinearization keys, and the switch to a sparse secret.

        Raises
        ------
        MemoryLimitError
            If the key and a bootstrap need more than `memory_limit_bytes` or the free memory. Nothing is made then.
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
        """Bootstrap: the same integers, all exact, at level `bootstrap_output_level`.

        The bootstrap switches to a sparse secret and extracts digits with null polynomials modulo t^2 (eprint
        2022/1364, 2024/115). The probability that any slot is wrong is below 2^-128 for each bootstrap.

        Parameters
        ----------
        ciphertext
            A ciphertext at level 1 or above. The bootstrap itself uses the lowest level.

        Raises
        ------
        LevelError
            If the ciphertext is at level 0.
        NoiseError
            If its noise is too large for a certain result.
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
        """`bootstrap` of several ciphertexts together: keys and diagonals are read once for all of them.

        The errors are the same.
        """
        given = [operands.ciphertext(one) for one in checks.each("ciphertexts", ciphertexts)]
        with progress_bar(progress) as report:
            return self._core.bootstrap(given, operands.bootstrap_key(bootstrap_key), report)

    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap on this engine."""
        return self._core.stage_times()

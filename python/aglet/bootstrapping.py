"""The part of `Engine` that refreshes: bootstrap keys, bootstraps, and their forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglet import _core, checks, reports, values
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, RotationKey, SecretKey
from aglet.errors import ParameterError
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from aglet._core import KeySize, Plan


class Bootstrapping:
    """Mixed into `Engine`."""

    _core: _core.Engine

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._core.preset

    @property
    def slot_count(self) -> int:
        """Values in one ciphertext."""
        return self._core.slot_count

    def memory_report(self, stage_count: int = 3, size: KeySize = "large") -> reports.MemoryReport:
        """Forecast the memory of a bootstrap and its keys. No key is made.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with these stages.
        """
        return reports.memory_report(self._plan(stage_count, size))

    def estimate(self, stage_count: int = 3, size: KeySize = "large") -> reports.BootstrapEstimate:
        """What a bootstrap will give: levels, precision, failure probability, bytes. No key is made.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with these stages.
        """
        return reports.bootstrap_estimate(self._plan(stage_count, size))

    def _plan(self, stage_count: int, size: str) -> Plan:
        return _core.plan(self.preset, "regular", stage_count, size, self.slot_count)

    def create_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int = 3,
        size: KeySize = "large",
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> BootstrapKey:
        """Every rotation key of one bootstrap, and the keys to and from its sparse secret.

        Parameters
        ----------
        stage_count
            Into how many steps each of the two transforms is cut: 3, the number that the primes are chosen for.
        size
            "large" is the fastest, and the default here: it is smaller than the documented medium key.
        memory_limit_bytes
            Refuse to begin if the forecast is above this. Without it the limit is the memory that the machine has free.
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work. Without it a terminal
            shows a bar.

        Raises
        ------
        MemoryLimitError
            Before anything is allocated, if the forecast is above the limit.
        ParameterError
            If the engine cannot bootstrap with these stages, or this version does not have the size.
        """
        with progress_bar(progress) as report:
            return self._core.create_bootstrap_key(
                checks.secret_key(secret_key), stage_count, size, memory_limit_bytes, report
            )

    def bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey,
        small_bootstrap_key: Any = None,
        stage_count: int | None = None,
        *,
        bound: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Refresh a ciphertext of any level: the same values, with multiplications to spend again.

        Parameters
        ----------
        ciphertext
            Values of absolute value at most 1, at level 0 or higher.
        small_bootstrap_key, stage_count
            Of the form with a rotation key and a small bootstrap key, which this version does not have.
        bound
            The largest absolute value of a slot, if it is above 1 (the error grows with it).
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work.

        Raises
        ------
        RangeError
            If the ciphertext is known to hold values above the bound.
        MissingKeyError, KeyMismatchError
            If a key is missing or belongs to another engine or secret key.
        """
        if small_bootstrap_key is not None or isinstance(bootstrap_key, RotationKey):
            raise ParameterError(
                "This version has no bootstrap with a small bootstrap key yet; make a key with "
                "engine.create_bootstrap_key(secret_key) and give it as the fourth argument."
            )
        key = checks.need(bootstrap_key, BootstrapKey, "create_bootstrap_key(secret_key)")
        if stage_count not in (None, key.stage_count):
            raise ParameterError(
                f"This bootstrap key has {key.stage_count} stages, not {stage_count}; make another with "
                f"engine.create_bootstrap_key(secret_key, stage_count={stage_count})."
            )
        limit = None if bound is None else values.as_bound(bound)
        return self._core.bootstrap(
            checks.ciphertext(ciphertext),
            checks.relinearization_key(relinearization_key),
            checks.conjugation_key(conjugation_key),
            key,
            limit,
            progress,
        )

    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap on this engine."""
        return self._core.stage_times()

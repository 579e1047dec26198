"""The methods of `Engine` that make keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from aglet import _core, checks
from aglet._core import (
    BootstrapKey,
    ConjugationKey,
    FixedRotationKey,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)
from aglet.ckks import operands, values
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aglet._core import KeySize

__all__ = ["Keys"]


class BootstrapKeyOptions(TypedDict, total=False):
    """What the makers of bootstrap keys take by name; see `Engine.create_bootstrap_key`."""

    memory_limit_bytes: int | None
    progress: ProgressCallback | None
    count: int | None


class Keys:
    """Mixed into `Engine`."""

    _core: _core.Engine

    def create_secret_key(self) -> SecretKey:
        """Make a uniform ternary secret key from the system's random numbers. It cannot be pickled."""
        return self._core.create_secret_key()

    def create_public_key(self, secret_key: SecretKey) -> PublicKey:
        """Make a key that encrypts and cannot decrypt."""
        return self._core.create_public_key(operands.secret_key(secret_key))

    def create_relinearization_key(self, secret_key: SecretKey, level: int | None = None) -> RelinearizationKey:
        """Make the key that products of two ciphertexts need.

        Parameters
        ----------
        level
            The highest level at which the key will be used. It is checked and has no effect: the key works at all
            levels and does not become smaller.
        """
        self._key_level(level)
        return self._core.create_relinearization_key(operands.secret_key(secret_key))

    def create_conjugation_key(self, secret_key: SecretKey, level: int | None = None) -> ConjugationKey:
        """Make the key for complex conjugation.

        A bootstrap needs it too. `level` as in `create_relinearization_key`.
        """
        self._key_level(level)
        return self._core.create_conjugation_key(operands.secret_key(secret_key))

    def create_rotation_key(
        self, secret_key: SecretKey, level: int | None = None, *, progress: ProgressCallback | None = None
    ) -> RotationKey:
        """Make the keys for all steps that are powers of two. Any other step is a sum of them.

        `level` as in `create_relinearization_key`.
        """
        self._key_level(level)
        with progress_bar(progress) as report:
            return self._core.create_rotation_key(operands.secret_key(secret_key), progress=report)

    def _key_level(self: Any, level: int | None) -> int | None:
        return None if level is None else values.as_level(level, self.max_level)

    def create_fixed_rotation_key(
        self, secret_key: SecretKey, delta: int, level: int | None = None
    ) -> FixedRotationKey:
        """Make the key that rotates by one fixed step, in one key switch.

        Parameters
        ----------
        delta
            The step, as in `numpy.roll`: a positive step moves values to higher slots.
        level
            The highest level at which the key will be used. A lower level makes a smaller key.
        """
        wanted = self._key_level(level)
        return self._core.create_fixed_rotation_key(operands.secret_key(secret_key), checks.step(delta), wanted)

    # Of bootstraps

    def create_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        **options: Unpack[BootstrapKeyOptions],
    ) -> BootstrapKey:
        """Make all rotation keys of a bootstrap, and the keys to and from its sparse secret.

        Parameters
        ----------
        stage_count
            The number of matrices that CoeffsToSlots is split into: 2 to 5 for all slots, and 1 too for few slots. The
            default is 4 for all slots, one for each four layers of the transform for few slots, and 3 (or as many as
            there are layers) in `create_lossy_bootstrap_key`. Presets that bootstrap with SHIP have no stages and
            refuse this argument. Its other name is `count=`.
        size
            "large" is the fastest and the default. The documented interface has "medium" as the default; a large key
            here is less than a third of the documented medium key. "small" makes the same key as
            `create_small_bootstrap_key`.
        memory_limit_bytes
            Refuse to start if the forecast is above this number of bytes. The default is the free memory of the
            machine.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work is cancelled. If not given, a
            terminal shows a progress bar.

        Raises
        ------
        MemoryLimitError
            If the forecast is above the limit, before anything is allocated.
        ParameterError
            If the engine cannot bootstrap with this number of stages.
        """
        return self._make("regular", secret_key, stage_count, size, options)

    def create_lossy_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        **options: Unpack[BootstrapKeyOptions],
    ) -> BootstrapKey:
        """Make the key of `lossy_bootstrap`, `sign_bootstrap` and `lossy_merge_bootstrap`.

        The arguments are those of `create_bootstrap_key`.
        """
        return self._make("lossy", secret_key, stage_count, size, options)

    def create_merge_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        **options: Unpack[BootstrapKeyOptions],
    ) -> BootstrapKey:
        """Make the key of `merge_bootstrap`. It is the same as the key of `create_bootstrap_key`."""
        return self._make("merge", secret_key, stage_count, size, options)

    def create_small_bootstrap_key(self, secret_key: SecretKey) -> BootstrapKey:
        """Make only the keys to and from the sparse secret, for any number of stages. Rotations use the rotation key.

        The key works with the regular, lossy and sign bootstrap. In the call the rotation key comes before it. All keys
        together take 2 GB.
        """
        return self._make("regular", secret_key, None, "small", {})

    def _make(
        self, method: str, secret_key: SecretKey, stage_count: int | None, size: str, options: Mapping[str, Any]
    ) -> BootstrapKey:
        checks.known(options, BootstrapKeyOptions)
        given = checks.one_of(stage_count=stage_count, count=options.get("count"))
        stages = checks.optional_count("stage_count", given, 1)
        limit = checks.optional_count("memory_limit_bytes", options.get("memory_limit_bytes"))
        key = operands.secret_key(secret_key)
        with progress_bar(options.get("progress")) as report:
            return self._core.create_bootstrap_key(key, method, stages, checks.string("size", size), limit, report)

"""The parts of engines that make all keys of one secret key at once, and forecast their memory."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, cast

from aglet import _core, checks
from aglet._core import BootstrapKey, FhewSecretKey, IntegerSecretKey, SecretKey
from aglet.errors import MemoryLimitError, ParameterError
from aglet.keys.keyset import KeySet
from aglet.keys.sizes import key_bytes
from aglet.progress import ProgressCallback
from aglet.reports import gigabytes

__all__ = ["MakesFhewKeys", "MakesIntegerKeys", "MakesKeys", "refuse_above_free"]

_SIZES = ("large", "medium", "small")
_METHODS = ("regular", "lossy")


class MakesKeys:
    """Mixed into `Engine`."""

    _family = "ckks"

    def create_keys(
        self: Any,
        secret_key: SecretKey | None = None,
        *,
        bootstrap: str | None = "large",
        stage_count: int | None = None,
        method: str = "regular",
        rotation: bool = True,
        matrix: bool = False,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """Make all keys that encrypted arrays need, in one set. Their memory is forecast before the first is made.

        Parameters
        ----------
        secret_key
            The secret key; a fresh one by default.
        bootstrap
            The size of the bootstrap key: "large", "medium" or "small". A small one needs the rotation key. None makes
            no bootstrap key. Neither does an engine that cannot bootstrap.
        stage_count
            The number of stages of the bootstrap key.
        method
            The kind of the bootstrap key: "regular", or "lossy", which is larger, leaves more levels, and also serves
            signs, bits and scheme switches.
        rotation
            Whether to make the rotation key. Sums, moves and products with matrices need it.
        matrix
            Whether to make the matrix multiplication key. It is larger than the rotation key, and faster with dense
            matrices.

        Raises
        ------
        ParameterError
            If arguments contradict one another.
        MemoryLimitError
            If the machine has less free memory than the keys and one bootstrap need. Nothing is made then.
        """
        size = _checked(self, bootstrap, method, rotation)
        refuse_above_free(self.keys_forecast(size, stage_count, method=method, rotation=rotation, matrix=matrix))
        start = time.perf_counter()
        secret = self.create_secret_key() if secret_key is None else secret_key
        made = KeySet(
            self,
            secret,
            self.create_public_key(secret),
            self.create_relinearization_key(secret),
            self.create_conjugation_key(secret),
            self.create_rotation_key(secret, progress=progress) if rotation else None,
            self.create_matrix_multiplication_key(secret, progress=progress) if matrix else None,
            None if size is None else _bootstrap_key(self, secret, stage_count, size, method, progress),
        )
        return dataclasses.replace(made, seconds=time.perf_counter() - start)

    @property
    def can_bootstrap(self: Any) -> bool:
        """Whether the parameters have a regular bootstrap."""
        try:
            self.estimate()
        except ParameterError:
            return False
        return True

    def keys_forecast(
        self: Any,
        bootstrap: str | None = "large",
        stage_count: int | None = None,
        *,
        method: str = "regular",
        rotation: bool = True,
        matrix: bool = False,
    ) -> int:
        """Peak memory in bytes of `create_keys` with these arguments and of one bootstrap. No key is made.

        Parameters
        ----------
        bootstrap, stage_count, method, rotation, matrix
            As in `create_keys`.

        Raises
        ------
        ParameterError
            If arguments contradict one another.
        TypeError
            If an argument is of another type.
        """
        size, peak, stages = _checked(self, bootstrap, method, rotation), 0, None
        if size is not None:
            # What a bootstrap takes beside its keys.
            report, stages = self.memory_report(stage_count, size, method), stage_count
            peak = report.matrices + report.working
        matrix = checks.flag("matrix", matrix)
        return int(peak + key_bytes(self, size, stages, method, rotation=rotation, matrix=matrix))


class MakesIntegerKeys:
    """Mixed into `IntegerEngine`."""

    _family = "integer"

    def create_keys(
        self: Any,
        secret_key: IntegerSecretKey | None = None,
        *,
        bootstrap: bool = True,
        rotation: bool = True,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """Make all keys of one secret key, in one set. Their memory is forecast before the first is made.

        Parameters
        ----------
        secret_key
            The secret key; a fresh one by default.
        bootstrap
            Whether to make the bootstrap key. An engine that cannot bootstrap makes none.
        rotation
            Whether to make the rotation key. An engine without slots makes none.

        Raises
        ------
        MemoryLimitError
            If the machine has less free memory than the keys and one bootstrap need. Nothing is made then.
        """
        refuse_above_free(self.keys_forecast(bootstrap=bootstrap, rotation=rotation))
        start = time.perf_counter()
        secret = self.create_secret_key() if secret_key is None else secret_key
        rotates, bootstraps = rotation and self.packing == "slots", bootstrap and _bootstraps(self)
        made = KeySet(
            self,
            secret,
            self.create_public_key(secret),
            self.create_relinearization_key(secret),
            rotation=self.create_rotation_key(secret, progress=progress) if rotates else None,
            bootstrap=self.create_bootstrap_key(secret, progress=progress) if bootstraps else None,
        )
        return dataclasses.replace(made, seconds=time.perf_counter() - start)

    def keys_forecast(self: Any, *, bootstrap: bool = True, rotation: bool = True) -> int:
        """Peak memory in bytes of `create_keys` with these arguments and of one bootstrap. No key is made."""
        each = self._core.figures()
        rotates = checks.flag("rotation", rotation) and self.packing == "slots"
        bootstraps = checks.flag("bootstrap", bootstrap) and _bootstraps(self)
        # The secret modulo every prime, and as it was drawn; the public key with one special prime.
        n, primes = 1 << each["log_n"], each["primes"] + each["special_primes"]
        peak = n * (8 * primes + 1) + 16 * n * (each["levels"] + 2) + each["relinearization_key_bytes"]
        peak += each["rotation_key_bytes"] if rotates else 0
        return int(peak + (sum(self.bootstrap_forecast()) if bootstraps else 0))


class MakesFhewKeys:
    """Mixed into `FhewEngine`."""

    _family = "fhew"

    def create_keys(
        self: Any,
        secret_key: FhewSecretKey | None = None,
        *,
        packing: bool = False,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """Make all keys of one secret key, in one set: `keys.fhew_secret`, `fhew_public`, `fhew_bootstrap`, `packing`.

        Your own parameters may have no public key, see `create_public_key`; then the set has none.

        Parameters
        ----------
        secret_key
            The secret key; a fresh one by default.
        packing
            Whether to make the packing key, which `lookup2` takes.

        Raises
        ------
        MemoryLimitError
            If the machine has less free memory than the keys need. Nothing is made then.
        """
        refuse_above_free(self.keys_forecast(packing=packing))
        start = time.perf_counter()
        secret = self.create_secret_key() if secret_key is None else secret_key
        made = KeySet(
            fhew_engine=self,
            fhew_secret=secret,
            fhew_bootstrap=self.create_bootstrap_key(secret, progress=progress),
            packing=self.create_packing_key(secret, progress=progress) if packing else None,
            fhew_public=None if self._core.public_key_bytes is None else self.create_public_key(secret),
        )
        return dataclasses.replace(made, seconds=time.perf_counter() - start)

    def keys_forecast(self: Any, *, packing: bool = False) -> int:
        """The memory in bytes of the keys that `create_keys` makes. No key is made."""
        more = self._core.packing_key_bytes if checks.flag("packing", packing) else 0
        return int(self.estimate("nand").key_bytes + more + (self._core.public_key_bytes or 0))


_FEWER = 'make fewer or smaller ones (rotation=False, of CKKS bootstrap="medium"), or take fewer slots.'


def refuse_above_free(peak: int, what: str = "These keys and a bootstrap take", remedy: str = _FEWER) -> None:
    """Refuse keys, or what else is named, that need more than the free memory of the machine.

    Raises
    ------
    MemoryLimitError
        If they do.
    """
    free = _core.doctor()["memory_available_bytes"]
    if free is not None and peak > free:
        raise MemoryLimitError(f"{what} {gigabytes(peak)} and {gigabytes(free)} are free; {remedy}")


def _checked(engine: Any, bootstrap: Any, method: Any, rotation: Any) -> str | None:
    """The size of the bootstrap key, or None without one. Contradicting arguments are refused."""
    bootstraps = bootstrap is not None and engine.can_bootstrap
    if bootstrap is not None and checks.string("bootstrap", bootstrap) not in _SIZES:
        raise ParameterError(f'bootstrap is "large", "medium", "small" or None, not {bootstrap!r}.')
    if checks.string("method", method) not in _METHODS:
        raise ParameterError(f'method is "regular" or "lossy", not {method!r}.')
    if not checks.flag("rotation", rotation) and bootstrap == "small" and bootstraps:
        raise ParameterError("A small bootstrap key goes with the rotation key; leave rotation=False out.")
    return bootstrap if bootstraps else None


def _bootstrap_key(
    engine: Any, secret: SecretKey, stage_count: int | None, size: str, method: str, progress: ProgressCallback | None
) -> BootstrapKey:
    if size == "small":
        return cast(BootstrapKey, engine.create_small_bootstrap_key(secret))
    make = engine.create_lossy_bootstrap_key if method == "lossy" else engine.create_bootstrap_key
    return cast(BootstrapKey, make(secret, stage_count, size, progress=progress))


def _bootstraps(engine: Any) -> bool:
    return engine.bootstrap_output_level is not None

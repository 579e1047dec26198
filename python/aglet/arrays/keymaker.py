"""The part of `Engine` that makes all keys of one secret at once."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, cast

from aglet import _core, checks
from aglet._core import BootstrapKey, LweSecretKey, SecretKey
from aglet.arrays.keybytes import key_bytes
from aglet.arrays.keyset import KeySet
from aglet.errors import MemoryLimitError, ParameterError
from aglet.progress import ProgressCallback
from aglet.reports import gigabytes

if TYPE_CHECKING:
    from aglet.bridge.bridge import Bridge

__all__ = ["MakesKeys"]

_SIZES = ("large", "medium", "small")
_METHODS = ("regular", "lossy")


class MakesKeys:
    """Mixed into `Engine`."""

    def create_keys(
        self: Any,
        secret_key: SecretKey | None = None,
        *,
        bootstrap: str | None = "large",
        stage_count: int | None = None,
        method: str | None = None,
        rotation: bool = True,
        matrix: bool = False,
        bridge: Bridge | None = None,
        lwe_secret_key: LweSecretKey | None = None,
        packing: bool = False,
        progress: ProgressCallback | None = None,
    ) -> KeySet:
        """All keys that encrypted arrays need, in one set. What they take is forecast before the first is made.

        Parameters
        ----------
        secret_key
            The secret; a fresh one if not given.
        bootstrap
            Size of the bootstrap key, "large", "medium" or "small", which needs the rotation key; None makes none, and
            an engine that cannot bootstrap makes none either.
        stage_count, method
            Of the bootstrap key: "regular", which arrays are refreshed with, or "lossy", for signs and bits too. A
            bridge leads down with both, and up with "lossy", which is made with a bridge if no method is named.
        rotation
            Whether to make the rotation key, which sums, moves and products with matrices need.
        matrix
            Whether to make the matrix multiplication key, which is larger, and faster with dense matrices.
        bridge
            A bridge of this engine, for its key and the key of its look-up engine: its methods take
            `keys.bridge_keys`.
        lwe_secret_key
            The secret of look-ups; a fresh one if not given. It goes with `bridge`.
        packing
            Whether to make the packing key, which `Bridge.lookup_bytes` takes. It goes with `bridge`.

        Raises
        ------
        ParameterError
            If arguments contradict one another, or the bridge is of another engine.
        MemoryLimitError
            If the machine has less free memory than the keys and one bootstrap take; nothing was made then.
        """
        size, way = _checked(self, bootstrap, method, rotation, bridge, lwe_secret_key, packing)
        more = {"method": way, "rotation": rotation, "matrix": matrix, "bridge": bridge, "packing": packing}
        peak = self.keys_forecast(size, stage_count, **more)
        free = _core.doctor()["memory_available_bytes"]
        if free is not None and peak > free:
            raise MemoryLimitError(
                f"These keys and a bootstrap take {gigabytes(peak)} and {gigabytes(free)} are free; take "
                'bootstrap="medium", rotation=False, matrix=False, or fewer slots.'
            )
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
            None if size is None else _bootstrap_key(self, secret, stage_count, size, way, progress),
        )
        if bridge is not None:
            made = _with_bridge(made, bridge, lwe_secret_key, packing, progress)
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
        method: str | None = None,
        rotation: bool = True,
        matrix: bool = False,
        bridge: Bridge | None = None,
        packing: bool = False,
    ) -> int:
        """Bytes that `create_keys` with these arguments and one bootstrap take at their peak. No key is made.

        Parameters
        ----------
        bootstrap, stage_count, method, rotation, matrix, bridge, packing
            As `create_keys` takes them: with a bridge the bootstrap key is a lossy one if no method is named, and an
            engine that cannot bootstrap has none.

        Raises
        ------
        ParameterError
            If arguments contradict one another, or the bridge is of another engine.
        TypeError
            If an argument is of another type.
        """
        size, way = _checked(self, bootstrap, method, rotation, bridge, None, packing)
        peak, stages = 0, None
        if size is not None:
            # What a bootstrap takes beside its keys.
            report, stages = self.memory_report(stage_count, size, way), stage_count
            peak = report.matrices + report.working
        peak += key_bytes(self, size, stages, way, rotation=rotation, matrix=checks.flag("matrix", matrix))
        if bridge is None:
            return int(peak)
        lookups = bridge.lookup_engine
        peak += bridge.key_bytes + lookups.estimate("nand").key_bytes
        return int(peak + (lookups._core.packing_key_bytes if packing else 0))


def _checked(
    engine: Any, bootstrap: Any, method: Any, rotation: Any, bridge: Any, lwe_secret_key: Any, packing: Any
) -> tuple[str | None, str]:
    """The size of the bootstrap key, None without one, and its method; what does not go together is refused."""
    bootstraps = bootstrap is not None and engine.can_bootstrap
    if bootstrap is not None and checks.word("bootstrap", bootstrap) not in _SIZES:
        raise ParameterError(f'bootstrap is "large", "medium", "small" or None, not {bootstrap!r}.')
    way = _method(method, bridge)
    _check_bridge(engine, bridge, lwe_secret_key, packing, bootstraps and bootstrap != "small")
    if not checks.flag("rotation", rotation) and bootstrap == "small" and bootstraps:
        raise ParameterError("A small bootstrap key goes with the rotation key; leave rotation=False out.")
    return bootstrap if bootstraps else None, way


def _bootstrap_key(
    engine: Any, secret: SecretKey, stage_count: int | None, size: str, method: str, progress: ProgressCallback | None
) -> BootstrapKey:
    if size == "small":
        return cast(BootstrapKey, engine.create_small_bootstrap_key(secret))
    make = engine.create_lossy_bootstrap_key if method == "lossy" else engine.create_bootstrap_key
    return cast(BootstrapKey, make(secret, stage_count, size, progress=progress))


def _method(method: str | None, bridge: Bridge | None) -> str:
    """The method that was named, or that of a set with or without a bridge."""
    if method is None:
        return "regular" if bridge is None else "lossy"
    if checks.word("method", method) not in _METHODS:
        raise ParameterError(f'method is "regular" or "lossy", not {method!r}.')
    return method


def _check_bridge(engine: Any, bridge: Any, lwe_secret_key: Any, packing: Any, rotates: bool) -> None:
    """Refuse what does not go together, before a key is made. `rotates`: the bootstrap key has rotations of its own."""
    from aglet.bridge.bridge import Bridge

    if bridge is None:
        if checks.flag("packing", packing) or lwe_secret_key is not None:
            raise ParameterError("lwe_secret_key and packing go with a bridge; pass bridge=Bridge(engine, ...) too.")
        return
    if not isinstance(bridge, Bridge):
        raise TypeError(f"bridge is a Bridge(engine, lookup_engine), not {type(bridge).__name__}.")
    other = bridge.engine
    if other is not engine and (other.preset, other.slot_count) != (engine.preset, engine.slot_count):
        raise ParameterError("This bridge is of another engine; make one of this, Bridge(engine, lookup_engine).")
    if not rotates:
        raise ParameterError('A bridge goes with bootstrap="medium" or "large", whose rotations it takes.')
    checks.flag("packing", packing)
    if lwe_secret_key is not None:
        checks.need(lwe_secret_key, LweSecretKey, "lookup_engine.create_secret_key()")


def _with_bridge(
    made: KeySet, bridge: Bridge, lwe: LweSecretKey | None, packing: bool, progress: ProgressCallback | None
) -> KeySet:
    lookups = bridge.lookup_engine
    own = lookups.create_secret_key() if lwe is None else lwe
    return dataclasses.replace(
        made,
        lookup_engine=lookups,
        bridge=bridge.create_bridge_key(cast(SecretKey, made.secret), own, progress=progress),
        lwe_secret=own,
        lookup=lookups.create_lookup_key(own, progress=progress),
        packing=lookups.create_packing_key(own) if packing else None,
    )

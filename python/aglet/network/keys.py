"""`NetworkKeys`: the keys that a network needs on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, FixedRotationKey, RelinearizationKey, SecretKey
from aglet.ckks.maps import MapCut, MapKey
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["NetworkKeys", "in_pairs"]


@dataclass(frozen=True, eq=False)
class NetworkKeys:
    """The keys of a plan, from `NetworkPlan.create_keys`. Each can be stored as a key of its kind."""

    relinearization: RelinearizationKey
    conjugation: ConjugationKey | None
    """None, as the bootstrap key, if the plan has no bootstrap."""
    bootstrap: BootstrapKey | None
    rotations: Mapping[tuple[int, int], FixedRotationKey] = field(repr=False)
    """By the rotation to the left and the level."""

    @classmethod
    def make(
        cls,
        engine: Any,
        secret_key: SecretKey,
        rotations: Sequence[tuple[int, int]],
        bootstrap: Mapping[str, Any] | None,
        progress: ProgressCallback | None,
    ) -> NetworkKeys:
        """Make the keys of these rotations and levels, and a bootstrap key with these options, if any."""
        conjugation = large = None
        if bootstrap is not None:
            conjugation = engine.create_conjugation_key(secret_key)
            large = engine.create_bootstrap_key(secret_key, **bootstrap, progress=progress)
        turns = {}
        with progress_bar(progress) as report:
            for done, (by, level) in enumerate(rotations):
                if report is not None:
                    report(done, len(rotations), "rotation keys")
                turns[by, level] = engine.create_fixed_rotation_key(secret_key, -by, level)
        return cls(engine.create_relinearization_key(secret_key), conjugation, large, turns)

    @property
    def byte_count(self) -> int:
        """Bytes in memory."""
        keys = (self.relinearization, self.conjugation, self.bootstrap, *self.rotations.values())
        return sum(key.byte_count for key in keys if key is not None)

    def rotation(self, by: int, level: int) -> FixedRotationKey:
        """The key of a rotation to the left at a level."""
        return self.rotations[by, level]

    def map_key(self, cut: MapCut, level: int) -> MapKey:
        """The key of a linear map at a level."""
        return MapKey(cut, tuple(self.rotations[by, level] for by in cut.rotations))

    def bootstrapped(self, engine: Any, xs: Sequence[Ciphertext], level: int) -> list[Ciphertext]:
        """Ciphertexts of real values in [-1, 1], refreshed to a level. Two take the time of a complex one."""
        # The caller declared the ranges of the sample, within which stored values are at most 1.
        known = [engine._core.assume(x, 1.0) for x in xs]
        keys = (self.relinearization, self.conjugation, self.bootstrap)
        options: Any = {"real": True, "target_level": level, "bound": 1.0}
        found: list[Ciphertext] = []
        for pair in in_pairs(known):
            if len(pair) == 2:
                found += engine.merge_bootstrap(*pair, *keys, **options)
            else:
                found.append(engine.bootstrap(*pair, *keys, **options))
        return found


def in_pairs(xs: Sequence[Ciphertext]) -> list[Sequence[Ciphertext]]:
    """Two at a time, and the last alone if their number is odd."""
    return [xs[first : first + 2] for first in range(0, len(xs), 2)]

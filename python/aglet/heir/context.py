"""A crypto context: the engine, and the keys that the program has made."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, FixedRotationKey, PublicKey, RelinearizationKey
from aglet._core import SecretKey as PrivateKey
from aglet.errors import MissingKeyError, ParameterError
from aglet.heir.settings import Settings

__all__ = ["Context", "KeyPair"]


class KeyPair(NamedTuple):
    """What `KeyGen` returns, with the names of OpenFHE."""

    publicKey: PublicKey  # noqa: N815
    secretKey: PrivateKey  # noqa: N815


class Context:
    """The `CryptoContextT` of a program: it computes, and holds evaluation keys. It never holds the secret key.

    Parameters
    ----------
    settings
        What the program asks for.
    engine
        An engine to use; one is made from the settings if it is None.
    bound
        The largest absolute value that a bootstrap meets.
    """

    def __init__(self, settings: Settings, engine: Any, bound: float) -> None:
        if engine is not None:
            settings.check(engine)
            self.engine = engine
        self.settings = settings
        self.bound = bound
        self.is_bootstrapping = False
        self._budget_is_set = False
        self._relinearization: RelinearizationKey | None = None
        self._conjugation: ConjugationKey | None = None
        self._bootstrap: BootstrapKey | None = None
        self._rotations: dict[int, FixedRotationKey] = {}

    @cached_property
    def engine(self) -> Any:
        """The engine. It is made when it is first needed, as features are enabled after the context is made."""
        return self.settings.engine(self.is_bootstrapping)

    def __repr__(self) -> str:
        return f"<Context: {len(self._rotations)} rotation keys, {self.engine!r}>"

    @property
    def ring_dimension(self) -> int:
        """Twice the number of slots in which rotations turn."""
        return 2 * int(self.engine.slot_count)

    # Keys

    def KeyGen(self) -> KeyPair:  # noqa: N802
        """Make a public and a secret key."""
        secret = self.engine.create_secret_key()
        return KeyPair(self.engine.create_public_key(secret), secret)

    def make_relinearization_key(self, secret: PrivateKey) -> None:
        """Carry out `EvalMultKeyGen`."""
        self._relinearization = self.engine.create_relinearization_key(secret)

    def make_rotation_keys(self, secret: PrivateKey, steps: list[int]) -> None:
        """Carry out `EvalRotateKeyGen`: OpenFHE rotates to the left, Aglet as `numpy.roll` does."""
        for delta in sorted({-step % self.engine.slot_count for step in steps} - {0, *self._rotations}):
            self._rotations[delta] = self.engine.create_fixed_rotation_key(secret, delta)

    def set_budget(self) -> None:
        """Carry out `EvalBootstrapSetup`. Aglet chooses the stages itself."""
        self._budget_is_set = True

    def make_bootstrap_key(self, secret: PrivateKey, slots: int) -> None:
        """Carry out `EvalBootstrapKeyGen`.

        Raises
        ------
        ParameterError
            If the slots are others than the engine's, or nothing was set up.
        """
        if not self._budget_is_set:
            raise ParameterError("The bootstrap is not set up; call EvalBootstrapSetup before EvalBootstrapKeyGen.")
        if slots != self.engine.slot_count:
            raise ParameterError(
                f"The bootstrap is for {slots} slots and the engine has {self.engine.slot_count}; set the batch size."
            )
        self._conjugation = self.engine.create_conjugation_key(secret)
        self._bootstrap = self.engine.create_bootstrap_key(secret)

    def relinearization_key(self) -> RelinearizationKey:
        """The key of products."""
        if self._relinearization is None:
            raise MissingKeyError("There is no relinearization key; call EvalMultKeyGen with the secret key first.")
        return self._relinearization

    # What needs keys

    def has_key(self, step: int) -> bool:
        """Whether rotations to the left by this step have a key, or need none."""
        return -step % self.engine.slot_count in {0, *self._rotations}

    def rotate(self, ciphertext: Ciphertext, steps: list[int]) -> list[Ciphertext]:
        """Rotate to the left by each of the steps, with shared work."""
        deltas = [-step % self.engine.slot_count for step in steps]
        missing = sorted({step for step in steps if not self.has_key(step)})
        if missing:
            raise MissingKeyError(
                f"There is no key for rotations by {', '.join(map(str, missing))}; name them in EvalRotateKeyGen."
            )
        turned = [delta for delta in dict.fromkeys(deltas) if delta]
        made = self.engine.rotate_batch(ciphertext, [self._rotations[delta] for delta in turned]) if turned else []
        by_delta = {0: ciphertext, **dict(zip(turned, made, strict=True))}
        return [by_delta[delta] for delta in deltas]

    def bootstrap(self, ciphertext: Ciphertext) -> Ciphertext:
        """Refresh a ciphertext whose values are within the bound."""
        if self._bootstrap is None:
            raise MissingKeyError("There is no bootstrap key; call EvalBootstrapKeyGen with the secret key first.")
        refreshed: Ciphertext = self.engine.bootstrap(
            ciphertext, self.relinearization_key(), self._conjugation, self._bootstrap, bound=self.bound
        )
        return refreshed

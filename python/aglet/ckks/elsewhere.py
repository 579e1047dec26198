"""Documented names that this version does not implement. Each raises an error that says what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from aglet import _core
from aglet._core import Ciphertext
from aglet.ckks import operands
from aglet.errors import DeviceError, ParameterError, RangeError

__all__ = ["GLEngine", "OtherNames", "refuse_flags"]

_MULTIPARTY = (
    "This version has no multiparty keys; one secret key decrypts, and whoever has its public and evaluation keys "
    "can encrypt and compute."
)
_LEVELS_17 = "This version has no bootstrap to 17 levels; use_bootstrap_to_14_levels=True leaves the most, 14."


def refuse_flags(use_multiparty: bool, use_bootstrap_to_17_levels: bool) -> None:
    """Refuse the flags of the constructor that this version does not implement.

    Raises
    ------
    ParameterError
        If one of them is set.
    """
    if use_multiparty:
        raise ParameterError(_MULTIPARTY)
    if use_bootstrap_to_17_levels:
        raise ParameterError(_LEVELS_17)


class GLEngine:
    """A documented engine of another scheme, which this version does not have.

    The name exists for programs that import it.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        raise ParameterError(
            "GLEngine is an engine of another scheme, which Aglet does not have; Engine computes with CKKS."
        )


_SHARED_KEYS = (
    "public", "relinearization", "conjugation", "rotation", "fixed_rotation", "matrix_multiplication", "bootstrap",
    "small_bootstrap", "lossy_bootstrap", "merge_bootstrap",
)  # fmt: skip
_MULTIPARTY_NAMES = [
    "create_public_key_a",
    "create_public_key_b",
    *(f"create_{kind}_{key}_key" for kind in ("individual", "multiparty") for key in _SHARED_KEYS),
    "individual_decrypt",
    "multiparty_decrypt",
]


def _multiparty(name: str) -> Any:
    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise ParameterError(_MULTIPARTY)

    refuse.__name__ = name
    refuse.__qualname__ = f"OtherNames.{name}"
    refuse.__doc__ = "Documented, but not in this version: multiparty keys. Raises ParameterError."
    return refuse


class OtherNames:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _mode: str

    def to_cpu(self, ciphertext: Ciphertext) -> Ciphertext:
        """Return a copy of the ciphertext whose words are on the processor: what a card made comes there now."""
        ciphertext = operands.ciphertext(ciphertext)
        self._core.fetch([ciphertext])
        return self._core.level_down(ciphertext, ciphertext.level)

    def to_cuda(self, ciphertext: Ciphertext) -> Ciphertext:
        """Return a copy of the ciphertext, which goes to the card of the engine with its first use there.

        Raises
        ------
        DeviceError
            If the mode of the engine is not "gpu".
        """
        if self._mode != "gpu":
            raise DeviceError('This engine computes on the processor; leave to_cuda out, or make it with mode="gpu".')
        ciphertext = operands.ciphertext(ciphertext)
        return self._core.level_down(ciphertext, ciphertext.level)

    def vstack(self, *_: Any, **__: Any) -> NoReturn:
        """Documented, but not in this version: a ciphertext of several units. Raises RangeError."""
        raise RangeError(
            "A ciphertext is one unit of slot_count values; keep several in a list, as encrypt_many and decrypt_many "
            "do."
        )


for _name in _MULTIPARTY_NAMES:
    setattr(OtherNames, _name, _multiparty(_name))

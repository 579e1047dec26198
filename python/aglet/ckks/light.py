"""Messages that are encoded where they are used, and names for the kinds of bootstrap keys."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from aglet import checks
from aglet._core import BootstrapKey
from aglet.ckks import values

__all__ = ["LightMessages", "LightPlaintext", "LossyBootstrapKey", "MergeBootstrapKey", "SmallBootstrapKey"]


@dataclass(frozen=True, eq=False)
class LightPlaintext:
    """A message that takes 8 bytes per slot (16 if complex) and is encoded each time it is used.

    `engine.encode_to_light_plaintext` makes one. It works at every level up to its own, in `add`, `subtract`,
    `multiply`, `weighted_sum`, `encrypt`, `level_down` and `decode`.
    """

    values: values.Vector
    level: int
    """The highest level at which it is used. A ciphertext at a higher level is brought down to it, as with a plaintext.
    """

    @property
    def is_real(self) -> bool:
        """Whether the dtype is real."""
        return self.values.dtype.kind == "f"

    def __repr__(self) -> str:
        return f"<LightPlaintext: level {self.level}, {self.values.size} slots>"


class LightMessages:
    """Mixed into `Engine`. The file of a light plaintext is the file of a plaintext at its level."""

    def encode_to_light_plaintext(
        self: Any, message: Any, level: int | None = None, *, real: bool | None = None
    ) -> LightPlaintext:
        """Make a message that is encoded where it is used, and takes 8 or 16 bytes per slot until then.

        Parameters
        ----------
        level
            The highest level at which it is used; `max_level` if not given.
        real
            As in `encode`.
        """
        return LightPlaintext(values.as_slots(message, self.slot_count, real), values.as_level(level, self.max_level))

    def write_light_plaintext(self: Any, plaintext: LightPlaintext, path: str | os.PathLike[str]) -> None:
        """As `write_plaintext`."""
        self.write_plaintext(_encoded(self, plaintext), path)

    def read_light_plaintext(self: Any, path: str | os.PathLike[str]) -> LightPlaintext:
        """As `read_plaintext`."""
        return _light(self, self.read_plaintext(path))

    def serialize_light_plaintext(self: Any, plaintext: LightPlaintext) -> bytes:
        """As `serialize_plaintext`."""
        return bytes(self.serialize_plaintext(_encoded(self, plaintext)))

    def deserialize_light_plaintext(self: Any, data: bytes) -> LightPlaintext:
        """As `deserialize_plaintext`."""
        return _light(self, self.deserialize_plaintext(data))


def _encoded(engine: Any, plaintext: Any) -> Any:
    light = checks.need(plaintext, LightPlaintext, "engine.encode_to_light_plaintext(message)")
    return engine.encode(light.values, light.level)


def _light(engine: Any, plaintext: Any) -> LightPlaintext:
    return LightPlaintext(engine.decode(plaintext), plaintext.level)


class _Kind(type):
    """Base of the names that tell bootstrap keys apart with `isinstance`. All of them are of one class."""

    method: str
    small: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, BootstrapKey):
            return False
        return (instance.size == "small") == cls.small and (cls.small or instance.method == cls.method)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"An engine makes a {cls.__name__}; call engine.create_{cls.maker()}(secret_key).")

    def maker(cls) -> str:
        """The end of the name of the method that makes one."""
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__)[1:]


class SmallBootstrapKey(metaclass=_Kind):
    """The bootstrap key that `create_small_bootstrap_key` makes."""

    method, small = "regular", True


class LossyBootstrapKey(metaclass=_Kind):
    """The bootstrap key that `create_lossy_bootstrap_key` makes."""

    method, small = "lossy", False


class MergeBootstrapKey(metaclass=_Kind):
    """The bootstrap key that `create_merge_bootstrap_key` or `create_bootstrap_key` makes."""

    method, small = "regular", False

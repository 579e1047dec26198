"""Messages that are encoded where they are used, and kinds of bootstrap keys: names of the documented interface."""

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
    """A message that takes 8 bytes a slot (16 if it is complex) and is encoded anew wherever it is used.

    `engine.encode_to_light_plaintext` makes one. It serves every level up to its own, in `add`, `subtract`, `multiply`,
    `weighted_sum`, `encrypt`, `level_down` and `decode`.
    """

    values: values.Vector
    level: int
    """The highest level at which it is used: as with a plaintext, a ciphertext above it is brought down."""

    @property
    def is_real(self) -> bool:
        """Whether its dtype is real."""
        return self.values.dtype.kind == "f"

    def __repr__(self) -> str:
        return f"<LightPlaintext: level {self.level}, {self.values.size} slots>"


class LightMessages:
    """Mixed into `Engine`. A file of a light plaintext is that of a plaintext at its level."""

    def encode_to_light_plaintext(
        self: Any, message: Any, level: int | None = None, *, real: bool | None = None
    ) -> LightPlaintext:
        """A message that is encoded where it is used: 8 or 16 bytes a slot until then.

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
    """Bootstrap keys are of one class; these names tell them apart with `isinstance`."""

    method: str
    small: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, BootstrapKey):
            return False
        return (instance.size == "small") == cls.small and (cls.small or instance.method == cls.method)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"A {cls.__name__} is made by an engine, with create_{cls.maker()}(secret_key).")

    def maker(cls) -> str:
        """The end of the name of the method that makes one."""
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__)[1:]


class SmallBootstrapKey(metaclass=_Kind):
    """What `create_small_bootstrap_key` makes is an instance of it."""

    method, small = "regular", True


class LossyBootstrapKey(metaclass=_Kind):
    """What `create_lossy_bootstrap_key` makes is an instance of it."""

    method, small = "lossy", False


class MergeBootstrapKey(metaclass=_Kind):
    """What `create_merge_bootstrap_key` and `create_bootstrap_key` make, which serve alike, are instances of it."""

    method, small = "regular", False

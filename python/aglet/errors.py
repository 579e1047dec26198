"""The exceptions of Aglet.

Every message is a whole sentence, and says what to do. All of them derive from `AgletError`, which is a `ValueError`,
and a `RuntimeError` as well, which programs written for the documented interface catch.
The compiled module `aglet._core` looks these classes up by name.
"""

from __future__ import annotations

__all__ = [
    "AgletError",
    "DeviceError",
    "InsecureParametersError",
    "KeyMismatchError",
    "LevelError",
    "MemoryLimitError",
    "MissingKeyError",
    "NoiseError",
    "ParameterError",
    "RangeError",
    "SerializationError",
]


class AgletError(ValueError, RuntimeError):
    """The base of every error that Aglet raises on purpose."""


class LevelError(AgletError):
    """A ciphertext has too few levels for the operation, or a level was asked for that does not exist."""


class RangeError(AgletError):
    """A value cannot be encoded or refreshed: too large, not finite, or in an array of the wrong shape."""


class MissingKeyError(AgletError):
    """A key that the operation reads was not given; for rotations, the message lists them."""


class NoiseError(AgletError):
    """An exact result would not decrypt, by the bound on its noise: nothing was computed."""


class KeyMismatchError(AgletError):
    """A key or a ciphertext belongs to another engine or to another secret key."""


class ParameterError(AgletError):
    """The engine or key parameters contradict one another, or this version does not have what they ask for."""


class InsecureParametersError(ParameterError):
    """The parameters give less than 128 bits of security, and nobody spelled out that this is wanted."""


class MemoryLimitError(AgletError):
    """The memory forecast is above the limit or above what the machine has free; nothing was allocated."""


class SerializationError(AgletError):
    """Data cannot be written or read: damaged, cut short, of another version, or a secret to be kept unwritten."""


class DeviceError(AgletError):
    """The processor, the forced backend or the graphics device cannot do what was asked."""

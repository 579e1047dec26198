"""The exceptions of Aglet.

Every message is a whole sentence that says what to do. All classes derive from `AgletError`. It is a `ValueError`, and
also a `RuntimeError`, because programs for the documented interface catch that. The compiled module `aglet._core` looks
these classes up by name.
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
    """Base class of all errors that Aglet raises on purpose."""


class LevelError(AgletError):
    """A ciphertext has too few levels for the operation, or the requested level does not exist."""


class RangeError(AgletError):
    """A value cannot be encoded or bootstrapped: it is too large, not finite, or in an array of the wrong shape."""


class MissingKeyError(AgletError):
    """A key that the operation needs was not given. For rotations the message lists the missing keys."""


class NoiseError(AgletError):
    """An exact result could not be decrypted, by the bound on its noise. Nothing was computed."""


class KeyMismatchError(AgletError):
    """A key or a ciphertext belongs to another engine or to another secret key."""


class ParameterError(AgletError):
    """Parameters contradict one another, or ask for something that this version does not have."""


class InsecureParametersError(ParameterError):
    """The parameters give less than 128 bits of security, and `allow_insecure=True` was not given."""


class MemoryLimitError(AgletError):
    """The forecast of the memory is above the limit or above the free memory. Nothing was allocated."""


class SerializationError(AgletError):
    """Data is damaged, cut short or of another version, or it is a secret key that cannot be pickled."""


class DeviceError(AgletError):
    """The processor, the forced backend or the GPU cannot do what was asked."""

"""The part of `Engine` that takes and gives tensors of torch, where that is installed; Aglet needs none."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aglet._core import Ciphertext, Plaintext, PublicKey, SecretKey
from aglet.errors import ParameterError

__all__ = ["Tensors"]


def _array(tensor: Any) -> Any:
    """A tensor as a numpy array, from whatever device; anything else as it is."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        return (tensor.resolve_conj() if hasattr(tensor, "resolve_conj") else tensor).numpy()
    return tensor


def _tensor(array: Any) -> Any:
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise ParameterError(
            "torch is not installed, so there are no tensors to give; take decrypt or decode, which give numpy arrays."
        ) from error
    return torch.from_numpy(array)


class Tensors:
    """Mixed into `Engine`. Tensors are flat and count as real or complex by their dtype, as arrays do."""

    def encode_pytorch_tensor(self: Any, tensor: Any, level: int | None = None) -> Plaintext:
        """`encode` of a tensor."""
        plaintext: Plaintext = self.encode(_array(tensor), level)
        return plaintext

    def encrypt_pytorch_tensor(
        self: Any, tensor: Any, public_key: PublicKey | SecretKey | None = None, level: int | None = None, **secret: Any
    ) -> Ciphertext:
        """`encrypt` of a tensor."""
        ciphertext: Ciphertext = self.encrypt(_array(tensor), public_key, level, **secret)
        return ciphertext

    def decode_to_pytorch_tensor(self: Any, plaintext: Plaintext) -> Any:
        """`decode` to a tensor of float64 or complex128.

        Raises
        ------
        ParameterError
            If torch is not installed.
        """
        return _tensor(self.decode(plaintext))

    def decrypt_to_pytorch_tensor(self: Any, ciphertext: Ciphertext, secret_key: SecretKey) -> Any:
        """`decrypt` to a tensor of float64 or complex128; errors as `decode_to_pytorch_tensor`."""
        return _tensor(self.decrypt(ciphertext, secret_key))

    def add_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """`add` of a tensor."""
        result: Ciphertext = self.add(ciphertext, _array(tensor))
        return result

    def multiply_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """`multiply` by a tensor; one level."""
        result: Ciphertext = self.multiply(ciphertext, _array(tensor))
        return result

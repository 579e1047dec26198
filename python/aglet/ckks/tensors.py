"""The part of `Engine` that takes and gives tensors of torch, where that is installed; Aglet needs none."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aglet._core import Ciphertext, Plaintext, PublicKey, SecretKey
from aglet.errors import ParameterError, RangeError

__all__ = ["Tensors"]


def _array(tensor: Any) -> Any:
    """A tensor as a numpy array, from whatever device; anything else as it is."""
    if not hasattr(tensor, "detach"):
        return tensor
    tensor = tensor.detach().cpu()
    tensor = tensor.resolve_conj() if hasattr(tensor, "resolve_conj") else tensor
    if str(tensor.dtype) == "torch.bfloat16":
        # The one dtype of real numbers that numpy does not have.
        tensor = tensor.float()
    return tensor.numpy()


class Tensors:
    """Mixed into `Engine`. Tensors are flat and count as real or complex by their dtype, as arrays do.

    Tensors come back as they went in: of the dtype of those that this engine has encoded or encrypted, of several the
    one that holds all, and before any of torch's default. Complex values come as the complex dtype of that precision.
    `dtype=` says it otherwise.
    """

    _tensor_dtype: Any = None

    def _taken(self, tensor: Any) -> Any:
        """A tensor as an array, and its dtype to give back."""
        dtype: Any = getattr(tensor, "dtype", None)
        if hasattr(tensor, "detach") and (dtype.is_floating_point or dtype.is_complex):
            real = dtype.to_real() if dtype.is_complex else dtype
            seen = self._tensor_dtype
            self._tensor_dtype = real if seen is None else _torch().promote_types(seen, real)
        return _array(tensor)

    def _given(self, array: Any, dtype: Any) -> Any:
        torch = _torch()
        if dtype is None:
            dtype = self._tensor_dtype or torch.get_default_dtype()
            dtype = dtype.to_complex() if array.dtype.kind == "c" else dtype
        tensor = torch.from_numpy(array).to(dtype)
        if not bool(torch.isfinite(tensor).all()):
            raise RangeError(f"A value is too large for {dtype}; give dtype=torch.float64, or decrypt to an array.")
        return tensor

    def encode_pytorch_tensor(self: Any, tensor: Any, level: int | None = None) -> Plaintext:
        """`encode` of a tensor."""
        plaintext: Plaintext = self.encode(self._taken(tensor), level)
        return plaintext

    def encrypt_pytorch_tensor(
        self: Any, tensor: Any, public_key: PublicKey | SecretKey | None = None, level: int | None = None, **secret: Any
    ) -> Ciphertext:
        """`encrypt` of a tensor."""
        ciphertext: Ciphertext = self.encrypt(self._taken(tensor), public_key, level, **secret)
        return ciphertext

    def decode_to_pytorch_tensor(self: Any, plaintext: Plaintext, *, dtype: Any = None) -> Any:
        """`decode` to a tensor.

        Parameters
        ----------
        dtype
            Of the tensor; that of the tensors that were encoded or encrypted if not given.

        Raises
        ------
        ParameterError
            If torch is not installed.
        RangeError
            If a value is beyond what the dtype holds.
        """
        return self._given(self.decode(plaintext), dtype)

    def decrypt_to_pytorch_tensor(
        self: Any, ciphertext: Ciphertext, secret_key: SecretKey, *, dtype: Any = None
    ) -> Any:
        """`decrypt` to a tensor; `dtype` and errors as in `decode_to_pytorch_tensor`."""
        return self._given(self.decrypt(ciphertext, secret_key), dtype)

    def add_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """`add` of a tensor."""
        result: Ciphertext = self.add(ciphertext, _array(tensor))
        return result

    def multiply_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """`multiply` by a tensor; one level."""
        result: Ciphertext = self.multiply(ciphertext, _array(tensor))
        return result


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise ParameterError(
            "torch is not installed, so there are no tensors to give; take decrypt or decode, which give numpy arrays."
        ) from error

"""The methods of `Engine` for tensors of torch. Aglet works without torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aglet._core import Ciphertext, Plaintext, PublicKey, SecretKey
from aglet.errors import ParameterError, RangeError

__all__ = ["Tensors"]


def _array(tensor: Any) -> Any:
    """Convert a tensor on any device to a numpy array; other values stay as they are."""
    if not hasattr(tensor, "detach"):
        return tensor
    tensor = tensor.detach().cpu()
    tensor = tensor.resolve_conj() if hasattr(tensor, "resolve_conj") else tensor
    if str(tensor.dtype) == "torch.bfloat16":
        # The one dtype of real numbers that numpy does not have.
        tensor = tensor.float()
    return tensor.numpy()


class Tensors:
    """Mixed into `Engine`. Tensors have one dimension, and their dtype says whether they are real.

    A decrypted tensor gets the dtype of the tensors that this engine has encoded or encrypted. If these had several
    dtypes, it is the one that holds all of them; if there were none, it is torch's default dtype. Complex values get
    the complex dtype of the same precision. `dtype=` overrides this.
    """

    _tensor_dtype: Any = None

    def _taken(self, tensor: Any) -> Any:
        """Convert a tensor to an array, and remember its dtype for decryption."""
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
            raise RangeError(
                f"A value is too large for {dtype}; give dtype=torch.float64, or decrypt to a numpy array."
            )
        return tensor

    def encode_pytorch_tensor(self: Any, tensor: Any, level: int | None = None) -> Plaintext:
        """Call `encode` with a tensor."""
        plaintext: Plaintext = self.encode(self._taken(tensor), level)
        return plaintext

    def encrypt_pytorch_tensor(
        self: Any, tensor: Any, public_key: PublicKey | SecretKey | None = None, level: int | None = None, **secret: Any
    ) -> Ciphertext:
        """Call `encrypt` with a tensor."""
        ciphertext: Ciphertext = self.encrypt(self._taken(tensor), public_key, level, **secret)
        return ciphertext

    def decode_to_pytorch_tensor(self: Any, plaintext: Plaintext, *, dtype: Any = None) -> Any:
        """Call `decode` and return a tensor.

        Parameters
        ----------
        dtype
            The dtype of the tensor. If not given, that of the tensors that were encoded or encrypted.

        Raises
        ------
        ParameterError
            If torch is not installed.
        RangeError
            If a value is too large for the dtype.
        """
        return self._given(self.decode(plaintext), dtype)

    def decrypt_to_pytorch_tensor(
        self: Any, ciphertext: Ciphertext, secret_key: SecretKey, *, dtype: Any = None
    ) -> Any:
        """Call `decrypt` and return a tensor; `dtype` and errors as in `decode_to_pytorch_tensor`."""
        return self._given(self.decrypt(ciphertext, secret_key), dtype)

    def add_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """Call `add` with a tensor."""
        result: Ciphertext = self.add(ciphertext, _array(tensor))
        return result

    def multiply_pytorch_tensor(self: Any, ciphertext: Ciphertext, tensor: Any) -> Ciphertext:
        """Call `multiply` with a tensor. Uses one level."""
        result: Ciphertext = self.multiply(ciphertext, _array(tensor))
        return result


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise ParameterError(
            "torch is not installed; install it, or use decode and decrypt, which return numpy arrays."
        ) from error

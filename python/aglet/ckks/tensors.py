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
    for view in ("to_dense", "resolve_conj", "resolve_neg"):
        # What numpy cannot read: sparse tensors, and signs that torch has only noted.
        tensor = getattr(tensor, view)() if hasattr(tensor, view) else tensor
    if str(tensor.dtype) == "torch.bfloat16":
        # The one dtype of real numbers that numpy does not have, but for those of 8 bits and fewer.
        tensor = tensor.float()
    return tensor.numpy()


class Tensors:
    """Mixed into `Engine`. Tensors have one dimension, and their dtype says whether they are real.

    A decrypted tensor gets the dtype of the tensors that this engine has encoded or encrypted. If these had several
    dtypes, it is the one that holds all of them; if there were none, it is torch's default dtype. Complex values get
    the complex dtype of the same precision. `dtype=` overrides this.
    """

    _tensor_dtype: Any = None

    def _seen(self, tensor: Any) -> None:
        """Remember the dtype of a tensor that was encoded, for decryption."""
        dtype: Any = getattr(tensor, "dtype", None)
        if hasattr(tensor, "detach") and (dtype.is_floating_point or dtype.is_complex):
            real = dtype.to_real() if dtype.is_complex else dtype
            seen = self._tensor_dtype
            self._tensor_dtype = real if seen is None or seen == real else _torch().promote_types(seen, real)

    def _given(self, array: Any, dtype: Any) -> Any:
        torch = _torch()
        if dtype is None:
            dtype = self._tensor_dtype or torch.get_default_dtype()
            dtype = dtype.to_complex() if array.dtype.kind == "c" else dtype
        _check_holds(dtype, array.dtype.kind == "c")
        tensor = torch.from_numpy(array).to(dtype)
        if not bool(torch.isfinite(tensor).all()):
            raise RangeError(
                f"A value is too large for {dtype}; give dtype=torch.float64, or decrypt to a numpy array."
            )
        return tensor

    def encode_pytorch_tensor(self: Any, tensor: Any, level: int | None = None) -> Plaintext:
        """Call `encode` with a tensor."""
        plaintext: Plaintext = self.encode(_array(tensor), level)
        self._seen(tensor)
        return plaintext

    def encrypt_pytorch_tensor(
        self: Any, tensor: Any, public_key: PublicKey | SecretKey | None = None, level: int | None = None, **secret: Any
    ) -> Ciphertext:
        """Call `encrypt` with a tensor."""
        ciphertext: Ciphertext = self.encrypt(_array(tensor), public_key, level, **secret)
        self._seen(tensor)
        return ciphertext

    def decode_to_pytorch_tensor(self: Any, plaintext: Plaintext, *, dtype: Any = None) -> Any:
        """Call `decode` and return a tensor.

        Parameters
        ----------
        dtype
            The dtype of the tensor: one of real numbers, or a complex one. If not given, that of the tensors that were
            encoded or encrypted.

        Raises
        ------
        ParameterError
            If torch is not installed, the dtype is one of whole numbers, which would cut 2.999 to 2, or one of real
            numbers and values are complex.
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


def _check_holds(dtype: Any, is_complex: bool) -> None:
    """Refuse a dtype that would cut values.

    Raises
    ------
    ParameterError
        If it is one of whole numbers, or of real numbers where values are complex, or no dtype of torch.
    """
    if getattr(dtype, "is_complex", False) or (getattr(dtype, "is_floating_point", False) and not is_complex):
        return
    fix = "leave dtype= out and take .real of the tensor" if is_complex else "give torch.float64"
    raise ParameterError(
        f"Decrypted {'complex' if is_complex else 'real'} numbers do not become {dtype!s:.80}; {fix}. Whole numbers "
        "come out close to what they are: round them before .to(torch.int64)."
    )


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise ParameterError(
            "torch is not installed; install it, or use decode and decrypt, which return numpy arrays."
        ) from error

"""Tensors of the torch that people install.

On Linux it is 5.4 GB with the CUDA that it brings: `make test-torch` installs it. The quick part has a stand-in
(test_drop_in.py).
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aglet import Engine


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bfloat16])
def test_programs_get_what_they_encrypted(dtype: Any) -> None:
    engine = Engine(max_level=2, slot_count=8)
    secret = engine.create_secret_key()
    public = engine.create_public_key(secret)
    tensor = torch.linspace(-1, 1, 8).to(dtype)
    x = engine.encrypt_pytorch_tensor(tensor, public)
    near = {"rtol": 0, "atol": 1e-2 if dtype == torch.bfloat16 else 1e-5}
    for result, expected in (
        (x, tensor),
        (engine.add_pytorch_tensor(x, tensor), tensor + tensor),
        (engine.multiply_pytorch_tensor(x, tensor), tensor * tensor),
    ):
        torch.testing.assert_close(engine.decrypt_to_pytorch_tensor(result, secret), expected, **near)
    back = engine.decode_to_pytorch_tensor(engine.encode_pytorch_tensor(tensor, level=1))
    torch.testing.assert_close(back, tensor, **near)


def test_tensors_of_whole_numbers_and_other_dtypes() -> None:
    engine = Engine(max_level=1, slot_count=4)
    secret = engine.create_secret_key()
    x = engine.encrypt_pytorch_tensor(torch.tensor([1, 2, 3, 4]), secret)
    assert engine.decrypt_to_pytorch_tensor(x, secret).dtype == torch.get_default_dtype()
    assert engine.decrypt_to_pytorch_tensor(x, secret, dtype=torch.float64).dtype == torch.float64
    wide = engine.encrypt_pytorch_tensor(torch.ones(4, requires_grad=True, dtype=torch.float64).conj(), secret)
    assert engine.decrypt_to_pytorch_tensor(wide, secret).dtype == torch.float64

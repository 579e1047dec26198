"""Tensors of the torch that people install.

On Linux it is 5.4 GB with the CUDA that it brings: `make test-torch` installs it. The quick part has a stand-in
(test_tensors.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from aglet import Engine, ParameterError, ml


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


def test_tensors_that_numpy_does_not_read_and_dtypes_that_would_cut() -> None:
    engine = Engine(max_level=1, slot_count=4)
    secret = engine.create_secret_key()
    numbers = torch.tensor([1 + 1j, -2 + 0.5j, 0, 3j])
    for tensor in (numbers.conj().imag, numbers.conj(), numbers.to_sparse(), torch.nn.Parameter(numbers.real)):
        x = engine.encrypt_pytorch_tensor(tensor, secret)
        found = engine.decrypt_to_pytorch_tensor(x, secret)
        torch.testing.assert_close(found, tensor.detach().to_dense().resolve_neg(), rtol=0, atol=1e-5)
    whole, both = engine.encrypt([1.0, 2, 3], secret), engine.encrypt(numbers.numpy(), secret)
    for ciphertext, dtype in ((whole, torch.int64), (whole, torch.bool), (both, torch.float32), (whole, "float64")):
        with pytest.raises(ParameterError, match="do not become"):
            engine.decrypt_to_pytorch_tensor(ciphertext, secret, dtype=dtype)
    assert engine.decrypt_to_pytorch_tensor(whole, secret).round().to(torch.int64).tolist() == [1, 2, 3, 0]


class Residual(torch.nn.Module):
    """A small residual network, with modules, functions and methods."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, padding=1, bias=False), torch.nn.BatchNorm2d(4), torch.nn.SiLU()
        )
        self.second = torch.nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.norm = torch.nn.BatchNorm2d(4)
        self.third = torch.nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.last = torch.nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        x = torch.nn.functional.silu(self.norm(self.second(x)) + x)
        x = self.pool(torch.square(self.third(x)))
        return self.last(torch.flatten(x, 1))


def test_a_traced_module_is_the_module() -> None:
    torch.manual_seed(3)
    module, sample = Residual(), torch.rand(16, 3, 8, 8) * 2 - 1
    for _ in range(3):
        module(sample)
    with pytest.raises(ParameterError, match="eval"):
        ml.Network.from_torch(module, sample)
    module.eval()
    network = ml.Network.from_torch(module, sample, degree=31)
    wanted = module(sample).detach().numpy()
    assert np.abs(network(sample.numpy()) - wanted).max() < 1e-4
    engine = Engine(preset="toy", allow_insecure=True)
    secret, plan = engine.create_secret_key(), network.plan(engine)
    encrypted = plan(plan.encrypt(sample[0].numpy(), secret), plan.create_keys(secret), assume=True)
    assert np.abs(plan.decrypt(encrypted, secret) - network(sample[:1].numpy())[0]).max() < 2.0**-plan.bits

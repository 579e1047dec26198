"""Tensors of torch, by a stand-in: the real ones are in tests/python/long/test_torch.py."""

from __future__ import annotations

import pickle
import sys
import types
from typing import Any

import numpy as np
import pytest

from aglet import Engine, ParameterError, RangeError
from conftest import Keys
from support import assert_near


class DType:
    """As much of a dtype of torch as is used here."""

    def __init__(self, kind: Any) -> None:
        self.numpy = np.dtype(kind)
        self.is_floating_point, self.is_complex = self.numpy.kind == "f", self.numpy.kind == "c"

    def to_complex(self) -> DType:
        return DType(np.result_type(self.numpy, np.complex64))

    def to_real(self) -> DType:
        return DType(np.zeros(0, self.numpy).real.dtype)


class Tensor:
    """As much of a tensor as is used here."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)
        self.dtype = DType(self.array.dtype)

    def detach(self) -> Tensor:
        return self

    cpu = resolve_conj = resolve_neg = to_dense = detach

    def numpy(self) -> np.ndarray:
        return self.array

    def to(self, dtype: DType) -> Tensor:
        with np.errstate(over="ignore"):
            return Tensor(self.array.astype(dtype.numpy))


def pretended_torch() -> types.ModuleType:
    torch: Any = types.ModuleType("torch")
    torch.from_numpy = Tensor
    torch.get_default_dtype = lambda: DType(np.float32)
    torch.promote_types = lambda a, b: DType(np.result_type(a.numpy, b.numpy))
    torch.isfinite = lambda tensor: np.isfinite(tensor.array)
    return torch  # type: ignore[no-any-return]


def test_tensors(engine: Engine, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = Tensor(np.array([0.5, 0.25], np.float32))
    x = engine.encrypt_pytorch_tensor(tensor, keys.public)
    assert x.is_real
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match="torch is not installed"):
        engine.decrypt_to_pytorch_tensor(x, keys.secret)
    monkeypatch.setitem(sys.modules, "torch", pretended_torch())
    for result, expected in (
        (x, [0.5, 0.25]),
        (engine.add_pytorch_tensor(x, tensor), [1, 0.5]),
        (engine.multiply_pytorch_tensor(x, tensor), [0.25, 0.0625]),
    ):
        assert_near(engine.decrypt_to_pytorch_tensor(result, keys.secret).numpy()[:2], expected)
    assert_near(engine.decode_to_pytorch_tensor(engine.encode_pytorch_tensor(tensor)).numpy()[:2], [0.5, 0.25])


def test_tensors_come_back_as_they_went_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", pretended_torch())
    engine = Engine(max_level=1, slot_count=4)
    secret = engine.create_secret_key()

    def back(kind: Any, **named: Any) -> Any:
        made = engine.encrypt_pytorch_tensor(Tensor(np.ones(4, kind)), secret)
        return engine.decrypt_to_pytorch_tensor(made, secret, **named).dtype.numpy

    assert back(np.int64) == np.float32, "the default of torch"
    assert back(np.float16) == np.float16
    large = engine.multiply(engine.encrypt([400.0], secret), 400)
    with pytest.raises(RangeError, match=r"dtype=torch\.float64"):
        engine.decrypt_to_pytorch_tensor(large, secret)
    assert [back(kind) for kind in (np.float32, np.complex64, np.float32)] == [np.float32, np.complex64, np.float32]
    assert [back(kind) for kind in (np.float64, np.float32, np.complex64)] == [np.float64, np.float64, np.complex128]
    assert back(np.float64, dtype=DType(np.float32)) == np.float32
    for kind, wanted in ((np.float32, np.int64), (np.float32, bool), (np.complex64, np.float64)):
        with pytest.raises(ParameterError, match="do not become"):
            back(kind, dtype=DType(wanted))
    assert pickle.loads(pickle.dumps(engine)).max_level == 1


def test_a_tensor_that_is_refused_leaves_no_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", pretended_torch())
    engine = Engine(max_level=1, slot_count=4)
    secret = engine.create_secret_key()
    with pytest.raises(RangeError):
        engine.encrypt_pytorch_tensor(Tensor(np.ones(400, np.float16)), secret)
    assert engine.decrypt_to_pytorch_tensor(engine.encrypt([1], secret), secret).dtype.numpy == np.float32

"""Random programs of encrypted integers against numpy: every dtype, operands in the clear or encrypted, and the model.

A program has a pool of arrays and adds a few by random operations. What decrypts must be numpy's result in values,
dtype and shape; what numpy refuses must be refused. Most programs run on the model of `DigitSession`, some on
ciphertexts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from aglet import DigitSession
from aglet.errors import AgletError
from digit_sets import modelled, session

__all__ = ["live_program", "program"]

DTYPES = ["?", "u1", "i1", "u2", "i2", "u1", "i1", "u4", "i4", "u8", "i8"]
SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 3), (3, 1), (0,), (2, 1, 3)]
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "minimum": np.minimum, "maximum": np.maximum, "logical_or": np.logical_or, "matmul": operator.matmul,
    "isin": np.isin, "outer": np.outer, "inner": np.inner, "fmax": np.fmax, "append": np.append, "kron": np.kron,
    "convolve": np.convolve, "vdot": np.vdot, "tensordot": lambda x, y: np.tensordot(x, y, axes=1),
    "einsum": lambda x, y: np.einsum("ij,ij->i", x, y), "pairs": lambda x, y: np.einsum("ij,kj->ik", x, y),
}  # fmt: skip
ONE: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "~": operator.invert, "abs": np.abs, "not": np.logical_not, "sum": np.sum, "any": np.any,
    "all": lambda x: np.all(x, axis=-1), "rows": lambda x: x.sum(axis=0, dtype=np.int16), "min": np.min,
    "max": lambda x: x.max(axis=-1), "argsort": lambda x: _order(x),
    "argmin": np.argmin, "argmax": lambda x: np.argmax(x, axis=-1), "sort": np.sort,
    "cumsum": lambda x: np.cumsum(x, dtype=np.uint8), "prod": lambda x: np.prod(x, dtype=np.uint8), "flip": np.flip,
    "ravel": np.ravel, "T": lambda x: x.T, "stack": lambda x: np.stack([x, x]), "first": lambda x: x[:1],
    "repeat": lambda x: np.repeat(x, 2), "bool": lambda x: x != 0,
    "concatenate": lambda x: np.concatenate([x, x], axis=-1), "square": np.square, "sign": np.sign, "diff": np.diff,
    "cube": lambda x: x**3, "ptp": lambda x: np.ptp(x, axis=0), "pad": lambda x: np.pad(x, 1, constant_values=1),
    "edges": lambda x: np.pad(x, (1, 2), mode="edge"), "diag": np.diag, "tril": lambda x: np.tril(x, -1),
    "cumprod": lambda x: np.cumprod(x, dtype=np.uint8), "ediff1d": np.ediff1d, "nansum": np.nansum,
    "compress": lambda x: np.compress([1, 0, 1], x), "atleast_3d": np.atleast_3d, "trace": np.trace,
    "delete": lambda x: np.delete(x, 0, axis=-1), "resize": lambda x: np.resize(x, (2, 2)), "real": np.real,
    "largest": lambda x: np.maximum.reduce(x, axis=-1), "twice": lambda x: np.diff(x, n=2),
    "bins": lambda x: np.digitize(x, [-3.5, 0, 7, 90.5, np.inf]), "places": lambda x: np.searchsorted([-3, 0.5, 7], x),
    "inside": lambda x: np.isin(x, [0, 3.0, 0.5, 999]), "counts": lambda x: _counts(x),
    "sum of some": lambda x: np.sum(x, where=np.arange(x.size).reshape(x.shape) % 2 == 0, dtype=np.int16),
    "begun": lambda x: np.max(x, axis=-1, initial=1), "flags": lambda x: np.all(x, where=x > 3),
    "kept": lambda x: np.argmax(x, axis=-1, keepdims=True), "smallest": np.amin,
}  # fmt: skip
HEAVY = {"argsort", "*", "//", "%", "matmul", "prod", "cumsum", "sort", "<<", ">>", "square", "cube", "outer", "inner",
         "kron", "convolve", "vdot", "tensordot", "einsum", "pairs", "cumprod"}  # fmt: skip
"""What takes so many bootstraps on wide dtypes that ciphertexts are spared."""


def _order(x: Any) -> Any:
    """The order of equal elements is that of their places here; numpy's own does not promise it."""
    return np.argsort(np.atleast_1d(x), axis=-1, kind="stable")


def _counts(x: Any) -> Any:
    """The counts of a histogram, where numpy has one."""
    return np.histogram(x, bins=[-9, 0, 3.5, 40])[0] if x.dtype.kind in "iu" else x


def program(data: Any) -> None:
    """Circuits on digits give in the clear what numpy gives, or both refuse."""
    _run(data, modelled(data.draw(st.sampled_from(["lut4", "wide"]))), 6, DTYPES)


def live_program(data: Any) -> None:
    """The same on ciphertexts of the toy set."""
    _run(data, session(), 3, ["?", "u1", "u1", "i1", "u2", "i2"])


def _values(data: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    shape = data.draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    powers = [1 << k for k in range(high.bit_length())]
    edge = st.sampled_from([low, low + 1, 0, 1, high - 1, high, *powers]) | st.integers(low, high)
    values = data.draw(st.lists(edge, min_size=size, max_size=size))
    return np.array([min(max(v, low), high) for v in values], dtype=dtype).reshape(shape)


def _run(data: Any, own: DigitSession, most: int, kinds: list[str]) -> None:
    pool: list[tuple[Any, np.ndarray[Any, Any]]] = []
    for _ in range(2):
        clear = _values(data, np.dtype(data.draw(st.sampled_from(kinds))))
        pool.append((own.encrypt(clear), clear))
    for _ in range(data.draw(st.integers(1, most))):
        name, call, operands = _drawn(data, pool, live=own is session())
        note(f"{name} of {[(x[1].dtype.name, x[1].tolist()) if isinstance(x, tuple) else x for x in operands]}")
        try:
            with np.errstate(all="ignore"):
                expected = np.asarray(call(*(x[1] if isinstance(x, tuple) else x for x in operands)))
        except (TypeError, ValueError, OverflowError, IndexError):
            expected = None
        try:
            found = call(*(x[0] if isinstance(x, tuple) else x for x in operands))
        except (AgletError, TypeError, ValueError, IndexError):
            # What numpy computes with floating point, or says of no elements, is refused.
            assert expected is None or expected.dtype.kind == "f" or _may_refuse(operands), "numpy gives a result"
            continue
        assert expected is not None, "numpy refuses"
        result = np.asarray(own.decrypt(found))
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        np.testing.assert_array_equal(result, expected)
        if expected.size <= 12:
            pool.append((found, expected))


def _may_refuse(operands: Any) -> bool:
    """Where numpy decides by values, or by a dtype that digits do not hold: empty arrays, numbers out of range."""
    arrays = [x[1] if isinstance(x, tuple) else np.asarray(x) for x in operands]
    mixed = any(x.dtype.kind == "i" for x in arrays) and any(x.dtype == np.uint64 for x in arrays)
    return mixed or any(not x.size or x.dtype.kind == "O" for x in arrays)


def _unmasked(call: Any) -> Any:
    """A function that refuses masks, as numbers stand behind them: numpy's result is none."""

    def called(*operands: Any) -> Any:
        if not any(hasattr(one, "session") for one in operands):
            raise TypeError("A mask.")
        return call(*operands)

    return called


def _drawn(data: Any, pool: Any, live: bool) -> tuple[str, Any, list[Any]]:
    x, y = (data.draw(st.sampled_from(pool)) for _ in range(2))
    kind = data.draw(st.sampled_from(["two"] * 4 + ["one"] * 2 + ["clear", "number", "where", "cast", "masked"]))
    if live and max(x[1].dtype.itemsize, y[1].dtype.itemsize) > 2:
        x = y = pool[0]
    if kind == "one":
        name = data.draw(st.sampled_from([n for n in ONE if not (live and n in HEAVY)]))
        return name, ONE[name], [x]
    if kind == "where":
        condition = data.draw(st.sampled_from(pool))
        return "where", lambda c, a, b: np.where(c != 0, a, b), [condition, x, y]
    if kind == "cast":
        dtype = np.dtype(data.draw(st.sampled_from(DTYPES[:6] if live else DTYPES)))
        return f"astype {dtype}", lambda a: a.astype(dtype, casting="unsafe"), [x]
    name = data.draw(st.sampled_from([n for n in TWO if not (live and n in HEAVY - {"*"})]))
    if kind == "clear":
        clear = _values(data, np.dtype(data.draw(st.sampled_from(DTYPES[:6]))))
        return name, TWO[name], [x, clear] if data.draw(st.booleans()) or name == "isin" else [clear, x]
    if kind == "masked":
        masked = np.ma.masked_array(y[1], np.ones(y[1].shape, dtype=bool))
        return name, _unmasked(TWO[name]), [x, masked] if data.draw(st.booleans()) or name == "isin" else [masked, x]
    if kind == "number":
        number = data.draw(st.sampled_from([0, 1, 2, 3, 4, 7, 8, 16, 100, 255, 256, -1, -128, 2**40]))
        return name, TWO[name], [x, number] if data.draw(st.booleans()) or name == "isin" else [number, x]
    return name, TWO[name], [x, y]

"""Random programs of digits and floats together against numpy: casts, masks, and operands of both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from aglet import EncryptedArray
from aglet.errors import AgletError
from fuzz.sizes import OFTEN
from mixed_sets import session, small

__all__ = ["program"]

_SHAPES = [(), (1,), (4,), (5,), (2, 3), (3, 1), (40,)]
_ERROR = 2.0**-13
_LARGE = 2.0**12
"""Results beyond this are left alone."""

_TWO: dict[str, Any] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "where": lambda x, y: np.where(x > 3, y, 0.25) if x.dtype.kind in "biu" else x * y,
    "mask": lambda x, y: (x > 2) * y if x.dtype.kind in "biu" else x + y,
}
_ONE: dict[str, Any] = {
    "float": lambda x: x.astype(np.float64),
    "whole": lambda x: _whole(x, np.int16),
    "bytes": lambda x: _whole(x, np.uint8, "unsafe"),
    "sum": lambda x: x.sum(),
    "half": lambda x: x * 0.5,
    "minus": lambda x: 1.0 - x,
    "square": lambda x: x * x if x.dtype.kind == "f" else x,
    "refresh": lambda x: x.refresh() if isinstance(x, EncryptedArray) else x,
    "first": lambda x: x[..., :1] if x.ndim else x,
    "running product": lambda x: np.cumprod(x[..., :3], axis=-1) if x.ndim and x.dtype.kind == "f" else x,
    "without NaN": lambda x: np.nansum(x),
    "chosen": lambda x: np.compress([True, False, True], x.reshape(-1)[:3]) if x.size > 2 else x,
    "pairs": lambda x: np.kron(x.reshape(-1)[:2], [1, 2]),
    "negative": lambda x: -x if x.dtype.kind in "fi" else ~x,
}


def program(data: Any) -> None:
    """One program: three arrays, of booleans, small whole numbers and floats, and up to five operations."""
    own = session() if data.draw(st.integers(1, OFTEN)) == OFTEN else small()
    pool: list[tuple[Any, Any]] = []
    for dtype in ("?", data.draw(st.sampled_from(["u1", "i1"])), "f8"):
        clear = _values(data, np.dtype(dtype))
        pool.append((own.encrypt(clear, dtype=clear.dtype), clear))
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(list(_ONE)))
            call, operands = _ONE[name], [data.draw(st.sampled_from(pool))]
        else:
            name = data.draw(st.sampled_from(list(_TWO)))
            call, operands = _TWO[name], [data.draw(st.sampled_from(pool)) for _ in range(2)]
        if name in ("whole", "bytes") and _half_way(*operands[0]):
            continue
        note(f"{name} of {[(clear.dtype.name, clear.tolist()) for _, clear in operands]}")
        try:
            with np.errstate(all="ignore"):
                wanted: Any = np.asarray(call(*(clear for _, clear in operands)))
        except (TypeError, ValueError):
            wanted = None
        try:
            found = call(*(encrypted for encrypted, _ in operands))
        except (AgletError, TypeError, ValueError) as error:
            found = error
        if isinstance(found, Exception):
            assert wanted is None or _may_refuse(operands, found), f"numpy gives a result: {found}"
            continue
        assert wanted is not None, "numpy refuses"
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        result = np.asarray(own.decrypt(found))
        if not isinstance(found, EncryptedArray):
            np.testing.assert_array_equal(result, wanted)
        else:
            size = max(1.0, found.interval.size)
            np.testing.assert_allclose(result, wanted, rtol=0, atol=8 * _ERROR * size)
            assert found.interval.low - _ERROR * size <= wanted.min()
            assert wanted.max() <= found.interval.high + _ERROR * size
            if found.interval.size > _LARGE:
                continue
        if wanted.size <= 60:
            pool.append((found, wanted))


def _half_way(x: Any, clear: Any) -> bool:
    """Whether an element is a float so near to half way between whole numbers that it may become either."""
    near = 16 * _ERROR * max(1.0, x.interval.size) + 0.02 if isinstance(x, EncryptedArray) else 0.0
    return near > 0 and bool((np.abs(clear % 1 - 0.5) < near).any())


def _whole(x: Any, dtype: Any, casting: Any = "safe") -> Any:
    """Floats as the nearest whole numbers; digits as they are."""
    if x.dtype.kind != "f":
        return x
    if not isinstance(x, EncryptedArray):
        x = np.rint(x).astype(np.int64)
        return x.astype(dtype) if casting == "unsafe" else x.astype(dtype, casting="same_kind")
    return x.astype(dtype, casting, noise=_ERROR * max(1.0, x.interval.size))


def _may_refuse(operands: Any, error: Exception) -> bool:
    """Whole numbers of more than 16 bits do not become floats by themselves, and floats may have too much noise."""
    text = str(error)
    if "of which floats of CKKS keep" in text:
        return any(clear.dtype.itemsize > 2 for _, clear in operands)
    if "numpy computes with float64 on" in text:
        # Of a signed number beside uint64, in a list or encrypted, numpy makes float64.
        return any(clear.dtype == np.uint64 for _, clear in operands)
    floats = [x for x, _ in operands if isinstance(x, EncryptedArray)]
    return bool(floats) and any(words in text for words in ("may not fit int16", "probability", "20 are read"))


def _values(data: Any, dtype: np.dtype[Any]) -> Any:
    shape = data.draw(st.sampled_from(_SHAPES))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if dtype.kind == "f":
        return random.uniform(-1, 1, shape)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return random.integers(low, high, size=shape, endpoint=True).astype(dtype)

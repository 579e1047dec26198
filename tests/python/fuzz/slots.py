"""Random programs on whole numbers in slots against numpy: tables, arithmetic, masks, moves, floats made of them."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from aglet import EncryptedArray, EncryptedSlots
from aglet.arrays.slots import doublings
from aglet.errors import AgletError
from fuzz import chains, residues
from fuzz.outcomes import encrypted_outcome
from fuzz.sizes import few_slots

__all__ = ["COUNTS", "program"]

_SHAPES = [
    [()],
    [(1,)],
    [(5,)],
    [(2, 3), (3,), (2, 1), ()],
    [(20,)],
    [(4, 38), (38,), (4, 1)],
    [(3, 3)],
    [(80,)],
    [(0,), (1,), (0, 3), ()],
]
"""Of the arrays of a program, over one row of 64 slots, two rows, and two ciphertexts."""
_BOUNDS: dict[str, Any] = {
    "?": [None], "u1": [None, None, (16, 200), (3, 90)], "i1": [None, None, (-90, 7), (-4, 3)],
    "u4": [None, (5, 900_000), (0, 150_000), (0, 9000)], "i4": [None, (-70_000, 10**9), (-9, 30_000)],
    "i2": [None, (-300, 500), (0, 100), (-20000, 9000)], "u2": [None, (0, 5000), (300, 20000)],
}  # fmt: skip
"""What is declared of arrays; None for all that their dtype has."""
_FEW = 20
"""Elements that cross: each takes a millisecond for each digit."""
_MOST = 400
"""Elements of an operand: results may be the square of it."""
_ERROR = 2.0**-13
_ONE: dict[str, Any] = {
    "negative": lambda x: -x, "invert": lambda x: ~x, "abs": abs, "square": np.square, "sum": lambda x: x.sum(),
    "bool": lambda x: x.astype(bool), "wide": lambda x: x.astype(np.int64), "float": lambda x: x.astype(np.float64),
    "bytes": lambda x: x.astype(np.uint8, casting="unsafe"), "words": lambda x: x.astype(np.uint16, casting="unsafe"),
    "signed": lambda x: x.astype(np.int16, casting="unsafe"), "shift": lambda x: x >> x.dtype.type(3),
    "mask": lambda x: x & x.dtype.type(77), "low": lambda x: x % x.dtype.type(16), "row": lambda x: x.reshape(-1),
    "turned": lambda x: x[::-1], "T": lambda x: x.T, "first": lambda x: x[0], "some": lambda x: x[..., [0, -1, 0]],
    "odd": lambda x: x[1::2], "roll": lambda x: np.roll(x, 1, -1), "tile": lambda x: np.tile(x, 2),
    "sum 0": lambda x: x.sum(axis=0), "sum -1": lambda x: x.sum(axis=-1, keepdims=True),
    "cumsum": lambda x: x.cumsum(-1),
    "sort": lambda x: np.sort(x), "argmin": lambda x: x.argmin(-1), "argmax": lambda x: np.argmax(x, axis=0),
    "order": lambda x: np.argsort(x if x.ndim else x.reshape(1), axis=0, kind="stable"),
    "least": lambda x: np.min(x, axis=0),
    "any": lambda x: x.any(axis=0), "max": lambda x: x.max(-1), "joined": lambda x: np.concatenate([x, x[:1]]),
    "mean": lambda x: x.mean(axis=0), "diff": lambda x: np.diff(x), "outer": lambda x: x[..., None] + x[..., None, :],
    "crossed": lambda x: _crossed(x),
    "place": lambda x: x[np.arange(x.size).reshape(x.shape) % 3 == 1], "prod": lambda x: x.prod(0),
    "three": lambda x: np.where(x > 3, x, x.dtype.type(1)),
    "bins": lambda x: np.digitize(x, [-3.5, 0, 7, 90.5]), "inside": lambda x: np.isin(x, [0, 3.0, 0.5, 999]),
    "places": lambda x: np.searchsorted([-3, 0.5, 7], x, side="right"), "counts": lambda x: _counts(x),
    "select": lambda x: np.select([x > 9, x > 3], [x, x], default=x.dtype.type(1)),
    "sum of some": lambda x: x.sum(axis=0, where=np.arange(x.size).reshape(x.shape) % 2 == 0),
    "mean of some": lambda x: x.mean(where=np.arange(x.size).reshape(x.shape) % 2 == 0),
    "begun": lambda x: np.max(x, axis=-1, initial=1), "flags": lambda x: np.any(x, where=x > 3),
}  # fmt: skip


def _crossed(x: Any) -> Any:
    """To digits of FHEW and back, which numpy has in one place."""
    return x.to("digits").to("slots") if isinstance(x, EncryptedSlots) and x.size <= _FEW else x


def _counts(x: Any) -> Any:
    """The counts of a histogram, where numpy has one."""
    return np.histogram(x, bins=[-9, 0, 3.5, 40])[0] if x.dtype.kind in "iu" else x


_TWO: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.remainder, "<<": np.left_shift,
    ">>": np.right_shift, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<": np.less,
    ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal, "min": np.minimum, "max": np.maximum,
    "@": np.matmul, "dot": np.dot, "beside": lambda x, y: np.stack([x, y]),
    "and": np.logical_and, "where": lambda x, y: np.where(x > 2, x, y),
}  # fmt: skip
_LACKS = (
    "levels", "modulus", "values, and a table", "no element", "not supported", "do not fit slots", "bits, of which",
    "do not hold", "may not fit", "noise", "a bootstrap loses", "Nothing is left",
    "call numpy.matmul for stacks", "at least one element", "both lie in digits", "values slots have",
    "Slots divide numbers", "slots shift numbers",
)  # fmt: skip
"""What slots may refuse although numpy does it: no levels, too large, or too many elements that would move."""


COUNTS: Counter[str] = Counter()
"""Operations that numpy has: answered, or refused for one of the lacks."""


def program(data: Any) -> None:
    """One program: up to three arrays, numbers in the clear, and up to five operations.

    One of eight is modulo t, and two are chains of which no operator may be refused.
    """
    kind = data.draw(st.integers(0, 7))
    if kind <= 2:
        (chains if kind else residues).program(data)
        return
    # In rows of 64 slots moves by the bits of steps are seldom worth their levels.
    with mock.patch.object(doublings, "LEVEL", data.draw(st.sampled_from([doublings.LEVEL, 0.0]))):
        _run(data)


def _run(data: Any) -> None:
    own, random = few_slots(), np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shapes = data.draw(st.sampled_from(_SHAPES))
    pool: list[tuple[Any, Any]] = []
    for dtype in data.draw(
        st.lists(st.sampled_from(["?", "u1", "i1", "i2", "u2", "u4", "i4"]), min_size=1, max_size=3)
    ):
        clear = _values(random, np.dtype(dtype), data.draw(st.sampled_from(shapes)))
        bound = data.draw(st.sampled_from(_BOUNDS[dtype]))
        clear = clear if bound is None else np.asarray(np.clip(clear, *bound))
        pool.append((own.encrypt(clear, bound=bound, representation="slots"), clear))
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(list(_ONE)))
            call, operands = _ONE[name], [data.draw(st.sampled_from(pool))]
        else:
            name = data.draw(st.sampled_from(list(_TWO)))
            call, operands = _TWO[name], [data.draw(st.sampled_from(pool)) for _ in range(2)]
            kind = data.draw(st.sampled_from(["encrypted"] * 3 + ["number", "array"] * 3 + ["masked"]))
            if kind == "masked":
                _check_mask(call, operands[0])
                continue
            if kind != "encrypted":
                own_dtype = operands[0][1].dtype
                wide = own_dtype if own_dtype.kind in "biu" else np.dtype(np.int8)
                plain = _values(random, wide, () if kind == "number" else operands[0][1].shape)
                operands[1] = (plain[()], plain[()])
            operands = operands[:: data.draw(st.sampled_from([1, -1]))]
        if max(np.size(clear) for _, clear in operands) > _MOST:
            continue
        note(f"{name} of {[(np.asarray(clear).dtype.name, np.asarray(clear).tolist()) for _, clear in operands]}")
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                # Of the mean of no elements.
                warnings.simplefilter("ignore", RuntimeWarning)
                wanted: Any = np.asarray(call(*(clear for _, clear in operands)))
        except (TypeError, ValueError, IndexError):
            wanted = None
        outcome = encrypted_outcome(own, call, operands, wanted, _LACKS, COUNTS)
        if outcome is None:
            continue
        found, result = outcome
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        if isinstance(found, EncryptedArray):
            np.testing.assert_allclose(result, wanted, rtol=0, atol=_ERROR * max(1.0, found.interval.size))
            continue
        np.testing.assert_array_equal(result, wanted)
        low, high = found.bound
        assert not wanted.size or low <= wanted.min() <= wanted.max() <= high
        pool.append((found, wanted))


def _check_mask(call: Any, operand: Any) -> None:
    """A masked operand is refused: behind the mask stands a number."""
    encrypted, clear = operand
    masked = np.ma.masked_array(clear, np.ones(clear.shape, dtype=bool))
    try:
        call(encrypted, masked)
    except (AgletError, TypeError, ValueError):
        return
    raise AssertionError("A mask was dropped.")


def _values(random: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    found = random.integers(low, high, size=shape, endpoint=True, dtype=np.int64 if dtype != np.uint64 else np.uint64)
    return found.astype(dtype)

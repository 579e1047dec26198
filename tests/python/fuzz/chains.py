"""Random chains of the operators that slots have for 8, 16 and 32 bits, against numpy: none of them may be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from fuzz.sizes import few_slots

__all__ = ["program"]

_OPERATORS = (
    np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.minimum, np.maximum, np.less,
    np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.left_shift, np.right_shift,
)  # fmt: skip
_OF_BYTES = (np.floor_divide, np.remainder)
"""Those of 8 bits."""
_OF_NUMBERS = (*_OF_BYTES, np.left_shift, np.right_shift)
"""Those that make numbers of booleans."""
_SHAPES = [[()], [(5,)], [(2, 3), (3,), (2, 1), ()], [(80,)]]
_BOUNDS: dict[str, Any] = {
    "u1": [None, None, (16, 200), (3, 90), (0, 15), (250, 255)], "i1": [None, None, (-90, 7), (-4, 3), (-128, -100)],
    "u2": [None, None, (0, 5000), (60_000, 65_535)], "i2": [None, None, (-3000, 4000)],
    "u4": [None, None, (0, 5000)], "i4": [None, None, (-3000, 4000)],
}  # fmt: skip
"""What is declared of arrays; None for all that their dtype has. Sums of some have more values than a table."""
_SHORT = {"u2": "u1", "i2": "i1"}
"""Bytes that some arrays of a chain have."""
_MOST = 3
"""Operators of a chain."""


def program(data: Any) -> None:
    """One chain: each operator takes the result of the one before, and an array, itself, or numbers in the clear.

    Only the last result is decrypted, or one on the way too: tables that were looked up are other numbers.
    """
    own, random = few_slots(), np.random.default_rng(data.draw(st.integers(0, 2**32)))
    name, shapes = data.draw(st.sampled_from(list(_BOUNDS))), data.draw(st.sampled_from(_SHAPES))
    given = []
    for _ in range(data.draw(st.integers(1, 3))):
        own_name = data.draw(st.sampled_from([name, name, _SHORT.get(name, name)]))
        bound, shape = data.draw(st.sampled_from(_BOUNDS[own_name])), data.draw(st.sampled_from(shapes))
        clear = _drawn(random, np.dtype(own_name), shape, bound)
        given.append((own.encrypt(clear, bound=bound, representation="slots"), clear))
        note(f"{own_name} from {bound}: {clear.tolist()}")
    found, operators = given[0], (*_OPERATORS, *(_OF_BYTES if np.dtype(name).itemsize == 1 else ()))
    for _ in range(data.draw(st.integers(1, _MOST))):
        if found[1].dtype.kind != "b" and data.draw(st.integers(0, 7)) == 0:
            found = _divided(data, found)
            continue
        call, kind = data.draw(st.sampled_from(operators)), data.draw(st.sampled_from(["array"] * 3 + ["clear"] * 2))
        if kind == "array":
            other = data.draw(st.sampled_from([*given, found]))
        else:
            shape = data.draw(st.sampled_from([(), found[1].shape]))
            plain = _drawn(random, np.dtype(name), shape, None)[()]
            note(f"beside {plain.tolist()}")
            other = plain, plain
        if call in _OF_NUMBERS and any(clear.dtype.kind == "b" for _, clear in (found, other)):
            continue
        pair = (found, other)[:: data.draw(st.sampled_from([1, -1]))]
        note(f"{call.__name__}, {'the result first' if pair[0] is found else 'the result second'}")
        try:
            wanted = _of_numpy(call, pair)
        except TypeError:
            # numpy has no difference of booleans.
            continue
        found = call(*(encrypted for encrypted, _ in pair)), wanted
        if data.draw(st.integers(0, 3)) == 0:
            _check(own, *found)
    _check(own, *found)


def _divided(data: Any, found: Any) -> Any:
    """A quotient by a small number in the clear, or what is left; or both, of which one goes on."""
    dtype = found[1].dtype
    low, high = max(-300, np.iinfo(dtype).min), min(300, np.iinfo(dtype).max)
    by = dtype.type(data.draw(st.integers(low, high)))
    name, at = data.draw(st.sampled_from(["//", "%", "divmod"])), data.draw(st.integers(0, 1))
    note(f"{name} {by}, {at}")
    pair = found[0], found[1]
    with np.errstate(all="ignore"):
        if name == "divmod":
            made, wanted = (np.divmod(one, by)[at] for one in pair)
        else:
            call = np.floor_divide if name == "//" else np.remainder
            made, wanted = (call(one, by) for one in pair)
    return made, np.asarray(wanted)


def _of_numpy(call: Any, pair: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(call(*(clear for _, clear in pair)))


def _check(own: Any, found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(own.decrypt(found), wanted)
    low, high = found.bound
    assert low <= wanted.min() <= wanted.max() <= high


def _drawn(random: Any, dtype: np.dtype[Any], shape: tuple[int, ...], bound: Any) -> Any:
    """Numbers of which one in four is an end of their range."""
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if bound is None else bound
    some = random.integers(low, high, size=shape, endpoint=True)
    ends = random.choice([low, high, *({0} if low <= 0 <= high else ())], size=shape)
    return np.where(random.random(shape) < 0.25, ends, some).astype(dtype)

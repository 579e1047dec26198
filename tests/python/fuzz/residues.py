"""Random programs on numbers modulo t in slots against numpy's on the residues."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from aglet import zmod
from fuzz.outcomes import encrypted_outcome
from fuzz.sizes import few_slots

__all__ = ["program"]

_SHAPES = [[()], [(7,)], [(2, 3), (3,), (2, 1), ()], [(4, 38), (38,)], [(80,)]]
_ONE: dict[str, Any] = {
    "negative": lambda x: -x, "square": lambda x: x * x, "sum": lambda x: x.sum(), "row": lambda x: x.reshape(-1),
    "turned": lambda x: x[::-1], "T": lambda x: x.T, "first": lambda x: x[0], "roll": lambda x: np.roll(x, 1, -1),
    "sum 0": lambda x: x.sum(axis=0), "cumsum": lambda x: np.cumsum(x, axis=-1),
    "joined": lambda x: np.concatenate([x, x]),
    "prod": lambda x: x.prod(axis=0) if len(x) < 5 else x,
}  # fmt: skip
_TWO: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "dot": lambda x, y: np.dot(x, y) if np.ndim(y) else x * y,
    "chosen": lambda x, y: np.where(np.arange(np.shape(x)[-1] if np.ndim(x) else 1) % 2 > 0, x, y),
}  # fmt: skip
_LACKS = ("levels", "Nothing is left", "noise")


def program(data: Any) -> None:
    """One program: up to three arrays, numbers in the clear, and up to six operations."""
    own, random = few_slots(), np.random.default_rng(data.draw(st.integers(0, 2**32)))
    t = own.integers.engine.plaintext_modulus
    pool: list[tuple[Any, Any]] = []
    shapes = data.draw(st.sampled_from(_SHAPES))
    for _ in range(data.draw(st.integers(1, 3))):
        clear = random.integers(-t, t, data.draw(st.sampled_from(shapes)))
        pool.append((own.encrypt(clear, dtype=zmod(t)), np.asarray(clear % t)))
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(st.sampled_from([*_ONE, *_TWO]))
        operands = [data.draw(st.sampled_from(pool)) for _ in range(1 if name in _ONE else 2)]
        if name in _TWO and data.draw(st.booleans()):
            operands[1] = (operands[1][1], operands[1][1])
        if name != "chosen" and name in _TWO:
            operands = operands[:: data.draw(st.sampled_from([1, -1]))]
        if max(np.size(clear) for _, clear in operands) > 400:
            continue
        call = _ONE.get(name) or _TWO[name]
        note(f"{name} of {[np.asarray(clear).tolist() for _, clear in operands]}")
        try:
            # Residues as numbers of Python, which have any size.
            wanted: Any = np.asarray(call(*(np.asarray(clear).astype(object) for _, clear in operands)) % t)
        except (TypeError, ValueError, IndexError):
            wanted = None
        outcome = encrypted_outcome(own, call, operands, wanted, _LACKS)
        if outcome is None:
            continue
        found, result = outcome
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(result, wanted.astype(np.int64))
        pool.append((found, wanted.astype(np.int64)))

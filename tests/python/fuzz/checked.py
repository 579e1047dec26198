"""Whether an encrypted array is what numpy says, in every slot and in everything that it states of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from aglet import EncryptedArray, Session

__all__ = ["NOISE", "check"]

NOISE = 2.0**-18
"""Of a value near 1, more than products and a refresh of the toy ring leave."""


def check(session: Session, found: EncryptedArray, expected: Any, tolerance: float = NOISE) -> None:
    """Values and shape are numpy's; the interval holds all of them; so do slots without an element, and what they hold.

    `tolerance` is what noise may be, for values of any size.
    """
    values = session.decrypt(found)
    assert np.shape(values) == found.shape == np.shape(expected)
    assert np.isfinite(expected).all(), "a program whose result has no number says nothing"
    # Of a float array of numpy's, what is found is no complex one; what is real anyway may be stated to be.
    assert found.is_real or np.iscomplexobj(expected), f"numpy gives real numbers: {found}"
    off = np.max(np.abs(values - expected))
    assert off <= tolerance, f"off by {off:.3g}, and {tolerance:.3g} is allowed"
    _check_interval(found, np.asarray(expected), 1e-12)
    slots = np.array([session.engine.decrypt(chunk, session.keys.secret) for chunk in found.chunks])
    _check_interval(found, slots, tolerance)
    _check_layout(found, slots, tolerance)


def _check_interval(found: EncryptedArray, values: Any, tolerance: float) -> None:
    """What is stated of values holds, but for noise, or for the rounding of doubles."""
    slack = tolerance * max(1.0, found.bound)
    if found.is_real:
        assert values.min() >= found.interval.low - slack, f"{values.min()} is below {found}"
        assert values.max() <= found.interval.high + slack, f"{values.max()} is above {found}"
    assert np.abs(values).max() <= found.bound + slack, f"{np.abs(values).max()} is beyond {found}"


def _check_layout(found: EncryptedArray, slots: Any, tolerance: float) -> None:
    slack = 2 * tolerance * max(1.0, found.bound)
    if found.period is not None:
        first = slots[:, : found.period]
        again = slots.reshape(len(slots), -1, found.period)
        assert np.abs(again - first[:, None, :]).max() <= slack, f"{found} does not repeat after {found.period} slots"
    if found.filler is not None:
        empty = np.ones(slots.size, dtype=bool)
        empty[found.index] = found.uniform
        rest = slots.ravel()[empty]
        assert not rest.size or np.abs(rest - found.filler).max() <= slack, f"{found} is not filled by {found.filler}"

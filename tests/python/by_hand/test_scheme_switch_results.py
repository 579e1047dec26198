"""No wrong result by scheme switching on the real ring: ten thousand bits there and back, a thousand comparisons.

It takes some minutes and 6 GB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Engine, FhewEngine, SchemeSwitch

BITS = 20
UNIT = 2.0 ** -(BITS - 1)
ROUND_TRIPS = 10_000
COMPARISONS = 1_000


class Sides:
    """A switch on the real ring, with its keys."""

    def __init__(self, preset: str, bits: int) -> None:
        self.engine = Engine(preset=preset, thread_count=0)
        self.switch = SchemeSwitch(self.engine, FhewEngine(bits=bits, thread_count=0))
        self.secret = self.engine.create_secret_key()
        self.lwe = self.switch.fhew_engine.create_secret_key()
        self.keys = self.switch.create_keys(self.secret, self.lwe, bootstrap="medium")

    def up(self, x: Any, count: int) -> Any:
        """The slots of bits that went back."""
        return self.engine.decrypt(self.switch.from_fhew(x, self.keys), self.secret)[:count].real


def test_bits_come_back() -> None:
    sides = Sides("regular", 1)
    bits = np.random.default_rng(11).integers(0, 2, ROUND_TRIPS)
    x = sides.engine.encrypt(bits.astype(float), sides.secret)
    low = sides.switch.to_fhew(x, np.arange(ROUND_TRIPS), sides.keys)
    assert (sides.switch.fhew_engine.decrypt(low, sides.lwe) == bits).all()
    # Through a gate, so that what goes back has the noise of a rotation.
    same = sides.switch.fhew_engine.and_(low, low, sides.keys.fhew_bootstrap)
    errors = np.abs(sides.up(same, ROUND_TRIPS) - bits)
    print(f"\n{ROUND_TRIPS} round trips: largest error 2^{np.log2(errors.max()):.1f}")
    assert errors.max() < 2**-6


@pytest.mark.parametrize(("preset", "max_failure"), [("regular", 2.0**-80), ("regular-44", None)])
def test_neighbours_are_told_apart(preset: str, max_failure: float | None) -> None:
    sides = Sides(preset, 4)
    random = np.random.default_rng(12)
    y = np.round(random.uniform(-0.49, 0.49, COMPARISONS) / UNIT) * UNIT
    step = random.integers(-1, 2, COMPARISONS)
    x = y + step * UNIT
    first, second = (sides.engine.encrypt(values, sides.secret, bound=0.5) for values in (x, y))
    found = sides.switch.compare(
        ">=", first, second, np.arange(COMPARISONS), sides.keys, bits=BITS, max_failure=max_failure
    )
    assert (sides.switch.fhew_engine.decrypt(found, sides.lwe) == (step >= 0)).all()
    assert ((sides.up(found, COMPARISONS) > 0.5) == (step >= 0)).all()
    print(f"\n{preset}: {COMPARISONS} comparisons of {BITS} bits, {(step == 0).sum()} of them ties")

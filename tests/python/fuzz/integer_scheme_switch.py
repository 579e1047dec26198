"""Random programs by scheme switching to integers: most on toys, some on the parameters that are published.

Slots of fresh integers, of sums and of products go to FHEW as messages or unsigned integers. Tables of them go back,
exactly, and to FHEW again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import note
from numpy.typing import NDArray

from aglet import FhewEngine, IntegerEngine, SchemeSwitch
from digit_sets import toy
from fuzz.draws import seed
from fuzz.sizes import OFTEN
from mixed_sets import slots_engine

__all__ = ["program"]

_MOST = 8
"""Slots that go to FHEW in one program."""


class _Sides:
    def __init__(self, published: bool) -> None:
        self.engine = IntegerEngine(use_bootstrap=True, thread_count=0) if published else slots_engine()
        self.switch = SchemeSwitch(self.engine, FhewEngine(bits=4, thread_count=0) if published else toy())
        self.secret, self.lwe = self.engine.create_secret_key(), self.switch.fhew_engine.create_secret_key()
        self.relinearization = self.engine.create_relinearization_key(self.secret)
        self.keys = self.switch.create_keys(self.secret, self.lwe)

    def decrypt(self, x: Any) -> Any:
        return self.switch.fhew_engine.decrypt(x, self.lwe)


@cache
def _sides(published: bool) -> _Sides:
    return _Sides(published)


def program(data: Any) -> None:
    """Slots of integers through a table and up, and down again; as words they are what they were."""
    random = np.random.default_rng(seed(data))
    sides = _sides(bool(random.integers(OFTEN) == 0))
    x, values = _slots(sides, random)
    places = random.integers(0, sides.engine.slot_count, int(random.integers(1, _MOST + 1)))
    places[: len(places) // 3] = random.choice([0, sides.engine.slot_count - 1, places[-1]])
    wanted = values[places]
    note(f"{wanted.tolist()} at {places.tolist()}, level {x.level}")
    low = sides.switch.to_fhew(x, places, sides.keys)
    assert (sides.decrypt(low) == wanted).all()
    width = int(random.integers(4, 13))
    words = sides.switch.to_fhew(x, places, sides.keys, bits=width)
    # Words of 12 bits are told apart with 2^-49.
    assert (sides.switch.fhew_engine.decrypt(words, sides.lwe, max_failure=2.0**-40) == wanted).all()
    bits = [1, 4][random.integers(2)]
    table = random.integers(0, 2**bits, 16)
    found = sides.switch.fhew_engine.lookup(low, table, sides.keys.fhew_bootstrap)
    assert (sides.decrypt(found) == table[wanted]).all()
    up = sides.switch.from_fhew(found, sides.keys, bits=bits)
    slots = sides.engine.decrypt(up, sides.secret)
    assert (slots[: len(places)] == table[wanted]).all()
    assert not slots[len(places) :].any()
    if bits == 1:
        again = sides.switch.to_fhew(up, range(len(places)), sides.keys)
        assert (sides.decrypt(again) == table[wanted]).all()


def _slots(sides: _Sides, random: np.random.Generator) -> tuple[Any, NDArray[np.int64]]:
    """Numbers from 0 to 15 in all slots: encrypted at some level, or computed."""
    engine, count, level = sides.engine, sides.engine.slot_count, int(random.integers(2, sides.engine.max_level + 1))
    values = random.integers(0, 16, count) if random.random() < 0.8 else random.choice([0, 15], count)
    kind = random.integers(4)
    if kind == 0:
        return engine.encrypt(values, sides.secret, level=level - 1), values
    other = random.integers(0, 2, count)
    x, y = (engine.encrypt(one, sides.secret, level=level) for one in (values, other))
    if kind == 1:
        return engine.multiply(x, y, sides.relinearization), values * other
    if kind == 2:
        return engine.add(engine.multiply(x, -1), 15), 15 - values
    small = values % 15
    return engine.add(engine.encrypt(small, sides.secret, level=level), y), small + other

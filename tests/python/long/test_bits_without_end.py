"""Gates on bits in slots at the real size: sums of 16,384 pairs of numbers, bit by bit, with bootstraps between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aglet import Ciphertext, Engine

BITS = 12


def test_adders_go_on_through_bootstraps() -> None:
    engine = Engine(preset="bits15", thread_count=2)
    secret = engine.create_secret_key()
    relin, conjugation = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    key = engine.create_lossy_bootstrap_key(secret)
    numbers = np.random.default_rng(7).integers(0, 2**BITS, (2, engine.slot_count))
    bootstraps = 0

    def bit(number: int, place: int) -> Ciphertext:
        return engine.encrypt((numbers[number] >> place & 1).astype(float), secret)

    def clean(x: Ciphertext) -> Ciphertext:
        nonlocal bootstraps
        bootstraps += 1
        refreshed = engine.sign_bootstrap(x, relin, conjugation, key, bits=True, real=True)
        assert refreshed.level == 8
        return refreshed

    def read(x: Ciphertext) -> NDArray[np.int64]:
        found = engine.decrypt(x, secret).real
        rounded = np.rint(found)
        assert np.abs(found - rounded).max() < 2.0**-6
        return rounded.astype(np.int64)

    carry = engine.encrypt(np.zeros(engine.slot_count), secret)
    total = np.zeros(engine.slot_count, np.int64)
    for place in range(BITS):
        x, y = bit(0, place), bit(1, place)
        either, both = engine.bit_gate("xor", x, y, relin), engine.bit_gate("and", x, y, relin)
        if carry.level < 2:
            carry = clean(carry)
        total += read(engine.bit_gate("xor", either, carry, relin)) << place
        carry = engine.bit_gate("or", both, engine.bit_gate("and", either, carry, relin), relin)
    # Twice in a row from level 0.
    for _ in range(2):
        carry = clean(engine.level_down(carry, 0))
    total += read(carry) << BITS
    assert bootstraps == 5
    assert np.array_equal(total, numbers[0] + numbers[1])

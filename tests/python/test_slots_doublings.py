"""Moves by the bits of steps: on numbers in the clear, where every slot is seen, and on ciphertexts."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aglet import SlotSession
from aglet.arrays import rotations
from aglet.arrays.slots import doublings, moves
from mixed_sets import slots_engine, three

RANDOM = np.random.default_rng(31)
ROW = 64
FEW = 24


class _Clear:
    """Two rows of numbers in the clear, and what is done to them."""

    def __init__(self) -> None:
        self.switches = self.masks = self.stages = 0

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def multiply(self, x: Any, number: int) -> Any:
        return x * number

    def quieter(self, x: Any) -> Any:
        self.stages += 1
        return x

    def rotate(self, x: Any, steps: Any) -> list[Any]:
        self.switches += sum((step % ROW).bit_count() for step in steps)
        return [np.roll(x.reshape(2, -1), step, axis=1).ravel() for step in steps]

    def weighted_sum(self, chunks: Any, masks: Any) -> Any:
        self.masks += len(masks)
        return sum(np.asarray(chunk) * mask for chunk, mask in zip(chunks, masks, strict=True))


def _checked(source: Any, target: Any, chunks: int, count: int, levels: int) -> bool:
    """Whether there is a way, which brings elements to their places, zeros to others, and takes what it says."""
    machine, numbers = _Clear(), RANDOM.integers(1, 1000, (chunks, 2 * ROW))
    both = [one for each in numbers for one in (each, np.roll(each.reshape(2, -1), 1, axis=0).ravel())]
    session = SimpleNamespace(slots=2 * ROW, row_slots=ROW, machine=machine)
    array: Any = SimpleNamespace(session=session, chunks=both, period=None, filler=None)
    parts = rotations.parts_of(source.ravel(), target.ravel(), array, count)
    way = doublings.planned(array, parts, (source, target), levels, 1.0)
    if way is None:
        return False
    found = np.concatenate(doublings.made(array, way))
    wanted = np.zeros(count * 2 * ROW)
    wanted[target] = numbers.ravel()[source]
    np.testing.assert_array_equal(found, wanted)
    assert way.levels <= levels
    # Sums come down once.
    assert machine.stages == sum(len(one) or 1 for one in way.chunks) * (way.levels - 1) + count
    assert way.cost == pytest.approx(machine.switches + doublings.MASK * machine.masks + way.levels)
    return True


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_stretches_and_compactions_by_bits(levels: int) -> None:
    """Both ways of every width, with copies of elements or without, in one row and over two."""
    for length, apart in [(10, 6), (21, 3), (40, 3), (25, 5), (16, 4), (3, 40)]:
        spread = np.arange(length) * apart
        spread = spread // (ROW // apart * apart) * ROW + spread % (ROW // apart * apart)
        dense = np.arange(length)
        for one, other in [(spread, dense), (dense, spread), (dense, spread[::-1]), (spread[::-1], dense)]:
            assert _checked(one + 1, other, 2, 2, levels)
        table = spread[:, None] + np.arange(apart)
        copied = np.broadcast_to(dense[:, None], table.shape)
        assert _checked(copied, table, 1, 2, levels)
        assert _checked(table[:, ::-1], table, 2, 2, levels) or levels < 4


def test_random_moves_by_bits() -> None:
    """Spreads and closings are found in a few levels, other moves only if elements do not meet."""
    found = 0
    for _ in range(60):
        count = int(RANDOM.integers(1, FEW))
        places = np.sort(RANDOM.choice(ROW, count, replace=False))
        dense = np.arange(count) + RANDOM.integers(0, ROW - count + 1)
        flip = RANDOM.integers(0, 2, 2) * ROW
        assert _checked(places + flip[0], dense + flip[1], 1, 1, 4)
        assert _checked(dense + flip[0], places + flip[1], 1, 1, 4)
        mixed = RANDOM.integers(0, 4 * ROW, count), RANDOM.choice(4 * ROW, count, replace=False)
        found += _checked(*mixed, 2, 2, 3)
    assert found > 10


def test_elements_that_meet_have_no_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A permutation of full rows: masks choose by all bits at once, but by a bit each elements would meet."""
    places = np.arange(2 * ROW), RANDOM.permutation(2 * ROW)
    assert _checked(*places, 1, 1, 1)
    monkeypatch.setattr(doublings, "_MOST", 1)
    assert not _checked(*places, 1, 1, 8)


def test_ciphertexts_move_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer masks than steps, a level for each stage, and with too few levels a mask for each step."""
    own = three()
    assert own.integers is not None
    taken: list[int] = []
    honest = moves._Machine.weighted_sum

    def counted(self: Any, chunks: Any, masks: Any) -> Any:
        taken.append(len(masks))
        return honest(self, chunks, masks)

    monkeypatch.setattr(moves._Machine, "weighted_sum", counted)
    table, vector = RANDOM.integers(0, 3, (90, 5)).astype(np.int16), RANDOM.integers(0, 3, 90).astype(np.int16)
    for bootstrap in (own.integers.keys.bootstrap, None):
        session = SlotSession(slots_engine(), replace(own.integers.keys, bootstrap=bootstrap))
        t, v = (session.encrypt(x, bound=(0, 2)) for x in (table, vector))
        low = v.replaced(replace(v.numbers, digits=([session.engine.mod_switch(_only(v), 2)],)), None, v.dtype)
        for program, operand in [("stretch", v), ("close", v), ("low", low)]:
            taken.clear()
            found = t[:, 3] + operand if program == "close" else t + operand[:, None]
            wanted = table[:, 3] + vector if program == "close" else table + vector[:, None]
            np.testing.assert_array_equal(session.decrypt(found), wanted, err_msg=program)
            if bootstrap is None:
                # Too few levels, or worth more than so few masks.
                assert (found.level, sum(taken) >= 90) == (operand.level - 1, True), program
            else:
                # At level 2 a bootstrap comes first.
                assert 2 <= len(taken) == 8 - found.level, program
                assert sum(taken) < 40, program
            if bootstrap is None and program == "low":
                continue
            # Nothing is left of the noise of masks, so a table follows.
            np.testing.assert_array_equal(session.decrypt(found % 3), wanted % 3, err_msg=program)
        kept = dict(session.ways)
        np.testing.assert_array_equal(session.decrypt(t + v[:, None]), table + vector[:, None])
        assert [session.ways[one] is way for one, way in kept.items()] == [True] * len(session.ways)


def _only(x: Any) -> Any:
    [[chunk]] = x.numbers.digits
    return chunk


def test_threads_move_elements_of_one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways that are kept are shared: one thread may drop what another one is about to take."""
    monkeypatch.setattr(moves, "_found_way", lambda *_: None)
    session: Any = SimpleNamespace(ways={})
    x: Any = SimpleNamespace(level=3)
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            for _ in range(8000):
                ends = tuple(random.integers(0, 7, (2, 2)))
                assert moves._way(session, x, [], ends) is None
        except (KeyError, RuntimeError) as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    assert len(session.ways) == 32

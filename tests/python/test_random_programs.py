"""Random programs by hand: blocks from seeds of their own, on from the record, which counts what was right."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from fuzz import __main__ as by_hand
from fuzz import fixed
from fuzz.draws import Draws, draws
from fuzz.profiles import drawn

TESTS = Path(__file__).resolve().parent


def test_every_program_is_new_and_every_choice_as_likely() -> None:
    programs: list[tuple[int, ...]] = []

    def front(data: Any) -> None:
        programs.append(tuple(part.integer(0, 99) for part in draws(data, 3, choices=2) for _ in range(2)))

    drawn(front, 400, 1)()
    assert len(set(programs)) == len(programs) == 400
    # 40 expected, with a deviation of 6.
    for place in range(6):
        counts = [sum(one[place] // 10 == tenth for one in programs) for tenth in range(10)]
        assert min(counts) > 5
    after = Draws(bytes([0, 7]))
    assert [after.integer(-5, 100), after.one_of("abc"), after.flag(), after.several(after.flag, 2, 3)] == [
        2, "a", False, [False, False]
    ]  # fmt: skip


def test_a_wrong_program_becomes_as_small_as_it_may() -> None:
    wrong: list[list[int]] = []

    def front(data: Any) -> None:
        numbers = [part.integer(0, 9) for part in draws(data, 4, choices=3)]
        if numbers[2] >= 4:
            wrong.append(numbers)
            raise AssertionError(f"wrong: {numbers}")

    with pytest.raises(AssertionError, match=r"wrong: \[0, 0, \d, 0\]"):
        drawn(front, 100, 1)()


def test_a_run_goes_on_from_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, list[int]] = {"often": [], "seldom": []}

    def front(name: str) -> Any:
        return lambda data: drawn[name].append(data.draw(st.integers(0, 2**64)))

    fronts = {"often": (front("often"), 0.75), "seldom": (front("seldom"), 0.25)}
    monkeypatch.setattr(by_hand, "FRONTS", fronts)
    monkeypatch.setattr(by_hand, "MILLION", 80)
    record = tmp_path / "programs.json"
    assert by_hand.run(0, record) == {}
    assert by_hand.run(60, record, block=10) == {"often": 60, "seldom": 20}
    assert {name: len(numbers) for name, numbers in drawn.items()} == {"often": 60, "seldom": 20}
    first = {name: list(numbers) for name, numbers in drawn.items()}
    monkeypatch.setattr(by_hand, "MILLION", 160)
    assert by_hand.run(60, record, block=10) == {"often": 60, "seldom": 20}
    for name, numbers in drawn.items():
        assert not set(numbers[len(first[name]) :]) & set(first[name]) - {0}
    assert by_hand.counted(json.loads(record.read_text())) == {"often": 120, "seldom": 40}
    assert by_hand.run(60, record, block=10) == {}
    # The same record makes the same programs.
    record.unlink()
    again = {name: len(numbers) for name, numbers in drawn.items()}
    monkeypatch.setattr(by_hand, "MILLION", 80)
    by_hand.run(60, record, block=10)
    assert {name: numbers[again[name] :] for name, numbers in drawn.items()} == first


def test_processes_side_by_side_count_the_same_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"digits": by_hand.FRONTS["digits"]}
    monkeypatch.setattr(by_hand, "FRONTS", quick)
    monkeypatch.setattr(by_hand, "MILLION", 400)
    record = tmp_path / "programs.json"
    assert by_hand.run(60, record, block=1, processes=2) == {"digits": 4}
    assert by_hand.counted(json.loads(record.read_text())) == {"digits": 4}
    # The later of two blocks does not count before the first.
    orders = iter([("digits", 5, 1), ("digits", 4, 1)])
    counts: list[int] = []
    monkeypatch.setattr(by_hand, "_side_by_side", lambda blocks, processes: orders)
    monkeypatch.setattr(by_hand.json, "dumps", lambda runs, **_: counts.append(runs[-1]["programs"]["digits"]) or "[]")
    by_hand.run(60, record, block=1, processes=2)
    assert counts == [0, 2]


def test_fixed_formats_have_fronts_that_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every front of the long part is one by hand, and the parts make up the million."""
    assert sum(part for _, part in by_hand.FRONTS.values()) == pytest.approx(1, abs=1e-12)
    by_front = {front for front, _ in by_hand.FRONTS.values()}
    assert {fixed.program, fixed.live_program, *_fronts_of(TESTS / "long" / "test_fuzz.py")} <= by_front
    some = {name: one for name, one in by_hand.FRONTS.items() if name.startswith("fixed")}
    assert len(some) == 2
    monkeypatch.setattr(by_hand, "FRONTS", some)
    monkeypatch.setattr(by_hand, "MILLION", 1000)
    record = tmp_path / "programs.json"
    counts = {"fixed": 10, "fixed on ciphertexts": 5}
    assert by_hand.run(600, record, block=5) == counts
    assert by_hand.counted(json.loads(record.read_text())) == counts


def _fronts_of(file: Path) -> set[Any]:
    """What a file of tests makes programs of."""
    names = re.findall(r"= programs\((\w+)\.(\w+),", file.read_text())
    assert len(names) > 10
    return {getattr(import_module(f"fuzz.{module}"), name) for module, name in names}


def test_a_wrong_program_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: set[int] = set()

    def front(data: Any) -> None:
        number = data.draw(st.integers(0, 2**16))
        if number > 1000:
            wrong.add(number)
            raise AssertionError("larger than 1000")

    monkeypatch.setattr(
        by_hand, "FRONTS", {"fair": (lambda data: data.draw(st.booleans()), 0.5), "wrong": (front, 0.5)}
    )
    record = tmp_path / "programs.json"
    record.write_text(json.dumps([{"programs": {"fair": 30, "wrong": 20}}]))
    for _ in range(2):
        with pytest.raises(AssertionError, match="larger than 1000"):
            by_hand.run(60, record, block=10)
        assert by_hand.counted(json.loads(record.read_text())) == {"fair": 30, "wrong": 20}
        assert min(wrong) == 1001

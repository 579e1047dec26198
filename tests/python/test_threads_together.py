"""Two threads that compute with one array at once: in slots, in digits, of a fixed format. All results are numpy's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from aglet import fixed
from aglet.errors import AgletError
from digit_sets import session as digits
from fuzz.sizes import few_slots

BYTE = fixed(8, 4)
ALL: dict[str, Any] = {
    "negative": lambda x: -x, "abs": abs, "half": lambda x: x >> 1, "turned": lambda x: x[::-1], "least": np.min,
    "above": lambda x: x > 3, "twice": lambda x: x + x, "largest": lambda x: np.maximum(x, x[::-1]),
    "choice": lambda x: np.where(x > 2, x, x[::-1]), "joined": lambda x: np.concatenate([x, x[:1]]),
    "refreshed": lambda x: (x.refresh() if hasattr(x, "session") else x) - x[::-1], "sort": np.sort,
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "bits": lambda x: x & 7, "xor": lambda x: x ^ x[::-1], "byte": lambda x: x.astype(np.uint8, casting="unsafe"),
    "wide": lambda x: x.astype(np.int64), "count": np.count_nonzero, "square": lambda x: x * x, "sum": np.sum,
}  # fmt: skip
DIVIDED: dict[str, Any] = {
    "quotient": lambda x: x // 3, "rest": lambda x: x % 5, "both": lambda x: sum(divmod(x, 7)),
    "below": lambda x: x // (-3 if x.dtype.kind == "i" else 11),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _in_turns() -> Iterator[None]:
    """Threads take turns a hundred times as often as they do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


def _at_once(calls: list[list[Any]], x: Any) -> list[list[Any]]:
    """What each thread's calls give, or their errors."""
    found: list[list[Any]] = [[] for _ in calls]
    start = threading.Barrier(len(calls))

    def run(own: list[Any], results: list[Any]) -> None:
        start.wait()
        for call in own:
            try:
                results.append(call(x))
            except (AgletError, TypeError) as error:
                results.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(calls, found, strict=True)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


def _check(own: Any, x: Any, clear: Any, names: Any, table: dict[str, Any]) -> None:
    calls = [[table[name] for name in some] for some in names]
    for some, results in zip(names, _at_once(calls, x), strict=True):
        assert len(results) == len(some), "a thread ended"
        for name, found in zip(some, results, strict=True):
            if isinstance(found, Exception):
                # Refused; so it is alone.
                with pytest.raises(type(found)):
                    table[name](x)
                continue
            with np.errstate(all="ignore"):
                wanted = table[name](clear)
            np.testing.assert_array_equal(own.decrypt(found), wanted, err_msg=f"{name} of {names}")


def _names(random: Any, table: dict[str, Any]) -> Any:
    return random.choice(list(table), (2, 4))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["u1", "i1", "u2", "sum", "i4"])
def test_slots(name: str, seed: int) -> None:
    """Tables that nobody looked up yet, and sums that have no digits yet."""
    random = np.random.default_rng(seed)
    dtype, bound = (np.dtype("u2"), (0, 5000)) if name == "sum" else (np.dtype(name), None)
    low, high = bound or (np.iinfo(dtype).min, np.iinfo(dtype).max)
    clear = random.integers(low, high, 5, endpoint=True).astype(dtype)
    x, own = few_slots().encrypt(clear, bound=bound, representation="slots"), few_slots()
    begun = [lambda v: v >> 1, lambda v: v + v[::-1], lambda v: v ^ dtype.type(3), lambda v: v][seed % 4]
    begun = (lambda v: v + v[::-1]) if name == "sum" else begun
    table = ALL | WHOLE | DIVIDED
    _check(own, begun(x), begun(clear), _names(random, table), table)


@pytest.mark.parametrize("seed", range(3))
def test_digits(seed: int) -> None:
    random = np.random.default_rng(seed)
    clear, table = random.integers(0, 256, 4).astype(np.uint8), ALL | WHOLE
    x = digits().encrypt(clear)
    _check(digits(), x + x[::-1], clear + clear[::-1], _names(random, table), table)


@pytest.mark.parametrize("seed", range(3))
def test_fixed_formats(seed: int) -> None:
    """Words of numpy stand for the numbers, of which 3 are 48 words."""
    random = np.random.default_rng(seed)
    words = random.integers(-120, 120, 4).astype(np.int8)
    x, table = BYTE.of(digits().encrypt(words)), dict(ALL)
    of_words = table | {
        "above": lambda v: v > 48, "choice": lambda v: np.where(v > 32, v, v[::-1]),
    }  # fmt: skip
    names = _names(random, table)
    results = _at_once([[table[name] for name in some] for some in names], x)
    for some, found in zip(names, results, strict=True):
        for name, one in zip(some, found, strict=True):
            with np.errstate(all="ignore"):
                wanted = of_words[name](words)
            given = one.words() if hasattr(one, "words") else one
            np.testing.assert_array_equal(digits().decrypt(given), wanted, err_msg=f"{name} of {names}")


def test_digits_of_one_sum_are_made_once_or_twice_and_are_right() -> None:
    """Whoever asks second while they are made makes them again; one of both stays."""
    clear = np.array([3, 5000, 77, 4099], dtype=np.uint16)
    x, y = (few_slots().encrypt(clear, bound=(0, 5000), representation="slots") for _ in range(2))
    for _ in range(5):
        found = _at_once([[lambda v: v > 3], [lambda v: v & 77]], x + y)
        np.testing.assert_array_equal(few_slots().decrypt(found[0][0]), clear + clear > 3)
        np.testing.assert_array_equal(few_slots().decrypt(found[1][0]), clear + clear & 77)

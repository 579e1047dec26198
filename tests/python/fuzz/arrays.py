"""Random programs on `EncryptedArray` beside numpy: values, intervals, fillers and periods after every step."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from hypothesis import event, note

from aglet import AgletError, EncryptedArray, LevelError, Session
from fuzz.array_functions import FUNCTIONS, arranged
from fuzz.array_steps import LENGTHS, STEPS, Pair, Step, numbers
from fuzz.checked import check
from fuzz.draws import Draws, draws
from support import toy

__all__ = ["program", "session"]

FRESH, EACH = 2.0**-22, 2.0**-21
"""Error of a fresh array; what each step adds for a value of size 1."""
_MOST_ARRAYS, _MOST_STEPS = 3, 6
LARGEST = 64.0
"""Values beyond are not computed with any more: a program would end in errors of range soon."""
_WEIGHTS = (
    ["plain"] * 4
    + ["encrypted"] * 4
    + ["view"] * 5
    + ["alone", "sums", "sums", "join", "product", "choice", "function"]
    + ["say"] * 2
    + list(FUNCTIONS)
)
_EVERY = STEPS | FUNCTIONS | {"arranged": arranged}
_REFUSED = (AgletError, TypeError, ZeroDivisionError, ValueError, IndexError)


@functools.cache
def _keys(log_n: int, slots: int, method: str) -> Any:
    """Few slots, so that small arrays have several chunks: half and all of those of a ring, and more."""
    engine = toy(log_n, slots)
    return engine, engine.create_keys(method=method)


@functools.cache
def session(slots: int = 32, refresh: str = "auto", log_n: int = 7, method: str = "regular") -> Session:
    """One for all programs, as keys take longer than programs."""
    return Session(*_keys(log_n, slots, method), refresh=refresh, alpha=5, error_bits=12)


def program(data: Any) -> None:
    """Some arrays are encrypted, and some steps are taken with them; each result is numpy's, or there is an error."""
    draw, *parts = draws(data, 1 + _MOST_ARRAYS + _MOST_STEPS)
    log_n, slots = draw.one_of([(6, 32), (6, 32), (7, 32), (8, 128)])
    refresh, method = draw.one_of(["auto"] * 5 + ["never"]), draw.one_of(["regular"] * 3 + ["lossy"])
    place = session(slots, refresh, log_n, method)
    # These take far longer than all else: few programs have one.
    costly = draw.one_of([""] * 95 + ["compared"] * 4 + ["ordered", "arranged"])
    count, steps = draw.integer(1, _MOST_ARRAYS), draw.integer(1, _MOST_STEPS)
    pairs = [_encrypted(part, place) for part in parts[:count]]
    for part in parts[_MOST_ARRAYS:][:steps]:
        kind = part.one_of(_WEIGHTS)
        if kind == "say":
            _say(part, pairs)
            continue
        made = _taken(_EVERY[costly or kind](part, pairs))
        costly = ""
        if made is not None and made.clear.size <= 12 * place.slots:
            pairs.append(made)


def _encrypted(draw: Draws, place: Session) -> Pair:
    shape = tuple(draw.several(lambda: draw.one_of(LENGTHS), 0, 4))
    while np.prod(shape) > 5 * place.slots:
        shape = shape[1:]
    low, high = draw.one_of([(-1, 1), (-1, 1), (0, 1), (0.5, 1.5), (2, 3), (-3, 1)])
    # Some lie in a part of what is declared, so that the range says less than the numbers.
    values: Any = np.asarray(numbers(draw, shape, low, high))
    bound: Any = (low, high) if draw.flag() else max(abs(low), abs(high))
    if draw.integer(0, 7) == 0:
        values = values * np.exp(2j * np.pi * numbers(draw, shape, 0, 1))
    level = draw.one_of([None, None, None, 10, 3, 2, 1, 0])
    note(f"encrypt {values.dtype.name}{shape}, bound={bound}, level={level}")
    return Pair(place.encrypt(values, bound=bound, level=level), values, FRESH * max(abs(low), abs(high)))


def _taken(step: Step) -> Pair | None:
    """What the step makes, checked; None where it is refused, as it must be where numpy refuses."""
    shapes = ", ".join(str(one.encrypted) for one in step.pairs)
    note(f"{step.text}: {shapes}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected: Any = np.asarray(step.call(*(np.asarray(one.clear) for one in step.pairs)))
    except Exception:
        expected = None
    try:
        found = step.call(*(one.encrypted for one in step.pairs))
    except _REFUSED as error:
        event(
            f"refused: {type(error).__name__} {str(error)[:60]}"
            if expected is not None and expected.size
            else "no array"
        )
        return None
    assert expected is not None, "numpy refuses this"
    expected = expected.astype(complex if np.iscomplexobj(expected) else float)
    size = max(1.0, float(np.abs(expected).max()), *(one.size for one in step.pairs))
    error = step.error + step.slack + EACH * size * max(1.0, found.bound / size) ** 0.5 + 2.0**-22 * found.bound
    check(found.session, found, expected, error)
    if found.bound > LARGEST:
        return None
    return Pair(found, expected, error)


def _say(draw: Draws, pairs: list[Pair]) -> None:
    """What changes no value: refreshes, what is assumed and true, another layout."""
    place = draw.integer(0, len(pairs) - 1)
    x = pairs[place]
    kind = draw.one_of(["assume", "assume", "compact", "need", "refresh"])
    size, levels = x.size + 0.01, draw.integer(0, 8)
    around = np.isrealobj(x.clear) and draw.flag()
    bound = (float(x.clear.min()) - 0.01, float(x.clear.max()) + 0.01) if around else size
    note(f"{kind}: {x.encrypted}")
    try:
        made = _same(x.encrypted, kind, bound, levels)
    except LevelError:
        assert not x.encrypted.session._refreshes, "the session refreshes what has too few levels"
        return
    error = x.error + 2.0**-19 * max(1.0, made.bound, x.encrypted.bound)
    check(made.session, made, x.clear, error)
    pairs[place] = Pair(made, x.clear, error)


def _same(x: EncryptedArray, kind: str, bound: Any, levels: int) -> EncryptedArray:
    if kind == "assume":
        return x.assume(bound=bound)
    if kind == "compact":
        return x.compact()
    if kind == "refresh":
        return x.refresh()
    made = x + 0
    made.need(levels)
    return made

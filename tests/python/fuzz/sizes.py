"""Small parameter sets for random programs: the sets that users have, in rings and dimensions without security.

Moduli, gadgets, methods and what sums may grow to are theirs, so that each path runs, and noise is such that nearly
the same weights, sums and products are refused. A bootstrap takes a tenth of the time. One program of `OFTEN` runs on
the published set.
"""

from __future__ import annotations

import functools
import re
import warnings
from typing import Any

from aglet import Engine, FhewEngine, IntegerEngine, SchemeSwitch, Session
from digit_sets import toy as toy_digits
from support import ROOT, toy

__all__ = ["OFTEN", "few_slots", "integers", "levels", "lookups", "small"]

OFTEN = 50
"""Of so many programs one has parameters that users have."""

_SMALL: dict[str, dict[str, Any]] = {
    "gate": {"log_n": 8, "rank": 1, "lwe_error": -11.0},
    "cggi": {"log_n": 8, "rank": 1, "lwe_error": -11.0},
    "ginx3": {"log_n": 8, "rank": 1},
    "dm": {"log_n": 8, "rank": 1},
    "lmkcdey": {"log_n": 9, "rank": 1},
    "lut2": {"log_n": 8, "rank": 1},
    "lut3": {"log_n": 9, "rank": 1},
    "lut4": {"log_n": 10},
    "wide": {"log_n": 10},
}
"""What differs. The least ring with whose roundings a table fails with less than 2^-128, and the least dimension."""


@functools.cache
def small(preset: str) -> FhewEngine:
    """The small set of this name."""
    text = _text("fhew", preset, {"dimension": 196, **_SMALL[preset]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FhewEngine(parameters=text, allow_insecure=True)


def integers(preset: str, packing: str = "slots", **changes: Any) -> IntegerEngine:
    """A set of integers with other values, which may leave it no security."""
    return IntegerEngine(parameters=_text("integer", preset, changes), packing=packing, allow_insecure=True)


def levels(slots: int, count: int) -> Engine:
    """So many levels without a bootstrap, in a ring of degree 2^8."""
    text = _text("ckks", "levels-13", {"log_n": 8})
    return Engine(parameters=text.replace("count = 2", f"count = {count}"), slot_count=slots, allow_insecure=True)


@functools.cache
def few_slots() -> Session:
    """Toys of CKKS, integers and FHEW in the ring of the last, with 128 slots of integers: fewer moves."""
    whole = integers("toy-int16", log_n="10\nlog_slots = 7")
    return Session(SchemeSwitch(toy(10, 64), toy_digits()).create_keys(rotation=True, integers=whole))


def _text(family: str, preset: str, changes: dict[str, Any]) -> str:
    """A preset's file without its claims, with other values and another name."""
    text = (ROOT / f"crates/aglet/presets/{family}/{preset}.toml").read_text().split("[claims]")[0]
    for key, value in {"name": f'"small-{preset}"', **changes}.items():
        text, count = re.subn(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        assert count == 1, key
    return text


def lookups(preset: str, published: bool) -> FhewEngine:
    """The engine of a published set, or of the small one like it."""
    return FhewEngine(preset=preset) if published else small(preset)

"""Sets for digits: toys without security whose bootstraps take a millisecond and less, and sessions of them."""

from __future__ import annotations

import functools
import warnings

from aglet import DigitSession, FhewEngine, KeySet
from support import ROOT

__all__ = ["modelled", "session", "toy", "toy_keys", "wide_toy"]


def _engine(**options: str) -> FhewEngine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FhewEngine(**options, allow_insecure=True)


@functools.cache
def toy() -> FhewEngine:
    """The engine of the toy set."""
    return _engine(preset="toy-lut4")


@functools.cache
def wide_toy() -> FhewEngine:
    """The engine of the toy set with as little noise as wide."""
    text = (ROOT / "crates/aglet/presets/fhew/toy-lut4.toml").read_text().split("[claims]")[0]
    # The gadget of wide, for tables of 256 places.
    text = text.replace("levels = 1", "levels = 2").replace("log_base = 22", "log_base = 15")
    return _engine(parameters=text.replace("25.0", "90_000.0").replace("toy-lut4", "toy-wide"))


@functools.cache
def toy_keys() -> KeySet:
    """All keys of the toy set."""
    return toy().create_keys(packing=True)


@functools.cache
def session() -> DigitSession:
    """A session that computes on ciphertexts of the toy set."""
    return DigitSession(toy(), toy_keys())


@functools.cache
def modelled(preset: str) -> DigitSession:
    """A session that computes in the clear and counts the bootstraps of a set."""
    return DigitSession.modelled(FhewEngine(preset=preset))

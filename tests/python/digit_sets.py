"""Sets for digits: toys without security whose bootstraps take a millisecond and less, and sessions of them."""

from __future__ import annotations

import functools
import warnings

from aglet import DigitSession, FhewEngine, KeySet

__all__ = ["TOY", "modelled", "session", "toy", "toy_keys", "wide_toy"]

TOY = """
family = "fhew"
name = "toy-digits"
source = "The noise of lut4 in a small ring: no security at all."
messages = 16
squared_weights = 25.0
modulus = 281_474_846_687_233
log_n = 10
rank = 1
dimension = 196
secret = { block_binary = 4 }
levels = 1
log_base = 22
switch_digits = 15
lwe_error = -20.0
glwe_error = -44.0
"""


# The gadget of wide, for tables of 256 places.
_WIDE_TOY = TOY.replace("levels = 1", "levels = 2").replace("log_base = 22", "log_base = 15")
_WIDE_TOY = _WIDE_TOY.replace("25.0", "90_000.0").replace("toy-digits", "toy-wide")


def _engine(parameters: str) -> FhewEngine:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FhewEngine(parameters=parameters, allow_insecure=True)


@functools.cache
def toy() -> FhewEngine:
    """The engine of the toy set."""
    return _engine(TOY)


@functools.cache
def wide_toy() -> FhewEngine:
    """The engine of the toy set with as little noise as wide."""
    return _engine(_WIDE_TOY)


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

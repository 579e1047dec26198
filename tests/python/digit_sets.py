"""Sets for digits: a toy without security whose bootstrap takes a third of a millisecond, and sessions of it."""

from __future__ import annotations

import functools
import warnings

from aglet import DigitSession, FhewEngine, KeySet

__all__ = ["TOY", "modelled", "session", "toy_keys"]

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


@functools.cache
def toy() -> FhewEngine:
    """The engine of the toy set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FhewEngine(parameters=TOY, allow_insecure=True)


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

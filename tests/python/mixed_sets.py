"""Keys of CKKS and FHEW together, for casts of digits to floats: a toy ring, and the real set of digits."""

from __future__ import annotations

import functools
import warnings

from aglet import FhewEngine, IntegerEngine, SchemeSwitch, Session
from digit_sets import toy as low
from support import toy

__all__ = ["SLOTS", "session", "slots_engine", "small", "switch", "three"]

SLOTS = 64


@functools.cache
def switch() -> SchemeSwitch:
    """A switch of 64 slots without security."""
    return SchemeSwitch(toy(11, SLOTS), FhewEngine(bits=4))


@functools.cache
def session() -> Session:
    """A session of all its keys."""
    return Session(switch().create_keys(rotation=True))


@functools.cache
def small() -> Session:
    """A session of toys alone, whose bootstraps of FHEW take a millisecond."""
    return Session(SchemeSwitch(toy(10, SLOTS), low()).create_keys(rotation=True))


@functools.cache
def slots_engine() -> IntegerEngine:
    """Integers in 1,024 slots without security."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return IntegerEngine(preset="toy-int16", allow_insecure=True)


@functools.cache
def three() -> Session:
    """A session of toys of CKKS, integers and FHEW."""
    switch = SchemeSwitch(toy(11, SLOTS), low())
    return Session(switch.create_keys(rotation=True, integers=slots_engine()))

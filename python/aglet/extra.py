"""Loads the second package, `aglet_bench`, on demand. It measures, advises and reproduces published tables."""

from __future__ import annotations

import importlib
from types import ModuleType

from aglet.errors import ParameterError

__all__ = ["COMMANDS", "installed", "needed", "records"]

PACKAGE = "aglet_bench"
COMMANDS = ("demo", "plan", "reproduce", "advise", "bench")
"""The commands that the second package adds to the command line."""


def _load(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(PACKAGE + module)
    except ModuleNotFoundError as missing:
        # What the second package lacks itself is an error of its own.
        if missing.name == PACKAGE:
            return None
        raise


def installed() -> bool:
    """Whether the second package is installed."""
    return _load("") is not None


def needed(module: str, what: str) -> ModuleType:
    """A module of the second package; `what` is the call that needs it.

    Raises
    ------
    ParameterError
        If the second package is not installed.
    """
    found = _load(module)
    if found is None:
        raise ParameterError(f'{what} is in a second package; install it with pip install "aglet-fhe[bench]".')
    return found


def records() -> ModuleType | None:
    """The measured records of FHEW and scheme switching in the second package; None without it."""
    return _load(".fhew.records")

"""Which parameter set of FHEW the arguments of an engine name."""

from __future__ import annotations

from typing import Any

from aglet import _core, checks
from aglet.errors import ParameterError

__all__ = ["chosen", "on_card", "stays"]

_METHODS = ("block", "cggi", "ginx", "lmkcdey", "dm", "ntru")


def chosen(bits: Any, preset: Any, method: Any, parameters: str | None) -> str:
    """The name of the parameter set that the arguments choose.

    Raises
    ------
    ParameterError
        If the arguments contradict one another, or there is no such set.
    """
    if parameters is not None:
        if (bits, preset, method) != (None, None, None):
            raise ParameterError("parameters already fix bits, preset and method; leave them out.")
        return ""
    if preset is not None:
        if bits is not None or method is not None:
            raise ParameterError("preset already fixes bits and method; leave them out.")
        return checks.string("preset", preset)
    wanted = 1 if bits is None else checks.whole("bits", bits)
    how = "block" if method is None else checks.choice("method", method, _METHODS)
    sets = [known for known in _core.fhew_presets() if known["method"] == how]
    found = [known["name"] for known in sets if known["bits"] == wanted]
    if not found:
        sizes = ", ".join(str(bits) for bits in sorted({known["bits"] for known in sets})) or "none"
        raise ParameterError(f'There is no set of {wanted} bits with method "{how}"; it has {sizes}.')
    return found[0]


def on_card(there: bool) -> str:
    """The names of the sets by which a card rotates, or the processor whatever the mode."""
    return ", ".join(known["name"] for known in _core.fhew_presets() if known["on_card"] == there)


def stays(name: str) -> str:
    """That blind rotations of a set stay on the processor."""
    return f'A card has no blind rotation of the set "{name}": the processor rotates. A card has {on_card(True)}.'

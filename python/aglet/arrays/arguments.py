"""The arguments of numpy's functions that encrypted arrays take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["taken"]


def taken(name: str, served: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options of a function of numpy that were given, for the function that serves it.

    None is as good as nothing, except for an axis.

    Raises
    ------
    TypeError
        If it does not take one of them.
    """
    known = inspect.signature(served)
    given = {
        key: one
        for key, one in options.items()
        if key in known.parameters or not (one is np._NoValue or (one is None and key != "axis"))
    }
    try:
        known.bind(*args, **given)
    except TypeError as error:
        raise TypeError(
            f"numpy.{name} on encrypted arrays takes {', '.join(known.parameters)}; leave other arguments out."
        ) from error
    return given

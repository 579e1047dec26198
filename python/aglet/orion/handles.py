"""Whole numbers that stand for things which Orion does not see."""

from __future__ import annotations

from typing import Generic, TypeVar

from aglet import checks
from aglet.errors import ParameterError

__all__ = ["Handles"]

_T = TypeVar("_T")


class Handles(Generic[_T]):
    """Things of one kind by their handles. A handle is never given twice."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._things: dict[int, _T] = {}
        self._next = 0

    def add(self, thing: _T) -> int:
        """Keep a thing and return its handle."""
        self._things[self._next] = thing
        self._next += 1
        return self._next - 1

    def get(self, handle: int) -> _T:
        """The thing of a handle.

        Raises
        ------
        ParameterError
            If there is none, or it was deleted.
        """
        if checks.whole(f"The handle of a {self._what}", handle) not in self._things:
            raise ParameterError(f"There is no {self._what} {handle}; it was deleted, or is of another scheme.")
        return self._things[handle]

    def put(self, handle: int, thing: _T) -> int:
        """Replace the thing of a handle, and return the handle. Errors as in `get`."""
        self.get(handle)
        self._things[handle] = thing
        return handle

    def delete(self, handle: int) -> None:
        """Forget a thing. Errors as in `get`."""
        self.get(handle)
        del self._things[handle]

    def live(self) -> list[int]:
        """All handles."""
        return sorted(self._things)

    def clear(self) -> None:
        """Forget all things."""
        self._things.clear()

"""Early stops of a batch: an error that every other ciphertext would have too."""

from __future__ import annotations

from aglet.batch.results import Outcome
from aglet.errors import KeyMismatchError, MissingKeyError, ParameterError

__all__ = ["HaltError", "Watch"]

_STRANGERS = 4
"""If this many ciphertexts belong to another secret key and none to this one, it is not an accident."""
_OPTIONS = {"options": ParameterError, "missing": MissingKeyError}
_UNWRITTEN = 3
"""Results in a row that could not be written until the batch stops."""


class HaltError(Exception):
    """The reason to stop."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Watch:
    """Watches the outcomes."""

    def __init__(self) -> None:
        self._done = self._strangers = self._unwritten = 0

    def look(self, outcome: Outcome) -> None:
        """Note an outcome.

        Raises
        ------
        HaltError
            If continuing makes no sense.
        """
        if outcome.error is None:
            self._done, self._unwritten = self._done + 1, 0
        elif outcome.fault in ("full", "unwritten"):
            self._unwritten += 1
            if outcome.fault == "full" or self._unwritten >= _UNWRITTEN:
                raise HaltError(
                    OSError(
                        f"The results cannot be written, and the batch stopped: {outcome.error}. The results so far "
                        "are kept; fix the cause, for example free space, and run the batch again to continue."
                    )
                )
        elif outcome.fault in _OPTIONS and not self._done:
            kind = _OPTIONS[outcome.fault]
            raise HaltError(kind(f"{outcome.error} Every ciphertext would fail like this, so the batch stopped."))
        elif outcome.fault == "stranger" and not self._done:
            self._strangers += 1
            if self._strangers >= _STRANGERS:
                raise HaltError(
                    KeyMismatchError(
                        f"None of the first {self._strangers} ciphertexts belongs to these keys, so the batch "
                        f"stopped; give the keys that they were made with. The first error is: {outcome.error}"
                    )
                )

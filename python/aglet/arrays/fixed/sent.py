"""`CompressedFixed`: numbers of a fixed format for sending, which are compressed words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglet.arrays.digits.sent import CompressedIntegers

if TYPE_CHECKING:
    from aglet.arrays.digits.session import DigitSession
    from aglet.arrays.fixed.formats import fixed

__all__ = ["CompressedFixed"]


class CompressedFixed:
    """Encrypted numbers of a fixed format for sending. `session.compress` makes one, `session.decrypt` opens it."""

    __slots__ = ("_words", "dtype")

    def __init__(self, words: CompressedIntegers, dtype: fixed) -> None:
        self._words, self.dtype = words, dtype

    def words(self) -> CompressedIntegers:
        """The whole numbers beneath, `2^fraction` times as large."""
        return self._words

    @property
    def session(self) -> DigitSession:
        """The session of digits that it belongs to."""
        return self._words.session

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._words.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._words.size

    def __repr__(self) -> str:
        return f"<CompressedFixed {self.shape}: {self.dtype}, for sending>"

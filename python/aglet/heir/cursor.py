"""A place among the words of a program, and the types that a program may name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from aglet.errors import AgletError, ParameterError, SerializationError
from aglet.heir.scalars import CODES
from aglet.heir.syntax import Type
from aglet.heir.tokens import Token, tokens

__all__ = ["BASIC", "Cursor"]

BASIC = frozenset(
    (*CODES, "auto", "void", "CiphertextT", "Plaintext", "CryptoContextT", "CCParamsT", "PublicKeyT", "PrivateKeyT")
)
"""The types that are no structs and no vectors."""
_SAME = {"ConstCiphertextT": "CiphertextT", "MutableCiphertextT": "CiphertextT", "PlaintextT": "Plaintext"}
_REFUSED = {
    "EvalKeyT": "keys that are arguments; compile without KeySwitch and EvalAutomorphism",
    "std::map": "maps; compile without debug helpers and without EvalAutomorphism",
    "std::string": "text; compile without debug helpers",
}
_MOST_DEPTH = 16
"""Nested blocks and expressions. It bounds the stack of all that walks over a program."""


class Cursor:
    """Reads words one by one. Errors name the line."""

    def __init__(self, text: str) -> None:
        self._words: list[Token] = list(tokens(text))
        self._at = 0
        self._depth = 0
        self.structs: set[str] = set()

    @property
    def word(self) -> Token:
        """The next word."""
        return self._words[self._at]

    def ahead(self, count: int) -> str:
        """The word that follows after `count` more."""
        return self._words[min(self._at + count, len(self._words) - 1)].text

    def take(self, *texts: str) -> str | None:
        """Pass the next word if it is one of `texts`. Strings never are."""
        if self.word.text in texts and self.word.kind not in ("string", "end"):
            self._at += 1
            return self._words[self._at - 1].text
        return None

    def expect(self, *texts: str) -> None:
        """Pass these words."""
        for text in texts:
            if self.take(text) is None:
                self.fail(f"{text!a} is expected before {self._shown()}")

    def name(self) -> str:
        """Pass a name that the program gives to something of its own."""
        word = self.word
        if word.kind != "name" or "::" in word.text:
            self.fail(f"a name is expected before {self._shown()}")
        self._at += 1
        return word.text

    def _shown(self) -> str:
        return "the end of the text" if self.word.kind == "end" else f"{self.word.text[:40]!a}"

    def fail(self, what: str) -> NoReturn:
        """Refuse what is no form of the emitter."""
        raise SerializationError(f"Line {self.word.line}: {what}; give a program as HEIR's OpenFHE emitter writes it.")

    def refuse(self, what: str) -> NoReturn:
        """Refuse what the emitter may write and Aglet does not run."""
        raise ParameterError(f"Line {self.word.line}: Aglet does not run programs with {what}.")

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add the line to errors of what a word means."""
        line = self.word.line
        try:
            yield
        except AgletError as error:
            raise type(error)(f"Line {line}: {error}") from None

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one more block or bracket inside another one."""
        if self._depth == _MOST_DEPTH:
            self.refuse(f"more than {_MOST_DEPTH} blocks and brackets inside one another; compile with fewer loops")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # Types

    def starts_type(self) -> bool:
        """Whether a declaration begins here."""
        text = self.word.text
        known = text in BASIC or text in _SAME or text in _REFUSED or text in ("const", "static", "std::vector")
        return self.word.kind == "name" and (known or text in self.structs)

    def type(self) -> Type:
        """Pass a type, with const and & around it."""
        self.take("static")
        is_const = self.take("const") is not None
        text = self.word.text
        if text in _REFUSED:
            self.refuse(_REFUSED[text])
        if self.take("std::vector"):
            self.expect("<")
            with self.deeper():
                found = Type("std::vector", self.type())
            self.expect(">")
        elif self.take(*BASIC, *_SAME, *self.structs):
            found = Type(_SAME.get(text, text))
        else:
            self.fail(f"a type is expected before {self._shown()}")
        return Type(found.name, found.element, is_const, self.take("&") is not None)

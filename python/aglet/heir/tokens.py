"""The words of an emitted program, with their lines. What is no word of it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from aglet.errors import SerializationError

__all__ = ["MOST_CHARACTERS", "Token", "tokens"]

MOST_CHARACTERS = 2**26
_MOST_DIGITS = 64

_PATTERN = re.compile(
    r"""
    (?P<space>[ \t\r]+|//[^\n]*|\[\[maybe_unused\]\])
  | (?P<comment>/\*.*?\*/)
  | (?P<newline>\n)
  | (?P<directive>\#[^\n]*)
  | (?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<sign>->|\+\+|\+=|<=|>=|==|!=|&&|\|\||[{}()\[\]<>;,.=+\-*/%!?:&^])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_DIRECTIVE = re.compile(r'#include [<"][\w./+-]+[>"][ \t]*(//.*)?|#pragma omp parallel for[ \t]*')


class Token(NamedTuple):
    """A word of the program. Kinds are name, number, string, sign and end."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the words of a program, and at last one of kind "end".

    Raises
    ------
    SerializationError
        If the text is too long, or has a character, a number or a directive that the emitter never writes.
    """
    if len(text) > MOST_CHARACTERS:
        raise SerializationError(
            f"The program has {len(text)} characters, and {MOST_CHARACTERS} are the most; give weights as arguments."
        )
    place, line = 0, 1
    while place < len(text):
        found = _PATTERN.match(text, place)
        if found is None:
            raise SerializationError(
                f"Line {line}: the emitter never writes {text[place : place + 12]!a}; compile the program again."
            )
        place, kind, word = found.end(), str(found.lastgroup), found.group()
        if kind == "directive" and not _DIRECTIVE.fullmatch(word.rstrip()):
            raise SerializationError(
                f"Line {line}: the emitter never writes {word[:40]!a}; leave only #include and #pragma omp parallel."
            )
        if kind == "number" and len(word) > _MOST_DIGITS:
            raise SerializationError(
                f"Line {line}: a number has {len(word)} digits; write it with at most {_MOST_DIGITS}."
            )
        if kind in ("name", "number", "string", "sign"):
            yield Token(kind, word, line)
        line += word.count("\n")
    yield Token("end", "", line)

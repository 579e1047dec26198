"""Parses expressions, by recursive descent."""

from __future__ import annotations

from aglet.heir import syntax
from aglet.heir.cursor import Cursor
from aglet.heir.scalars import Scalar, literal
from aglet.heir.syntax import Expression

__all__ = ["Expressions"]

_LEVELS = (("||",), ("&&",), ("^",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
"""Signs between two operands, from those that bind least."""
_REAL_PART = (
    "[", "]", "(", "const", "std::complex", "<", "double", ">", "&", "c", ")", "{", "return", "c", ".", "real", "(",
    ")", ";", "}",
)  # fmt: skip
_WORDS = {"true": Scalar("bool", 1), "false": Scalar("bool", 0)}


class Expressions(Cursor):
    """Mixed into the parser."""

    def expression(self) -> Expression:
        """Pass an expression."""
        with self.deeper():
            test = self._binary(0)
            if self.take("?") is None:
                return test
            yes = self.expression()
            self.expect(":")
            return syntax.Conditional(test, yes, self.expression())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        found, count = self._binary(level + 1), 0
        while sign := self.take(*_LEVELS[level]):
            # A chain leans to the left, so it is as deep as it is long.
            count += 1
            if count > 8:
                self.refuse("sums of more than 8 terms in one line; compile to one operation a line")
            found = syntax.Binary(sign, found, self._binary(level + 1))
        return found

    def _unary(self) -> Expression:
        sign = self.take("-", "!", "&")
        if sign is None:
            return self._postfix()
        with self.deeper():
            return syntax.Unary(sign, self._unary())

    def _postfix(self) -> Expression:
        found, count = self._primary(), 0
        while sign := self.take("[", ".", "->"):
            count += 1
            if count > 8:
                self.refuse("more than 8 calls in a row in one line; compile to one operation a line")
            if sign == "[":
                found = syntax.Index(found, self.expression())
                self.expect("]")
                continue
            name = self.name()
            is_call = self.word.text == "("
            found = syntax.Call(name, found, self._arguments()) if is_call else syntax.Field(found, name)
        return found

    def _primary(self) -> Expression:
        word = self.word
        if word.kind == "number":
            with self.located():
                value = literal(word.text)
            self._at += 1
            return syntax.Literal(value)
        if self.take("("):
            found = self.expression()
            self.expect(")")
            return found
        if word.text == "{" and word.kind == "sign":
            return self._braces(None)
        if word.text == "[" and word.kind == "sign":
            self.expect(*_REAL_PART)
            return syntax.RealPart()
        if word.kind != "name":
            self.fail(f"an expression is expected before {self._shown()}")
        return self._named(word.text)

    def _named(self, text: str) -> Expression:
        if text == "std::vector":
            return self._braces(self.type())
        if self.take("static_cast"):
            self.expect("<")
            to = self.type()
            self.expect(">", "(")
            found = syntax.Cast(to, self.expression())
            self.expect(")")
            return found
        if self.take("nullptr"):
            return syntax.Null()
        if self.take(*_WORDS):
            return syntax.Literal(_WORDS[text])
        if self.take("load_resource"):
            self.refuse("files of constants; compile with the constants in the program")
        self._at += 1
        if self.word.text == "(" and self.word.kind == "sign":
            return syntax.Call(text, None, self._arguments())
        return syntax.Name(text)

    def _arguments(self) -> tuple[Expression, ...]:
        self.expect("(")
        return self._list(")")

    def _braces(self, of: syntax.Type | None) -> Expression:
        self.expect("{")
        return syntax.Braces(self._list("}"), of)

    def _list(self, end: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        while self.take(end) is None:
            if items:
                self.expect(",")
            items.append(self._plain_number() or self.expression())
        return tuple(items)

    def _plain_number(self) -> Expression | None:
        """A number between commas: the items of long lists, without the descent."""
        negative = self.word.text == "-" and self.word.kind == "sign"
        at = self._at + negative
        if self._words[at].kind != "number" or self._words[at + 1].text not in (",", "}"):
            return None
        self._at = at
        with self.located():
            value = literal(self.word.text)
        self._at += 1
        found = syntax.Literal(value)
        return syntax.Unary("-", found) if negative else found

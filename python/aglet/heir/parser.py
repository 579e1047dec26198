"""Parses a program: functions, structs and statements, by recursive descent."""

from __future__ import annotations

from dataclasses import dataclass, field

from aglet.heir import syntax
from aglet.heir.expressions import Expressions
from aglet.heir.scalars import INTEGERS, Scalar
from aglet.heir.syntax import Function, Statement, Struct

__all__ = ["Module", "parse"]

_CIPHERTEXTS = ("Ciphertext<DCRTPoly>", "ConstCiphertext<DCRTPoly>")
_ALIASES = {
    "CiphertextT": _CIPHERTEXTS,
    "ConstCiphertextT": _CIPHERTEXTS,
    "MutableCiphertextT": _CIPHERTEXTS,
    "CCParamsT": ("CCParams<CryptoContextCKKSRNS>",),
    "CryptoContextT": ("CryptoContext<DCRTPoly>",),
    "EvalKeyT": ("EvalKey<DCRTPoly>",),
    "PlaintextT": ("Plaintext",),
    "PrivateKeyT": ("PrivateKey<DCRTPoly>",),
    "PublicKeyT": ("PublicKey<DCRTPoly>",),
}
_RESOURCES = "load_resource"
"""The function of the emitter that reads files. It is passed over; calls to it are refused."""
_ONE = syntax.Literal(Scalar("int", 1))


@dataclass
class Module:
    """All that a text declares."""

    functions: dict[str, Function] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)


def parse(text: str) -> Module:
    """Parse a program that HEIR's OpenFHE emitter wrote.

    Raises
    ------
    SerializationError
        If the text is not of the form that the emitter writes. The error names the line.
    ParameterError
        If it is, and Aglet does not run it.
    """
    return _Parser(text).module()


class _Parser(Expressions):
    def module(self) -> Module:
        made = Module()
        while self.word.kind != "end":
            if self.take("using"):
                self._using()
            elif self.take("template"):
                self._template()
            elif self.take("struct"):
                struct = self._struct()
                made.structs[struct.name] = struct
            else:
                function = self._function()
                if made.functions.get(function.name, function).body is not None and function.name in made.functions:
                    self.fail(f"the function {function.name[:40]!a} is defined twice")
                made.functions[function.name] = function
        return made

    def _using(self) -> None:
        if self.take("namespace"):
            self.expect("lbcrypto", ";")
            return
        name = self.name()
        self.expect("=")
        words: list[str] = []
        while self.take(";") is None:
            if self.word.kind not in ("name", "sign") or len(words) > 8:
                self.fail("a type is expected here")
            words.append(self.word.text)
            self._at += 1
        found = "".join(words)
        if name == "CCParamsT" and found in ("CCParams<CryptoContextBGVRNS>", "CCParams<CryptoContextBFVRNS>"):
            self.refuse("exact integers (BGV and BFV); compile it for CKKS")
        if found not in _ALIASES.get(name, ()):
            self.fail(f"the alias {name[:40]!a} is another one than the emitter's")

    def _template(self) -> None:
        """Pass over the emitter's own function that reads files, brackets and all."""
        depth, seen = 0, False
        while depth or not seen:
            text, kind = self.word.text, self.word.kind
            if kind == "end" or (text == "{" and not seen and not self._is_resources()):
                self.fail("a template other than the emitter's load_resource")
            depth += (text == "{") - (text == "}") if kind == "sign" else 0
            seen |= text == "{" and kind == "sign"
            self._at += 1

    def _is_resources(self) -> bool:
        return any(word.text == _RESOURCES for word in self._words[max(self._at - 30, 0) : self._at])

    def _struct(self) -> Struct:
        name = self.name()
        self.expect("{")
        fields = []
        while self.take("}") is None:
            of = self.type()
            fields.append(syntax.Parameter(of, self.name()))
            self.expect(";")
        self.expect(";")
        self.structs.add(name)
        return Struct(name, tuple(fields))

    def _function(self) -> Function:
        line, result, name = self.word.line, self.type(), self.name()
        self.expect("(")
        parameters: list[syntax.Parameter] = []
        is_declaration = False
        while self.take(")") is None:
            if parameters:
                self.expect(",")
            of = self.type()
            is_declaration |= self.word.text in (",", ")")
            parameters.append(syntax.Parameter(of, "" if is_declaration else self.name()))
        body = None if self.take(";") else self._block()
        if body is not None and is_declaration:
            self.fail(f"the parameters of {name[:40]!a} have no names")
        return Function(line, result, name, tuple(parameters), body)

    # Statements

    def _block(self) -> syntax.Block:
        self.expect("{")
        made: list[Statement] = []
        with self.deeper():
            while self.take("}") is None:
                statement = self._statement()
                made += [] if statement is None else [statement]
        return tuple(made)

    def _statement(self) -> Statement | None:
        line = self.word.line
        if self.take("for"):
            return self._loop(line)
        if self.take("if"):
            self.expect("(")
            test = self.expression()
            self.expect(")")
            return syntax.Branch(line, test, self._block(), self._block() if self.take("else") else ())
        if self.take("return"):
            value = None if self.word.text == ";" else self.expression()
            self.expect(";")
            return syntax.Return(line, value)
        if self.take("assert"):
            return self._assert(line)
        if self.word.text == "(" and self.ahead(1) == "void":
            self.expect("(", "void", ")")
            self.name()
            self.expect(";")
            return None
        if self.starts_type():
            return self._declare(line)
        return self._simple(line)

    def _assert(self, line: int) -> Statement:
        self.expect("(")
        test = syntax.Name(self.name())
        self.expect("&&")
        if self.word.kind != "string":
            self.fail("a sentence is expected in assert")
        self._at += 1
        self.expect(")", ";")
        return syntax.Assert(line, test)

    def _declare(self, line: int) -> Statement:
        of, name = self.type(), self.name()
        value = self.expression() if self.take("=") else None
        arguments = self._arguments() if value is None and self.word.text == "(" else None
        self.expect(";")
        return syntax.Declare(line, of, name, value, arguments)

    def _simple(self, line: int) -> Statement:
        target = self.expression()
        sign = self.take("=", "+=")
        if sign is not None:
            value = self.expression()
            self.expect(";")
            return syntax.Assign(line, target, sign, value)
        self.expect(";")
        if not isinstance(target, syntax.Call):
            self.fail("a line that neither assigns nor calls")
        return syntax.Evaluate(line, target)

    def _loop(self, line: int) -> Statement:
        self.expect("(")
        of = self.type()
        if of.name not in ("auto", *INTEGERS) or of.is_const or of.is_reference:
            self.fail(f"a loop over {of}")
        name = self.name()
        self.expect("=")
        start = self.expression()
        self.expect(";", name, "<")
        end = self.expression()
        self.expect(";")
        step = self._step(name)
        self.expect(")")
        return syntax.Loop(line, of, name, start, end, step, self._block())

    def _step(self, name: str) -> syntax.Expression:
        if self.take("++"):
            self.expect(name)
            return _ONE
        self.expect(name, "+=")
        return self.expression()

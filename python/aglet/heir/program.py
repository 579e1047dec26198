"""`load`, and the functions of a program as Python calls them."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

from aglet import checks
from aglet.ckks.values import as_bound
from aglet.errors import AgletError, MemoryLimitError, ParameterError, SerializationError
from aglet.heir.context import Context, KeyPair
from aglet.heir.crossing import incoming, outgoing
from aglet.heir.machine import Machine
from aglet.heir.parser import Module, parse
from aglet.heir.syntax import Function
from aglet.heir.tokens import MOST_CHARACTERS

__all__ = ["Client", "Program", "load"]

_MAKES = "__generate_crypto_context"
_MOST_SHOWN = 80


def load(source: str | os.PathLike[str], *, engine: Any = None, bound: float = 1.0) -> Program:
    """Read a program that HEIR's OpenFHE emitter wrote for CKKS.

    The text is not trusted: nothing of it is compiled, it reads no files, and its work and memory are bounded. It never
    lowers the security of an engine.

    Parameters
    ----------
    source
        The path of the C++ file, or its text with line breaks.
    engine
        An `Engine` to run on. If not given, one is made from the parameters that the program sets: with its depth as
        `max_level`, or with `use_bootstrap=True` if it bootstraps.
    bound
        The largest absolute value of a slot that the program bootstraps.

    Raises
    ------
    SerializationError
        If the text is not of the form that the emitter writes, which the error names with its line, or defines no
        function.
    ParameterError
        If the file cannot be read, or the program has what Aglet does not run.

    Examples
    --------
    >>> from aglet import heir
    >>> program = heir.load('''
    ... CiphertextT twice(CryptoContextT cc, CiphertextT ct) {
    ...   const auto& ct1 = cc->EvalAdd(ct, ct);
    ...   return ct1;
    ... }
    ... ''')
    >>> program.functions
    ['twice']
    """
    text = _text(source)
    module = parse(text)
    if not any(function.body is not None for function in module.functions.values()):
        raise SerializationError("The text defines no function; give the C++ file that HEIR's OpenFHE emitter wrote.")
    return Program(text, module, engine, as_bound(bound))


def _text(source: str | os.PathLike[str]) -> str:
    if isinstance(source, str) and "\n" in source:
        return source
    path = pathlib.Path(checks.path("source", source))
    try:
        with path.open("rb") as file:
            data = file.read(MOST_CHARACTERS + 1)
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SerializationError(f"The program is not text: {error}. Give the C++ file of HEIR.") from error
    except (OSError, ValueError) as error:
        raise ParameterError(f"The program cannot be read: {error}. Give the path of a C++ file.") from error


class Program:
    """A loaded program. Its functions are called like those of the compiled module: `program.dot_product(cc, x, y)`.

    Ciphertexts go in and come out as `Ciphertext`, vectors of them as lists, numbers and vectors of numbers as Python's
    and numpy's. Arrays of any shape are flattened row by row. Several results are a tuple. Arguments never change.
    """

    def __init__(self, text: str, module: Module, engine: Any, bound: float) -> None:
        self._lines = text.split("\n")
        self._module = module
        self._engine, self._bound = engine, bound

    def __repr__(self) -> str:
        return f"<Program: {', '.join(self.functions)}>"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._module.functions:
            raise AttributeError(f"The program has no function {name!a}; it has {', '.join(self.functions)}.")
        return lambda *arguments: self.call(name, *arguments)

    @property
    def functions(self) -> list[str]:
        """The names of the functions."""
        return [name for name, function in self._module.functions.items() if function.body is not None]

    def signature(self, name: str) -> str:
        """The declaration of a function in C++."""
        return str(self._function(name))

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the program.

        Raises
        ------
        LevelError
            If the levels do not suffice. Like every error of a running program, it names the line.
        MissingKeyError
            If the program has not made a key that it uses.
        ParameterError, RangeError, SerializationError
            If the program does what Aglet refuses, or what C++ leaves undefined.
        MemoryLimitError
            If it runs too many statements, or its vectors are too large.
        """
        function = self._function(name)
        if len(arguments) != len(function.parameters):
            raise ParameterError(f"{name} takes {len(function.parameters)} arguments: {function}.")
        pairs = zip(function.parameters, arguments, strict=True)
        values = [incoming(parameter.type, argument) for parameter, argument in pairs]
        machine = Machine(self._module, self._engine, self._bound)
        try:
            return outgoing(machine.run(function, values))
        except AgletError as error:
            raise type(error)(self._located(machine.line, error)) from error
        except (TypeError, OverflowError, RecursionError) as error:
            raise ParameterError(self._located(machine.line, error)) from error
        except MemoryError as error:
            sentence = MemoryError("the vectors of the program take too much memory; give its weights as arguments.")
            raise MemoryLimitError(self._located(machine.line, sentence)) from error

    def _located(self, line: int, error: Exception) -> str:
        shown = self._lines[line - 1].strip()[:_MOST_SHOWN] if line else ""
        return f"Line {line} ({shown!a}): {error}" if line else str(error)

    def _function(self, name: str) -> Function:
        found = self._module.functions.get(checks.string("name", name))
        if found is None:
            raise ParameterError(f"The program has no function {name[:60]!a}; it has {', '.join(self.functions)}.")
        return found

    def setup(self) -> Client:
        """Make the engine and all keys by the functions that the program has for it.

        Raises
        ------
        ParameterError
            If the program has no such functions, or asks for what Aglet does not have.
        """
        makers = [name for name in self.functions if name.endswith(_MAKES)]
        if len(makers) != 1:
            raise ParameterError(
                f"The program has {len(makers)} functions of the name *{_MAKES}; call one by its name."
            )
        main = makers[0].removesuffix(_MAKES)
        context = self.call(makers[0])
        keys = context.KeyGen()
        configure = f"{main}__configure_crypto_context"
        if configure in self._module.functions:
            context = self.call(configure, context, keys.secretKey)
        return Client(self, main, context, keys)


class Client:
    """A program with its engine and keys: functions take what is left, as in `client.dot_product(x, y)`.

    Called itself, it encrypts the arguments, runs the program and decrypts the result.
    """

    def __init__(self, program: Program, main: str, context: Context, keys: KeyPair) -> None:
        self.program, self.context, self.keys = program, context, keys
        self._main = main

    def __repr__(self) -> str:
        return f"<Client of {self._main}: {self.context!r}>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name == "program":
            raise AttributeError(name)
        getattr(self.program, name)
        return lambda *arguments: self.call(name, *arguments)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function with all its arguments but the context and the keys. Errors as in `Program.call`."""
        own = {
            "CryptoContextT": self.context,
            "PublicKeyT": self.keys.publicKey,
            "PrivateKeyT": self.keys.secretKey,
        }
        function = self.program._function(name)
        wanted = [one.type.name for one in function.parameters]
        if len(arguments) != sum(kind not in own for kind in wanted):
            raise ParameterError(f"{name} takes its arguments without context and keys: {function}.")
        given = iter(arguments)
        return self.program.call(name, *(own[kind] if kind in own else next(given) for kind in wanted))

    def __call__(self, *arguments: Any) -> Any:
        """Run the program on numbers: encrypt, compute, decrypt.

        Parameters
        ----------
        *arguments
            Numbers or arrays, one for each argument of the program. Those without a function that encrypts them are
            given as they are.

        Returns
        -------
        The decrypted result; a tuple if there are several.
        """
        functions = self.program.functions
        given = []
        for number, argument in enumerate(arguments):
            encrypt = f"{self._main}__encrypt__arg{number}"
            given.append(self.call(encrypt, argument) if encrypt in functions else argument)
        found = self.call(self._main, *given)
        several = found if isinstance(found, tuple) else (found,)
        results = tuple(self.call(f"{self._main}__decrypt__result{number}", one) for number, one in enumerate(several))
        return results if isinstance(found, tuple) else results[0]

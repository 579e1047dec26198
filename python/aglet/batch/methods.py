"""The methods of batches, by name: every bootstrap, gate and lookup table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aglet._core import Ciphertext, IntegerCiphertext
from aglet.batch.keys import Opened
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError, RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine
from aglet.progress import silent

__all__ = ["Method", "method_of", "methods"]


_ON_CARD = 16
"""The ciphertexts that a card bootstraps side by side if it has the memory, as `crates/aglet` has it."""

Call = Callable[[Opened, Sequence[Any], Mapping[str, Any]], list[Any]]


@dataclass(frozen=True)
class Method:
    """One operation on several ciphertexts. Each gives one result."""

    name: str
    family: type
    """The class of the engine."""
    takes: type
    """The class of the ciphertexts."""
    together: int
    """The number of ciphertexts that are processed together."""
    unit: int
    """The number of ciphertexts that a result depends on: 2 if they are bootstrapped in pairs."""
    call: Call
    options: frozenset[str] = frozenset()

    def together_on(self, mode: str) -> int:
        """The number of ciphertexts that are processed together in a mode of engines: a card takes more at once."""
        return _ON_CARD if mode == "gpu" and self.unit == 1 and self.family is not FhewEngine else self.together


def _regular(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    return list(opened.engine.bootstrap_many(given, *opened.keys.bootstrap_arguments, **options))


def _of_lossy_key(method: str, **words: Any) -> Call:
    """A bootstrap that takes a lossy key."""

    def call(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        relinearization, conjugation, *own = opened.keys.bootstrap_arguments
        # A small key follows its rotation key.
        keys = (relinearization, conjugation, own[0], own[1] if len(own) > 1 else None, None)
        return list(opened.engine._refresh(method, given, keys, {**words, **options}, many=True))

    return call


def _pairs(merge: str, alone: str) -> Call:
    def call(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        keys = opened.keys.bootstrap_arguments
        done: list[Any] = []
        for i in range(0, len(given), 2):
            pair = given[i : i + 2]
            what = getattr(opened.engine, merge if len(pair) == 2 else alone)
            found = what(*pair, *keys, **options)
            done += found if len(pair) == 2 else [found]
        return done

    return call


def _integers(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    return list(
        opened.engine.bootstrap_many(given, opened.key("bootstrap", "A bootstrap of integers"), progress=silent)
    )


def _inputs(one: Any, count: int, what: str) -> tuple[Any, ...]:
    """The inputs along the first axis."""
    if not one.ndim or one.shape[0] != count:
        raise RangeError(
            f"{what} needs {count} inputs along the first axis of an array, and this one has shape {one.shape}; "
            "stack the inputs."
        )
    return tuple(one[i] for i in range(count))


def _gate(name: str, count: int) -> Call:
    def call(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        gate, key = getattr(opened.engine, name), opened.key("fhew_bootstrap", "A gate")
        return [gate(*_inputs(one, count, "This gate"), key, progress=silent) for one in given]

    return call


def _lookup(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    key = opened.key("fhew_bootstrap", "A table")
    return [opened.engine.lookup(one, _table(options), key, progress=silent) for one in given]


def _lookup2(opened: Opened, given: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    keys = opened.key("fhew_bootstrap", "A table of two integers"), opened.key("packing", "A table of two integers")
    call, table = opened.engine.lookup2, _table(options)
    return [call(*_inputs(one, 2, "A table of two integers"), table, *keys, progress=silent) for one in given]


def _table(options: Mapping[str, Any]) -> Any:
    if options.get("table") is None:
        raise ParameterError(
            "The method needs a table; give table=[...], or --table, with the result for each message in order."
        )
    return options["table"]


_GATES = {"nand": 2, "and_": 2, "or_": 2, "nor": 2, "xor": 2, "xnor": 2, "andny": 2, "majority": 3, "mux": 3}
"""The inputs of each method."""


def _all() -> list[Method]:
    bound, iterated = frozenset({"bound", "real", "target_level"}), frozenset({"iterations"})
    choices = frozenset({"real", "target_level"})

    def ckks(name: str, together: int, unit: int, call: Call, options: frozenset[str]) -> Method:
        return Method(name, Engine, Ciphertext, together, unit, call, options)

    def gate(name: str, call: Call, options: frozenset[str] = frozenset()) -> Method:
        return Method(name, FhewEngine, FhewCiphertext, 1, 1, call, options)

    return [
        ckks("regular", 4, 1, _regular, bound | iterated),
        ckks("lossy", 1, 1, _of_lossy_key("lossy"), bound | iterated),
        ckks("sign", 1, 1, _of_lossy_key("sign"), choices),
        ckks("bits", 1, 1, _of_lossy_key("sign", bits=True), choices),
        ckks("merge", 4, 2, _pairs("merge_bootstrap", "bootstrap"), bound),
        ckks("lossy-merge", 4, 2, _pairs("lossy_merge_bootstrap", "lossy_bootstrap"), bound),
        Method("integer", IntegerEngine, IntegerCiphertext, 4, 1, _integers),
        *(gate(name.rstrip("_"), _gate(name, count)) for name, count in _GATES.items()),
        gate("lookup", _lookup, frozenset({"table"})),
        gate("lookup2", _lookup2, frozenset({"table"})),
    ]


def methods() -> dict[str, Method]:
    """All methods by name.

    The methods of CKKS have the names of `aglet bench`. "integer" is the bootstrap of exact integers. Gates ("nand",
    "xor", ...) and "lookup2" take arrays of FHEW ciphertexts with the inputs along the first axis. "lookup" takes
    arrays of any shape.
    """
    return {method.name: method for method in _all()}


def method_of(name: str, options: Mapping[str, Any]) -> Method:
    """The method of that name, if it takes these options.

    Raises
    ------
    ParameterError
        If there is no such method, or it takes other options.
    """
    known = methods()
    if name not in known:
        raise ParameterError(f"There is no method {name!r} for batches; the methods are {', '.join(known)}.")
    wrong = sorted(set(options) - known[name].options)
    if wrong:
        fitting = ", ".join(sorted(known[name].options)) or "none"
        raise ParameterError(f"The method {name} does not take {', '.join(wrong)}; its options are: {fitting}.")
    return known[name]

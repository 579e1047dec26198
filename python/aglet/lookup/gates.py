"""The part of `LookupEngine` with gates on encrypted bits."""

from __future__ import annotations

import math
from typing import Any, Protocol

from aglet import _core, checks
from aglet._core import LookupKey
from aglet.errors import RangeError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.progress import ProgressCallback, progress_bar

__all__ = ["Gates", "broadcast", "ciphertext", "log2_failure", "lookup_key"]


def ciphertext(value: Any) -> LweCiphertext:
    """`value` if it is an array of ciphertexts."""
    return checks.need(value, LweCiphertext, "engine.encrypt(values, secret_key)")


def lookup_key(value: Any) -> LookupKey:
    """`value` if it is a lookup key."""
    return checks.need(value, LookupKey, "engine.create_lookup_key(secret_key)")


def log2_failure(allowed: Any) -> float | None:
    """The base-2 logarithm of a probability; None, for what the engine allows, if it is None.

    Raises
    ------
    TypeError
        If it is no number.
    RangeError
        If it is not above 0 and at most 1.
    """
    if allowed is None:
        return None
    chance = checks.real("max_failure", allowed)
    if not 0 < chance <= 1:
        raise RangeError(f"max_failure={allowed} is no probability above 0; give for example 2**-64.")
    return math.log2(chance)


def broadcast(*arrays: Any) -> list[_core.LweArray]:
    """Arrays of one shape, as numpy would bring them to one.

    Raises
    ------
    RangeError
        If there is none.
    """
    found = [ciphertext(array) for array in arrays]
    shape = checks.common_shape(*(array.shape for array in found))
    return [(array if array.shape == shape else array.broadcast_to(shape))._array for array in found]


class _Two(Protocol):
    def __call__(
        self,
        x: LweCiphertext,
        y: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The gate on two arrays of bits."""


class _Method(Protocol):
    """How a type checker sees a function in a class."""

    def __get__(self, engine: Any, owner: Any = None) -> _Two: ...


def _two(name: str, method: str, says: str) -> _Method:
    def gate(
        self: Gates,
        x: LweCiphertext,
        y: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        return self.gate(name, x, y, key, max_failure=max_failure, progress=progress)

    gate.__name__, gate.__qualname__ = method, f"Gates.{method}"
    gate.__doc__ = f"{says}; one bootstrap for each bit. Arguments and errors are those of `gate`."
    return gate


class Gates:
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    def gate(
        self,
        name: str,
        *arguments: Any,
        key: LookupKey | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """A gate on arrays of bits, as `gate("xor", x, y, key)`: one bootstrap for each bit of the result.

        Parameters
        ----------
        name
            "nand", "and", "or", "nor", "xor", "xnor", "andny" (not x, and y) or, of three bits, "majority".
        *arguments
            The arrays, whose shapes are broadcast as in numpy, and last the lookup key unless it is given by name.
        max_failure
            The probability of a wrong bit that is accepted, 2^-128 if not given: SECURITY.md says what a failure may
            tell.
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work.

        Raises
        ------
        ParameterError
            If there is no such gate, or it takes another number of bits, or the arrays hold integers.
        RangeError
            If the shapes do not go together, or the result would be wrong more often than accepted.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If arrays and key do not belong together.
        """
        inputs, found = self._inputs(arguments, key)
        named = checks.word("The name of a gate", name)
        most, arrays = log2_failure(max_failure), broadcast(*inputs)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.gate(named, arrays, found, most, report))

    @staticmethod
    def _inputs(arguments: tuple[Any, ...], key: LookupKey | None) -> tuple[tuple[Any, ...], LookupKey]:
        """Arrays and key of a call whose last argument may be the key."""
        if key is None and arguments and not isinstance(arguments[-1], LweCiphertext):
            return arguments[:-1], lookup_key(arguments[-1])
        return arguments, lookup_key(key)

    nand = _two("nand", "nand", "0 where both bits are 1, else 1")
    and_ = _two("and", "and_", "1 where both bits are 1")
    or_ = _two("or", "or_", "1 where one bit at least is 1")
    nor = _two("nor", "nor", "1 where both bits are 0")
    xor = _two("xor", "xor", "1 where the bits differ")
    xnor = _two("xnor", "xnor", "1 where the bits are the same")
    andny = _two("andny", "andny", "1 where the first bit is 0 and the second 1")

    def majority(
        self,
        x: LweCiphertext,
        y: LweCiphertext,
        z: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """What two or three of three bits are, the carry of an adder; one bootstrap. As `gate`."""
        return self.gate("majority", x, y, z, key, max_failure=max_failure, progress=progress)

    def not_(self, x: LweCiphertext) -> LweCiphertext:
        """Bits negated, which takes neither key nor time; `~x` is the same."""
        return ~ciphertext(x)

    def mux(
        self,
        select: LweCiphertext,
        x: LweCiphertext,
        y: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """`select ? x : y` of bits, as `numpy.where`; two bootstraps, and the noise of one. As `gate`."""
        most, arrays, own = log2_failure(max_failure), broadcast(select, x, y), lookup_key(key)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.mux(arrays, own, most, report))

    def refresh(
        self,
        x: LweCiphertext,
        key: LookupKey,
        *,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The same bits or messages with the noise of a bootstrap: before sums of sums, or after they have come down.

        One bootstrap for each, two for messages of the domains "full" and "negacyclic". Results of gates and of `mux`
        have that noise already and enter every gate; sums of messages have the noise of all their terms. Other
        arguments and errors are those of `lookup`; integers of more bits than a message have no refresh but their
        digits, floor or sign.

        Examples
        --------
        >>> from aglet import LookupEngine
        >>> engine = LookupEngine(bits=2)
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_lookup_key(secret_key)
        >>> x = engine.encrypt([0, 1], secret_key)
        >>> engine.decrypt(engine.refresh(x + x + 1, key), secret_key)
        array([1, 3])
        """
        array, own, most = ciphertext(x)._array, lookup_key(key), log2_failure(max_failure)
        with progress_bar(progress) as report:
            return LweCiphertext._of(self._core.refresh(array, own, most, report))

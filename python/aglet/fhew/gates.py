"""The part of `FhewEngine` that evaluates gates on encrypted bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from aglet import _core, checks
from aglet._core import FhewBootstrapKey
from aglet.fhew.calls import FhewOptions, broadcast, ciphertext, fhew_bootstrap_key, of_one, run
from aglet.fhew.ciphertext import FhewCiphertext

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Gates"]


class _Two(Protocol):
    def __call__(
        self, x: FhewCiphertext, y: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """Evaluate the gate on two arrays of bits."""


class _Method(Protocol):
    """Tells a type checker that the gate is a method."""

    def __get__(self, engine: Any, owner: Any = None) -> _Two: ...


def _two(name: str, method: str, says: str) -> _Method:
    def gate(
        self: Gates, x: FhewCiphertext, y: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        return self.gate(name, x, y, key, **options)

    gate.__name__, gate.__qualname__ = method, f"Gates.{method}"
    gate.__doc__ = f"{says}; one bootstrap for each bit. Arguments and errors are those of `gate`."
    return gate


class Gates:
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    def gate(
        self, name: str, *arguments: Any, key: FhewBootstrapKey | None = None, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """Evaluate a gate on arrays of bits, as in `gate("xor", x, y, key)`: one bootstrap for each bit of the result.

        Every gate takes results of every gate. A majority may take one more bootstrap, rarely two. This happens if its
        three bits share noise, as a bit and a result computed from it can do, or if three results of this set have too
        much noise together.

        Parameters
        ----------
        name
            "nand", "and", "or", "nor", "xor", "xnor", "andny" ((not x) and y), or "majority" of three bits.
        *arguments
            The arrays, which broadcast as in numpy, and last the bootstrap key unless `key=` is given.
        max_failure
            The largest accepted probability of a wrong bit; 2^-128 by default. SECURITY.md explains what a failure may
            reveal.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

        Raises
        ------
        ParameterError
            If there is no such gate, it takes another number of bits, or the arrays hold integers.
        RangeError
            If the shapes do not fit together, or the result would be wrong more often than accepted.
        MissingKeyError
            If no key is given.
        KeyMismatchError
            If arrays and key do not belong together.
        """
        inputs, found = self._inputs(arguments, key)
        named = checks.string("The name of a gate", name)
        arrays = broadcast(*inputs)
        return FhewCiphertext._of(run(lambda *own: self._core.gate(named, arrays, *own), found, options))

    @staticmethod
    def _inputs(arguments: tuple[Any, ...], key: FhewBootstrapKey | None) -> tuple[tuple[Any, ...], FhewBootstrapKey]:
        """Split the arguments of a call into arrays and key; the key may be the last argument."""
        if key is None and arguments and not isinstance(arguments[-1], FhewCiphertext):
            return arguments[:-1], fhew_bootstrap_key(arguments[-1])
        return arguments, fhew_bootstrap_key(key)

    nand = _two("nand", "nand", "0 where both bits are 1, else 1")
    and_ = _two("and", "and_", "1 where both bits are 1")
    or_ = _two("or", "or_", "1 where one bit at least is 1")
    nor = _two("nor", "nor", "1 where both bits are 0")
    xor = _two("xor", "xor", "1 where the bits differ")
    xnor = _two("xnor", "xnor", "1 where the bits are the same")
    andny = _two("andny", "andny", "1 where the first bit is 0 and the second 1")

    def majority(
        self,
        x: FhewCiphertext,
        y: FhewCiphertext,
        z: FhewCiphertext,
        key: FhewBootstrapKey,
        **options: Unpack[FhewOptions],
    ) -> FhewCiphertext:
        """The majority of three bits, which is the carry of an adder; one bootstrap. Details and errors: `gate`."""
        return self.gate("majority", x, y, z, key, **options)

    def not_(self, x: FhewCiphertext) -> FhewCiphertext:
        """Negate bits. It needs no key and no bootstrap; `~x` does the same."""
        return ~ciphertext(x)

    def mux(
        self,
        select: FhewCiphertext,
        x: FhewCiphertext,
        y: FhewCiphertext,
        key: FhewBootstrapKey,
        **options: Unpack[FhewOptions],
    ) -> FhewCiphertext:
        """`select ? x : y` on bits, as `numpy.where`: two bootstraps, or three for the reason in `gate`.

        The result has the noise of one bootstrap.
        """
        arrays = broadcast(select, x, y)
        return FhewCiphertext._of(run(lambda *own: self._core.mux(arrays, *own), key, options))

    def refresh(self, x: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]) -> FhewCiphertext:
        """Bootstrap bits or messages: the values stay, the noise becomes that of one bootstrap.

        It takes one bootstrap for each, or two in the domains "full" and "negacyclic". Use it on sums of messages,
        whose noises add up, and on results of scheme switching. Results of gates and of `mux` already have the noise of
        one bootstrap and enter every gate. Integers that were encrypted with `bits=` cannot be refreshed; take their
        `digits`, `floor` or `sign`. Other arguments and errors are those of `lookup`.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> engine = FhewEngine(bits=2)
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_bootstrap_key(secret_key)
        >>> x = engine.encrypt([0, 1], secret_key)
        >>> engine.decrypt(engine.refresh(x + x + 1, key), secret_key)
        array([1, 3])
        """
        return of_one(self._core.refresh, x, key, options)

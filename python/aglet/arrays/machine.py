"""What arrays need of a machine that computes on chunks: the engine with its keys, or a simulation of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from aglet._core import Ciphertext
from aglet.arrays.reciprocals import Reciprocal
from aglet.ckks.engine import Engine
from aglet.errors import MissingKeyError
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.switch import SchemeSwitch

__all__ = ["Chunk", "Live", "Machine"]

Chunk = Any
"""A ciphertext, or a simulated one. It has `level` and `is_real`."""

_T = TypeVar("_T")


class Machine(Protocol):
    """Operations on chunks. Each uses the levels of the method of `Engine` with the same name."""

    @property
    def slots(self) -> int:
        """The number of values in a chunk."""

    @property
    def refreshed_level(self) -> int | None:
        """The level after a bootstrap; None without a bootstrap key."""

    def encrypt(self, values: Any, level: int | None, bound: float) -> Chunk: ...
    def known(self, x: Chunk, size: float) -> Chunk: ...
    def add(self, x: Chunk, y: Any) -> Chunk: ...
    def subtract(self, x: Chunk, y: Chunk) -> Chunk: ...
    def negate(self, x: Chunk) -> Chunk: ...
    def multiply(self, x: Chunk, y: Any) -> Chunk: ...
    def square(self, x: Chunk) -> Chunk: ...
    def conjugate(self, x: Chunk) -> Chunk: ...
    def part(self, x: Chunk, imaginary: bool) -> Chunk: ...
    def weighted_sum(self, chunks: Sequence[Chunk], weights: Sequence[Any]) -> Chunk: ...
    def rotate(self, x: Chunk, steps: Sequence[int]) -> list[Chunk]: ...
    def polynomial(self, x: Chunk, coefficients: Any, chebyshev: bool) -> Chunk: ...
    def fitted(self, x: Chunk, coefficients: Any, function: Callable[[Any], Any]) -> Chunk: ...
    def reciprocal(self, x: Chunk, product: Reciprocal) -> Chunk: ...
    def compare(self, operation: str, chunks: Sequence[Chunk], alpha: int, error_bits: int) -> Chunk: ...
    def encoded(self, weights: Any, level: int) -> Any: ...
    def matrix(self, matrix: Any, x: Chunk) -> Chunk: ...
    def encoded_matrix(self, matrix: Any, level: int) -> Any: ...
    def refresh(self, chunks: Sequence[Chunk], bound: float, real: bool) -> list[Chunk]: ...
    def from_bits(self, cells: Any) -> Chunk: ...
    def to_words(self, x: Chunk, slots: Any, bits: int, bound: float, noise: float | None) -> Any: ...


class Live:
    """The engine with a set of keys."""

    def __init__(self, engine: Engine, keys: KeySet) -> None:
        self.engine, self.keys = engine, keys
        key = None if keys.bootstrap is None else keys._need("bootstrap", "ckks")
        self.refreshed_level: int | None = None
        if key is not None:
            stages = None if key.size == "small" else key.stage_count
            self.refreshed_level = engine.estimate(stages, key.size, key.method).output_level

    @property
    def slots(self) -> int:
        return self.engine.slot_count

    def _key(self, name: str, what: str) -> Any:
        """The key of that name, or an error with the call that makes it."""
        key = getattr(self.keys, name)
        if key is None:
            wanted = {"relinearization": "engine.create_keys()", "bootstrap": 'engine.create_keys(bootstrap="large")'}
            made = wanted.get(name, f"engine.create_keys({name}=True)")
            raise MissingKeyError(
                f"{what} needs a {name} key, which this set of keys does not have; make one with {made}."
            )
        return key

    def encrypt(self, values: Any, level: int | None, bound: float) -> Ciphertext:
        key = self._key("secret" if self.keys.public is None else "public", "Encryption without a public key")
        return self.engine.encrypt(values, key, level, bound=bound)

    def known(self, x: Chunk, size: float) -> Chunk:
        return x

    def add(self, x: Chunk, y: Any) -> Chunk:
        return self.engine.add(x, y)

    def subtract(self, x: Chunk, y: Chunk) -> Chunk:
        return self.engine.subtract(x, y)

    def negate(self, x: Chunk) -> Chunk:
        return self.engine.negate(x)

    def multiply(self, x: Chunk, y: Any) -> Chunk:
        relin = self._key("relinearization", "A product of two arrays") if isinstance(y, Ciphertext) else None
        return self.engine.multiply(x, y, relin)

    def square(self, x: Chunk) -> Chunk:
        return self.engine.square(x, self._key("relinearization", "A square"))

    def conjugate(self, x: Chunk) -> Chunk:
        return self.engine.conjugate(x, self._key("conjugation", "A complex conjugate"))

    def part(self, x: Chunk, imaginary: bool) -> Chunk:
        return self.engine._core.part(x, imaginary, self._key("conjugation", "A real or imaginary part"))

    def weighted_sum(self, chunks: Sequence[Chunk], weights: Sequence[Any]) -> Chunk:
        return self.engine.weighted_sum(chunks, weights)

    def rotate(self, x: Chunk, steps: Sequence[int]) -> list[Chunk]:
        key = self._key("rotation", "Moving values to other slots")
        return self.engine.rotate_batch(x, key, steps) if len(steps) > 1 else [self.engine.rotate(x, key, steps[0])]

    def polynomial(self, x: Chunk, coefficients: Any, chebyshev: bool) -> Chunk:
        key = self._key("relinearization", "A polynomial")
        call = self.engine.evaluate_chebyshev_polynomial if chebyshev else self.engine.evaluate_polynomial
        return call(x, coefficients, key)

    def fitted(self, x: Chunk, coefficients: Any, function: Callable[[Any], Any]) -> Chunk:
        """The Chebyshev series that stands for a function on [-1, 1]."""
        return self.polynomial(x, coefficients, True)

    def reciprocal(self, x: Chunk, product: Reciprocal) -> Chunk:
        """1/x, from the V_0 of the product."""
        key, assume = self._key("relinearization", "A division"), self.engine._core.assume

        def multiply(x: Chunk, y: Chunk) -> Chunk:
            return self.engine.square(x, key) if x is y else self.engine.multiply(x, y, key)

        return product.evaluated(x, self.engine.add, multiply, assume)

    def compare(self, operation: str, chunks: Sequence[Chunk], alpha: int, error_bits: int) -> Chunk:
        relin = self._key("relinearization", "A comparison")
        call: Callable[..., Chunk] = getattr(self.engine, operation)
        # Their interval says so, whatever follows from the bounds of what they were made of.
        chunks = [self.engine._core.assume(chunk, 1.0) for chunk in chunks]
        # Without the keys of a bootstrap the engine says when it needs them.
        keys = (relin, self.keys.conjugation, self.keys.bootstrap)
        return call(*chunks, *(keys if self.keys.bootstrap else keys[:1]), alpha=alpha, error_bits=error_bits)

    def encoded(self, weights: Any, level: int) -> Any:
        return self.engine.encode_weights(weights, level)

    def _matrix_key(self) -> Any:
        return self.keys.matrix or self._key("rotation", "A product with a matrix")

    def matrix(self, matrix: Any, x: Chunk) -> Chunk:
        return self.engine.multiply_matrix(matrix, x, self._matrix_key())

    def encoded_matrix(self, matrix: Any, level: int) -> Any:
        return self.engine.encode_matrix(matrix, self._matrix_key(), level=level)

    def refresh(self, chunks: Sequence[Chunk], bound: float, real: bool) -> list[Chunk]:
        """Bootstrap all chunks: real ones in pairs, each pair in the time of one complex bootstrap."""
        keys, engine = self.keys.bootstrap_arguments, self.engine
        lossy = self.keys._need("bootstrap", "ckks").method == "lossy"
        if not (real or lossy):
            return engine.bootstrap_many(chunks, *keys, bound=bound)
        single: Callable[..., Any] = engine.lossy_bootstrap if lossy else engine.bootstrap
        pair: Callable[..., Any] = engine.lossy_merge_bootstrap if lossy else engine.merge_bootstrap
        paired = len(chunks) - len(chunks) % 2 if real else 0
        done = [
            one for i in range(0, paired, 2) for one in pair(chunks[i], chunks[i + 1], *keys, bound=bound, real=True)
        ]
        rest = [single(one, *keys, bound=bound, real=real or None) for one in chunks[paired:]]
        return done + rest

    @functools.cached_property
    def _switch(self) -> SchemeSwitch:
        if self.keys.fhew_engine is None or self.keys.scheme_switch is None:
            raise MissingKeyError(
                "A cast between digits and floats needs the key of a switch, which this set does not have; make them "
                "with SchemeSwitch(engine, fhew_engine).create_keys()."
            )
        return SchemeSwitch(self.engine, self.keys.fhew_engine)

    def from_bits(self, cells: Any) -> Chunk:
        """FHEW ciphertexts of 0 and 1 as the first slots."""
        return self._switch.from_fhew(cells, self.keys)

    def to_words(self, x: Chunk, slots: Any, bits: int, bound: float, noise: float | None) -> Any:
        """Slots no larger than a bound as FHEW ciphertexts of numbers modulo `2^bits`, fractions included."""
        return self._switch.to_fhew(x, slots, self.keys, bits=bits, signed=False, bound=bound, noise=noise)

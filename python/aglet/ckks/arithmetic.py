"""The slot-by-slot methods of `Engine`: sums, products, levels, rotations, conjugation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

from aglet import _core, checks
from aglet._core import (
    BootstrapKey,
    Ciphertext,
    ConjugationKey,
    FixedRotationKey,
    Plaintext,
    RelinearizationKey,
    RotationKey,
)
from aglet.ckks import operands, values
from aglet.ckks.light import LightPlaintext
from aglet.errors import KeyMismatchError, LevelError

__all__ = ["Arithmetic"]

Operand = Any
"""A ciphertext, a plaintext, a number, or a list or array of numbers."""


class Arithmetic:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _max_level: int

    def add(self, x: Operand, y: Operand, *, out: Ciphertext | None = None) -> Ciphertext:
        """Add two operands, slot by slot; at least one is a ciphertext. Uses no level.

        The result has the lower of the two levels.

        Parameters
        ----------
        out
            A ciphertext that receives the result and is returned, as in numpy. It may be `x` or `y`. Only `out=` ever
            changes a ciphertext. Ciphertexts and copies that were made from it earlier keep their values.
        """
        ciphertext, other, _ = self._operands("add", x, y)
        if isinstance(other, Ciphertext):
            result = self._core.add(ciphertext, other)
        elif isinstance(other, Plaintext):
            result = self._core.add_plain(ciphertext, other)
        else:
            result = self._core.add_scalar(ciphertext, other)
        return self._put(result, out)

    def subtract(self, x: Operand, y: Operand, *, out: Ciphertext | None = None) -> Ciphertext:
        """Subtract `y` from `x`, slot by slot; at least one is a ciphertext. Uses no level.

        The result has the lower of the two levels. `out` as in `add`.
        """
        ciphertext, other, swapped = self._operands("subtract", x, y)
        if isinstance(other, Ciphertext):
            return self._put(self._core.sub(ciphertext, other), out)
        if isinstance(other, Plaintext):
            result = self._core.sub_plain(ciphertext, other)
        else:
            result = self._core.sub_scalar(ciphertext, other)
        return self._put(self._core.negate(result) if swapped else result, out)

    def _put(self, result: Ciphertext, out: Ciphertext | None) -> Ciphertext:
        if out is None:
            return result
        self._core.assign(operands.ciphertext(out), result)
        return out

    def multiply(self, x: Operand, y: Operand, relinearization_key: RelinearizationKey | None = None) -> Ciphertext:
        """Multiply two operands, slot by slot. At least one of them is a ciphertext.

        A product by an `int` uses no level, any other product uses one. The product of two ciphertexts needs the
        relinearization key. Without it, the result has three polynomials instead of two: call `relinearize` before the
        next product or rotation.

        Raises
        ------
        LevelError
            If no level is left. Bootstrap first.
        """
        ciphertext, other, _ = self._operands("multiply", x, y)
        if relinearization_key is not None:
            operands.relinearization_key(relinearization_key)
        if isinstance(other, Ciphertext):
            return self._core.multiply(ciphertext, other, relinearization_key)
        if isinstance(other, Plaintext):
            return self._core.multiply_plain(ciphertext, other)
        if isinstance(other, int):
            return self._core.multiply_int(ciphertext, other)
        return self._core.multiply_scalar(ciphertext, other)

    def multiply_imaginary_integer(self, ciphertext: Ciphertext, integer: int) -> Ciphertext:
        """Multiply every slot by `1j * integer`. Uses no level. The result is marked complex."""
        number: Any = values.as_number(checks.whole("integer", integer))
        return self._core.multiply_imaginary_int(operands.ciphertext(ciphertext), number)

    def _operands(
        self: Any, name: str, left: Operand, right: Operand
    ) -> tuple[Ciphertext, Ciphertext | Plaintext | int | float | complex, bool]:
        """The ciphertext first, the other operand converted, and whether the two were swapped."""
        swapped = not isinstance(left, Ciphertext)
        ciphertext, other = (right, left) if swapped else (left, right)
        if not isinstance(ciphertext, Ciphertext):
            raise TypeError(
                f"{name} needs at least one ciphertext, and got {type(left).__name__} and {type(right).__name__}; "
                "encrypt one of them first."
            )
        if isinstance(other, LightPlaintext):
            return ciphertext, self.encode(other.values, min(other.level, ciphertext.level)), swapped
        if isinstance(other, Ciphertext | Plaintext):
            return ciphertext, other, swapped
        if values.is_number(other):
            return ciphertext, values.as_number(other), swapped
        return ciphertext, self.encode(other, ciphertext.level), swapped

    def square(self, ciphertext: Ciphertext, relinearization_key: RelinearizationKey | None = None) -> Ciphertext:
        """Square every slot. Uses one level, and is faster than `multiply`. Without a key as in `multiply`."""
        if relinearization_key is not None:
            operands.relinearization_key(relinearization_key)
        return self._core.square(operands.ciphertext(ciphertext), relinearization_key)

    def negate(self, ciphertext: Ciphertext) -> Ciphertext:
        """Change the sign of every slot. Uses no level."""
        return self._core.negate(operands.ciphertext(ciphertext))

    def clone(self, ciphertext: Ciphertext) -> Ciphertext:
        """Copy a ciphertext. This is seldom needed: only `out=` changes a ciphertext."""
        return self._core.clone(operands.ciphertext(ciphertext))

    def relinearize(self, ciphertext: Ciphertext, relinearization_key: RelinearizationKey) -> Ciphertext:
        """Reduce a product of three polynomials to two. Uses no level."""
        key = operands.relinearization_key(relinearization_key)
        return self._core.relinearize(operands.ciphertext(ciphertext), key)

    def rescale(self, ciphertext: Ciphertext) -> Ciphertext:
        """Return a copy of the ciphertext. Every product is already rescaled, so there is nothing to do.

        To drop a level on purpose, call `level_down(x, x.level - 1)`.
        """
        ciphertext = operands.ciphertext(ciphertext)
        return self._core.level_down(ciphertext, ciphertext.level)

    def ntt(self, ciphertext: Ciphertext) -> Ciphertext:
        """Return a copy of the ciphertext. Its polynomials are always stored in the transformed (NTT) form."""
        return self.rescale(ciphertext)

    def intt(self, ciphertext: Ciphertext) -> Ciphertext:
        """Return a copy of the ciphertext, as `ntt` does. Programs never need to convert polynomials here."""
        return self.rescale(ciphertext)

    @overload
    def level_down(self, ciphertext: Ciphertext, level: int) -> Ciphertext: ...
    @overload
    def level_down(self, ciphertext: Plaintext, level: int) -> Plaintext: ...
    @overload
    def level_down(self, ciphertext: LightPlaintext, level: int) -> LightPlaintext: ...
    def level_down(self, ciphertext: Any, level: int) -> Any:
        """Return the same values at a lower level. Takes a ciphertext, a plaintext or a light plaintext.

        Raises
        ------
        LevelError
            If the level is above that of the ciphertext. Only a bootstrap raises the level.
        """
        if isinstance(ciphertext, Plaintext | LightPlaintext):
            return _plaintext_down(self, ciphertext, level)
        ciphertext = operands.ciphertext(ciphertext)
        return self._core.level_down(ciphertext, values.as_level(level, max(self._max_level, ciphertext.level)))

    def rotate(
        self,
        ciphertext: Ciphertext,
        rotation_key: FixedRotationKey | RotationKey | BootstrapKey | None = None,
        delta: int | None = None,
        *,
        fixed_rotation_key: FixedRotationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
    ) -> Ciphertext:
        """Rotate the slots as `numpy.roll` does: a positive step moves values to higher slots. Uses no level.

        Parameters
        ----------
        rotation_key
            A rotation key, which allows every `delta`, or a fixed rotation key, which has its own step (also as
            `fixed_rotation_key=`). A bootstrap key (also as `bootstrap_key=`) of size "large" or "medium" works at
            level 0. It combines the steps of its linear maps, which go to the left, so a step to the right may take a
            hundred of them.
        delta
            The step. Needed with a rotation key or a bootstrap key.

        Raises
        ------
        KeyMismatchError
            If `delta` differs from the step of a fixed rotation key.
        LevelError
            If the ciphertext is above the level of the fixed rotation key, or above the level of the bootstrap key's
            linear maps.
        MissingKeyError
            If the bootstrap key is small, or its steps cannot be combined to `delta`.
        """
        ciphertext = operands.ciphertext(ciphertext)
        key = checks.one_of(
            rotation_key=rotation_key, fixed_rotation_key=fixed_rotation_key, bootstrap_key=bootstrap_key
        )
        step = None if delta is None else checks.step(delta)
        if isinstance(key, FixedRotationKey):
            if step is not None and (step - key.delta) % self._core.slot_count:
                raise KeyMismatchError(
                    f"This fixed rotation key rotates by {key.delta}, not by {delta}; make one with "
                    f"engine.create_fixed_rotation_key(secret_key, {delta})."
                )
            return self._core.rotate(ciphertext, key, key.delta)
        if not isinstance(key, BootstrapKey):
            key = checks.need(key, RotationKey, "engine.create_rotation_key(secret_key)")
        if step is None:
            raise TypeError("rotate needs the step with this key; call rotate(ciphertext, key, delta).")
        return self._core.rotate(ciphertext, key, step)

    def conjugate(self, ciphertext: Ciphertext, conjugation_key: ConjugationKey) -> Ciphertext:
        """Take the complex conjugate of every slot. Uses no level."""
        key = operands.conjugation_key(conjugation_key)
        return self._core.conjugate(operands.ciphertext(ciphertext), key)


def _plaintext_down(engine: Any, plaintext: Any, level: int) -> Any:
    wanted = values.as_level(level, engine.max_level)
    if wanted > plaintext.level:
        raise LevelError(
            f"The plaintext is at level {plaintext.level} and cannot be raised to level {wanted}; encode it at that "
            "level."
        )
    if isinstance(plaintext, LightPlaintext):
        return replace(plaintext, level=wanted)
    return engine.encode(engine.decode(plaintext), wanted, bound=plaintext.bound)

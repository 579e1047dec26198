"""The part of `Engine` that computes slot by slot: sums, products, levels, rotations, conjugation."""

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
        """`x + y`; one of them at least is a ciphertext. No level; the higher level is brought down.

        Parameters
        ----------
        out
            A ciphertext that holds the result from now on, as in numpy, and is returned. It may be `x` or `y`. This is
            the one way to change a ciphertext; others that were made from it before, copies too, stay as they were.
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
        """`x - y`, one of them at least a ciphertext. No level; the higher level is brought down. `out` as in `add`."""
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
        """`x * y`, slot by slot; one of them at least is a ciphertext.

        By an `int`: no level. By anything else: one level. Two ciphertexts without a key give a product of three
        polynomials; `relinearize` it before the next product or rotation.

        Raises
        ------
        LevelError
            If no level is left: bootstrap first.
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
        """`1j * integer * x` in every slot; no level. The result is complex, also of real values."""
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
                f"{name} needs a ciphertext on one side at least, not {type(left).__name__} and "
                f"{type(right).__name__}; encrypt one of them first."
            )
        if isinstance(other, LightPlaintext):
            return ciphertext, self.encode(other.values, min(other.level, ciphertext.level)), swapped
        if isinstance(other, Ciphertext | Plaintext):
            return ciphertext, other, swapped
        if values.is_number(other):
            return ciphertext, values.as_number(other), swapped
        return ciphertext, self.encode(other, ciphertext.level), swapped

    def square(self, ciphertext: Ciphertext, relinearization_key: RelinearizationKey | None = None) -> Ciphertext:
        """The square of every slot; one level, and cheaper than a product. Without a key as in `multiply`."""
        if relinearization_key is not None:
            operands.relinearization_key(relinearization_key)
        return self._core.square(operands.ciphertext(ciphertext), relinearization_key)

    def negate(self, ciphertext: Ciphertext) -> Ciphertext:
        """The negative of every slot; no level."""
        return self._core.negate(operands.ciphertext(ciphertext))

    def clone(self, ciphertext: Ciphertext) -> Ciphertext:
        """A copy. Only `out=` changes a ciphertext, so this is seldom needed."""
        return self._core.clone(operands.ciphertext(ciphertext))

    def relinearize(self, ciphertext: Ciphertext, relinearization_key: RelinearizationKey) -> Ciphertext:
        """Bring a product of three polynomials back to two; no level."""
        key = operands.relinearization_key(relinearization_key)
        return self._core.relinearize(operands.ciphertext(ciphertext), key)

    def rescale(self, ciphertext: Ciphertext) -> Ciphertext:
        """The ciphertext as it is, in a new object: every product here is rescaled already, so there is nothing to do.

        To give up a level on purpose, write `level_down(x, x.level - 1)`.
        """
        ciphertext = operands.ciphertext(ciphertext)
        return self._core.level_down(ciphertext, ciphertext.level)

    def ntt(self, ciphertext: Ciphertext) -> Ciphertext:
        """As `rescale`, the ciphertext as it is: here all polynomials always are in the form that products need."""
        return self.rescale(ciphertext)

    def intt(self, ciphertext: Ciphertext) -> Ciphertext:
        """As `ntt`: the form of the polynomials never needs attention."""
        return self.rescale(ciphertext)

    @overload
    def level_down(self, ciphertext: Ciphertext, level: int) -> Ciphertext: ...
    @overload
    def level_down(self, ciphertext: Plaintext, level: int) -> Plaintext: ...
    @overload
    def level_down(self, ciphertext: LightPlaintext, level: int) -> LightPlaintext: ...
    def level_down(self, ciphertext: Any, level: int) -> Any:
        """The same values at a lower level: of a ciphertext, or of a plaintext, light or not.

        Raises
        ------
        LevelError
            If the level is above that of the ciphertext: only a bootstrap goes up.
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
        """Rotate the slots as `numpy.roll` does: a positive step moves values to higher slots. No level.

        Parameters
        ----------
        rotation_key
            A fixed rotation key, whose step is its own, or a rotation key, which takes any `delta`. A bootstrap key
            that is not small rotates at level 0, by as few of the steps of its linear maps as make up `delta`: they go
            to the left, so a step to the right may take a hundred of them. The first and the last may be given as
            `fixed_rotation_key=` and `bootstrap_key=` too.
        delta
            The step, with a rotation key or a bootstrap key.

        Raises
        ------
        KeyMismatchError
            If `delta` differs from the step of a fixed rotation key.
        LevelError
            If the ciphertext is above the level of a fixed rotation key or of the linear maps of a bootstrap key.
        MissingKeyError
            If a bootstrap key is small, or its steps do not make up `delta`.
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
            raise TypeError("With this key, rotate needs the step as well: rotate(ciphertext, key, delta).")
        return self._core.rotate(ciphertext, key, step)

    def conjugate(self, ciphertext: Ciphertext, conjugation_key: ConjugationKey) -> Ciphertext:
        """The complex conjugate of every slot; no level."""
        key = operands.conjugation_key(conjugation_key)
        return self._core.conjugate(operands.ciphertext(ciphertext), key)


def _plaintext_down(engine: Any, plaintext: Any, level: int) -> Any:
    wanted = values.as_level(level, engine.max_level)
    if wanted > plaintext.level:
        raise LevelError(
            f"A plaintext at level {plaintext.level} cannot be brought to level {wanted}: levels only go down; encode "
            "it at that level."
        )
    if isinstance(plaintext, LightPlaintext):
        return replace(plaintext, level=wanted)
    return engine.encode(engine.decode(plaintext), wanted, bound=plaintext.bound)

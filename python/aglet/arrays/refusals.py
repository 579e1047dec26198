"""What numpy's arrays do with values that they see, and encrypted arrays refuse in a sentence."""

from __future__ import annotations

from typing import Any, NoReturn

from aglet.arrays import protocols

__all__ = ["Refusals", "refuse"]


_EQUAL = (
    "Encrypted floats have noise, so whether they are equal says nothing; look at (x - y) ** 2, or compare whole "
    "numbers, as in x.astype(numpy.int16) == 3."
)


def refuse(what: str) -> NoReturn:
    """Refuse what needs the values.

    Raises
    ------
    TypeError
        Always.
    """
    raise TypeError(f"{what} needs the values, and these are encrypted; decrypt them first with session.decrypt(x).")


class Refusals:
    """Mixed into `EncryptedArray`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        refuse("A condition")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "A numpy array needs the values, and these are encrypted; decrypt them first with session.decrypt(x). To "
            "join arrays use numpy.stack([x, y]); give c.to_numpy() for a column of pandas, m.filled(value) for a "
            "masked array."
        )

    def __float__(self) -> float:
        refuse("A float")

    def __int__(self) -> int:
        refuse("An int")

    def __complex__(self) -> complex:
        refuse("A complex number")

    def __format__(self, spec: str) -> str:
        if spec:
            refuse("Text with a number")
        return repr(self)

    def __getattr__(self, name: str) -> NoReturn:
        """Name the replacement of an attribute that numpy's arrays have."""
        raise AttributeError(protocols.missing(name), name=name, obj=self)

    def __eq__(self, other: object) -> Any:
        raise TypeError(_EQUAL)

    def __ne__(self, other: object) -> Any:
        raise TypeError(_EQUAL)

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("An array belongs to its session and cannot be pickled; write it with session.save(x, folder).")

    def __copy__(self: Any) -> Any:
        # Arrays never change, so the ciphertexts are shared.
        return self.replaced()

    def __deepcopy__(self: Any, _memo: Any) -> Any:
        return self.replaced()

    def _refuse_logic(self, *_: Any) -> NoReturn:
        raise TypeError(
            "Encrypted conditions are the numbers 0 and 1, without &, | and ~; write a * b for and, a + b - a * b "
            "for or, 1 - a for not."
        )

    def _refuse_division(self, *_: Any) -> NoReturn:
        raise TypeError(
            "Encrypted floats have no //, % and divmod; x.astype(numpy.int16) makes whole numbers, which have them."
        )

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refuse_division

    def __rpow__(self, _: Any) -> NoReturn:
        raise TypeError("A power of a number with an encrypted exponent is numpy.exp(x * numpy.log(number)).")

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _refuse_logic

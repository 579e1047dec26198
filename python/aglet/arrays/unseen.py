"""`Unseen`: what Python and numpy do with values that they see, and encrypted exact arrays refuse in a sentence."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Unseen"]


class Unseen:
    """Mixed into arrays of booleans and numbers that decrypt exactly."""

    __slots__ = ()

    _leads = False
    """Whether whole numbers leave functions of both to this class."""

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "These values are encrypted and cannot become a numpy array; decrypt them with session.decrypt(x), join "
            "arrays with numpy.stack([x, y]), and look them up in a table with session.take(table, x)."
        )

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError("Whether a number is among encrypted ones is encrypted too; write (x == number).any().")

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError("Text with a number needs the values, and these are encrypted; call session.decrypt(x).")
        return repr(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "Nobody without the secret key can tell whether an encrypted value is true; use numpy.where(flag, x, y), "
            "numpy.sort(x), x.max() or x.any()."
        )

    def __index__(self) -> NoReturn:
        raise TypeError(
            "An encrypted value is no index; session.take(table, x) looks it up in a table, and "
            "numpy.where(mask, x, 0) chooses elements."
        )

    __int__ = __float__ = __index__

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("An array belongs to its session and cannot be pickled; write it with session.save(x, folder).")

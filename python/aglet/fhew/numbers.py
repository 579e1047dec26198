"""The part of `FhewEngine` for larger integers: signs, comparisons, floors and digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aglet import _core, checks
from aglet._core import FhewBootstrapKey
from aglet.fhew.calls import FhewOptions, broadcast, ciphertext, of_one, run
from aglet.fhew.ciphertext import FhewCiphertext

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Numbers"]


class Numbers:
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    def sign(self, x: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]) -> FhewCiphertext:
        """1 where an integer is 0 or more, and 0 where it is negative. The results are messages for LUTs.

        Encrypt the integers with `bits=`. A sign of 20 bits takes six bootstraps, one of 4 bits takes one. Sums of
        padded messages have a sign too, from -2^bits to 2^bits - 1 of the engine, in one bootstrap. Other arguments and
        errors are those of `lookup`.
        """
        return of_one(self._core.sign, x, key, options)

    def compare(
        self, order: str, x: FhewCiphertext, y: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """1 where the comparison holds, such as `x < y`, and 0 elsewhere. The results are messages for LUTs.

        Parameters
        ----------
        order
            "<", "<=", ">" or ">=" take one sign for each pair; "==" takes two.
        x, y
            Integers that were encrypted with `bits=`. Their differences must fit the same bits. This holds if both
            numbers are 0 or more, or if both are within half of the range.

        Other arguments and errors are those of `lookup`.
        """
        arrays, named = broadcast(x, y), checks.string("order", order)
        return FhewCiphertext._of(run(lambda *own: self._core.compare(named, arrays, *own), key, options))

    def floor(
        self, x: FhewCiphertext, bits: int, key: FhewBootstrapKey, **options: Unpack[FhewOptions]
    ) -> FhewCiphertext:
        """`x >> bits`, as integers with `bits` bits fewer: two or more bootstraps for every five bits removed.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=` and `signed=False`.
        bits
            How many low bits to remove: at least 1, and at least one bit must remain.

        Other arguments and errors are those of `lookup`. Integers of many bits leave little room for noise. Preset
        "wide" can remove 10 of 15 bits. A call that would fail too often is refused with its probability.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> engine = FhewEngine(bits=4)
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_bootstrap_key(secret_key)
        >>> x = engine.encrypt([19, 63], secret_key, bits=6, signed=False)
        >>> engine.decrypt(engine.floor(x, 2, key), secret_key)
        array([ 4, 15])
        """
        low = checks.count("bits", bits)
        return of_one(lambda array, *own: self._core.floor(array, low, *own), x, key, options)

    def digits(self, x: FhewCiphertext, key: FhewBootstrapKey, **options: Unpack[FhewOptions]) -> FhewCiphertext:
        """The digits of integers as messages for LUTs, on a new first axis, the lowest digit first.

        A digit has as many bits as a message of the engine; the last may have fewer. Each takes two to four bootstraps.

        Parameters
        ----------
        x
            Integers that were encrypted with `bits=` and `signed=False`; preset "wide" takes up to 16 bits.

        Other arguments and errors are those of `lookup`.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> engine = FhewEngine(preset="wide")
        >>> secret_key = engine.create_secret_key()
        >>> key = engine.create_bootstrap_key(secret_key)
        >>> x = engine.encrypt([0x1234, 0xABCD], secret_key, bits=16, signed=False)
        >>> engine.decrypt(engine.digits(x, key), secret_key)[:, 0]
        array([4, 3, 2, 1])
        """
        array = ciphertext(x)._array
        found = run(lambda *own: self._core.digits(array, *own), key, options)
        made: Any = np.stack([FhewCiphertext._of(digit) for digit in found])
        return cast("FhewCiphertext", made)

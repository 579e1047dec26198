"""The circuits of `Engine` that are gates on encrypted bits: slots near 0 and 1, which a bootstrap of bits cleans."""

from __future__ import annotations

from typing import Any, Literal

from aglet import checks
from aglet._core import Ciphertext, RelinearizationKey
from aglet.ckks import operands
from aglet.errors import ParameterError

__all__ = ["BitGates", "Gate"]

Gate = Literal["and", "nand", "or", "nor", "xor", "xnor"]
"""The gates on two bits."""

_GATES = ("and", "nand", "or", "nor", "xor", "xnor")


class BitGates:
    """Mixed into `Engine` with all circuits.

    An error of a bit is a distance from 0 or 1. A gate adds those of its inputs, and xor twice as much, to the rounding
    of one product; `sign_bootstrap(..., bits=True)`, which takes level 0, squares it away. So gates go on for ever: as
    many in a row as there are levels, then a bootstrap. Encrypted values cannot be looked at: what is no bit gives a
    number of no meaning.
    """

    def not_bit(self: Any, x: Ciphertext) -> Ciphertext:
        """1 where x is 0, and 0 where it is 1; no level."""
        negated: Ciphertext = self.subtract(1, operands.ciphertext(x))
        return negated

    def bit_gate(
        self: Any, name: Gate, x: Ciphertext, y: Ciphertext, relinearization_key: RelinearizationKey
    ) -> Ciphertext:
        """A gate on the bits of two ciphertexts, slot by slot; one level.

        Parameters
        ----------
        name
            "and", "nand", "or", "nor", "xor" or "xnor".

        Raises
        ------
        ParameterError
            If there is no gate of that name.
        LevelError
            If no level is left: bootstrap first.
        """
        kind = checks.word("name", name)
        if kind not in _GATES:
            raise ParameterError(f'There is no gate "{kind}"; choose one of {", ".join(_GATES)}.')
        x, y = operands.ciphertext(x), operands.ciphertext(y)
        key = operands.relinearization_key(relinearization_key)
        result: Ciphertext
        if kind in ("xor", "xnor"):
            result = self.square(self.subtract(x, y), key)
        elif kind in ("or", "nor"):
            # By the law of De Morgan.
            result = self.multiply(self.not_bit(x), self.not_bit(y), key)
        else:
            result = self.multiply(x, y, key)
        if kind in ("nand", "or", "xnor"):
            result = self.not_bit(result)
        return result

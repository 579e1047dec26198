"""The gates of `Engine` on encrypted bits: slots near 0 and 1, which a bootstrap of bits cleans."""

from __future__ import annotations

from typing import Any, Literal, get_args

from aglet import checks
from aglet._core import Ciphertext, RelinearizationKey
from aglet.ckks import operands

__all__ = ["BitGates", "Gate"]

Gate = Literal["and", "nand", "or", "nor", "xor", "xnor"]
"""The gates on two bits."""


class BitGates:
    """Mixed into `Engine` with all circuits.

    The error of a bit is its distance from 0 or 1. A gate adds the errors of its inputs, xor adds twice as much, and
    both add the rounding of one product. `sign_bootstrap(..., bits=True)`, which takes level 0, squares the error. So
    the number of gates is unlimited: compute as many in a row as there are levels, then bootstrap. A value that is not
    a bit is not noticed and gives a meaningless result.
    """

    def not_bit(self: Any, x: Ciphertext) -> Ciphertext:
        """Compute 1 where x is 0, and 0 where it is 1. Uses no level."""
        negated: Ciphertext = self.subtract(1, operands.ciphertext(x))
        return negated

    def bit_gate(
        self: Any, name: Gate, x: Ciphertext, y: Ciphertext, relinearization_key: RelinearizationKey
    ) -> Ciphertext:
        """Compute a gate on the bits of two ciphertexts, slot by slot. Uses one level.

        Parameters
        ----------
        name
            "and", "nand", "or", "nor", "xor" or "xnor".

        Raises
        ------
        ParameterError
            If there is no gate of that name.
        LevelError
            If no level is left. Bootstrap first.
        """
        kind = checks.choice("gate", name, get_args(Gate))
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

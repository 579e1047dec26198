"""The methods of `Engine` that decrypt for others: values with added noise, and exact bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import Ciphertext, SecretKey
from aglet.ckks import operands, values

__all__ = ["Shared", "Sharing"]


class Shared(NamedTuple):
    """The result of `decrypt_shared`."""

    values: values.Vector
    """The values, as `decrypt` gives them, with added noise."""
    bits: float
    """-log2 of the root mean square of their error."""


class Sharing:
    """Mixed into `Engine`."""

    _core: _core.Engine

    def decrypt_shared(
        self,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        queries: int = 1,
        security: float = 30,
        least_bits: float | None = None,
    ) -> Shared:
        """Decrypt for others: add fresh noise that hides what the error of the values reveals about the secret key.

        The result may be shown to everybody who has the ciphertext (eprint 2022/816). The added noise is Gaussian, with
        deviation `sqrt(12 * queries) * 2**(security / 2) * t` on each real component. Here `t` bounds the Euclidean
        norm of the error of all slots: `ciphertext.noise * sqrt(slot_count)`. Fewer slots therefore keep more bits. The
        method trusts `ciphertext.noise`: decrypt only ciphertexts from people you trust.

        Parameters
        ----------
        queries
            The number of decryptions under this key that are shared in all, including this one.
        security
            The bits of statistical security that remain after all of them: 30 means a chance of one in 2^30.
        least_bits
            Refuse to decrypt if fewer bits than this remain.

        Returns
        -------
        Shared
            `values`, as `decrypt` gives them, and `bits`: -log2 of the root mean square of their error.

        Raises
        ------
        RangeError
            If the noise of the ciphertext is not known (encrypt with `bound=`), if fewer bits than `least_bits` remain,
            or if the noise does not fit the modulus of this level.

        Examples
        --------
        >>> from aglet import Engine
        >>> engine = Engine(max_level=2, slot_count=256)
        >>> key = engine.create_secret_key()
        >>> relin = engine.create_relinearization_key(key)
        >>> square = engine.square(engine.encrypt([0.5, -0.25], key, bound=1), relin)
        >>> values, bits = engine.decrypt_shared(square, key, queries=4, security=20, least_bits=8)
        >>> [float(round(x, 1)) for x in values[:2]], bits > 8
        ([0.2, 0.1], True)
        """
        found, bits = self._core.decrypt_shared(
            operands.ciphertext(ciphertext),
            operands.secret_key(secret_key),
            checks.count("queries", queries, 1),
            values.as_bits("security", security),
            None if least_bits is None else values.as_bits("least_bits", least_bits),
        )
        return Shared(values.as_marked(found, ciphertext.is_real), bits)

    def decrypt_bits(self, ciphertext: Ciphertext, secret_key: SecretKey) -> NDArray[np.bool_] | NDArray[np.int8]:
        """Decrypt the result of a sign or bit bootstrap to exact values. No error remains that could reveal anything.

        Rotations, conjugation and lower levels are allowed in between, other operations are not.

        Returns
        -------
        numpy.ndarray
            bool after `sign_bootstrap(..., bits=True)`; -1, 0 and 1 as int8 after `sign_bootstrap`. A 0, such as an
            empty slot, stays 0.

        Raises
        ------
        ParameterError
            If the ciphertext is not the result of such a bootstrap.
        RangeError
            If a value is a quarter or more away from its exact value, or imaginary parts hold bits or signs too.
        """
        found, signs = self._core.decrypt_bits(operands.ciphertext(ciphertext), operands.secret_key(secret_key))
        return found if signs else found.astype(np.bool_)

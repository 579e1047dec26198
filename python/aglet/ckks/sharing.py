"""The part of `Engine` that decrypts for others: values with noise, and bits without any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import Ciphertext, SecretKey
from aglet.ckks import operands, values

__all__ = ["Shared", "Sharing"]


class Shared(NamedTuple):
    """What `decrypt_shared` gives."""

    values: values.Vector
    """As `decrypt` gives them, with noise."""
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
        """Decrypt for others: with fresh noise that hides what the error of the values says about the secret key.

        Whoever has the ciphertext may have the result (eprint 2022/816). The noise is a Gaussian of deviation
        `sqrt(12 * queries) * 2**(security / 2) * t` on each real component, where `t` bounds the Euclidean norm of the
        error of all slots: `ciphertext.noise * sqrt(slot_count)`. Fewer slots therefore keep more bits. That noise is
        believed: decrypt only what comes from whom you trust.

        Parameters
        ----------
        queries
            How many decryptions under this key are shared in all, this one included.
        security
            Bits of statistical security that all of them together leave: 30 is a chance of one in 2^30.
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
            or if the noise does not fit at this level.

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
        """Decrypt the result of a sign or bit bootstrap to its points, without an error that could say anything.

        Rotations, conjugation and lower levels keep the points; any other operation leaves them.

        Returns
        -------
        numpy.ndarray
            bool after `sign_bootstrap(..., bits=True)`; -1, 0 and 1 as int8 after `sign_bootstrap`, which leaves a 0,
            such as an empty slot, where it is.

        Raises
        ------
        ParameterError
            If the ciphertext is not the result of such a bootstrap.
        RangeError
            If a value is a quarter or more away from its points.
        """
        found, signs = self._core.decrypt_bits(operands.ciphertext(ciphertext), operands.secret_key(secret_key))
        return found if signs else found.astype(np.bool_)

"""Decryption of arrays for others: noise for floats of CKKS, and a law of failures for what decrypts exactly.

Floats carry an error that depends on the secret key, and get noise that hides it (eprint 2022/816). Whole numbers are
rounded and carry none: what could tell of the key is a wrong one alone (eprint 2024/116), so that their law counts how
probable one is in all results together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aglet import checks
from aglet.arrays.digits.sums import Digit
from aglet.ckks import values
from aglet.ckks.sharing import Shared
from aglet.errors import RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.digits.array import EncryptedIntegers
    from aglet.arrays.digits.sent import CompressedIntegers
    from aglet.arrays.slots.array import EncryptedSlots

__all__ = ["SharesArrays"]

_SLOTS = 128.0
"""Bits of the law of slots: one ciphertext decrypts to something else with probability 2^-128."""
_BOOTSTRAPPED = {"int16": 83.0}
"""The same of sets whose bootstraps leave noise of which less is proved."""


class SharesArrays:
    """Mixed into sessions."""

    if TYPE_CHECKING:

        def decrypt(self, array: Any) -> Any:
            """Of sessions."""

    def decrypt_shared(
        self, array: Any, *, queries: int = 1, security: float = 30, least_bits: float | None = None
    ) -> Shared:
        """Decrypt for others, who may hold the ciphertexts: what comes out tells nothing of the secret key.

        Floats get noise, as `Engine.decrypt_shared` adds it; each ciphertext of the array counts as a query. Whole
        numbers and booleans come out as they are. They are refused if one of them may be wrong with a probability above
        `2^-security` in all queries: a wrong one is what could tell of the key.

        Parameters
        ----------
        array
            Floats, digits (also compressed ones) or slots of this session.
        queries
            The number of arrays of this kind that are shared under this key in all, including this one.
        security
            The bits of statistical security that remain after all of them.
        least_bits
            Refuse to decrypt if fewer bits than this remain. Without it, look at `bits`: floats whose noise is larger
            than they are come out as noise.

        Returns
        -------
        Shared
            `values`, as `decrypt` gives them, and `bits`: -log2 of the root mean square of the error of the worst
            ciphertext; infinite for whole numbers.

        Raises
        ------
        RangeError
            If the noise of the ciphertexts is not known (encrypt with `bound=`), fewer bits than `least_bits` remain,
            or whole numbers may be wrong too often. Also what `decrypt` refuses.
        MissingKeyError
            If the keys of this session do not include the secret key.
        """
        from aglet.arrays.array import EncryptedArray
        from aglet.arrays.fixed.array import EncryptedFixed
        from aglet.arrays.fixed.sent import CompressedFixed
        from aglet.arrays.slots.array import EncryptedSlots

        count, wanted = checks.count("queries", queries, 1), values.as_bits("security", security)
        least = None if least_bits is None else values.as_bits("least_bits", least_bits)
        # What it refuses is refused here too.
        found = self.decrypt(array)
        if isinstance(array, EncryptedArray):
            return _with_noise(array, count, wanted, least)
        array = array.words() if isinstance(array, EncryptedFixed | CompressedFixed) else array
        places, law = _law_of_slots(array) if isinstance(array, EncryptedSlots) else _law_of_digits(array)
        left = law - math.log2(max(1, places) * count)
        if left < wanted:
            raise RangeError(
                f"One of {places:,} ciphertexts in {count:,} queries may be wrong with probability 2^-{left:.0f}, and "
                f"security={wanted:g} allows 2^-{wanted:g}; share fewer, ask for less security, or open a session of "
                "digits with a smaller max_failure=."
            )
        return Shared(found, math.inf)


def _with_noise(array: EncryptedArray, queries: int, security: float, least: float | None) -> Shared:
    session = array.session
    key, all_queries = session.keys._need("secret", "ckks"), queries * len(array.chunks)
    session.engine._fetch(array.chunks)
    shared = [session.engine.decrypt_shared(one, key, all_queries, security, least) for one in array.chunks]
    found = np.concatenate([np.asarray(one.values) for one in shared])[array.index]
    return Shared(found if array.ndim else found[()], min(one.bits for one in shared))


def _law_of_slots(array: EncryptedSlots) -> tuple[int, float]:
    """The ciphertexts of an array, and -log2 of the probability that one decrypts to something else."""
    digits, count = array.numbers.shape
    session = array.session
    bootstrapped = session.keys.bootstrap is not None
    return digits * count, _BOOTSTRAPPED.get(session.engine.preset, _SLOTS) if bootstrapped else _SLOTS


def _law_of_digits(array: EncryptedIntegers | CompressedIntegers) -> tuple[int, float]:
    """The same of digits: what the session accepts."""
    sent: Any = getattr(array, "encrypted", None)
    places = len([one for one in array.digits if isinstance(one, Digit)] if sent is None else sent)  # type: ignore[union-attr]
    machine: Any = array.session.machine
    return math.prod(array.shape) * places, -math.log2(machine.max_failure)

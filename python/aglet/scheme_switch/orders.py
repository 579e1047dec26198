"""The part of `SchemeSwitch` that compares real numbers: signs, comparisons, the least and the greatest of a row."""

from __future__ import annotations

from typing import Any

from aglet import checks
from aglet._core import Ciphertext, FhewBootstrapKey
from aglet.arrays.interval import Interval
from aglet.errors import ParameterError, RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback
from aglet.scheme_switch.ranges import difference_range, fine, sign_range, spread, supposed
from aglet.scheme_switch.reals import Reals

__all__ = ["Orders"]


class Orders:
    """Mixed into `SchemeSwitch`."""

    _side: Any
    to_fhew: Any

    def sign(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: KeySet,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """1 where a slot is 0 or more and 0 where it is negative, as messages of tables, which `from_fhew` converts.

        Slots are real numbers from -1 to 1. One that is nearer to 0 than its noise may be taken for either. There are
        `bits / 4 + 1` bootstraps for each.

        Parameters
        ----------
        bits
            The precision, 2 to 20: numbers nearer to 0 than `2^-bits` of their range may be taken for either. Fewer
            than 6 are read as 6.
        bound
            The largest size of a slot, or (least, largest), as the caller knows it, whatever was declared. The range
            is the next power of two then, and 1 without it.
        noise
            As in `to_fhew`.
        max_failure
            The probability of a wrong result that is accepted; 2^-128 without it. Fresh slots of preset "regular" have
            that at 16 bits, and 2^-83 at 20: pass `2**-80` there.

        Other arguments and errors are those of `to_fhew` and `FhewEngine.lookup`.
        """
        (side, key), size = self._compared(keys), sign_range(bound)
        x = self.to_fhew(
            ciphertext,
            indices,
            keys,
            bits=fine(bits),
            bound=None if bound is None else size,
            noise=noise,
            progress=progress,
        )
        return side.fhew_engine.sign(x, key, max_failure=max_failure, progress=progress)

    def compare(
        self,
        order: str,
        x: Ciphertext,
        y: Ciphertext,
        indices: Any,
        keys: KeySet,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """1 where `x >= y`, or `x <= y`, and 0 elsewhere, slot by slot, as messages of tables.

        The range of the differences is 2, as values are from -1 to 1, and 1 where the bounds that were declared for x
        and y are no more together: of values declared up to 1/2 a bit more is seen.

        Parameters
        ----------
        order
            ">=" or "<=".
        x, y
            Ciphertexts of real numbers from -1 to 1.
        bits
            The precision, 2 to 20: numbers that differ by less than `2^-bits` of the range may be taken for equal or
            for either order.
        bound
            The largest size of the values of x and y, or (least, largest), as the caller knows it, whatever was
            declared: (0, 1) reads differences in a range of 1, 4 in one of 8.
        noise
            Of x, and of y; as in `to_fhew`.

        Other arguments and errors are those of `sign`.
        """
        if checks.word("order", order) not in (">=", "<="):
            raise RangeError(f'There is no order "{order}" of real numbers; choose ">=" or "<=".')
        side, key = self._compared(keys)
        first, second = (_sized(side, one, bound, noise) for one in ((x, y) if order == ">=" else (y, x)))
        size = difference_range(supposed(first), supposed(second)) if bound is None else spread(bound)
        difference = side.engine.subtract(first, second)
        low = self.to_fhew(difference, indices, keys, bits=fine(bits), bound=size, progress=progress)
        return side.fhew_engine.sign(low, key, max_failure=max_failure, progress=progress)

    def argmin(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: KeySet,
        *,
        bits: int = 16,
        one_hot: bool = False,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """The place of the smallest of each row of slots, as `FhewEngine.argmin` gives it.

        Slots are real numbers from -1 to 1. Their differences are read in a range of 2, and in one of 1 if they were
        declared to be no larger than 1/2. `bits`, `bound` and `noise` are as in `compare`.

        Of two that differ by less than a comparison sees either is taken, and of equal ones the first. Three or more of
        them may beat each other in a circle, and then none is found: the place is 0, whatever stands there, and
        `one_hot` is 0 everywhere.

        Parameters
        ----------
        indices
            Slots in the shape (..., n); the result has the shape (...), or (..., n) with `one_hot`.

        Other arguments and errors are those of `sign`.
        """
        side, x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return side.fhew_engine.argmin(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def argmax(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: KeySet,
        *,
        bits: int = 16,
        one_hot: bool = False,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """The place of the greatest of each row of slots; as `argmin`."""
        side, x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return side.fhew_engine.argmax(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def top_k(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        k: int,
        keys: KeySet,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FhewCiphertext:
        """1 for the k greatest of each row of slots and 0 for the others, in the shape of `indices`; as `argmin`."""
        side, x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return side.fhew_engine.top_k(x, k, key, max_failure=max_failure, progress=progress)

    def _compared(self, keys: KeySet) -> tuple[Reals, FhewBootstrapKey]:
        """The side of CKKS, and the key that compares.

        Raises
        ------
        ParameterError
            If slots are integers.
        """
        if not isinstance(self._side, Reals):
            raise ParameterError(
                "Slots of integers are compared by IntegerEngine.less and equal, and by tables; sign, compare, argmin, "
                "argmax and top_k take slots of an Engine."
            )
        return self._side, self._side.keys(keys, "fhew_bootstrap")[0]

    def _row(
        self, ciphertext: Any, indices: Any, keys: KeySet, read: tuple[int, Any, float | None], progress: Any
    ) -> tuple[Reals, FhewCiphertext, FhewBootstrapKey]:
        """Slots that are subtracted from each other, in a range of their differences, and what compares them."""
        (bits, bound, noise), (side, key) = read, self._compared(keys)
        x = _sized(side, ciphertext, bound, noise)
        size = difference_range(supposed(x), supposed(x)) if bound is None else spread(bound)
        return side, self.to_fhew(x, indices, keys, bits=fine(bits), bound=size, progress=progress), key


def _sized(side: Reals, ciphertext: Any, bound: Any, noise: float | None) -> Ciphertext:
    """A ciphertext that states a size: its own, what a caller says, or 1."""
    ct = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)")
    return side.assumed(ct, supposed(ct) if bound is None else Interval.of(bound).size, noise)

"""The part of `Bridge` that compares real numbers: signs, comparisons, the least and the greatest of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglet import checks
from aglet._core import Ciphertext, LookupKey
from aglet.arrays.interval import Interval
from aglet.bridge.keys import BridgeKeys
from aglet.bridge.ranges import difference_range, fine, sign_range, spread, supposed
from aglet.errors import RangeError
from aglet.lookup.ciphertext import LweCiphertext
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet.ckks.engine import Engine
    from aglet.lookup.engine import LookupEngine

__all__ = ["Orders"]


class Orders:
    """Mixed into `Bridge`."""

    _engine: Engine
    _lookup_engine: LookupEngine
    to_lookup: Any
    _assumed: Any
    _need: Any

    def sign(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 where a slot is 0 or more and 0 where it is negative, as messages of tables; `from_lookup` takes them up.

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
            As in `to_lookup`.
        max_failure
            The probability of a wrong result that is accepted; 2^-128 without it. Fresh slots of preset "regular" have
            that at 16 bits, and 2^-83 at 20: pass `2**-80` there.

        Other arguments and errors are those of `to_lookup` and `LookupEngine.lookup`.
        """
        key, size = self._need(keys)._lookup(), sign_range(bound)
        x = self.to_lookup(
            ciphertext,
            indices,
            keys,
            bits=fine(bits),
            bound=None if bound is None else size,
            noise=noise,
            progress=progress,
        )
        return self._lookup_engine.sign(x, key, max_failure=max_failure, progress=progress)

    def compare(
        self,
        order: str,
        x: Ciphertext,
        y: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
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
            Of x, and of y; as in `to_lookup`.

        Other arguments and errors are those of `sign`.
        """
        if checks.word("order", order) not in (">=", "<="):
            raise RangeError(f'There is no order "{order}" of real numbers; choose ">=" or "<=".')
        first, second = (self._sized(one, bound, noise) for one in ((x, y) if order == ">=" else (y, x)))
        size = difference_range(supposed(first), supposed(second)) if bound is None else spread(bound)
        difference = self._engine.subtract(first, second)
        low = self.to_lookup(difference, indices, keys, bits=fine(bits), bound=size, progress=progress)
        key = self._need(keys)._lookup()
        return self._lookup_engine.sign(low, key, max_failure=max_failure, progress=progress)

    def argmin(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        one_hot: bool = False,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the smallest of each row of slots, as `LookupEngine.argmin` gives it.

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
        x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return self._lookup_engine.argmin(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def argmax(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        one_hot: bool = False,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """The place of the greatest of each row of slots; as `argmin`."""
        x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return self._lookup_engine.argmax(x, key, one_hot=one_hot, max_failure=max_failure, progress=progress)

    def top_k(
        self,
        ciphertext: Ciphertext,
        indices: Any,
        k: int,
        keys: BridgeKeys,
        *,
        bits: int = 16,
        bound: Any = None,
        noise: float | None = None,
        max_failure: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> LweCiphertext:
        """1 for the k greatest of each row of slots and 0 for the others, in the shape of `indices`; as `argmin`."""
        x, key = self._row(ciphertext, indices, keys, (bits, bound, noise), progress)
        return self._lookup_engine.top_k(x, k, key, max_failure=max_failure, progress=progress)

    def _sized(self, ciphertext: Any, bound: Any, noise: float | None) -> Ciphertext:
        """A ciphertext that states a size: its own, what a caller says, or 1."""
        ct = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)")
        said = supposed(ct) if bound is None else Interval.of(bound).size
        sized: Ciphertext = self._assumed(ct, said, noise)
        return sized

    def _row(
        self, ciphertext: Any, indices: Any, keys: BridgeKeys, read: tuple[int, Any, float | None], progress: Any
    ) -> tuple[LweCiphertext, LookupKey]:
        """Slots that are subtracted from each other, in a range that holds their differences, and the key for that."""
        (bits, bound, noise), key = read, self._need(keys)._lookup()
        x = self._sized(ciphertext, bound, noise)
        size = difference_range(supposed(x), supposed(x)) if bound is None else spread(bound)
        return self.to_lookup(x, indices, keys, bits=fine(bits), bound=size, progress=progress), key

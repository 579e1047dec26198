"""The part of `SchemeSwitch` that compares real numbers: signs, comparisons, the least and the greatest of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aglet import checks
from aglet._core import Ciphertext, FhewBootstrapKey
from aglet.arrays.interval import Interval
from aglet.errors import ParameterError, RangeError
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.options import CompareOptions, RankOptions
from aglet.scheme_switch.ranges import difference_range, fine, sign_range, spread, supposed
from aglet.scheme_switch.reals import Reals

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Orders"]

_BITS = 16
"""The precision of a comparison, if none is given."""


class Orders:
    """Mixed into `SchemeSwitch`."""

    _side: Any
    to_fhew: Any

    def sign(
        self, ciphertext: Ciphertext, indices: Any, keys: KeySet, **options: Unpack[CompareOptions]
    ) -> FhewCiphertext:
        """Compute 1 where a slot is 0 or more and 0 where it is negative, as messages that `from_fhew` converts.

        Slots are real numbers from -1 to 1. A negative slot that is nearer to 0 than `bits` tells may get either
        result. Each slot takes `bits / 4 + 1` bootstraps.

        Parameters
        ----------
        bits
            The precision, 2 to 20; 16 by default. Negative numbers nearer to 0 than `2^(1 - bits)` of the range may get
            either result: the range on both sides of 0 has `2^bits` steps. Fewer than 6 bits are read as 6.
        bound
            The largest size of a slot, or (least, largest), as the caller knows it. It replaces what was declared. The
            range is then the next power of two; without it the range is 1.
        noise
            As in `to_fhew`.
        max_failure
            The accepted probability of a wrong result; 2^-128 by default. Fresh slots of preset "regular" have that at
            16 bits. At 20 bits they have 2^-83: pass `2**-80` there.

        Other arguments and errors are those of `to_fhew` and `FhewEngine.lookup`.
        """
        checks.known(options, CompareOptions)
        (side, key), bound = self._compared(keys), options.get("bound")
        size = None if bound is None else sign_range(bound)
        read = {**_read(size, options), "noise": options.get("noise")}
        return side.fhew_engine.sign(self.to_fhew(ciphertext, indices, keys, **read), key, **_fhew(options))

    def compare(
        self, order: str, x: Ciphertext, y: Ciphertext, indices: Any, keys: KeySet, **options: Unpack[CompareOptions]
    ) -> FhewCiphertext:
        """Compute 1 where `x >= y` (or `x <= y`) and 0 elsewhere, slot by slot, as messages that `from_fhew` converts.

        Differences are read in a range of 2, because values are from -1 to 1. If the bounds declared for x and y are
        together at most 1, the range is 1, and one more bit is read.

        Parameters
        ----------
        order
            ">=" or "<=".
        x, y
            Ciphertexts of real numbers from -1 to 1.
        bits
            The precision, 2 to 20; 16 by default. Where the order does not hold, but the numbers differ by less than
            `2^(1 - bits)` of the range, either result may come out. Equal numbers give 1.
        bound
            The largest size of the values of x and y, or (least, largest), as the caller knows it. It replaces what was
            declared: (0, 1) reads differences in a range of 1, and 4 in a range of 8.
        noise
            Of x, and of y; as in `to_fhew`.

        Other arguments and errors are those of `sign`.
        """
        checks.known(options, CompareOptions)
        if checks.string("order", order) not in (">=", "<="):
            raise RangeError(f'There is no order "{order}" of real numbers; choose ">=" or "<=".')
        (side, key), bound = self._compared(keys), options.get("bound")
        first, second = (_sized(side, one, options) for one in ((x, y) if order == ">=" else (y, x)))
        size = difference_range(supposed(first), supposed(second)) if bound is None else spread(bound)
        low = self.to_fhew(side.engine.subtract(first, second), indices, keys, **_read(size, options))
        return side.fhew_engine.sign(low, key, **_fhew(options))

    def argmin(
        self, ciphertext: Ciphertext, indices: Any, keys: KeySet, **options: Unpack[RankOptions]
    ) -> FhewCiphertext:
        """Find the place of the smallest slot of each row, as `FhewEngine.argmin` does.

        Slots are real numbers from -1 to 1. Differences are read in a range of 2, or in a range of 1 if the slots were
        declared to be at most 1/2. `bits`, `bound` and `noise` are as in `compare`.

        If two slots differ by less than the precision, either may be found. Of equal slots the first is found. Three or
        more such slots may beat each other in a circle. Then no smallest is found: the result is place 0, and with
        `one_hot` it is 0 everywhere.

        Parameters
        ----------
        indices
            Slots in the shape (..., n). The result has the shape (...), or (..., n) with `one_hot`.
        one_hot
            True gives 1 at the place that is found and 0 elsewhere.

        Other arguments and errors are those of `sign`.
        """
        side, x, key = self._row(ciphertext, indices, keys, options, RankOptions)
        return side.fhew_engine.argmin(x, key, one_hot=options.get("one_hot", False), **_fhew(options))

    def argmax(
        self, ciphertext: Ciphertext, indices: Any, keys: KeySet, **options: Unpack[RankOptions]
    ) -> FhewCiphertext:
        """Find the place of the greatest slot of each row; see `argmin`."""
        side, x, key = self._row(ciphertext, indices, keys, options, RankOptions)
        return side.fhew_engine.argmax(x, key, one_hot=options.get("one_hot", False), **_fhew(options))

    def top_k(
        self, ciphertext: Ciphertext, indices: Any, k: int, keys: KeySet, **options: Unpack[CompareOptions]
    ) -> FhewCiphertext:
        """Compute 1 for the k greatest slots of each row and 0 for the others, in the shape of `indices`.

        The comparisons are those of `argmin`.
        """
        side, x, key = self._row(ciphertext, indices, keys, options, CompareOptions)
        return side.fhew_engine.top_k(x, k, key, **_fhew(options))

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
        self, ciphertext: Any, indices: Any, keys: KeySet, options: Mapping[str, Any], kind: Any
    ) -> tuple[Reals, FhewCiphertext, FhewBootstrapKey]:
        """Slots that are subtracted from each other, in a range of their differences, and what compares them."""
        checks.known(options, kind)
        (side, key), bound = self._compared(keys), options.get("bound")
        x = _sized(side, ciphertext, options)
        size = difference_range(supposed(x), supposed(x)) if bound is None else spread(bound)
        return side, self.to_fhew(x, indices, keys, **_read(size, options)), key


def _sized(side: Reals, ciphertext: Any, options: Mapping[str, Any]) -> Ciphertext:
    """A ciphertext that states a size: its own, what a caller says, or 1."""
    ct, bound = checks.need(ciphertext, Ciphertext, "engine.encrypt(message, secret_key)"), options.get("bound")
    return side.assumed(ct, supposed(ct) if bound is None else Interval.of(bound).size, options.get("noise"))


def _read(size: float | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """How numbers in a range of this size are read."""
    return {"bits": fine(options.get("bits", _BITS)), "bound": size, "progress": options.get("progress")}


def _fhew(options: Mapping[str, Any]) -> Any:
    """What a method of `FhewEngine` takes of these."""
    return {"max_failure": options.get("max_failure"), "progress": options.get("progress")}

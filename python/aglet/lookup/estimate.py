"""The part of `LookupEngine` that says what a call would take, before it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglet import _core, checks
from aglet.errors import ParameterError
from aglet.lookup import records
from aglet.lookup.table import Table
from aglet.lookup.tables import tables

if TYPE_CHECKING:
    from aglet._core import LookupNoise

__all__ = ["Estimate", "Estimates"]

_KERNELS = {"avx512ifma": 1.0, "avx2": 2.2, "portable": 3.5, "scalar": 10.0}
"""What a rotation takes over one with AVX-512 IFMA, which the core models: measured with `AGLET_BACKEND` on one
machine, to a quarter (gates take 2.8 with AVX2, larger sets 1.9 to 2.3)."""

_ORDERS = ("<", "<=", ">", ">=", "==")
_TAKES: dict[str, tuple[str, ...]] = {
    "nand": (), "and": (), "or": (), "nor": (), "xor": (), "xnor": (), "andny": (), "majority": (), "mux": (),
    "lookup": ("domain", "table"), "lookup2": ("domain", "table"), "sign": ("bits",),
    **dict.fromkeys(_ORDERS, ("bits",)), "floor": ("bits", "low"), "digits": ("bits",),
}  # fmt: skip
"""The options of each call that its cost depends on."""


@dataclass(frozen=True)
class Estimate:
    """What a call on fresh ciphertexts would take."""

    rotations: int
    """Blind rotations, which are what takes time, of the whole batch."""
    seconds: float
    """On the threads of the engine: from what a rotation of this set took on this kind of machine, where that was
    recorded, else `modelled_seconds`; `source` says which."""
    key_bytes: int
    """Of the lookup key in memory."""
    working_bytes: int
    """At the peak beside keys and inputs, about."""
    log2_failure: float
    """Base-2 logarithm of the probability that a result is wrong."""
    modelled_seconds: float
    """By a model of one processor (Sapphire Rapids), with the kernels that this machine uses (`engine.backend`), on the
    threads of the engine; other processors differ."""
    source: str
    """Where `seconds` come from: "measured on ..." with processor and date, or "modelled"."""


class Estimates:
    """Mixed into `LookupEngine`."""

    _core: _core.LookupEngine

    @property
    def noise(self) -> LookupNoise:
        """Deviations of every kind of noise of the set, and how far messages are from being misread, in turns."""
        return self._core.noise()

    def estimate(
        self,
        what: str,
        *,
        batch: int = 1,
        domain: str | None = None,
        table: Any = None,
        bits: int | None = None,
        low: int | None = None,
    ) -> Estimate:
        """What a call would take on `batch` fresh ciphertexts, or pairs or triples of them; it needs no key.

        Parameters
        ----------
        what
            The name of a gate, "mux", "lookup", "lookup2", "sign", an order of `compare` ("<" to "=="), "floor" or
            "digits".
        domain
            Of "lookup" and "lookup2"; "padded" if not given.
        table
            Of "lookup" and "lookup2", one or a list, as they take it: how many can be read at once depends on how steep
            they are. If not given, the identity, and the exclusive or.
        bits
            Of the integers of "sign", comparisons, "floor" and "digits".
        low
            The bits that "floor" takes off.

        Raises
        ------
        ParameterError
            If there is nothing of that name, or an option is missing or one too many.
        RangeError
            If a number of bits or a table does not fit, or a floor would fail however it is done.

        Examples
        --------
        >>> from aglet import LookupEngine
        >>> LookupEngine(bits=4).estimate("sign", bits=20, batch=8).rotations
        48
        """
        if domain is not None:
            checks.word("domain", domain)
        given = {"domain": domain, "table": table, "bits": bits, "low": low}
        takes = _options(checks.word("what", what), {name for name, value in given.items() if value is not None})
        made = (
            tables((_identity if what == "lookup" else _xor) if table is None else table)[0] if "table" in takes else []
        )
        return self._estimated(what, checks.count("batch", batch), made, given, None)

    def _estimated(
        self, what: str, batch: int, made: list[Table], given: Mapping[str, Any], variance: float | None
    ) -> Estimate:
        """The same, on ciphertexts with noise of this variance."""
        core, count = self._core, self._core.messages
        rotations, modelled, key_bytes, working_bytes, log2_failure = core.estimate(
            what,
            batch,
            checks.word("domain", given.get("domain") or "padded"),
            [one.values(count) if what == "lookup" else one.pair_values(count) for one in made],
            checks.count("bits", given.get("bits") or 0),
            checks.count("low", given.get("low") or 0),
            variance,
        )
        modelled *= _KERNELS[core.backend]
        record = records.latest(records.known(), core.preset, "gate" if count == 2 else "lookup", batch)
        seconds, source = modelled, "modelled"
        if record is not None:
            seconds = math.ceil(rotations / core.threads) * float(record["seconds"])
            source = f"measured on {record['cpu']} with {record['backend']}, {record.get('date', 'undated')}"
        return Estimate(rotations, seconds, key_bytes, working_bytes, log2_failure, modelled, source)


def _identity(message: int) -> int:
    return message


def _xor(high: int, low: int) -> int:
    return high ^ low


def _options(what: str, given: set[str]) -> tuple[str, ...]:
    """The options of a call.

    Raises
    ------
    ParameterError
        If it has others than those that are given.
    """
    takes = _TAKES.get(what)
    if takes is None:
        raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(_TAKES)}.')
    for name in sorted(given.difference(takes)):
        raise ParameterError(f'{name}= says nothing of "{what}"; leave it out.')
    for name in takes:
        if name in ("bits", "low") and name not in given:
            raise ParameterError(f'An estimate of "{what}" depends on {name}=; give it.')
    return takes

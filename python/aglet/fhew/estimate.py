"""The part of `FhewEngine` that estimates a call before it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aglet import _core, checks, extra
from aglet.errors import ParameterError
from aglet.fhew.table import Table
from aglet.fhew.tables import steps, tables

if TYPE_CHECKING:
    from aglet._core import FhewNoise

    Values = list[int] | bytes
    Made = Sequence[Table | Values]

__all__ = ["Counted", "Estimate", "Estimates"]

_ORDERS = ("<", "<=", ">", ">=", "==")
_TAKES: dict[str, tuple[str, ...]] = {
    "nand": (), "and": (), "or": (), "nor": (), "xor": (), "xnor": (), "andny": (), "majority": (), "mux": (),
    "lookup": ("domain", "step", "table"), "lookup2": ("domain", "table"), "sign": ("bits",),
    **dict.fromkeys(_ORDERS, ("bits",)), "floor": ("bits", "low"), "digits": ("bits",),
}  # fmt: skip
"""For each call, the options that its cost depends on."""


class Counted(NamedTuple):
    """What the counts and the noise of a call say, without its time."""

    rotations: int
    """Blind rotations of the whole batch."""
    log2_failure: float
    """Base-2 logarithm of the probability that a result is wrong."""


@dataclass(frozen=True)
class Estimate:
    """What a call on fresh ciphertexts will take."""

    rotations: int
    """Blind rotations of the whole batch. They take nearly all of the time."""
    seconds: float
    """Seconds on the threads of the engine, from a record of this set on this kind of machine.
    Without a record they are `modelled_seconds`; `source` says which.
    """
    key_bytes: int
    """Bytes of the bootstrap key in memory."""
    working_bytes: int
    """Approximate peak memory in bytes, without keys and inputs."""
    log2_failure: float
    """Base-2 logarithm of the probability that a result is wrong."""
    modelled_seconds: float
    """Seconds by a model of one processor (Sapphire Rapids), with the kernels of `engine.backend` and the threads of
    the engine. Other processors differ.
    """
    source: str
    """Where `seconds` come from: "measured on ..." with processor and date, or "modelled"."""
    card_bytes: int = 0
    """Bytes on a card of the key and of the ciphertexts that it bootstraps at once, for `mode="gpu"`; 0 for a set by
    which no card bootstraps.
    """


class Estimates:
    """Mixed into `FhewEngine`."""

    _core: _core.FhewEngine

    @property
    def noise(self) -> FhewNoise:
        """Standard deviations of the noises of this set, and the distance to a wrong message, as parts of the torus."""
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
        step: int | None = None,
    ) -> Estimate:
        """Estimate a call on `batch` fresh ciphertexts (or pairs, or triples). No key is needed.

        Parameters
        ----------
        what
            The name of a gate, "mux", "lookup", "lookup2", "sign", an order of `compare` ("<" to "=="), "floor" or
            "digits".
        domain
            The domain, for "lookup" and "lookup2"; "padded" by default.
        table
            The table or list of tables, for "lookup" and "lookup2". Steep tables add more noise, so the tables decide
            how many fit into one bootstrap. The default is the identity for "lookup" and the exclusive or for
            "lookup2".
        bits
            The bits of the integers, for "sign", comparisons, "floor" and "digits".
        low
            The bits that "floor" removes.
        step
            The step between messages, for "lookup"; 1 by default.

        Raises
        ------
        ParameterError
            If there is no call of this name, or an option is missing or does not belong to it.
        RangeError
            If a number of bits or a table does not fit, or the noise of a "floor" would be too large for this set.

        Examples
        --------
        >>> from aglet import FhewEngine
        >>> FhewEngine(bits=4).estimate("sign", bits=20, batch=8).rotations
        48
        """
        if domain is not None:
            checks.string("domain", domain)
        given = {"domain": domain, "table": table, "bits": bits, "low": low, "step": step}
        takes = _options(checks.string("what", what), {name for name, value in given.items() if value is not None})
        made = (
            tables((_identity if what == "lookup" else _xor) if table is None else table)[0] if "table" in takes else []
        )
        return self._estimated(what, checks.count("batch", batch), made, given, None)

    def _estimated(
        self, what: str, batch: int, made: Made, given: Mapping[str, Any], variance: float | None
    ) -> Estimate:
        """The same, of tables or their values, on ciphertexts whose noise has this variance."""
        found = self._modelled(what, batch, made, given, variance)
        rotations, modelled, key_bytes, working_bytes, card_bytes, log2_failure = found
        core = self._core
        known, kind = extra.records(), "gate" if core.messages == 2 else "lookup"
        record = None if known is None else known.latest(known.known(), core.preset, kind, batch)
        seconds, source = modelled, "modelled"
        if record is not None:
            seconds = math.ceil(rotations / core.threads) * float(record["seconds"])
            source = f"measured on {record['cpu']} with {record['backend']}, {record.get('date', 'undated')}"
        return Estimate(rotations, seconds, key_bytes, working_bytes, log2_failure, modelled, source, card_bytes)

    def _counted(self, what: str, batch: int, made: Made, given: Mapping[str, Any], variance: float) -> Counted:
        """The part of `_estimated` that no record of this machine says: what circuits decide by, thousands of times."""
        found = self._modelled(what, batch, made, given, variance)
        return Counted(found[0], found[-1])

    def _modelled(
        self, what: str, batch: int, made: Made, given: Mapping[str, Any], variance: float | None
    ) -> tuple[int, float, int, int, int, float]:
        core, count = self._core, self._core.messages
        step = steps(given.get("step"), count)

        def values(one: Table | Values) -> Values:
            if isinstance(one, list | bytes):
                return one
            return one.values(count, step) if what == "lookup" else one.pair_values(count)

        return core.estimate(
            what,
            batch,
            checks.string("domain", given.get("domain") or "padded"),
            [values(one) for one in made],
            checks.count("bits", given.get("bits") or 0),
            checks.count("low", given.get("low") or 0),
            variance,
            step,
        )


def _identity(message: int) -> int:
    return message


def _xor(high: int, low: int) -> int:
    return high ^ low


def _options(what: str, given: set[str]) -> tuple[str, ...]:
    """The options that a call depends on.

    Raises
    ------
    ParameterError
        If the given options are not those that the call needs.
    """
    takes = _TAKES.get(what)
    if takes is None:
        raise ParameterError(f'There is no estimate of "{what}"; choose one of {", ".join(_TAKES)}.')
    for name in sorted(given.difference(takes)):
        raise ParameterError(f'"{what}" does not depend on {name}=; leave it out.')
    for name in takes:
        if name in ("bits", "low") and name not in given:
            raise ParameterError(f'An estimate of "{what}" depends on {name}=; give it.')
    return takes

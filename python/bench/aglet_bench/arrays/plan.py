"""`Session.plan`: a function runs on simulated arrays before any key exists."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet import _core, checks
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.session import DigitSession
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.interval import Interval
from aglet.arrays.session import Session
from aglet.arrays.slots.array import EncryptedSlots
from aglet.ckks import values
from aglet.ckks.engine import Engine
from aglet.errors import AgletError, ParameterError
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet_bench.arrays import slots
from aglet_bench.arrays.forecast import Plan
from aglet_bench.arrays.shadow import Shadow

__all__ = ["plan"]


def plan(
    function: Callable[..., Any],
    shapes: Sequence[Any],
    *,
    engine: Engine,
    bounds: Sequence[Any] | None = None,
    bootstrap: str = "large",
    sample: Sequence[Any] | None = None,
    **session: Any,
) -> Plan:
    """See `Session.plan`, whose arguments these are."""
    if not callable(function):
        raise TypeError(f"plan needs a function of encrypted arrays, not {type(function).__name__}.")
    if not isinstance(engine, Engine):
        raise TypeError(f"engine is an Engine, not {type(engine).__name__}; Session.plan(f, shapes, engine=engine).")
    how = session.pop("representation", None)
    if checks.choice("representation", how or "slots", ("auto", "digits", "slots")) == "auto":
        return _quicker(
            function, shapes, engine, {"bounds": bounds, "bootstrap": bootstrap, "sample": sample, **session}
        )
    dtypes, fhew_engine = session.pop("dtypes", None), session.pop("fhew_engine", None)
    integer_engine = session.pop("integer_engine", None)
    machine = Shadow(engine, checks.string("bootstrap", bootstrap), _method(engine, fhew_engine))
    simulated = Session(engine, KeySet(engine), **session)
    simulated.machine = machine
    if fhew_engine is not None:
        low = checks.need(fhew_engine, FhewEngine, "FhewEngine(bits=4)")
        machine.digits = simulated.digits = DigitSession.modelled(low)
        simulated.digits.floats = simulated
    if integer_engine is not None:
        made_of = checks.need(integer_engine, IntegerEngine, "IntegerEngine(use_bootstrap=True)")
        simulated.integers = slots.simulated(made_of, machine)
        simulated.integers.floats = simulated
        if simulated.digits is not None:
            simulated.integers.beside(simulated.digits)
    lengths = checks.each("shapes", shapes)
    kinds = _one_each("dtypes", dtypes, lengths, np.float64)
    given = _one_each("bounds", bounds, lengths, 1.0)
    drawn = _one_each("samples", sample, lengths, None)
    how = how or ("digits" if integer_engine is None else "slots")
    arrays = [_argument(simulated, machine, how, *words) for words in zip(lengths, kinds, given, drawn, strict=True)]
    machine.most = machine.live
    made = function(*arrays)
    several = list(made.values()) if isinstance(made, dict) else made if isinstance(made, list | tuple) else [made]
    several = [one.words() if isinstance(one, EncryptedFixed) else one for one in several]
    if not several:
        raise ParameterError("This function returned no array, so there is nothing to plan; let it return its results.")
    for array in several:
        if isinstance(array, EncryptedIntegers) and simulated.digits is not None:
            simulated.digits.same(array)
        elif isinstance(array, EncryptedSlots) and simulated.integers is not None:
            simulated.integers.same(array)
            array.forced()
        else:
            simulated.same(array)
    of_fixed = None if not any(isinstance(kind, fixed) for kind in kinds) else "digits"
    how = how if any(_kind(one) in "biu" for one in kinds) else of_fixed
    return dataclasses.replace(machine.plan(several, sample is not None), representation=how)


def _quicker(function: Callable[..., Any], shapes: Sequence[Any], engine: Engine, given: dict[str, Any]) -> Plan:
    """The plan with whole numbers in slots or in digits, whichever takes fewer seconds by the model.

    Raises
    ------
    ParameterError
        If neither is possible.
    """
    found: dict[str, Plan] = {}
    said: list[str] = []
    # Who takes digits needs no keys of integers.
    low = {name: value for name, value in given.items() if name != "integer_engine"}
    for how, options in (("slots", given), ("digits", low)):
        try:
            found[how] = plan(function, shapes, engine=engine, representation=how, **options)
            said.append(f"{how} {found[how].seconds:.3g} s")
        except (AgletError, TypeError) as error:
            said.append(f"{how} refused ({error})")
    if not found:
        raise ParameterError(f"Neither representation of whole numbers serves: {'; '.join(said)}")
    best = min(found, key=lambda name: found[name].seconds)
    return dataclasses.replace(found[best], compared=", ".join(said))


def _method(engine: Engine, fhew_engine: Any) -> str:
    """The bootstrap key's: a switch has a lossy one, unless the preset has no such bootstrap."""
    methods = next((p["methods"] for p in _core.presets() if p["name"] == engine.preset), [])
    return "lossy" if fhew_engine is not None and "lossy" in methods else "regular"


def _one_each(what: str, given: Sequence[Any] | None, shapes: Sequence[Any], default: Any) -> list[Any]:
    found = [default] * len(shapes) if given is None else checks.each(what.replace("samples", "sample"), given)
    if len(found) != len(shapes):
        raise ParameterError(f"There are {len(found)} {what} for {len(shapes)} shapes; give one for each.")
    return found


def _kind(dtype: Any) -> str:
    """The kind of a dtype of numpy, or of `aglet.fixed`."""
    return dtype.kind if isinstance(dtype, fixed) else np.dtype(dtype).kind


def _argument(session: Any, machine: Shadow, how: str, shape: Any, dtype: Any, bound: Any, sample: Any) -> Any:
    """An argument of a plan: the sample in every run, or random values within its bounds, different in each run."""
    if isinstance(dtype, fixed):
        return session.encrypt(np.zeros(checks.shape(shape)) if sample is None else sample, dtype=dtype)
    if _kind(dtype) in "biu":
        # What digits cost does not depend on their values.
        zeros = np.zeros(checks.shape(shape), dtype=dtype)
        given = zeros if sample is None else np.asarray(sample, dtype=dtype)
        return session.encrypt(given, dtype=dtype, representation=how)
    interval = Interval.of(bound)
    # An array of this shape that takes no memory.
    filled = checks.rearranged("shape", (), lambda: np.broadcast_to(np.array(interval.inside), shape))
    if sample is not None:
        given = values.as_array(sample)
        if given.shape != filled.shape:
            raise ParameterError(
                f"A sample has shape {given.shape}, and its argument has shape {filled.shape}; give a sample of the "
                "same shape."
            )
        return session.encrypt(given, bound=bound)
    machine.drawing = True
    draws = machine.rehearsal.draws(interval.low, interval.high, filled.shape)
    runs = [session.encrypt(one, bound=bound) for one in draws]
    machine.drawing = False
    chunks = [machine.together(row) for row in zip(*(run.chunks for run in runs), strict=True)]
    return runs[0].replaced(chunks=chunks)

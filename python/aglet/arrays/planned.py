"""`Session.plan`, with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from aglet import extra
from aglet.ckks.engine import Engine
from aglet.fhew.engine import FhewEngine
from aglet.integer.engine import IntegerEngine

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PlanOptions", "Planned", "SessionOptions"]


class SessionOptions(TypedDict, total=False):
    """The arguments of `Session` that a plan takes too."""

    refresh: str
    alpha: int
    error_bits: int


class PlanOptions(SessionOptions, total=False):
    """The arguments of a plan that a function of digits and floats needs."""

    dtypes: Sequence[Any]
    fhew_engine: FhewEngine
    integer_engine: IntegerEngine
    representation: str


class Planned:
    """Mixed into `Session`."""

    @staticmethod
    def plan(
        function: Callable[..., Any],
        shapes: Sequence[Any],
        *,
        engine: Engine,
        bounds: Sequence[Any] | None = None,
        bootstrap: str = "large",
        sample: Sequence[Any] | None = None,
        **session: Unpack[PlanOptions],
    ) -> Any:
        """Simulate a function to know levels, bootstraps, work, memory, time and precision before any key exists.

        Parameters
        ----------
        function
            Called with one simulated array of each shape. It may use `x.session`, as in the real run.
        shapes
            One shape for each argument.
        engine
            The engine that will run the function.
        bounds
            One bound for each argument, as in `encrypt`; 1 if not given.
        bootstrap
            The size of the bootstrap key.
        sample
            Typical values, for each argument an array of its shape. The predicted bits are for them. Without a sample
            they are for values drawn uniformly from the bounds, and if the function compares, no bits are predicted.
        session
            refresh, alpha and error_bits, as `Session` takes them. With `fhew_engine`, arguments may be digits:
            `dtypes` is then the dtype of each argument, and numpy.float64 is one of CKKS. With `integer_engine` too,
            whole numbers are in slots of integers. `representation` is then "slots", "digits" or "auto": the quicker
            one, by a plan of each; `plan.compared` says the seconds of both, and
            `session.encrypt(x, representation=plan)` takes the quicker one.

        Returns
        -------
        The forecast: `level`, `refreshes`, `products`, `rotations`, `key_bytes`, `peak_bytes`, `ciphertext_bytes`,
        `seconds`, `bits`, `deviation` and `unstated`, which `aglet_bench.arrays.forecast.Plan` explains. `print` shows
        it as a sentence.

        Raises
        ------
        ParameterError
            If the number of bounds or samples differs from the number of shapes, or if the package that plans,
            `aglet-fhe[bench]`, is not installed.
        RangeError
            If a shape is not valid.
        TypeError
            If an argument is of another type.
        """
        given: Any = {"bounds": bounds, "bootstrap": bootstrap, "sample": sample, **session}
        return extra.needed(".arrays.plan", "Session.plan").plan(function, shapes, engine=engine, **given)

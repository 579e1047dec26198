"""Functional bootstraps of `Engine`: lookup tables and smooth functions of slots while they are refreshed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from aglet import _core, checks
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, RotationKey, SecretKey
from aglet.ckks import fourier, operands, values
from aglet.ckks.bootstrapping import bootstrap_keys
from aglet.errors import ParameterError, RangeError
from aglet.progress import ProgressCallback
from aglet.reports import failure_text

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from aglet._core import KeySize

__all__ = ["FunctionalBootstrapping", "FunctionalEstimate", "FunctionalOptions"]

MAX_FAILURE = 2.0**-128
_BITS = 20.0


class FunctionOptions(TypedDict, total=False):
    """How a function is given; see `Engine.functional_bootstrap`."""

    low: float
    step: float
    order: int
    imaginary: Any
    interval: tuple[float, float]
    bits: float
    real: bool | None
    target_level: int | None
    max_failure: float


class FunctionalOptions(FunctionOptions, total=False):
    """What `Engine.functional_bootstrap` takes by name."""

    rotation_key: RotationKey | None
    stage_count: int | None
    input_error: float | None
    progress: ProgressCallback | None


@dataclass(frozen=True)
class FunctionalEstimate:
    """What is known of the results of a functional bootstrap before it runs."""

    level: int
    """The level of the results."""
    levels: int
    """The levels that the function takes."""
    noise: float
    """A bound on the root-mean-square error of a slot of the results."""
    log2_failure: float | None
    """Base-2 logarithm of a bound on the probability that some slot of a table's result is nearer to another entry."""
    largest_input_error: float | None
    """The largest root-mean-square error of input slots with which a table stays below `max_failure`."""

    def __str__(self) -> str:
        table = ""
        if self.largest_input_error is not None:
            table = (
                f"; some entry is wrong {failure_text(self.log2_failure)}, and inputs may err by "
                f"{self.largest_input_error:.2e}"
            )
        return f"functional bootstrap: {self.levels} levels, to level {self.level}, noise {self.noise:.2e}{table}."


class FunctionalBootstrapping:
    """Mixed into `Engine`."""

    _core: _core.Engine

    def functional_bootstrap(
        self,
        ciphertext: Ciphertext,
        function: Any,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[FunctionalOptions],
    ) -> Any:
        """Refresh a ciphertext and apply a lookup table or a function to every slot (functional bootstrapping).

        A table replaces `low + step * m` by `function[m]`, in real and imaginary parts alike. It also cleans: with
        `order=1` an error of the input is squared. Values count modulo `step * len(function)`, so sums before the
        table are sums modulo the number of entries.

        Parameters
        ----------
        ciphertext
            A ciphertext of any level, also 0.
        function
            A table of 2 to 256 numbers, or a callable with `interval=`: a smooth function of real numbers. A list of
            tables or callables gives a list of ciphertexts, in little more time than one: they share the exponential.
        bootstrap_key
            The key of a regular or a lossy bootstrap; a lossy one leaves more levels. Small keys as in `bootstrap`.
        low, step
            The value of the first entry and the distance of two values; 0 and 1 if not given.
        order
            The derivatives that are zero at the entries, 1 to 3. 1 is the default: no result leaves the range of the
            table. 2 and 3 take a level more and let inputs err a little more.
        imaginary
            Another function, or a list of as many, for imaginary parts. If not given, both parts have the same.
        interval
            The range `(a, b)` of the values, for a callable. Values outside give wrong results.
        bits
            The least precision of a callable, relative to its largest value; 20 if not given. More bits can take more
            levels.
        real
            True if all values are real: this saves almost half of the time. If not given, the engine uses what it
            knows of the ciphertext.
        target_level
            A lower level of the results, in less time.
        input_error
            A bound on the root-mean-square error of the input's slots. If not given, what the ciphertext states.
        max_failure
            The largest probability that any slot of a table's result is nearer to another entry; 2^-128 if not given.
        progress
            As in `bootstrap`.

        Returns
        -------
        Ciphertext or list of Ciphertext
            At the level `functional_estimate(...).level`.

        Raises
        ------
        NoiseError
            If the noise of the ciphertext is not known, or a table would be wrong more often than `max_failure`. The
            error names the largest input error that passes.
        RangeError
            If the ciphertext is known to hold values outside, or no series of the function has so many bits.
        LevelError
            If the function takes more levels than the key leaves.
        MissingKeyError, KeyMismatchError, ParameterError
            As in `bootstrap`; also for a set whose bootstrap has no exponential (SHIP).

        Notes
        -----
        eprint 2024/1623 and 2026/367. The exponential of eval_mod goes into a trigonometric polynomial; for order 1
        it is Fejer's kernel.
        """
        checks.known(options, FunctionalOptions)
        functional, single = _functional(function, options)
        found = bootstrap_keys(
            "bootstrap_key",
            bootstrap_key,
            small_bootstrap_key,
            options.get("rotation_key"),
            options.get("stage_count"),
        )
        error = options.get("input_error")
        results = self._core.functional_bootstrap(
            operands.ciphertext(ciphertext),
            functional,
            operands.relinearization_key(relinearization_key),
            operands.conjugation_key(conjugation_key),
            found.rotation,
            found.key,
            # A small key has all limbs.
            "regular" if found.key.size == "small" else found.key.method,
            found.stage_count,
            values.as_declared(options.get("real")),
            checks.optional_count("target_level", options.get("target_level")),
            None if error is None else checks.real("input_error", error),
            _probability(options.get("max_failure", MAX_FAILURE)),
            options.get("progress"),
        )
        return results[0] if single else results

    def functional_estimate(
        self,
        function: Any,
        input_error: float = 0.0,
        size: KeySize = "large",
        method: str = "regular",
        stage_count: int | None = None,
        **options: Unpack[FunctionOptions],
    ) -> FunctionalEstimate:
        """Forecast level, noise and failure probability of a functional bootstrap, without making a key.

        Parameters
        ----------
        input_error
            The root-mean-square error of the input's slots.
        size, method
            Those of the bootstrap key: "regular" or "lossy".

        Raises
        ------
        LevelError, ParameterError, RangeError
            As in `functional_bootstrap`.
        """
        checks.known(options, FunctionOptions)
        functional, _ = _functional(function, options)
        found = self._core.functional_estimate(
            functional,
            checks.string("method", method),
            checks.optional_count("stage_count", stage_count, 1),
            checks.string("size", size),
            bool(values.as_declared(options.get("real"))),
            checks.optional_count("target_level", options.get("target_level")),
            checks.real("input_error", input_error),
            _probability(options.get("max_failure", MAX_FAILURE)),
        )
        return FunctionalEstimate(
            found["level"], found["depth"], found["noise"], found["log2_failure"], found["largest_input_error"]
        )

    def decrypt_entries(
        self, ciphertext: Ciphertext, secret_key: SecretKey, entries: Iterable[float]
    ) -> NDArray[np.float64] | NDArray[np.complex128]:
        """Decrypt the result of a table to its exact entries. No error remains that could reveal anything.

        Parameters
        ----------
        entries
            The numbers that the slots may hold, as the table has them, in any order. Empty slots hold the entry of 0.

        Raises
        ------
        RangeError
            If a value is farther from every entry than a quarter of the least distance between two of them.
        """
        known = np.unique(_table(entries))
        vector = self.decrypt(ciphertext, secret_key)  # type: ignore[attr-defined]
        parts = [vector] if not np.iscomplexobj(vector) else [vector.real, vector.imag]
        found = [_nearest(part, known) for part in parts]
        return found[0] if len(found) == 1 else found[0] + 1j * found[1]


def _nearest(part: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.float64]:
    place = np.clip(np.searchsorted(known, part), 1, len(known) - 1)
    below, above = known[place - 1], known[place]
    found = np.where(part - below <= above - part, below, above)
    if np.abs(part - found).max() > np.diff(known).min() / 4:
        raise RangeError(
            "A value is too far from every entry, so its entry is not certain; give the entries of the table that made "
            "this ciphertext."
        )
    return found


def _functional(function: Any, options: Any) -> tuple[_core.Functional, bool]:
    """The functions of a call, and whether it gave one that is not in a list."""
    reals, single = _several("function", function)
    given = options.get("imaginary")
    imaginaries = reals if given is None else _several("imaginary", given)[0]
    if len(reals) != len(imaginaries):
        raise ParameterError(
            f"{len(reals)} functions of real parts and {len(imaginaries)} of imaginary parts; give as many of each."
        )
    smooth = [callable(one) for one in (*reals, *imaginaries)]
    if any(smooth) and not all(smooth):
        raise ParameterError("Tables and callables cannot be mixed in one call; call once for each kind.")
    if all(smooth):
        return _series(reals, imaginaries, options), single
    for name in ("interval", "bits"):
        if options.get(name) is not None:
            raise ParameterError(f"{name}= is for a callable; a table has low= and step=.")
    pairs = [(_table(re), _table(im)) for re, im in zip(reals, imaginaries, strict=True)]
    order = checks.count("order", options.get("order", 1), 1)
    low, step = checks.real("low", options.get("low", 0.0)), checks.real("step", options.get("step", 1.0))
    return _core.Functional.tables(pairs, low, step, order), single


def _series(reals: Sequence[Any], imaginaries: Sequence[Any], options: Any) -> _core.Functional:
    for name in ("low", "step", "order"):
        if options.get(name) is not None:
            raise ParameterError(f"{name}= is for a table; a callable has interval= and bits=.")
    interval = options.get("interval")
    if interval is None:
        raise ParameterError("A callable needs interval=(a, b), the range of the values in the slots.")
    low, high = (checks.real("interval", end) for end in interval)
    different = list(dict.fromkeys((*reals, *imaginaries)))
    bits = options.get("bits")
    found = fourier.fit(different, (low, high), _BITS if bits is None else values.as_bits("bits", bits))
    of = dict(zip(different, (list(c) for c in found.coefficients), strict=True))
    pairs = [(of[re], of[im]) for re, im in zip(reals, imaginaries, strict=True)]
    return _core.Functional.series(found.period, list(found.points), pairs)


def _several(name: str, function: Any) -> tuple[list[Any], bool]:
    """The functions of an argument, and whether it is a single one."""
    if callable(function):
        return [function], True
    try:
        members = list(function)
    except TypeError:
        raise TypeError(f"{name} is a table (numbers), a callable, or a list of them, not {function!r}.") from None
    if members and all(callable(one) or np.ndim(one) == 1 for one in members):
        return members, False
    return [members], True


def _table(entries: Iterable[float]) -> list[float]:
    vector = values.as_vector(list(entries), what="table")
    if np.iscomplexobj(vector):
        raise ParameterError("A table has real entries; give imaginary= for the other part of the slots.")
    return [float(entry) for entry in vector]


def _probability(value: Any) -> float:
    number = checks.real("max_failure", value)
    if not 0.0 < number <= 1.0:
        raise ParameterError(f"max_failure={value} is no probability above 0; give a number such as 2**-64.")
    return number

"""The comparisons of `Engine`: sign, compare, minimum, maximum and relu on encrypted real numbers.

The sign function is approximated by a composition of odd polynomials, each the best of its degree (eprint 2020/834).
`tools/fit_sign.py` computes them. A bootstrap runs between two polynomials where the levels run out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from aglet import _core, checks
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey
from aglet.ckks import operands, signs, values
from aglet.errors import LevelError, ParameterError, RangeError
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Comparison", "ComparisonPlan", "Operation", "sign_polynomials"]

Operation = Literal["sign", "compare", "minimum", "maximum", "relu"]

# Those that multiply by the sign in the end.
_SELECTING = ("minimum", "maximum", "relu")
_TWO_INPUTS = ("minimum", "maximum")
_ALPHA, _ERROR_BITS = 8, 20
_METHODS = ("regular", "lossy")
"""The bootstraps that give the message back as it is."""


class ComparisonOptions(TypedDict, total=False):
    """What every comparison takes by name; `Comparison` says what it means."""

    alpha: int
    error_bits: int
    real: bool | None
    progress: ProgressCallback | None


@dataclass(frozen=True)
class ComparisonPlan:
    """The cost and the error of a comparison, before anything is computed."""

    operation: str
    alpha: int
    """The sign of a value is decided if its size is 2^-alpha or more."""
    error: float
    """The largest error of a decided sign, without the noise of encryption (about 2^-22)."""
    degrees: tuple[int, ...]
    """The degrees of the odd polynomials, in the order of their evaluation."""
    levels: int
    """The levels that all polynomials use together, with the product of a selection."""
    level_in: int
    level_out: int
    bootstraps: int
    refreshed: tuple[int, ...]
    """The indices of the polynomials that a bootstrap runs before; the first polynomial has index 0."""

    def __str__(self) -> str:
        times = "no bootstrap" if not self.bootstraps else f"{self.bootstraps} bootstrap{'s' * (self.bootstraps > 1)}"
        return (
            f"{self.operation} of values from 2^-{self.alpha}: polynomials of degree "
            f"{', '.join(map(str, self.degrees))} in {self.levels} levels, error {self.error:.2g}, level "
            f"{self.level_in} to level {self.level_out} with {times}."
        )


def sign_polynomials(alpha: int, error_bits: int) -> list[list[float]]:
    """The odd Chebyshev coefficients of the polynomials that are composed to this sign."""
    found: list[list[float]] = signs.row(alpha, error_bits)["polynomials"]
    return found


def _make_plan(operation: str, alpha: int, error_bits: int, level: int, refreshed_level: int | None) -> ComparisonPlan:
    """Place each bootstrap as late as the levels allow. `refreshed_level` is None without bootstraps."""
    row = signs.row(alpha, error_bits)
    depths = [signs.depth(polynomial) for polynomial in row["polynomials"]]
    needs = [*depths[:-1], depths[-1] + (operation in _SELECTING)]
    now, refreshed, count = level, [], 0
    for i, (need, depth) in enumerate(zip(needs, depths, strict=True)):
        if now < need:
            if refreshed_level is None or refreshed_level < need:
                what = f"This {operation} uses {sum(needs)} levels and the values are at level {level}"
                raise LevelError(
                    f"{what}; give the conjugation key and the bootstrap key too, of an engine with "
                    "use_bootstrap=True (a session has them from engine.create_keys()), or encrypt at a higher level."
                    if refreshed_level is None
                    else f"{what}, and one of its polynomials {need}, where this bootstrap leaves {refreshed_level}; "
                    "take a smaller alpha=, or an engine whose bootstrap leaves more, as use_bootstrap=True does."
                )
            now, count = refreshed_level, count + (2 if i == 0 and operation in _TWO_INPUTS else 1)
            refreshed.append(i)
        now -= depth
    if operation in _SELECTING:
        # The values themselves are multiplied in the end.
        now = min(now, level if 0 not in refreshed else refreshed_level or 0) - 1
    degrees = tuple(2 * len(polynomial) - 1 for polynomial in row["polynomials"])
    levels, error = (sum(needs), level, now), max(row["error"], 2.0**-22)
    return ComparisonPlan(operation, int(alpha), error, degrees, *levels, count, tuple(refreshed))


class Comparison:
    """Mixed into `Engine`.

    All functions take real values in [-1, 1] and the keys of a bootstrap, regular or lossy. The keys may be left out if
    no bootstrap is needed. The other arguments, by name, are:

    alpha
        The threshold, 3 to 12; 8 if not given. A value closer to 0 than 2^-alpha is undecided: its result lies between
        those of the two sides. Two inputs are undecided if their distance is below 2^(1 - alpha).
    error_bits
        The precision, 12 or 20; 20 if not given. A decided sign is wrong by at most 2^-error_bits.
    real
        True declares that a ciphertext holds real values although it is not marked real. Without it such a ciphertext
        is refused.

    Values outside of [-1, 1] give meaningless results. They are refused with a RangeError before anything is computed
    if the engine knows that they are outside, or may be outside by their declared `bound`. As in `bootstrap`, the
    engine knows values that this process encrypted.
    """

    _core: _core.Engine
    _max_level: int

    def comparison_plan(
        self,
        alpha: int = _ALPHA,
        *,
        error_bits: int = _ERROR_BITS,
        operation: Operation = "sign",
        level: int | None = None,
        stage_count: int | None = None,
        method: Literal["regular", "lossy"] = "regular",
    ) -> ComparisonPlan:
        """Levels, bootstraps and error of a comparison. Nothing is computed.

        Parameters
        ----------
        operation
            "sign", "compare", "minimum", "maximum" or "relu".
        level
            The level of the input, for two inputs the lower one; `max_level` if not given.
        stage_count
            The number of stages of the bootstrap key; if not given, the default of `create_bootstrap_key`.
        method
            "regular" or "lossy", that of the bootstrap key. A bootstrap with a lossy key leaves more levels.

        Raises
        ------
        ParameterError
            If there is no such comparison.
        LevelError
            If a bootstrap is needed and the engine has none.

        Examples
        --------
        >>> from aglet import Engine
        >>> print(Engine(max_level=17).comparison_plan(alpha=8))
        sign of values from 2^-8: polynomials of degree 15, 15, 31 in 13 levels, error 2.4e-07, \
level 17 to level 4 with no bootstrap.
        """
        checks.choice("operation", operation, get_args(Operation))
        level, stages = values.as_level(level, self._max_level), checks.optional_count("stage_count", stage_count, 1)
        key = checks.choice("method", method, _METHODS)
        try:
            refreshed: int | None = self._core.bootstrap_output_level(key, stages, "large")
        except ParameterError:
            refreshed = None
        return _make_plan(operation, alpha, error_bits, level, refreshed)

    def sign(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[ComparisonOptions],
    ) -> Ciphertext:
        """Compute 1 for positive values and -1 for negative ones, if they are at least 2^-alpha from 0.

        Values nearer to 0 give results between -1 and 1. `comparison_plan` returns the error, the levels and the number
        of bootstraps. From level 10, alpha up to 5 needs no bootstrap and alpha up to 12 needs one.

        Parameters
        ----------
        conjugation_key, bootstrap_key
            May be left out if no bootstrap is needed.
        alpha, error_bits
            The threshold and the error, see `comparison_plan`.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work stops.

        Raises
        ------
        LevelError
            If a bootstrap is needed and its keys are not given. The message names the levels.
        ParameterError
            If there is no such alpha or error.
        """
        run = _Run(self._core, (relinearization_key, conjugation_key, bootstrap_key), options)
        return run.within(run.sign("sign", run.checked(ciphertext), 1.0, 0.0), 1.0)

    def compare(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[ComparisonOptions],
    ) -> Ciphertext:
        """Compute 1 where `left > right`, 0 where `left < right`, and 0.5 where they are equal.

        Values that are less than 2^(1 - alpha) apart give results between 0 and 1. Parameters, bootstraps and errors
        are as in `sign`; the error of a decided result is half of that of `sign`.
        """
        run = _Run(self._core, (relinearization_key, conjugation_key, bootstrap_key), options)
        difference = self._core.sub(run.checked(left), run.checked(right))
        return run.within(run.sign("compare", difference, 0.5, 0.5), 1.0)

    def maximum(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[ComparisonOptions],
    ) -> Ciphertext:
        """Compute the larger of two values, as `numpy.maximum` does.

        Two values that are closer than 2^(1 - alpha) give a result that is wrong by at most 2^-alpha. Other results are
        wrong by at most the error of `sign`. Uses one level more than `sign`. If the first step is a bootstrap, both
        inputs are bootstrapped. Parameters and errors as in `sign`.
        """
        run = _Run(self._core, (relinearization_key, conjugation_key, bootstrap_key), options)
        return run.within(run.select("maximum", run.checked(left), run.checked(right), 0.5), left, right)

    def minimum(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[ComparisonOptions],
    ) -> Ciphertext:
        """Compute the smaller of two values, as `numpy.minimum` does. All else as in `maximum`."""
        run = _Run(self._core, (relinearization_key, conjugation_key, bootstrap_key), options)
        return run.within(run.select("minimum", run.checked(left), run.checked(right), -0.5), left, right)

    max = maximum
    min = minimum

    def relu(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        **options: Unpack[ComparisonOptions],
    ) -> Ciphertext:
        """Compute `max(x, 0)`: positive values stay, negative ones become 0.

        A value closer to 0 than 2^-alpha gives a result that is wrong by at most 2^-(alpha + 1). Other results are
        wrong by at most half the error of `sign`. Uses one level more than `sign`. Parameters and errors as in `sign`.
        """
        run = _Run(self._core, (relinearization_key, conjugation_key, bootstrap_key), options)
        return run.within(run.relu(run.checked(ciphertext)), ciphertext)


def _output_level(core: _core.Engine, key: BootstrapKey) -> int:
    return core.bootstrap_output_level(key.method, key.stage_count, key.size)


class _Run:
    """One comparison: its keys and its polynomials."""

    def __init__(self, core: _core.Engine, keys: tuple[Any, Any, Any], options: Mapping[str, Any]) -> None:
        checks.known(options, ComparisonOptions)
        relinearization_key, conjugation_key, bootstrap_key = keys
        self.core, self.relin = core, operands.relinearization_key(relinearization_key)
        self.keys: tuple[ConjugationKey, BootstrapKey] | None = None
        if conjugation_key is not None or bootstrap_key is not None:
            key = checks.need(bootstrap_key, BootstrapKey, "engine.create_bootstrap_key(secret_key)")
            self.keys = (operands.conjugation_key(conjugation_key), key)
            if key.method not in _METHODS or key.size == "small":
                raise ParameterError(
                    f"This is a {key.size} {key.method} bootstrap key, and a comparison needs a large or medium one; "
                    "make it with engine.create_bootstrap_key(secret_key)."
                )
        self.alpha, self.error_bits = options.get("alpha", _ALPHA), options.get("error_bits", _ERROR_BITS)
        self.real = values.as_declared(options.get("real"))
        self.polynomials = signs.row(self.alpha, self.error_bits)["polynomials"]
        self.progress = checks.callback(options.get("progress"))

    def checked(self, value: Any) -> Ciphertext:
        """Check a ciphertext: its values are real, as only these are ordered, and not known to be too large."""
        ciphertext = operands.ciphertext(value)
        if not (ciphertext.is_real or self.real):
            raise RangeError(
                "Only real values can be compared, and this ciphertext may have imaginary parts; encrypt values of a "
                "real dtype, or give real=True if you know that all values are real."
            )
        self.core.check_compared(ciphertext)
        return ciphertext

    def within(self, result: Ciphertext, *largest: Ciphertext | float) -> Ciphertext:
        """Note the bound of a result. The polynomials alone would not show it."""
        sizes = [one if isinstance(one, float) else one.bound for one in largest]
        if any(size is None for size in sizes):
            return result
        error = max(signs.row(self.alpha, self.error_bits)["error"], 2.0**-22)
        return self.core.assume(result, max(size for size in sizes if size is not None) + error)

    def plan(self, operation: str, level: int) -> ComparisonPlan:
        refreshed = None if self.keys is None else _output_level(self.core, self.keys[1])
        return _make_plan(operation, self.alpha, self.error_bits, level, refreshed)

    def refresh(self, ciphertext: Ciphertext, bound: float | None = None) -> Ciphertext:
        """Bootstrap: the one place where a comparison does. The values are real, marked so or not."""
        assert self.keys is not None, "a plan with bootstraps has keys"
        conjugation, key = self.keys
        limit = 1.0 if bound is None else bound
        return self.core.bootstrap(
            [ciphertext], self.relin, conjugation, None, key, key.method, key.stage_count, limit, True, None
        )[0]

    def sign(self, operation: str, x: Ciphertext, factor: float, constant: float) -> Ciphertext:
        """Compute `factor * sign + constant`. For two inputs `x` is their difference, and the variable is its half."""
        plan = self.plan(operation, x.level)
        is_difference = operation == "compare"
        if 0 in plan.refreshed:
            self.progress(0, len(self.polynomials), "bootstrap")
            x = self.refresh(x, 2.0 if is_difference else None)
        return self.compose(plan, x, is_difference, factor, constant)

    def compose(
        self, plan: ComparisonPlan, x: Ciphertext, is_difference: bool, factor: float, constant: float
    ) -> Ciphertext:
        """Evaluate all polynomials, with the bootstraps after the first."""
        total = len(self.polynomials)
        for i, odd in enumerate(self.polynomials):
            if i and i in plan.refreshed:
                self.progress(i, total, "bootstrap")
                x = self.refresh(x)
            self.progress(i, total, "polynomial")
            coefficients = signs.full(odd).astype(complex)
            if i == total - 1:
                coefficients *= factor
                coefficients[0] = constant
            basis = "half-chebyshev" if i == 0 and is_difference else "chebyshev"
            x = self.core.evaluate_polynomial(x, coefficients, basis, self.relin)
        self.progress(total, total, "polynomial")
        return x

    def select(self, operation: str, left: Ciphertext, right: Ciphertext, half: float) -> Ciphertext:
        """`(left + right) / 2 + half * |left - right|`."""
        plan = self.plan(operation, min(left.level, right.level))
        if 0 in plan.refreshed:
            self.progress(0, len(self.polynomials), "bootstrap")
            left, right = self.refresh(left), self.refresh(right)
        difference = self.core.sub(left, right)
        sign = self.compose(plan, difference, True, half, 0.0)
        distance = self.core.multiply(difference, sign, self.relin)
        return self.core.add(distance, self.core.multiply_scalar(self.core.add(left, right), 0.5))

    def relu(self, x: Ciphertext) -> Ciphertext:
        """`x * (sign + 1) / 2`."""
        plan = self.plan("relu", x.level)
        if 0 in plan.refreshed:
            self.progress(0, len(self.polynomials), "bootstrap")
            x = self.refresh(x)
        return self.core.multiply(x, self.compose(plan, x, False, 0.5, 0.5), self.relin)

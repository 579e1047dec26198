"""The part of `Engine` that compares: sign, compare, minimum, maximum and relu on encrypted real numbers.

The sign is a composition of odd polynomials, each the best of its degree (eprint 2020/834), made by
`tools/fit_sign.py`, with bootstraps between them where levels run out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from aglet import _core, checks
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey
from aglet.ckks import operands, signs, values
from aglet.errors import LevelError, ParameterError, RangeError
from aglet.progress import ProgressCallback

__all__ = ["Comparison", "ComparisonPlan", "Operation", "sign_polynomials"]

Operation = Literal["sign", "compare", "minimum", "maximum", "relu"]

_OPERATIONS = ("sign", "compare", "minimum", "maximum", "relu")
# Those that multiply by the sign in the end.
_SELECTING = ("minimum", "maximum", "relu")
_TWO_INPUTS = ("minimum", "maximum")


@dataclass(frozen=True)
class ComparisonPlan:
    """What a comparison takes and gives, before anything is computed."""

    operation: str
    alpha: int
    """Signs of values of size 2^-alpha or more are decided."""
    error: float
    """The largest error of a decided sign, beside the noise of encryption (about 2^-22)."""
    degrees: tuple[int, ...]
    """Of the odd polynomials, in the order of their evaluation."""
    levels: int
    """Taken by all polynomials together, and by the product of a selection."""
    level_in: int
    level_out: int
    bootstraps: int
    refreshed: tuple[int, ...]
    """The polynomials (0 for the first) before which a bootstrap stands."""

    def __str__(self) -> str:
        times = "no bootstrap" if not self.bootstraps else f"{self.bootstraps} bootstrap{'s' * (self.bootstraps > 1)}"
        return (
            f"{self.operation} of values from 2^-{self.alpha}: polynomials of degree "
            f"{', '.join(map(str, self.degrees))} in {self.levels} levels, error {self.error:.2g}, "
            f"level {self.level_in} to level {self.level_out} with {times}."
        )


def sign_polynomials(alpha: int, error_bits: int) -> list[list[float]]:
    """The odd coefficients, in Chebyshev's basis, of the polynomials whose composition is that sign."""
    found: list[list[float]] = signs.row(alpha, error_bits)["polynomials"]
    return found


def _make_plan(operation: str, alpha: int, error_bits: int, level: int, refreshed_level: int | None) -> ComparisonPlan:
    """Place the bootstraps: each as late as the levels allow. `refreshed_level` is None without bootstraps."""
    row = signs.row(alpha, error_bits)
    depths = [signs.depth(polynomial) for polynomial in row["polynomials"]]
    needs = [*depths[:-1], depths[-1] + (operation in _SELECTING)]
    now, refreshed, count = level, [], 0
    for i, (need, depth) in enumerate(zip(needs, depths, strict=True)):
        if now < need:
            if refreshed_level is None or refreshed_level < need:
                raise LevelError(
                    f"This {operation} takes {sum(needs)} levels and the values are at level {level}: give the "
                    "conjugation key and the bootstrap key too, or encrypt at a higher level."
                )
            now, count = refreshed_level, count + (2 if i == 0 and operation in _TWO_INPUTS else 1)
            refreshed.append(i)
        now -= depth
    if operation in _SELECTING:
        # The values themselves are multiplied in the end.
        now = min(now, level if 0 not in refreshed else refreshed_level or 0) - 1
    return ComparisonPlan(
        operation=operation,
        alpha=int(alpha),
        error=max(row["error"], 2.0**-22),
        degrees=tuple(2 * len(polynomial) - 1 for polynomial in row["polynomials"]),
        levels=sum(needs),
        level_in=level,
        level_out=now,
        bootstraps=count,
        refreshed=tuple(refreshed),
    )


class Comparison:
    """Mixed into `Engine`.

    All functions take real values in [-1, 1], the keys of a bootstrap (which may be left out where no bootstrap is
    needed), and:

    alpha
        Signs of values closer to 0 than 2^-alpha are undecided: the result lies between those of the two sides. For two
        inputs this is a distance of 2^(1 - alpha). 3 to 12.
    error_bits
        A decided sign is wrong by at most 2^-error_bits: 12 or 20.
    real
        True says that a ciphertext which is not marked real holds real values; any other such one is refused.

    Values that are known to be beyond [-1, 1], or may be by the `bound` that was declared for them, are refused with a
    RangeError before anything is computed; what is known is what this process encrypted, as in `bootstrap`. Others
    give results without meaning.
    """

    _core: _core.Engine
    _max_level: int

    def comparison_plan(
        self,
        alpha: int = 8,
        *,
        error_bits: int = 20,
        operation: Operation = "sign",
        level: int | None = None,
        stage_count: int = 3,
    ) -> ComparisonPlan:
        """Levels, bootstraps and error of a comparison. Nothing is computed.

        Parameters
        ----------
        operation
            "sign", "compare", "minimum", "maximum" or "relu".
        level
            Of the values that go in, the lower of two; `max_level` if not given.
        stage_count
            Of the bootstrap key.

        Raises
        ------
        ParameterError
            If there is no such comparison.
        LevelError
            If it needs a bootstrap and the engine has none.

        Examples
        --------
        >>> from aglet import Engine
        >>> print(Engine(max_level=17).comparison_plan(alpha=8))
        sign of values from 2^-8: polynomials of degree 15, 15, 31 in 13 levels, error 2.4e-07, \
level 17 to level 4 with no bootstrap.
        """
        if checks.word("operation", operation) not in _OPERATIONS:
            raise ParameterError(f'There is no operation "{operation}"; choose one of {", ".join(_OPERATIONS)}.')
        level, stages = values.as_level(level, self._max_level), checks.count("stage_count", stage_count, 1)
        try:
            refreshed: int | None = self._core.bootstrap_output_level("regular", stages, "large")
        except ParameterError:
            refreshed = None
        return _make_plan(operation, alpha, error_bits, level, refreshed)

    def sign(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        *,
        alpha: int = 8,
        error_bits: int = 20,
        real: bool | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """1 for positive values and -1 for negative ones, if they are 2^-alpha from 0 at least.

        Values nearer to 0 give results between -1 and 1. `comparison_plan` tells the error, the levels and the number
        of bootstraps: from level 10 none up to alpha = 5 and one up to alpha = 12.

        Parameters
        ----------
        conjugation_key, bootstrap_key
            May be left out where no bootstrap is needed.
        alpha, error_bits
            The threshold and the error, see `comparison_plan`.
        progress
            Called as `progress(done, total, what)`; an exception from it stops the work.

        Raises
        ------
        LevelError
            If a bootstrap is needed and its keys are not given; the sentence names the levels.
        ParameterError
            If there is no such alpha or error.
        """
        run = _Run(self._core, relinearization_key, conjugation_key, bootstrap_key, alpha, error_bits, real, progress)
        return run.within(run.sign("sign", run.checked(ciphertext), 1.0, 0.0), 1.0)

    def compare(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        *,
        alpha: int = 8,
        error_bits: int = 20,
        real: bool | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """1 where `left > right`, 0 where `left < right`, if they are 2^(1 - alpha) apart at least; 0.5 if equal.

        Parameters, bootstraps and errors as in `sign`; half its error.
        """
        run = _Run(self._core, relinearization_key, conjugation_key, bootstrap_key, alpha, error_bits, real, progress)
        difference = self._core.sub(run.checked(left), run.checked(right))
        return run.within(run.sign("compare", difference, 0.5, 0.5), 1.0)

    def maximum(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        *,
        alpha: int = 8,
        error_bits: int = 20,
        real: bool | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """The larger of two values, as `numpy.maximum`.

        Values that are closer than 2^(1 - alpha) are as good as equal: the result is off by 2^-alpha at most, and by
        the error of `sign` otherwise. One level more than `sign`. Where a bootstrap stands first, both inputs are
        refreshed. Parameters and errors as in `sign`.
        """
        run = _Run(self._core, relinearization_key, conjugation_key, bootstrap_key, alpha, error_bits, real, progress)
        return run.within(run.select("maximum", run.checked(left), run.checked(right), 0.5), left, right)

    def minimum(
        self,
        left: Ciphertext,
        right: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        *,
        alpha: int = 8,
        error_bits: int = 20,
        real: bool | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """The smaller of two values, as `numpy.minimum`; all else as in `maximum`."""
        run = _Run(self._core, relinearization_key, conjugation_key, bootstrap_key, alpha, error_bits, real, progress)
        return run.within(run.select("minimum", run.checked(left), run.checked(right), -0.5), left, right)

    max = maximum
    min = minimum

    def relu(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey | None = None,
        bootstrap_key: BootstrapKey | None = None,
        *,
        alpha: int = 8,
        error_bits: int = 20,
        real: bool | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """`max(x, 0)`: positive values stay, negative ones become 0.

        Off by 2^-(alpha + 1) at most for values nearer to 0 than 2^-alpha, and by half the error of `sign` otherwise.
        One level more than `sign`. Parameters and errors as in `sign`.
        """
        run = _Run(self._core, relinearization_key, conjugation_key, bootstrap_key, alpha, error_bits, real, progress)
        return run.within(run.relu(run.checked(ciphertext)), ciphertext)


def _output_level(core: _core.Engine, key: BootstrapKey) -> int:
    return core.bootstrap_output_level("regular", key.stage_count, key.size)


class _Run:
    """One comparison: its keys and its polynomials."""

    def __init__(
        self,
        core: _core.Engine,
        relinearization_key: Any,
        conjugation_key: Any,
        bootstrap_key: Any,
        alpha: int,
        error_bits: int,
        real: bool | None,
        progress: ProgressCallback | None,
    ) -> None:
        self.core = core
        self.relin = operands.relinearization_key(relinearization_key)
        self.keys: tuple[ConjugationKey, BootstrapKey] | None = None
        if conjugation_key is not None or bootstrap_key is not None:
            key = checks.need(bootstrap_key, BootstrapKey, "engine.create_bootstrap_key(secret_key)")
            self.keys = (operands.conjugation_key(conjugation_key), key)
            if (key.method, key.size == "small") != ("regular", False):
                raise ParameterError(
                    f"This is a {key.size} {key.method} bootstrap key, and a comparison bootstraps with a large or "
                    "medium regular one; make it with engine.create_bootstrap_key(secret_key)."
                )
        self.alpha, self.error_bits, self.real = alpha, error_bits, values.as_declared(real)
        self.polynomials = signs.row(alpha, error_bits)["polynomials"]
        self.progress = checks.callback(progress)

    def checked(self, value: Any) -> Ciphertext:
        """A ciphertext of real values, as order is theirs alone, that are not known to be too large."""
        ciphertext = operands.ciphertext(value)
        if not (ciphertext.is_real or self.real):
            raise RangeError(
                "Only real values are compared, and this ciphertext may have imaginary parts; encrypt values of a real "
                "dtype, or give real=True if you know that all values are real."
            )
        self.core.check_compared(ciphertext)
        return ciphertext

    def within(self, result: Ciphertext, *largest: Ciphertext | float) -> Ciphertext:
        """A result, which is no larger than these but for the error of a sign; polynomials alone would not tell."""
        sizes = [one if isinstance(one, float) else one.bound for one in largest]
        if any(size is None for size in sizes):
            return result
        error = max(signs.row(self.alpha, self.error_bits)["error"], 2.0**-22)
        return self.core.assume(result, max(size for size in sizes if size is not None) + error)

    def plan(self, operation: str, level: int) -> ComparisonPlan:
        refreshed = None if self.keys is None else _output_level(self.core, self.keys[1])
        return _make_plan(operation, self.alpha, self.error_bits, level, refreshed)

    def refresh(self, ciphertext: Ciphertext, bound: float | None = None) -> Ciphertext:
        """The one place where a comparison bootstraps; values are real, known of the ciphertext or not."""
        assert self.keys is not None, "a plan with bootstraps has keys"
        conjugation, key = self.keys
        limit = 1.0 if bound is None else bound
        return self.core.bootstrap(
            [ciphertext], self.relin, conjugation, None, key, "regular", key.stage_count, limit, True, None
        )[0]

    def sign(self, operation: str, x: Ciphertext, factor: float, constant: float) -> Ciphertext:
        """`factor * sign + constant`. Of a difference for two inputs, whose half is the variable."""
        plan = self.plan(operation, x.level)
        is_difference = operation == "compare"
        if 0 in plan.refreshed:
            self.progress(0, len(self.polynomials), "bootstrap")
            x = self.refresh(x, 2.0 if is_difference else None)
        return self.compose(plan, x, is_difference, factor, constant)

    def compose(
        self, plan: ComparisonPlan, x: Ciphertext, is_difference: bool, factor: float, constant: float
    ) -> Ciphertext:
        """All polynomials, with the bootstraps after the first."""
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

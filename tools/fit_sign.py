#!/usr/bin/env python3
"""Fit the compositions of odd polynomials that compare encrypted numbers, and write them as JSON.

The sign of x in [-1, 1], |x| >= 2^-alpha, is approximated by p_k(...p_2(p_1(x))) with odd polynomials (Lee, Lee, No,
Kim, "Minimax approximation of sign function by composite polynomial", eprint 2020/834; composition: Cheon, Kim, Kim,
eprint 2019/1234).  Each p_i is the best odd polynomial of its degree for the constant 1 on [t_i, 1]:

    t_1 = 2^-alpha,    p_i([t_i, 1]) within [1 - e_i, 1 + e_i],    t_(i+1) = (1 - e_i) f_i - noise,

where all p_i but the last are multiplied by f_i = (1 - noise) / (1 + e_i), so that values with `noise` on top stay in
[-1, 1], as a bootstrap between two of them wants.  By the theorem of Chebyshev such a polynomial of n coefficients is the best
one exactly if its error takes its largest value n + 1 times with alternating signs; Remez' algorithm finds it, in the Chebyshev
basis in doubles (all systems are small and well conditioned there).

A polynomial of degree 3, 7, 15, 31, 63 takes 2, 3, 4, 5, 6 levels.  For each (alpha, error) the degrees are those with the
fewest bootstraps for an engine that has LEVELS levels after each, then the fewest levels, then the fewest
relinearizations, among the WIDTH best compositions of each depth.

    fit_sign.py             fit and write python/aglet/ckks/sign_polynomials.json
    fit_sign.py --check     verify the file: alternation of every polynomial, and every composition with noise added
"""

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
from numpy.polynomial import chebyshev

FILE = Path(__file__).resolve().parent.parent / "python/aglet/ckks/sign_polynomials.json"
ALPHAS = range(3, 13)
ERRORS = (12, 20)  # -log2 of the error
NOISE = 2.0**-17  # added to values between two polynomials: the worst slot of a bootstrap is better
LEVELS = 10
WIDTH = 8
DEPTH = {3: 2, 7: 3, 15: 4, 31: 5, 63: 6}
PRODUCTS = {3: 2, 7: 4, 15: 6, 31: 9, 63: 14}  # relinearizations


def grid(low: float, count: int = 4000) -> np.ndarray:
    """Points of [low, 1], dense at its lower end in every scale and at its upper end like Chebyshev points."""
    ratio = np.linspace(0, 1, count)
    chebyshev_points = (1 + low) / 2 - (1 - low) / 2 * np.cos(np.pi * ratio)
    return np.unique(np.concatenate([low * (1 / low) ** ratio, chebyshev_points]).clip(low, 1))


def error_of(odd: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 - p(x) for the coefficients of T_1, T_3, ..."""
    full = np.zeros(2 * len(odd))
    full[1::2] = odd
    return 1 - chebyshev.chebval(x, full)


def alternation(error: np.ndarray) -> list[int]:
    """Places of the extreme values between changes of sign, one for each run of a sign."""
    turns = np.flatnonzero(np.diff(np.sign(error))) + 1
    return [int(run[np.argmax(np.abs(error[run]))]) for run in np.split(np.arange(len(error)), turns)]


def refined(error: np.ndarray, x: np.ndarray, places: list[int]) -> np.ndarray:
    """The extrema near these places, each the vertex of the parabola through three points."""
    inner = np.array(places).clip(1, len(x) - 2)
    (a, b, c), (ea, eb, ec) = ([v[inner + i] for i in (-1, 0, 1)] for v in (x, error))
    left, right = (eb - ea) / (b - a), (ec - eb) / (c - b)
    curve = (right - left) / (c - a)
    vertex = (a + b) / 2 - left / (2 * np.where(curve == 0, 1, curve))
    at_end = (np.array(places) != inner) | (curve == 0) | (vertex < a) | (vertex > c)
    return np.where(at_end, x[places], vertex)


def best_odd(low: float, degree: int) -> tuple[np.ndarray, float]:
    """Remez: the best odd polynomial of a degree for 1 on [low, 1], and its error."""
    count = (degree + 1) // 2
    x = grid(low)
    points = low * (1 / low) ** ((1 - np.cos(np.pi * np.arange(count + 1) / count)) / 2)
    signs = (-1.0) ** np.arange(count + 1)
    for _ in range(30):
        rows = np.cos(np.outer(np.arccos(points), np.arange(1, degree + 1, 2)))
        solution = np.linalg.solve(np.column_stack([rows, signs]), np.ones(count + 1))
        odd, level = solution[:-1], abs(solution[-1])
        error = error_of(odd, x)
        places = alternation(error)
        while len(places) > count + 1:
            places.pop(0 if abs(error[places[0]]) < abs(error[places[-1]]) else -1)
        if len(places) < count + 1:
            break
        points = refined(error, x, places)
        largest = np.abs(error_of(odd, points)).max()
        if largest - level < 1e-5 * largest + 1e-14:
            return odd, float(largest)
    raise ArithmeticError(f"Remez does not converge for degree {degree} on [{low}, 1]")


class Fitter:
    """Best polynomials, each computed once."""

    def __init__(self) -> None:
        self.known: dict[tuple[float, int], tuple[np.ndarray, float] | None] = {}

    def step(self, low: float, degree: int) -> tuple[np.ndarray, float] | None:
        key = (low, degree)
        if key not in self.known:
            try:
                self.known[key] = best_odd(low, degree)
            except (ArithmeticError, np.linalg.LinAlgError):
                self.known[key] = None
        return self.known[key]


def after(error: float) -> tuple[float, float]:
    """The factor of a polynomial that is not the last one, and the lower end that it leaves."""
    factor = (1 - NOISE) / (1 + error)
    return factor, (1 - error) * factor - NOISE


def compositions(fitter: Fitter, alpha: int, bits: int) -> list[tuple[int, ...]]:
    """Degrees that reach the error in the fewest levels or one more."""
    by_depth: dict[int, list[tuple[tuple[int, ...], float]]] = {0: [((), 2.0**-alpha)]}
    found: list[tuple[int, ...]] = []
    first = 0
    for depth in range(2, 40):
        candidates = []
        for degree, levels in DEPTH.items():
            for degrees, low in by_depth.get(depth - levels, []):
                step = fitter.step(low, degree)
                if step is not None:
                    candidates.append((step[1], degrees + (degree,)))
        candidates.sort()
        found += [degrees for error, degrees in candidates if error <= 2.0**-bits]
        if found and not first:
            first = depth
        if first and depth > first:
            return found
        by_depth[depth] = [(d, after(e)[1]) for e, d in candidates if after(e)[1] > 0][:WIDTH]
    raise ArithmeticError(f"no composition for alpha = {alpha}")


def bootstraps(degrees: tuple[int, ...], level: int) -> int:
    """How many are needed from a level when each leaves LEVELS."""
    count = 0
    for degree in degrees:
        if level < DEPTH[degree]:
            level, count = LEVELS, count + 1
        level -= DEPTH[degree]
    return count


def cost(degrees: tuple[int, ...]) -> tuple[int, ...]:
    """What is minimized, in order: bootstraps from the top and from level 0, levels, products."""
    counts = bootstraps(degrees, LEVELS) + bootstraps(degrees, 0)
    return counts, sum(DEPTH[d] for d in degrees), sum(PRODUCTS[d] for d in degrees)


def fit(alpha: int, bits: int, fitter: Fitter) -> dict[str, object]:
    """One row of the file: the composition for a threshold and an error."""
    degrees = min(compositions(fitter, alpha, bits), key=cost)
    low, polynomials = 2.0**-alpha, []
    for i, degree in enumerate(degrees):
        step = fitter.step(low, degree)
        assert step is not None
        odd, error = step
        factor, low = after(error)
        polynomials.append([float(c) for c in (odd if i == len(degrees) - 1 else odd * factor)])
    return {"alpha": alpha, "error_bits": bits, "error": error, "polynomials": polynomials}


def check(row: dict, random: np.random.Generator) -> str:
    """Verify one row without trusting the fit; returns what is wrong, or nothing."""
    low, polynomials = 2.0 ** -row["alpha"], [np.array(p) for p in row["polynomials"]]
    for i, scaled in enumerate(polynomials):
        x = grid(low, 20000)
        values = 1 - error_of(scaled, x)
        # A factor on the whole does not change where the error alternates: undo it.
        factor = 1.0 if i == len(polynomials) - 1 else (values.max() + values.min()) / 2
        error = values / factor - 1
        peaks = np.abs(error[alternation(error)])
        if len(peaks) < len(scaled) + 1 or peaks.min() < 0.98 * peaks.max():
            return f"polynomial {i + 1} is not the best one: {len(peaks)} extrema, {peaks.min() / peaks.max():.4f}"
        if i < len(polynomials) - 1:
            if values.max() > 1 - 0.9 * NOISE:
                return f"polynomial {i + 1} leaves [-1, 1]"
            low = values.min() - NOISE
    x = grid(2.0 ** -row["alpha"], 200000)
    for sign in (1, -1):
        y = sign * x
        for i, scaled in enumerate(polynomials):
            full = np.zeros(2 * len(scaled))
            full[1::2] = scaled
            y = chebyshev.chebval(y if i == 0 else y + random.uniform(-NOISE, NOISE, y.size), full)
        worst = np.abs(y - sign).max()
        if worst > 2.0 ** -row["error_bits"] or worst > 1.02 * row["error"] + 1e-12:
            return f"the composition is off by {worst:.3g}"
    inside = np.linspace(-(2.0 ** -row["alpha"]), 2.0 ** -row["alpha"], 4001)
    for scaled in polynomials:
        inside = 1 - error_of(scaled, inside)
    if np.abs(inside).max() > 1 + 2.0 ** -row["error_bits"] or np.any(np.diff(inside) < -1e-12):
        return "undecided values do not go from -1 to 1 in order"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="verify the file instead of writing it")
    parser.add_argument("--out", type=Path, default=FILE, help="the file to write or to verify")
    options = parser.parse_args()
    if options.check:
        rows = json.loads(options.out.read_text())["rows"]
        random = np.random.default_rng(1)
        wrong = [(r["alpha"], r["error_bits"], what) for r in rows if (what := check(r, random))]
        for alpha, bits, what in wrong:
            print(f"alpha = {alpha}, error 2^-{bits}: {what}", file=sys.stderr)
        if [(r["alpha"], r["error_bits"]) for r in rows] != [(a, b) for a in ALPHAS for b in ERRORS]:
            print("rows are missing", file=sys.stderr)
            return 1
        print(f"{len(rows) - len(wrong)} of {len(rows)} compositions are as they should be")
        return 1 if wrong else 0
    rows, fitter = [], Fitter()
    for alpha in ALPHAS:
        for bits in ERRORS:
            row = fit(alpha, bits, fitter)
            rows.append(row)
            degrees = tuple(2 * len(p) - 1 for p in row["polynomials"])
            counts = [bootstraps(degrees, level) for level in (LEVELS, 0)]
            print(
                f"alpha {alpha:2d} error 2^-{-math.log2(row['error']):.1f}: {degrees}, levels {cost(degrees)[1]}, "
                f"products {cost(degrees)[2]}, bootstraps {counts[0]} from level {LEVELS}, {counts[1]} from 0",
                flush=True,
            )
    text = {"generated_by": "tools/fit_sign.py", "noise": NOISE, "rows": rows}
    body = json.dumps(text, indent=1)
    options.out.write_text(body + "\n")
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

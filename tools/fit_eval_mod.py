#!/usr/bin/env python3
"""Fit the polynomial of EvalMod and write it as Rust constants.

Bootstrapping has to remove the multiple of q0 that ModRaise adds.  A coefficient of the raised
ciphertext, divided by q0, is

    x = I + m / r        I integer, |I| <= h / 2;  m the message, |m| <= 1;  r the message ratio,

and EvalMod computes E(x)^(2^r') with E(x) = exp(2 pi i x / 2^r'), that is exp(2 pi i m / r): the
integer is gone (exponential EvalMod with r' double angles, here plain squarings; eprint 2019/688
for the double angles).  The sine series

    m ~ r / (2 pi) * (alpha sin(theta) + beta sin(2 theta)),   theta = 2 pi m / r      (2021/572)

then recovers m with alpha = 4/3, beta = -1/6 (error theta^5 / 30) or the values of `series`.

E(x) is replaced by its weighted least-squares polynomial

    E(x) ~ sum_k c_k T_k(x / K),    c_k real (cosine part) for even k, i times real (sine) for odd k,

fitted only where x can be: at `nodes` Chebyshev nodes u in [-margin, margin] of each cluster
x = i + u / r (the clusters are Han and Ki's, 2019/688), with row weight sqrt(max(Pr[I = i], floor)).
The fit barely depends on r and margin: the default coefficients serve every r from 2^5 to 2^11
(`--log2-ratio` shows what another r would gain; a test in crates/bootstrap/src/slots_first/steps/eval_mod asserts it).
The law of I under the sparse secret of weight h (sparse-secret encapsulation, 2022/024) is exact:
c0 + c1 s is a sum of h + 1 values uniform modulo q0, hence Pr[I = i] = f_{h+1}(i), the Irwin-Hall
density

    f_n(x) = 1/(n-1)! sum_j (-1)^j C(n, j) (x + n/2 - j)_+^(n-1).

Sums run in mpmath, so the conditioning of the fit is of no importance; each coefficient is rounded
once, to the nearest f64.

    fit_eval_mod.py             fit, print the error table, write the Rust file
    fit_eval_mod.py --check     fit again, compare with the committed file bit by bit, print the table
"""

import argparse
import math
import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
from mpmath import mp, mpf

RUST_FILE = Path(__file__).resolve().parent.parent / "crates/bootstrap/src/slots_first/steps/eval_mod/coefficients.rs"


@dataclass(frozen=True)
class Fit:
    """What is fitted; the defaults are those of the preset with ten levels at N = 2^16."""

    log2_ratio: float = 7.0  # log2 of the message ratio r
    k: float = 17.0  # the polynomial lives on [-K, K]
    degree: int = 28
    double_angles: int = 3  # r'
    h: int = 32  # Hamming weight of the ephemeral secret
    log2_floor: float = -60.0  # smallest probability used as a weight
    margin: float = 1.0  # clusters are |u| <= margin
    nodes: int = 8  # Chebyshev nodes per cluster
    digits: int = 80  # decimal digits of the arithmetic

    @property
    def ratio(self):
        return mpf(2) ** self.log2_ratio

    @property
    def bound(self):
        """The largest possible |I|: a sum of h + 1 uniforms in [-1/2, 1/2] stays below (h + 1) / 2."""
        return self.h // 2


def probability(h: int, i: int) -> Fraction:
    """Pr[I = i] = f_{h+1}(i), exactly (docstring of the module, formula of f_n)."""
    n = h + 1
    total = Fraction(0)
    for j in range(n + 1):
        base = i + Fraction(n, 2) - j
        if base > 0:
            total += (-1) ** j * math.comb(n, j) * base ** (n - 1)
    return total / math.factorial(n - 1)


def chebyshev(t, degree: int) -> list:
    """T_0(t), ..., T_degree(t) by T_{k+1} = 2 t T_k - T_{k-1}; t is a number or an array."""
    values = [t * 0 + 1, t]
    for _ in range(degree - 1):
        values.append(2 * t * values[-1] - values[-2])
    return values


def sample_points(fit: Fit):
    """The points of the fit and their squared weights, as arrays of mpf."""
    unit = [mpmath.cos(mp.pi * (2 * j + 1) / (2 * fit.nodes)) * fit.margin for j in range(fit.nodes)]
    points, weights = [], []
    for i in range(-fit.bound, fit.bound + 1):
        exact = probability(fit.h, i)
        weight = max(mpf(exact.numerator) / exact.denominator, mpf(2) ** fit.log2_floor)
        points += [i + u / fit.ratio for u in unit]
        weights += [weight] * fit.nodes
    return np.array(points, dtype=object), np.array(weights, dtype=object)


def least_squares(basis: list, target, weights) -> list[float]:
    """min_c sum_x w(x) (sum_k c_k basis_k(x) - target(x))^2 by the normal equations, rounded to f64."""
    rows = np.array(basis, dtype=object)
    weighted = rows * weights
    solution = mpmath.lu_solve(mp.matrix((weighted @ rows.T).tolist()), mp.matrix((weighted @ target).tolist()))
    return [float(c) for c in solution]


def coefficients(fit: Fit) -> tuple[list[float], list[float]]:
    """(cosine coefficients of T_0, T_2, ..; sine coefficients of T_1, T_3, ..)."""
    with mpmath.workdps(fit.digits):
        points, weights = sample_points(fit)
        basis = chebyshev(points / mpf(fit.k), fit.degree)
        angle = 2 * mp.pi * points / 2**fit.double_angles
        cosine = np.array([mpmath.cos(a) for a in angle], dtype=object)
        sine = np.array([mpmath.sin(a) for a in angle], dtype=object)
        return least_squares(basis[0::2], cosine, weights), least_squares(basis[1::2], sine, weights)


def series(ratio: float, minimax: bool) -> tuple[float, float]:
    """(alpha, beta) with alpha sin(t) + beta sin(2t) ~ t for |t| <= T = 2 pi / ratio.

    The Taylor choice 4/3, -1/6 leaves -t^5/30 + O(t^7).  The minimax choice leaves the same t^5 term
    turned into a Chebyshev polynomial, -T^5/480 T_5(t/T): sixteen times (4 bits) less at |t| = T.
    With T_5(u) = 16u^5 - 20u^3 + 5u that is alpha + 2 beta = 1 - T^4/96, alpha + 8 beta = -T^2/4.
    """
    bound = 2 * math.pi / ratio if minimax else 0.0
    first, third = 1 - bound**4 / 96, -(bound**2) / 4
    beta = (third - first) / 6
    return first - 2 * beta, beta


def error_table(fit: Fit, cos_part: list[float], sin_part: list[float], minimax: bool = False) -> list[tuple]:
    """Rows (|I|, log2 Pr[|I|], bits of P, bits of the approximation, bits of the message).

    Each is -log2 of the largest error over |m| <= 1 (65 points, ends included), with P the rounded
    polynomial, Z = P^(2^r') and s(Z) = r/(2 pi) (alpha Im Z + beta Im Z^2):
      P              |P(x) - exp(2 pi i x / 2^r')|
      approximation  |s(Z) - s(exp(2 pi i x))|, what the polynomial costs the message
      message        |s(Z) - m|, what polynomial and series together cost it
    """
    rows = []
    with mpmath.workdps(40):
        alpha, beta = series(float(fit.ratio), minimax)
        message = np.array([mpf(j) / 32 for j in range(-32, 33)], dtype=object)

        def recover(z):
            square = z * z
            return fit.ratio / (2 * mp.pi) * np.array([alpha * a.imag + beta * b.imag for a, b in zip(z, square)])

        for i in range(fit.bound + 1):
            x = i + message / fit.ratio
            basis = chebyshev(x / mpf(fit.k), fit.degree)
            real = sum(c * t for c, t in zip(cos_part, basis[0::2]))
            imag = sum(c * t for c, t in zip(sin_part, basis[1::2]))
            value = np.array([mpmath.mpc(a, b) for a, b in zip(real, imag)], dtype=object)
            exact = np.array([mpmath.expjpi(2 * a / 2**fit.double_angles) for a in x], dtype=object)
            result, ideal = recover(value**2**fit.double_angles), recover(exact**2**fit.double_angles)
            chance = math.log2(probability(fit.h, i) * (1 if i == 0 else 2))
            errors = (value - exact, result - ideal, result - message)
            rows.append((i, chance, *(-float(mpmath.log(max(abs(e)), 2)) for e in errors)))
    return rows


def print_report(fit: Fit, cos_part: list[float], sin_part: list[float]) -> None:
    """Coefficients as hex floats and the error table, Taylor and minimax series."""
    for name, start, values in (("cos", 0, cos_part), ("sin", 1, sin_part)):
        for j, c in enumerate(values):
            print(f"  {name} T{2 * j + start:<3} {c.hex():>26} {c: .17e}")
    largest = max(map(abs, cos_part + sin_part))
    print(f"largest |coefficient| {largest:.4f}, sum of |coefficients| {sum(map(abs, cos_part + sin_part)):.4f}")
    print(" |I|  log2 Pr      P  approximation  message (Taylor)  message (minimax)   [bits, worst |m| <= 1]")
    taylor, minimax = (error_table(fit, cos_part, sin_part, m) for m in (False, True))
    for (i, chance, poly, approx, total), (*_, best) in zip(taylor, minimax):
        print(f"{i:4d} {chance:8.1f} {poly:6.1f} {approx:14.1f} {total:17.1f} {best:18.1f}")


def rust_source(fit: Fit, command: str, cos_part: list[float], sin_part: list[float]) -> str:
    """The Rust file.  `repr` is the shortest decimal that reads back as the same f64 (written e-7, not e-07)."""
    lines = [
        "//! Coefficients of the exponential of EvalMod. Generated file, do not edit: run",
        f"//! `{command}`, and add `--check` to verify it.",
        "//!",
        f"//! `exp(2 pi i x / 2^{fit.double_angles}) ~ sum_j EXP_COS[j] T_2j(x / K) + i sum_j EXP_SIN[j] T_(2j+1)(x / K)`",
        f"//! with K = {fit.k:g}, degree {fit.degree}, {fit.double_angles} double angles, where `x = I + m / r`, `|m| <= {fit.margin:g}`,",
        f"//! message ratio r = 2^{fit.log2_ratio:g}, `|I| <= {fit.bound}` (every I that a secret of weight {fit.h} allows).",
        f"//! Weighted least squares, weights `sqrt(max(Pr[I = i], 2^{fit.log2_floor:g}))`, {fit.nodes} nodes per integer.",
    ]
    for name, doc, values in (
        ("EXP_COS", "Of the even `T_0, T_2, ..`: the cosine.", cos_part),
        ("EXP_SIN", "Of the odd `T_1, T_3, ..`: the sine.", sin_part),
    ):
        lines += ["", f"/// {doc}", f"pub(crate) const {name}: [f64; {len(values)}] = ["]
        lines += [f"    {re.sub(r'e-0', 'e-', repr(c))}," for c in values]
        lines += ["];"]
    return "\n".join(lines) + "\n"


def read_rust(path: Path) -> dict[str, list[float]]:
    """The constant arrays of a file that `rust_source` wrote."""
    arrays = re.findall(r"const (\w+): \[f64; \d+\] = \[(.*?)\];", path.read_text(), re.S)
    return {name: [float(v) for v in body.split(",") if v.strip()] for name, body in arrays}


def parse_arguments():
    d = Fit()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--log2-ratio", type=float, default=d.log2_ratio, help="log2 of the message ratio q0/scale")
    parser.add_argument("--k", type=float, default=d.k, help="the polynomial lives on [-K, K]")
    parser.add_argument("--degree", type=int, default=d.degree)
    parser.add_argument("--double-angles", type=int, default=d.double_angles)
    parser.add_argument("--h", type=int, default=d.h, help="Hamming weight of the ephemeral secret")
    parser.add_argument("--log2-floor", type=float, default=d.log2_floor, help="log2 of the smallest weight squared")
    parser.add_argument("--margin", type=float, default=d.margin, help="fit |m| up to this")
    parser.add_argument("--nodes", type=int, default=d.nodes, help="points per integer")
    parser.add_argument("--digits", type=int, default=d.digits, help="decimal digits of the arithmetic")
    given = [flag.dest for flag in parser._actions if flag.dest != "help"]
    parser.add_argument("--out", type=Path, default=RUST_FILE, help="Rust file to write or to check")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args()
    fit = Fit(**{name: getattr(options, name) for name in given})
    changed = [n for n in given if getattr(fit, n) != getattr(d, n)]
    flags = "".join(f" --{n.replace('_', '-')} {getattr(fit, n):g}" for n in changed)
    return options, fit, "python3 tools/fit_eval_mod.py" + flags


def main() -> int:
    options, fit, command = parse_arguments()
    if fit.k < fit.bound + fit.margin / 2**fit.log2_ratio:
        sys.exit(f"K = {fit.k:g} does not cover |I| <= {fit.bound}: pass --k {fit.bound + 1}")
    cos_part, sin_part = coefficients(fit)
    print_report(fit, cos_part, sin_part)
    if not options.check:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(rust_source(fit, command, cos_part, sin_part))
        print(f"wrote {options.out}")
        return 0
    stored = read_rust(options.out)
    if stored != {"EXP_COS": cos_part, "EXP_SIN": sin_part}:
        print(f"{options.out} differs from this fit: run `{command}`", file=sys.stderr)
        return 1
    print(f"{options.out} agrees bit for bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())

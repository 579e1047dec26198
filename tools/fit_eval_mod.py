#!/usr/bin/env python3
"""Fit the polynomial of EvalMod and write it as Rust constants.

Bootstrapping has to remove the multiple of q0 that ModRaise adds.  A coefficient of the raised
ciphertext, divided by q0, is

    x = I + m / r        I integer, |I| <= h / 2;  m the message, |m| <= 1;  r the message ratio,

and EvalMod computes P(x)^(2^r') for a polynomial P(x) ~ E(x) = exp(2 pi i x / 2^r'), that is exp(2 pi i m / r):
the integer is gone (exponential EvalMod with r' double angles, here plain squarings; eprint 2019/688
for the double angles).  The sine series

    m ~ r / (2 pi) * (alpha sin(theta) + beta sin(2 theta)),   theta = 2 pi m / r      (2021/572)

then recovers m (alpha and beta: `series`).  P is

    P(x) = sum_k c_k T_k(x / K),    c_k real (cosine part) for even k, i times real (sine) for odd k.

An error P = E (1 + e + i f) becomes 2^r' (r f / (2 pi) + w m e) of the message, with w = 2/3 for this series and 1 for
a sine alone: what changes the angle of E weighs r times what changes its size.  The fit makes the largest of these errors, each times 2^bits for its |I|, as small as it can,
where x can be: at `nodes` + 1 points of each cluster i + u / r, |u| <= 1 (the clusters are Han and Ki's, 2019/688), for a small
and a large r, so that one P serves all between them; a much larger r, which a sine alone takes, for messages of fewer bits, is asked
for four bits less.  The mean over the law of I of what such errors make of m = 1 is a row of its own: it would add up from
bootstrap to bootstrap, where the rest is random.  A sign and bits are a cosine at its flat points, where an error is squared, but for x = 4k + 2 + s: there it grows by
2^(r' + 2), and these points are rows of their own.  Lawson's algorithm (least squares, with weights that grow where the error is
large) solves it.

The bits asked for follow the law of I under the sparse secret of weight h (sparse-secret encapsulation, 2022/024), which
is exact: c0 + c1 s is a sum of h + 1 values uniform modulo q0, hence Pr[I = i] = f_{h+1}(i), the Irwin-Hall density

    f_n(x) = 1/(n-1)! sum_j (-1)^j C(n, j) (x + n/2 - j)_+^(n-1).

|I| <= 6 happens in every bootstrap, |I| = 14 in one of 2^57: up to there no set drops more than four bits below its mean.
Where |I| is 15 or 16, one bootstrap of 2^81, a few bits are enough.

A functional bootstrap takes the same exponential anywhere between the integers, as a message is m / p there. Its polynomial is a fit of its
own (`between`): of two degrees more, on all of [-16.5, 16.5], with errors weighted by the root of the density of x.
For a secret of weight 28 it is of degree 28, on [-14.5, 14.5], with the same errors at the ends.

Sums run in mpmath, so the conditioning of the fit is of no importance; each coefficient is rounded
once, to the nearest f64.

For a secret of weight 28 |I| is at most 14, and degree 24 does for the bits that noise leaves (`NARROW`); signs, bits
and other ratios keep degree 28.

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

RUST_FILE = (
    Path(__file__).resolve().parent.parent / "crates/bootstrap/src/ckks/slots_first/steps/eval_mod/coefficients.rs"
)


@dataclass(frozen=True)
class Fit:
    """What is fitted."""

    k: float = 17.0  # the polynomial lives on [-K, K]
    degree: int = 28
    double_angles: int = 3  # r'
    h: int = 32  # Hamming weight of the ephemeral secret
    # Bits of the message for |I| = 0, 1, ..: the fit may miss all of them by the same number.
    bits: tuple = (33, 33, 33, 33, 33, 33, 32.5, 32, 31, 30, 28.5, 27.5, 27.5, 27.5, 27, 11, 7)
    # log2 of r, by how many bits less is asked for, w.
    log2_ratios: tuple = ((8.25, 0, Fraction(2, 3)), (5.5, 0, Fraction(2, 3)), (10.75, 4, Fraction(1)))
    mean_bits: float = 36.5  # of the mean gain
    sign_bits: tuple = ((2, 30.5), (6, 30), (10, 26), (14, 22.5))  # |I| where errors of signs grow most
    nodes: int = 8  # intervals between the points of a cluster
    between_degree: int = 30  # of the fit that holds between integers as well
    between_floor: float = 2.0**-50  # what its weights add to the density
    between_points: int = 12  # of that fit, from one integer to the next
    steps: int = 30  # of Lawson's algorithm
    digits: int = 50  # decimal digits of the arithmetic

    @property
    def bound(self):
        """The largest possible |I|: a sum of h + 1 uniforms in [-1/2, 1/2] stays below (h + 1) / 2."""
        return self.h // 2


# For sparser secrets: a relinearization less. |I| = 14 happens in one bootstrap of 2^108, so almost nothing is asked of it.
NARROW = Fit(
    k=15.0,
    degree=24,
    h=28,
    bits=(28.5, 28.5, 28, 27.5, 27.5, 27.5, 26.5, 25.5, 25, 24, 23, 22, 21.5, 21, 2),
    log2_ratios=((8.25, 0, Fraction(2, 3)), (5.5, 0, Fraction(2, 3))),
    sign_bits=(),
    between_degree=28,
)


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


class Rows:
    """Linear forms in the errors of cosine and sine: coefficients of the unknowns, wanted values, wanted bits."""

    def __init__(self, fit: Fit):
        self.fit, self.forms, self.wanted, self.bits = fit, [], [], []
        grow = 2**fit.double_angles
        for log2_ratio, less, weight in fit.log2_ratios:
            ratio = mpf(2) ** log2_ratio
            for i in range(fit.bound + 1):
                for j in range(fit.nodes + 1):
                    u = mpmath.cos(mp.pi * j / fit.nodes)
                    x = i + u / ratio
                    cosine, sine = self.exact(x)
                    angle, size = grow * ratio / (2 * mp.pi), grow * u * weight.numerator / weight.denominator
                    self.add(x, size * cosine - angle * sine, size * sine + angle * cosine, fit.bits[i] - less)
        self.add_mean()
        for i, bits in fit.sign_bits:
            for overflow in (i, -i):
                # D = 2 cos(2 pi (x - s) / 2^r') with the factor of the sign (1/2, s = 2 + 1/4) and of bits (1/4, s = 2).
                for shift, factor in ((mpf(9) / 4, mpf(1) / 2), (mpf(2), mpf(1) / 4)):
                    if (overflow - 2) % 4 == 0:
                        cosine, sine = self.exact(shift)
                        self.add(overflow + shift - 2, *(2 * grow**2 * factor * v for v in (cosine, sine)), bits)

    def add_mean(self):
        """The mean over I of what becomes of m = 1 less what becomes of m = -1, halved, for the first ratio."""
        form, wanted, points = 0, 0, self.fit.nodes + 1
        for i in range(self.fit.bound + 1):
            chance = probability(self.fit.h, i) / (2 if i == 0 else 1)
            chance = mpf(chance.numerator) / chance.denominator
            first, last = points * i, points * (i + 1) - 1
            form = form + chance * (np.array(self.forms[first]) - np.array(self.forms[last]))
            wanted += chance * (self.wanted[first] - self.wanted[last])
        self.forms.append(list(form))
        self.wanted.append(wanted)
        self.bits.append(mpf(2) ** self.fit.mean_bits)

    def exact(self, x):
        """(cos, sin) of 2 pi x / 2^r'."""
        angle = 2 * mp.pi * x / 2**self.fit.double_angles
        return mpmath.cos(angle), mpmath.sin(angle)

    def add(self, x, of_cosine, of_sine, bits):
        """The form `of_cosine * (error of the cosine at x) + of_sine * (error of the sine at x)`."""
        basis = chebyshev(x / mpf(self.fit.k), self.fit.degree)
        self.forms.append([of_cosine * t for t in basis[0::2]] + [of_sine * t for t in basis[1::2]])
        cosine, sine = self.exact(x)
        self.wanted.append(of_cosine * cosine + of_sine * sine)
        self.bits.append(mpf(2) ** bits)


def least_squares(rows, wanted, weights):
    """min_c sum (weight * (rows c - wanted))^2 by the normal equations."""
    weighted = rows * (weights**2)[:, None]
    solution = mpmath.lu_solve(mp.matrix((weighted.T @ rows).tolist()), mp.matrix((weighted.T @ wanted).tolist()))
    return np.array(list(solution), dtype=object)


def coefficients(fit: Fit) -> tuple[list[float], list[float]]:
    """(cosine coefficients of T_0, T_2, ..; sine coefficients of T_1, T_3, ..)."""
    with mpmath.workdps(fit.digits):
        system = Rows(fit)
        rows, wanted, bits = (np.array(v, dtype=object) for v in (system.forms, system.wanted, system.bits))
        weights, best = bits, None
        for _ in range(fit.steps):
            solution = least_squares(rows, wanted, weights)
            errors = abs(rows @ solution - wanted) * bits
            worst = max(errors)
            if best is None or worst < best[0]:
                best = worst, solution
            # The root, and a floor: no row loses its weight for good.
            weights = weights * np.array([mpmath.sqrt(max(e / worst, mpf(2) ** -10)) for e in errors], dtype=object)
            weights = weights / max(weights / bits)
        print(f"all errors within 2^{float(mpmath.log(best[0], 2)):.2f} of the bits asked for")
        cosine = fit.degree // 2 + 1
        return [float(c) for c in best[1][:cosine]], [float(c) for c in best[1][cosine:]]


def density(h: int, x) -> mpf:
    """f_(h+1)(x), in multiple precision."""
    n, total = h + 1, mpf(0)
    for j in range(n + 1):
        base = x + mpf(n) / 2 - j
        if base > 0:
            total += (-1) ** j * math.comb(n, j) * base ** (n - 1)
    return total / math.factorial(n - 1)


def between(fit: Fit) -> tuple[list[float], list[float]]:
    """As `coefficients`, for every x up to half beyond the largest |I|: the largest error times the root of its density is least."""
    found = []
    with mpmath.workdps(fit.digits):
        most, count = fit.bound + mpf(1) / 2, fit.between_points * (fit.bound + 1)
        xs = [most * mpmath.cos(mp.pi * j / (2 * count)) for j in range(count + 1)]
        asked = np.array([mpmath.sqrt(max(density(fit.h, x), mpf(fit.between_floor))) for x in xs], dtype=object)
        basis = [chebyshev(x / mpf(fit.k), fit.between_degree) for x in xs]
        angles = [2 * mp.pi * x / 2**fit.double_angles for x in xs]
        for parity, function in ((0, mpmath.cos), (1, mpmath.sin)):
            rows = np.array([row[parity::2] for row in basis], dtype=object)
            wanted = np.array([function(angle) for angle in angles], dtype=object)
            weights, best = asked, None
            for _ in range(fit.steps):
                solution = least_squares(rows, wanted, weights)
                errors = abs(rows @ solution - wanted) * asked
                worst = max(errors)
                if best is None or worst < best[0]:
                    best = worst, solution
                weights = weights * np.array([mpmath.sqrt(max(e / worst, mpf(2) ** -10)) for e in errors], dtype=object)
                weights = weights / max(weights / asked)
            found.append([float(c) for c in best[1]])
    return found[0], found[1]


def print_between(fit: Fit, cos_part: list[float], sin_part: list[float]) -> None:
    """Bits of angle (in turns) and size of the exponential by |I|, worst between I - 1/2 and I + 1/2."""
    angles, sizes = [], []
    with mpmath.workdps(30):
        for i in range(fit.bound + 1):
            x = np.array([max(i - mpf(1) / 2 + mpf(j) / 32, mpf(0)) for j in range(33)], dtype=object)
            basis = chebyshev(x / mpf(fit.k), fit.between_degree)
            real = sum(c * t for c, t in zip(cos_part, basis[0::2]))
            imag = sum(c * t for c, t in zip(sin_part, basis[1::2]))
            grown = [mpmath.mpc(a, b) ** 2**fit.double_angles * mpmath.expjpi(-2 * v) for a, b, v in zip(real, imag, x)]
            angles.append(max(abs(mpmath.arg(z)) for z in grown) / (2 * mp.pi))
            sizes.append(max(abs(abs(z) - 1) for z in grown))
        print("between integers, bits by |I|: angle in turns", *(f"{-float(mpmath.log(a, 2)):.1f}" for a in angles))
        print("                               size          ", *(f"{-float(mpmath.log(a, 2)):.1f}" for a in sizes))


def series(ratio: float, minimax: bool) -> tuple[float, float]:
    """(alpha, beta) with alpha sin(t) + beta sin(2t) ~ t for |t| <= T = 2 pi / ratio.

    The Taylor choice 4/3, -1/6 (`minimax` false) leaves -t^5/30 + O(t^7).  The other leaves this term turned into a Chebyshev
    polynomial of which the last zero, cos(pi / 10), is at t = T: -T'^5/480 T_5(t/T') for T' = T / cos(pi / 10).  So messages
    of 1 and -1 stay where they are, bootstrap for bootstrap, and the largest error is 3.6 bits below that at the end
    before.  With T_5(u) = 16u^5 - 20u^3 + 5u the third order says alpha + 8 beta = -T'^2/4.
    """
    if not minimax:
        return 4 / 3, -1 / 6
    bound = 2 * math.pi / ratio
    third = -((bound / math.cos(math.pi / 10)) ** 2) / 4
    beta = (bound - third * math.sin(bound)) / (math.sin(2 * bound) - 8 * math.sin(bound))
    return third - 8 * beta, beta


def error_table(fit: Fit, cos_part: list[float], sin_part: list[float], log2_ratio: float) -> list[tuple]:
    """Rows (|I|, log2 Pr[|I|], bits of P, bits of the approximation, bits of the message).

    Each is -log2 of the largest error over |m| <= 1 (65 points, ends included), with P the rounded
    polynomial, Z = P^(2^r') and s(Z) = r/(2 pi) (alpha Im Z + beta Im Z^2):
      P              |P(x) - exp(2 pi i x / 2^r')|
      approximation  |s(Z) - s(exp(2 pi i x))|, what the polynomial costs the message
      message        |s(Z) - m|, what polynomial and series together cost it
    """
    rows = []
    with mpmath.workdps(40):
        ratio = mpf(2) ** log2_ratio
        alpha, beta = series(float(ratio), True)
        message = np.array([mpf(j) / 32 for j in range(-32, 33)], dtype=object)

        def recover(z):
            square = z * z
            return ratio / (2 * mp.pi) * np.array([alpha * a.imag + beta * b.imag for a, b in zip(z, square)])

        for i in range(fit.bound + 1):
            x = i + message / ratio
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
    """Coefficients as hex floats and the error table for the message ratios of presets."""
    for name, start, values in (("cos", 0, cos_part), ("sin", 1, sin_part)):
        for j, c in enumerate(values):
            print(f"  {name} T{2 * j + start:<3} {c.hex():>26} {c: .17e}")
    largest = max(map(abs, cos_part + sin_part))
    print(f"largest |coefficient| {largest:.4f}, sum of |coefficients| {sum(map(abs, cos_part + sin_part)):.4f}")
    print("bits, worst |m| <= 1: what the polynomial costs, and for r = 2^6.75 polynomial and series together")
    shown = (5.75, 6.5, 6.75, 8, 10.5)
    tables = [error_table(fit, cos_part, sin_part, ratio) for ratio in shown]
    print(" |I|  log2 Pr" + "".join(f"  r = 2^{ratio:<5g}" for ratio in shown) + "  message")
    for rows in zip(*tables):
        i, chance, *_, total = rows[2]
        print(f"{i:4d} {chance:8.1f}" + "".join(f"{row[3]:13.1f}" for row in rows) + f"{total:9.1f}")


def about(fit: Fit) -> list[str]:
    """What the Rust file says of a fit."""
    ratios = sorted(fit.log2_ratios)
    return [
        f"//! with K = {fit.k:g}, degree {fit.degree}, {fit.double_angles} double angles, where `x = I + m / r`, `|m| <= 1`,",
        f"//! `|I| <= {fit.bound}` (every I that a secret of weight {fit.h} allows). Minimax for these bits of the message, for all",
        "//! `|I| = 0, 1, ..` less the same number:",
        f"//! {', '.join(f'{bits:g}' for bits in fit.bits)};",
        "//! with message ratios " + ", ".join(f"2^{ratio:g} ({less} less)" for ratio, less, _ in ratios) + ".",
    ]


def rust_source(fit: Fit, command: str, arrays: dict[str, list[float]]) -> str:
    """The Rust file.  `repr` is the shortest decimal that reads back as the same f64 (written e-7, not e-07)."""
    lines = [
        "//! Coefficients of the exponential of EvalMod. Generated file, do not edit: run",
        f"//! `{command}`, and add `--check` to verify it.",
        "//!",
        f"//! `exp(2 pi i x / 2^{fit.double_angles}) ~ sum_j EXP_COS[j] T_2j(x / K) + i sum_j EXP_SIN[j] T_(2j+1)(x / K)`",
        *about(fit),
        "//!",
        "//! `NARROW_COS` and `NARROW_SIN` are the same",
        *about(NARROW),
        "//!",
        f"//! `ANY_COS` and `ANY_SIN` are the same for every `|x| <= {fit.bound + 0.5:g}`, of degree {fit.between_degree},",
        "//! `NARROW_ANY_COS` and `NARROW_ANY_SIN`, with K = "
        f"{NARROW.k:g}, for every `|x| <= {NARROW.bound + 0.5:g}`, of degree {NARROW.between_degree}.",
    ]
    for (name, values), doc in zip(
        arrays.items(), 4 * ("Of the even `T_0, T_2, ..`: the cosine.", "Of the odd `T_1, T_3, ..`: the sine.")
    ):
        lines += ["", f"/// {doc}", f"pub(crate) const {name}: [f64; {len(values)}] = ["]
        lines += [f"    {re.sub(r'e-0', 'e-', repr(c))}," for c in values]
        lines += ["];"]
    return "\n".join(lines) + "\n"


def read_rust(path: Path) -> dict[str, list[float]]:
    """The constant arrays of a file that `rust_source` wrote."""
    arrays = re.findall(r"const (\w+): \[f64; \d+\] = \[(.*?)\];", path.read_text(), re.S)
    return {name: [float(v) for v in body.split(",") if v.strip()] for name, body in arrays}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=RUST_FILE, help="Rust file to write or to check")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options, fit, command = parser.parse_args(), Fit(), "python3 tools/fit_eval_mod.py"
    cos_part, sin_part = coefficients(fit)
    print_report(fit, cos_part, sin_part)
    narrow_cos, narrow_sin = coefficients(NARROW)
    print_report(NARROW, narrow_cos, narrow_sin)
    any_cos, any_sin = between(fit)
    print_between(fit, any_cos, any_sin)
    narrow_any_cos, narrow_any_sin = between(NARROW)
    print_between(NARROW, narrow_any_cos, narrow_any_sin)
    arrays = {"EXP_COS": cos_part, "EXP_SIN": sin_part, "NARROW_COS": narrow_cos, "NARROW_SIN": narrow_sin}
    arrays |= {"ANY_COS": any_cos, "ANY_SIN": any_sin}
    arrays |= {"NARROW_ANY_COS": narrow_any_cos, "NARROW_ANY_SIN": narrow_any_sin}
    if not options.check:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(rust_source(fit, command, arrays))
        print(f"wrote {options.out}")
        return 0
    stored = read_rust(options.out)
    if stored != arrays:
        print(f"{options.out} differs from this fit: run `{command}`", file=sys.stderr)
        return 1
    print(f"{options.out} agrees bit for bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())

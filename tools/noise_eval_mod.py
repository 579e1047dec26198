#!/usr/bin/env python3
"""Monte-Carlo model of the error of EvalMod and of the linear maps around it.

Every slot runs the homomorphic circuit in complex floating point, with the rounding of each rescale
added as a Gaussian.  A rescale divides by a prime and rounds both polynomials, which leaves coefficients
of variance (H + 1)/12, H = 2N/3 the weight of the dense ternary secret (eprint 2016/421, lemma 2), so
each component (real, imaginary) of a slot of a ciphertext of scale 2^s gets

    sigma = 1.15 sqrt(N/2 (H + 1)/12) / 2^s           (1.15: allowance for ModDown, measured to be checked)

A key switch of digits of d_i bits and special modulus of p bits leaves coefficients of variance

    (sigma_e^2 N / 12) sum_i 2^(2 (d_i - p)),  sigma_e = 3.2,

and matters only where no rescale follows: rotations inside the maps and the conjugations.

Circuit (eprint 2019/688, 2020/1203; series 2021/572): T_1 = x / K from CoeffsToSlots, T_2, T_3, T_4, T_8,
T_16, P = T_16 q12 + T_8 (T_4 a'' + b'') + T_4 a' + b', E = P^8, V = E^2 - c E, m = -2 Im V.  The constant
kappa^2 = |beta| r / 4 pi is folded in P (times kappa^(1/8)), so V costs one level and kappa is real:
even coefficients stay real, odd ones imaginary.  Scales are tracked as the Rust code tracks them:
backwards from the output (`out_bits`), s_{i-1} = (s_i + 50)/2 over squarings.

Basis `chebyshev` multiplies by T_{a+b} = 2 T_a T_b - T_{a-b}; `dickson` uses D_k = 2 T_k, for which
D_{a+b} = D_a D_b - D_{a-b}: no factor 2, so at equal scale every power carries half the relative error,
and D_1 = t + conj(t) holds 2x/K.

Errors are of one real component, in bits: -log2 of the mean and of the largest absolute error over 2^15
slots.  (The modulus of a complex error is 0.65 bit larger on average.)
"""

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from fit_eval_mod import RUST_FILE, Fit, coefficients, probability, read_rust, series

LOG_N = 16
N = 1 << LOG_N
SLOTS = N // 2
WEIGHT = 2 * N / 3  # of the main secret
RESCALE_COEFF = 1.15 * math.sqrt((WEIGHT + 1) / 12)  # one coefficient after a rescale
TO_SLOT = math.sqrt(N / 2)  # deviation of a slot component / deviation of a coefficient
RESCALE = RESCALE_COEFF * TO_SLOT
DIAGONALS = 63  # of one merged stage of five radix-2 layers
STAGE_GAIN = 2**2.5  # of one such stage of the unnormalised transform


@dataclass(frozen=True)
class Set:
    """One row of the table.  Sizes in bits; `digits` are those alive at CoeffsToSlots."""

    name: str
    q0: float = 47
    log2_ratio: float = 7
    s2c: float = 40  # SlotsToCoeffs primes, also the scale of the input
    eval_mod: float = 50
    c2s: float = 48
    p: float = 400
    digits: tuple = (367, 400, 394)
    out_bits: float = 40  # scale of the result; None: no scale tracking, all scales 2^eval_mod
    t1: float = 50  # scale of T_1 (or D_1); an excess over eval_mod doubles at each power, so never above it
    k: float = 17
    dickson: bool = False
    minimax: bool = False
    centred: bool = False  # D_4 = (D_2 - 2 D_1)(D_2 + 2 D_1) + 4 D_2 + 6, t1 = eval_mod
    claimed_c2s: bool = False  # three rescales at 2^c2s on x/K, as ckks.md section 6
    late_rescale: bool = False  # conjugate before the rescale: t and V are rounded once, after conj


def key_switch_coeff(digits, p: float) -> float:
    """Deviation of one coefficient of the key-switch error (formula of the module)."""
    return 3.2 * math.sqrt(N / 12) * math.sqrt(sum(4.0 ** (d - p) for d in digits))


def encode_slot(bits: float) -> float:
    """Deviation of a slot component of a diagonal rounded at scale 2^bits (full period; worst case)."""
    return TO_SLOT * math.sqrt(1 / 12) / 2**bits


def input_noise(s: Set) -> float:
    """Deviation of one component of m when ModRaise begins: SlotsToCoeffs, sparse secret, ModRaise.

    Stage k of 3 leaves its rounding to the gain of the later ones; relative to a coefficient 2^s2c m.
    The key to the sparse secret lives over q0 p', p' of 50 bits, and rounds under weight 32.
    """
    variance = sum((RESCALE_COEFF * STAGE_GAIN ** (3 - k) / 2**s.s2c) ** 2 for k in (1, 2, 3))
    variance += 3 * DIAGONALS * (encode_slot(s.s2c) / STAGE_GAIN) ** 2
    scale = 2.0 ** (s.q0 - s.log2_ratio)
    sparse = 3.2 * math.sqrt(N / 12) * 2.0 ** (s.q0 - 50)
    variance += (sparse**2 + 33 / 12 + RESCALE_COEFF**2) / scale**2
    return math.sqrt(variance)


def c2s_noise(s: Set) -> tuple[float, float]:
    """Deviations of (the real part of T_1 or D_1, one component of its key-switch error), absolute.

    t = CoeffsToSlots(ct) is scaled so that t + conj(t) is the first basis element; its own error doubles.
    """
    if s.claimed_c2s:
        return math.sqrt(3) * RESCALE / 2**s.c2s, 0.0
    t_bits = s.t1 if s.dickson else s.t1 - 1  # integer amplitude of t for x / K = 1
    gain = (2.0 ** (t_bits - s.q0) / s.k / math.sqrt(SLOTS)) ** (1 / 3)
    size = 2.0**t_bits / s.k * math.sqrt(33 / 12) / gain**3  # of a slot component before the stages
    switch = key_switch_coeff(s.digits, s.p) * TO_SLOT
    variance = 0.0
    for stage in range(3):
        encode = DIAGONALS * 2 * (encode_slot(s.c2s) * size) ** 2
        rescale = 0.0 if s.late_rescale and stage == 2 else RESCALE**2
        variance = (variance + switch**2) * gain**2 + encode + rescale
        size *= gain
    own = (4 * variance + (RESCALE**2 if s.late_rescale else 0.0)) / 4**s.t1
    conj = 0.0 if s.late_rescale else switch / 2**s.t1
    return math.sqrt(own), conj


class Circuit:
    """The evaluation of one set; `noisy` names the groups of roundings that are switched on."""

    GROUPS = ("input", "c2s", "powers", "quotients", "squarings", "result")

    def __init__(self, s: Set, coeffs, rng, noisy=GROUPS, round_constants=True):
        self.s, self.rng, self.noisy, self.round_constants = s, rng, noisy, round_constants
        ratio = 2.0**s.log2_ratio
        self.alpha, self.beta = (v * ratio / (4 * math.pi) for v in series(ratio, s.minimax))
        self.kappa = math.sqrt(-self.beta)
        full = np.zeros(len(coeffs[0]) + len(coeffs[1]), dtype=complex)
        full[0::2], full[1::2] = coeffs[0], 1j * np.array(coeffs[1])
        full *= self.kappa ** (1 / 8)
        if s.dickson:
            full[1:] /= 2
        self.coeffs = full

    def add_noise(self, value, deviation, group):
        if group not in self.noisy or deviation == 0:
            return value
        draw = self.rng.standard_normal((2,) + value.shape, dtype=np.float32)
        return value + deviation * (draw[0] + 1j * draw[1])

    def rescale(self, value, bits, group):
        return self.add_noise(value, RESCALE / 2.0 ** (bits if self.s.out_bits else self.s.eval_mod), group)

    def constant(self, c, bits):
        """c rounded at scale 2^bits, real and imaginary part apart."""
        if not self.round_constants:
            return c
        unit = 2.0**bits
        return complex(round(c.real * unit), round(c.imag * unit)) / unit

    def line(self, coeffs, products, target, group="quotients"):
        """sum of products + sum coeffs[k] T_k, then one rescale to scale 2^target."""
        total = sum(products)
        for k, c in enumerate(coeffs):
            if k == 0:
                total = total + self.constant(c, target + self.s.eval_mod)
            else:
                total = total + self.constant(c, target + self.s.eval_mod - self.scale[k]) * self.basis[k]
        return self.rescale(total, target, group)

    def operand(self, target, k):
        """Scale of q such that q * T_k, rescaled, has scale 2^target."""
        return target + self.s.eval_mod - self.scale[k]

    def split(self, coeffs, m):
        """(q, r) with p = q T_m + r in the basis of the set."""
        factor = 1 if self.s.dickson else 2
        high, low = coeffs[m:].copy(), coeffs[:m].copy()
        low[m - np.arange(1, len(high))] -= high[1:]
        high[1:] *= factor
        return high, low

    def powers(self, x):
        """T_1, T_2, T_3, T_4, T_8, T_16 and their scales."""
        s = self.s
        own, conj = c2s_noise(s)
        first = x / s.k * (2 if s.dickson else 1)
        if "c2s" in self.noisy:
            first = first + own * self.rng.standard_normal(x.shape)
        self.basis, self.scale = {1: self.add_noise(first + 0j, conj, "c2s")}, {1: s.t1}
        factor, zeroth = (1, 2) if s.dickson else (2, 1)
        for a, b in ((1, 1), (1, 2), (2, 2), (4, 4), (8, 8)):
            bits = self.scale[a] + self.scale[b] - s.eval_mod
            other = zeroth if a == b else self.basis[b - a]
            value = factor * self.basis[a] * self.basis[b] - other
            if s.centred and a + b == 4:
                value = self.basis[2] ** 2 - 4 * self.basis[1] ** 2 + 4 * self.basis[2] + 6
            self.basis[a + b] = self.rescale(value, bits, "powers")
            self.scale[a + b] = bits

    def polynomial(self, target):
        """P, of degree 28, at scale 2^target, in the order of the Rust code."""
        t = self.basis
        top, rest = self.split(self.coeffs, 16)
        bits12 = self.operand(target, 16)
        high4, low7 = self.split(top, 8)
        q4 = self.line(high4, [], self.operand(bits12, 8))
        high, low = self.split(low7, 4)
        a3 = self.line(high, [], self.operand(bits12, 4))
        q12 = self.line(low, [t[8] * q4, t[4] * a3], bits12)
        inner, outer = self.split(rest, 8)
        high, low = self.split(inner, 4)
        bits = self.operand(target, 8)
        middle = self.line(low, [t[4] * self.line(high, [], self.operand(bits, 4))], bits)
        high, low = self.split(outer, 4)
        last = self.line(high, [], self.operand(target, 4))
        return self.line(low, [t[16] * q12, t[8] * middle, t[4] * last], target)

    def run(self, message, integer):
        """The bootstrapped message."""
        s = self.s
        scales = [s.out_bits or s.eval_mod]
        for _ in range(4):
            scales.append((scales[-1] + s.eval_mod) / 2)
        if "input" in self.noisy:
            message = message + input_noise(s) * self.rng.standard_normal(message.shape)
        self.powers(integer + message / 2.0**s.log2_ratio)
        value = self.polynomial(scales[4])
        for bits in scales[3:0:-1]:
            value = self.rescale(value * value, bits, "squarings")
        ratio = self.constant(complex(self.alpha / self.kappa), 2 * scales[0] + s.eval_mod - scales[0] - scales[1])
        value = value * value - ratio.real * value
        if s.late_rescale:
            return self.rescale(-2 * value.imag + 0j, scales[0], "result").real
        return -2 * self.rescale(value, scales[0], "result").imag


def messages(rng) -> dict[str, np.ndarray]:
    """Components (real, imaginary) of SLOTS slots."""
    grid = np.linspace(-1, 1, SLOTS)
    alternating = np.resize([1.0, -1.0], SLOTS)
    spike = np.zeros((2, SLOTS))
    spike[0, 0] = 1
    return {
        "grid": np.stack([grid, rng.permutation(grid)]),
        "ones": np.ones((2, SLOTS)),
        "alternating": np.stack([alternating, -alternating]),
        "spike": spike,
        "random": np.clip(rng.standard_normal((2, SLOTS)) / 3, -1, 1),
    }


def draw_integers(rng, shape) -> np.ndarray:
    """I with its exact law."""
    law = np.array([float(probability(32, i)) for i in range(-16, 17)])
    return rng.choice(np.arange(-16, 17), size=shape, p=law / law.sum()).astype(float)


A = Set("A")
A9 = Set("A9", q0=48, log2_ratio=8, c2s=50, p=450, digits=(448, 420, 300))
QUIET = {"digits": (387, 380, 394)}  # 26 limbs regrouped, not contiguous: every digit 6 bits below P
NEW = replace(A, **QUIET, dickson=True, minimax=True)
SETS = (
    replace(A, name="A as claimed (C2S 3 roundings at 2^48)", claimed_c2s=True, out_bits=None),
    replace(A9, name="A9 as claimed (C2S 3 roundings at 2^50)", claimed_c2s=True, out_bits=None),
    replace(A, name="A tracked, digits (367,400,394)"),
    replace(A9, name="A9 tracked, digits (448,420,300)"),
    replace(A, name="A1 = A, digits (387,380,394)", **QUIET),
    replace(A, name="A1, C2S 50", c2s=50, **QUIET),
    replace(A, name="A1, C2S 46", c2s=46, **QUIET),
    replace(A, name="A1, q0 48, S2C and output 41", q0=48, s2c=41, out_bits=41, **QUIET),
    replace(A, name="A1, conj before rescale (late)", late_rescale=True, **QUIET),
    replace(A, name="A1, minimax series", minimax=True, **QUIET),
    replace(A, name="A1, minimax series, r 2^6.5", minimax=True, log2_ratio=6.5, **QUIET),
    replace(A, name="A1, Dickson basis", dickson=True, **QUIET),
    replace(NEW, name="A1, Dickson, minimax"),
    replace(NEW, name="A1, Dickson, minimax, r 2^6.5", log2_ratio=6.5),
    replace(NEW, name="A1, Dickson, minimax, r 2^6.75", log2_ratio=6.75),
    replace(NEW, name="same, D1 at 2^49.95", log2_ratio=6.75, t1=49.95),
    replace(NEW, name="same, D1 at 2^50.10 (too high)", log2_ratio=6.75, t1=50.1),
    replace(NEW, name="same, D1 2^49.95, late rescale", log2_ratio=6.75, t1=49.95, late_rescale=True),
    replace(NEW, name="same, D1 2^50, D4 centred", log2_ratio=6.75, centred=True),
    replace(NEW, name="same, D4 centred, late rescale", log2_ratio=6.75, centred=True, late_rescale=True),
    replace(NEW, name="same, D1 2^49.95, output 42", log2_ratio=6.75, t1=49.95, out_bits=42),
)


def bits(error) -> tuple[float, float]:
    return -math.log2(np.mean(np.abs(error))), -math.log2(np.max(np.abs(error)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--coefficients", type=Path, help="Rust file of fit_eval_mod.py (default: the committed one)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="run only the sets whose name contains this text")
    parser.add_argument("--budget", action="store_true", help="also switch the roundings on group by group")
    options = parser.parse_args()
    path = options.coefficients or RUST_FILE
    coeffs = tuple(read_rust(path).values()) if path.exists() else coefficients(Fit())
    rng = np.random.default_rng(options.seed)
    inputs = messages(rng)
    stacked = np.stack(list(inputs.values()))
    integers = draw_integers(rng, stacked.shape)
    print(f"{'mean / worst-slot bits':42}" + "".join(f"{name:>14}" for name in inputs))
    for s in SETS:
        if options.only and options.only not in s.name:
            continue
        errors = Circuit(s, coeffs, rng).run(stacked, integers) - stacked
        print(f"{s.name:42}" + "".join(f"{a:8.1f} /{b:5.1f}" for a, b in map(bits, errors)))
        if options.budget:
            for group in ((), *((g,) for g in Circuit.GROUPS)):
                circuit = Circuit(s, coeffs, rng, noisy=group, round_constants=not group)
                error = circuit.run(stacked, integers) - stacked
                exact = Circuit(s, coeffs, rng, noisy=(), round_constants=False).run(stacked, integers) - stacked
                part = error - exact if group else error
                name = "  only " + (group[0] if group else "fit, series and rounded constants")
                print(f"{name:42}" + "".join(f"{a:8.1f} /{b:5.1f}" for a, b in map(bits, part)))


if __name__ == "__main__":
    main()

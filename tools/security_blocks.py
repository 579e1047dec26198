#!/usr/bin/env python3
"""Makes `crates/rlwe/src/lwe_security_table.json`: how large q / sigma may be for LWE with small secrets at 128 bits.

The model, its sources and its limits stand in docs/security.md. Plain Python, nothing to install.

  security_blocks.py point DIMENSION RATIO SECRET    bits of every attack at log2(q / sigma) = RATIO
  security_blocks.py limit DIMENSION SECRET          the largest ratio at 128 bits, and the attack that stops there
  security_blocks.py table                           computes every row again and writes the table (10 minutes)
  security_blocks.py check [ROWS]                    every row, or this many rows spread over the table, against the file
  security_blocks.py margins                         the presets of gates and tables, as docs/security.md lists them

SECRET is `binary`, `ternary`, or the length of the blocks of a block-binary secret.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "crates/rlwe/src/lwe_security_table.json"
PRESETS = ROOT / "crates/aglet/presets/fhew"
LEVEL = 128.0
LN2 = math.log(2.0)
NEVER = math.inf

# ------------------------------------------------------------------------------------------------ secrets


@dataclass(frozen=True)
class Secret:
    """Independent units of `length` coordinates, each in one of `states` equally likely states.

    `deviation` is det(covariance of a unit)^(1 / 2 length): an attacker rescales the lattice by the covariance, and only the
    determinant of that map counts.
    """

    kind: str
    length: int
    states: int
    deviation: float

    def entropy(self, coordinates: float) -> float:
        """Bits of this many coordinates."""
        return coordinates / self.length * math.log2(self.states)


def secret(kind: str) -> Secret:
    """By `binary`, `ternary`, or a block length."""
    if kind == "ternary":
        return Secret(kind, 1, 3, math.sqrt(2 / 3))
    length = 1 if kind == "binary" else int(kind)
    # The covariance I / (l + 1) - J / (l + 1)^2 has the determinant (l + 1)^-(l + 1).
    return Secret(kind, length, length + 1, (length + 1.0) ** (-(length + 1) / (2 * length)))


@dataclass(frozen=True)
class Problem:
    """LWE with any number of samples, in units of the error: only q / sigma counts."""

    n: int
    ratio: float  # log2(q / sigma)
    secret: Secret

    @property
    def log_q(self) -> float:
        """ln(q / sigma)."""
        return self.ratio * LN2

    @property
    def gain(self) -> float:
        """ln(q deviation / sigma): what a coordinate of the secret adds to the volume that a dual vector has to face."""
        return self.log_q + math.log(self.secret.deviation)

    def dimension(self, unknowns: int, beta: int) -> int:
        """Unknowns and samples together with which a lattice reduced by `beta` serves best; at least one sample."""
        best = math.sqrt(max(unknowns * self.gain, 0.0) / log_delta(beta))
        return max(math.ceil(best), unknowns + 1)


# ------------------------------------------------------------------------------------------------ lattice reduction


def add(x: float, y: float) -> float:
    """log2(2^x + 2^y)."""
    low, high = sorted((x, y))
    return high if low == -NEVER or high - low > 60 else high + math.log1p(2.0 ** (low - high)) / LN2


@cache
def log_delta(beta: int) -> float:
    """ln of the root Hermite factor of BKZ (Chen's thesis); constant below 50, where it does not hold."""
    b = max(beta, 50)
    return math.log(b / (2 * math.pi * math.e) * (math.pi * b) ** (1 / b)) / (2 * (b - 1))


@cache
def free(beta: int) -> float:
    """Dimensions that a sieve in dimension `beta` has for free (eprint 2017/999)."""
    return max(beta * math.log(4 / 3) / math.log(beta / (2 * math.pi * math.e)), 0.0) if beta > 17 else 0.0


# log2 of the gates of a sieve in dimension b, a fit to eprint 2019/1161: SLOPE b + START.
SLOPE, START = 0.29613500308205365, 20.387885985467914
# log2 of a progressive sieve over its last step.
PROGRESSIVE = -math.log2(1 - 2**-SLOPE)
# log2 of the vectors that a sieve in dimension b leaves, a dimension.
HARVEST = 0.2075


@cache
def reduction(beta: int, d: int) -> float:
    """log2 of the cost of BKZ in dimension d, cost model MATZOV."""
    calls = 2 * PROGRESSIVE + math.log2(max(d - beta, 1))
    return add(calls + SLOPE * (beta - free(beta)) + START, 3 * math.log2(d))


def sieve_dimension(beta: int, d: int) -> int:
    """The dimension in which a sieve costs as much as the reduction before it."""
    core = beta - math.floor(free(beta))
    return int(min(d, math.floor(core + (math.log2(d - beta) + PROGRESSIVE) / SLOPE))) if beta < d else core


def many_short(beta: int, d: int, log_count: float) -> float:
    """log2 of the cost of 2^log_count short vectors: a reduction and a sieve, again until they suffice."""
    sieve = sieve_dimension(beta, d)
    rounds = max(0.0, log_count - HARVEST * sieve)
    if rounds < 40:
        rounds = math.log2(math.ceil(2.0**rounds))
    return rounds + add(reduction(beta, d), PROGRESSIVE + SLOPE * sieve + START)


def cheapest(cost: Callable[[int], float], low: int, high: int, first: int = 14) -> tuple[float, int]:
    """The least cost over the whole numbers of a range, and where: a grid denser at its start, then around its best point."""
    known: dict[int, float] = {}

    def at(x: int) -> float:
        if x not in known:
            known[x] = cost(x)
        return known[x]

    high = max(low, high)
    for k in range(first + 1):
        at(low + round((high - low) * (k / first) ** 1.5))
    while True:
        best = min(known, key=lambda x: (known[x], x))
        around = sorted(known)
        i = around.index(best)
        left, right = around[max(i - 1, 0)], around[min(i + 1, len(around) - 1)]
        if right - left <= 2:
            return known[best], best
        for k in (1, 2, 3):
            at(left + (best - left) * k // 4)
            at(best + (right - best) * k // 4)


# ------------------------------------------------------------------------------------------------ primal attacks


def usvp(p: Problem) -> float:
    """Embedding; the block size at which the projected error is the shortest vector (eprint 2017/815)."""

    def finds(beta: int) -> int | None:
        d = max(p.dimension(p.n + 1, beta), beta)
        volume = (d - p.n - 1) * p.log_q - p.n * math.log(p.secret.deviation)
        return d if 0.5 * math.log(beta) <= (2 * beta - d - 1) * log_delta(beta) + volume / d else None

    low, high = 50, 2500
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle) else (middle + 1, high)
    d = finds(low)
    return reduction(low, d) if d else NEVER


@dataclass(frozen=True)
class Basis:
    """A reduced lattice of the last n - guessed coordinates and of samples, with Gram-Schmidt norms that fall by a constant factor."""

    d: int
    beta: int
    volume: float  # ln

    @staticmethod
    def of(p: Problem, beta: int, guessed: int) -> Basis:
        unknowns = p.n - guessed
        d = max(p.dimension(unknowns, beta), beta)
        return Basis(d, beta, (d - unknowns) * p.log_q - unknowns * math.log(p.secret.deviation))

    def last(self) -> float:
        """ln of the last Gram-Schmidt norm."""
        return self.volume / self.d - (self.d - 1) * log_delta(self.beta)

    def reveals(self, k: int) -> bool:
        """Whether the error, projected to the last k dimensions, is shorter than what is expected there."""
        volume = k / self.d * self.volume - (self.d - k) * k * log_delta(self.beta)
        ball = (k + 1) / 2 * math.log(math.pi) - math.lgamma((k + 1) / 2 + 1)
        return 2 * (volume - ball) / (k + 1) >= math.log(k + 1)

    def projection(self) -> int | None:
        """The smallest dimension whose shortest vector is the projected error."""
        low, high = 2, self.d
        if not self.reveals(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.reveals(middle) else (middle + 1, high)
        return low + 1

    def log_success(self, table: list[float], skipped: int) -> float:
        """log2 of the chance that each but the last `skipped` rounded coordinates comes out right."""
        step = 2 * log_delta(self.beta)
        return -integral(table, self.last() + (skipped - 0.5) * step) / step / LN2


# The chance that rounding along a vector of length e^t finds an error of deviation 1, and that two halves of a meet in the middle
# round alike. The norms fall by a constant factor, so a sum over them is an integral; tables of it from t on.
FROM, TO, STEPS = -14.0, 24.0, 3800


def accumulate(chance: Callable[[float], float]) -> list[float]:
    """Integrals of -ln(chance) from each point of the grid to its end."""
    width = (TO - FROM) / STEPS
    sums = [0.0]
    for i in reversed(range(STEPS)):
        sums.append(sums[-1] - math.log(max(chance(FROM + (i + 0.5) * width), 1e-300)) * width)
    return sums[::-1]


def rounds_right(t: float) -> float:
    return math.erf(math.exp(t) / math.sqrt(8))


def rounds_alike(t: float) -> float:
    x = math.exp(t) / math.sqrt(2)
    return x / math.sqrt(math.pi) if x < 1e-4 else math.erf(x) + math.expm1(-x * x) / (x * math.sqrt(math.pi))


RIGHT, ALIKE = accumulate(rounds_right), accumulate(rounds_alike)


def integral(table: list[float], t: float) -> float:
    """From t on, linear between the points of the grid."""
    place = (t - FROM) / (TO - FROM) * STEPS
    if place >= STEPS:
        return 0.0
    if place < 0:
        return 1e9
    i = int(place)
    return table[i] + (table[i + 1] - table[i]) * (place - i)


def repetitions(log_chance: float) -> float:
    """log2 of the trials that succeed once with 99 %."""
    if log_chance >= math.log2(0.99):
        return 0.0
    if log_chance < -30:
        return math.log2(math.log(100)) - log_chance
    return math.log2(math.ceil(math.log(0.01) / math.log1p(-(2.0**log_chance))))


def hybrid(p: Problem, middle: bool) -> float:
    """Guess whole units, then decode (Albrecht, Curtis and Wunderer 2019); `middle`: guesses meet in the middle (eprint 2016/733)."""

    def at(units: int) -> float:
        guessed = units * p.secret.length
        keys = p.secret.entropy(guessed)

        def cost(beta: int) -> float:
            basis = Basis.of(p, beta, guessed)
            search = 2 * math.log2(basis.d)
            if middle:
                chance = basis.log_success(RIGHT, 0) + (basis.log_success(ALIKE, 0) if guessed else 0.0)
                work = search + keys / 2
            else:
                eta = basis.projection()
                if eta is None:
                    return NEVER
                chance, work = basis.log_success(RIGHT, eta), add(reduction(eta, eta), search) + keys
            if chance < -400:
                return NEVER
            again = repetitions(chance)
            return again + add(reduction(beta, basis.d), work)

        return cheapest(cost, 50, 1200)[0]

    return cheapest(at, 0, (p.n - 64) // p.secret.length)[0]


def bdd(p: Problem) -> float:
    """Reduce, then one larger sieve in a projection (Liu and Nguyen 2013)."""

    def cost(beta: int) -> float:
        basis = Basis.of(p, beta, 0)
        eta = basis.projection()
        return NEVER if eta is None else add(reduction(beta, basis.d), add(reduction(eta, eta), 2 * math.log2(basis.d)))

    return cheapest(cost, 50, 1300)[0]


# ------------------------------------------------------------------------------------------------ dual attacks

# Gates of a multiplication and of an addition in the dual attack of MATZOV (2022).
MULTIPLY, ADD = 32**2, 5 * 32


def dual_matzov(p: Problem, samples: int | None = None) -> float:
    """Short dual vectors, some units guessed one by one, more coordinates modulo 2 or 3 by an FFT (MATZOV 2022, theorem 7.6).

    The attacker takes the number of samples that serves best; `samples` fixes it, as malb/lattice-estimator does at n.
    """
    s = p.secret.deviation

    def at(modulus: int, guessed: int, switched: int) -> float:
        unknowns = p.n - guessed - switched
        keys = p.secret.entropy(guessed)
        rounding = switched / 3 * (s * math.pi / modulus) ** 2
        trials = math.log2(keys * LN2 + switched * math.log(modulus) + LN2)
        transform = math.log2(MULTIPLY * max(switched, 1)) + (switched + 1) * math.log2(modulus)

        def cost(beta: int) -> float:
            d = p.dimension(unknowns, beta) if samples is None else unknowns + samples
            length = (unknowns * p.gain / d - p.log_q + 0.5 * math.log(4 / 3)
                      + 0.5 * math.log(beta / (2 * math.pi * math.e)) + (d - beta) * log_delta(beta))  # fmt: skip
            if length > 1.8:
                return NEVER
            count = (4 * math.exp(2 * (length + math.log(math.pi))) + rounding) / LN2 + trials
            return add(many_short(beta, d, count), keys + add(transform, math.log2(4 * ADD) + count))

        return cheapest(cost, 50, 1500, 10)[0]

    def by(modulus: int) -> float:
        def fewest(units: int) -> float:
            guessed = units * p.secret.length
            return cheapest(lambda switched: at(modulus, guessed, switched), 0, min(240, p.n - guessed - 1), 10)[0]

        return cheapest(fewest, 0, min(240, p.n // 2) // p.secret.length, 8)[0]

    return min(by(2), by(3))


def dual_guess(p: Problem, middle: bool) -> float:
    """Short dual vectors and an exhaustive search of some units (eprint 2020/515); `middle`: meeting in the middle (2019/1114)."""
    trust = -math.log(-math.log(math.sqrt(0.99)))

    def at(units: int) -> float:
        guessed = units * p.secret.length
        keys = p.secret.entropy(guessed)

        def cost(beta: int) -> float:
            d = p.dimension(p.n - guessed, beta)
            sieve = sieve_dimension(beta, 2 * beta)
            stretch = 0.5 * math.log(4 / 3) + (sieve - 1) * (log_delta(sieve) - log_delta(beta))
            # ln of the deviation of <dual vector, sample> over q.
            log_noise = stretch + d * log_delta(beta) + (p.n - guessed) * p.gain / d - p.log_q
            if log_noise > 2.5:
                return NEVER
            noise = math.exp(2 * log_noise)
            if middle and units:
                slack = 8 * math.sqrt(2 * math.pi * noise)
                if slack >= 1:
                    return NEVER
                half = keys / (2 - slack)
                half = max(1.0, half + math.log2(max(half, 1.0)))
                count, search = math.log2(half), half + math.log2(4.6)
            else:
                count = 3 + 4 * math.pi**2 * noise / LN2 + math.log2(keys * LN2 + trust)
                search = 1 + keys + count
            return add(many_short(beta, d, count), search)

        return cheapest(cost, 50, 1100, 12)[0]

    return cheapest(at, 0, (p.n - 64) // p.secret.length, 20)[0]


# ------------------------------------------------------------------------------------------------ the table

ATTACKS: dict[str, Callable[[Problem], float]] = {
    "dual_matzov": dual_matzov,
    "dual_guess": lambda p: dual_guess(p, False),
    "bdd": bdd,
    "usvp": usvp,
    "mitm_hybrid": lambda p: hybrid(p, True),
    "bdd_hybrid": lambda p: hybrid(p, False),
    "dual_mitm": lambda p: dual_guess(p, True),
}


def estimate(p: Problem) -> dict[str, float]:
    """log2 of the cost of each attack."""
    return {name: attack(p) for name, attack in ATTACKS.items()}


# Bits that a row keeps above the level, for what the searches miss and for lines between rows.
RESERVE = 0.1
DIMENSIONS = [*range(512, 1024, 16), *range(1024, 2049, 128)]
KINDS = ["binary", "ternary", *map(str, range(2, 9))]


def limit(n: int, kind: str, level: float = LEVEL + RESERVE) -> tuple[float, str]:
    """The largest log2(q / sigma), in hundredths, at which every attack costs 2^level, and the attack that is cheapest there.

    0 if one costs less whatever the ratio: there are too few keys.
    """
    least, name = 28 * n // 10, "none"
    for attack, cost in ATTACKS.items():

        def holds(ratio: int, cost: Callable[[Problem], float] = cost) -> bool:
            return cost(Problem(n, ratio / 100, secret(kind))) >= level

        if holds(least):
            continue
        known, name = n, attack
        if not holds(known):
            return 0.0, name
        while least - known > 1:
            middle = (known + least) // 2
            known, least = (middle, least) if holds(middle) else (known, middle)
        least = known
    return least / 100, name


def written(kind: str) -> object:
    """A secret as serde writes it."""
    return {"block_binary": int(kind)} if kind.isdigit() else kind


def make_table() -> None:
    """Every row again."""
    head = (
        "Largest log2(q / sigma) of LWE at 128 bits of classical security, cost model MATZOV, any number of samples, and the "
        "cheapest attack there; by tools/security_blocks.py, whose model docs/security.md writes down."
    )
    kinds = []
    for kind in KINDS:
        limits = []
        for n in DIMENSIONS:
            ratio, attack = limit(n, kind)
            if ratio:
                limits.append(f'   [{n}, {ratio}, "{attack}"]')
            print(kind, n, ratio, attack, flush=True)
        kinds.append(f'  {{"secret": {json.dumps(written(kind))}, "limits": [\n' + ",\n".join(limits) + "\n  ]}")
        body = ",\n".join(kinds)
        TABLE.write_text(f'{{\n "source": {json.dumps(head)},\n "kinds": [\n{body}\n ]\n}}\n')


def check_table(rows: int | None) -> bool:
    """Whether rows of the file are what `limit` gives, and lines between them stay within the level."""
    kinds = [k["limits"] for k in json.loads(TABLE.read_text())["kinds"]]
    all_rows = [(kind, limits, i) for kind, limits in zip(KINDS, kinds) for i in range(len(limits))]
    chosen = all_rows if rows is None else all_rows[:: max(1, len(all_rows) // rows)][:rows]
    good = True
    for kind, limits, i in chosen:
        n, ratio, attack = limits[i]
        right = (ratio, attack) == limit(n, kind)
        if i + 1 < len(limits):
            middle = Problem((n + limits[i + 1][0]) // 2, (ratio + limits[i + 1][1]) / 2, secret(kind))
            right = right and min(estimate(middle).values()) >= LEVEL
        good = good and right
        print(kind, n, ratio, attack, "as computed" if right else f"NOT {limit(n, kind)}", flush=True)
    return good


def margins() -> list[str]:
    """A line for each preset: bits of its two problems, of the cheapest attack and of the cheapest that uses no dual vectors."""
    lines = []
    for path in sorted(PRESETS.glob("*.toml")):
        preset = {
            key.strip(): value.strip() for key, _, value in (x.partition("=") for x in path.read_text().splitlines())
        }
        # NTRU is judged by security_ntru.py, and toys claim nothing.
        if preset.get("method") == '"ntru"' or path.stem.startswith("toy"):
            continue
        kind = "".join(c for c in preset["secret"] if c.isdigit()) or preset["secret"].strip('"')
        cells = [path.stem, f"blocks of {kind}" if kind.isdigit() else kind]
        coordinates = int(preset["rank"]) << int(preset["log_n"])
        for n, error in ((int(preset["dimension"]), "lwe_error"), (coordinates, "glwe_error")):
            cost = estimate(Problem(n, -float(preset[error]), secret(kind)))
            primal = min(bits for name, bits in cost.items() if not name.startswith("dual"))
            cells += [f"{n}", f"{-float(preset[error]):.2f}", f"{min(cost.values()):.1f}", f"{primal:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main(arguments: list[str]) -> int:
    match arguments:
        case ["point", n, ratio, kind]:
            for name, bits in sorted(estimate(Problem(int(n), float(ratio), secret(kind))).items(), key=lambda x: x[1]):
                print(f"{name:12} {bits:.1f}")
        case ["limit", n, kind]:
            print(*limit(int(n), kind))
        case ["table"]:
            make_table()
        case ["margins"]:
            print(*margins(), sep="\n")
        case ["check", *rows]:
            return 0 if check_table(int(rows[0]) if rows else None) else 1
        case _:
            print(__doc__)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

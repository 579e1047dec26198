#!/usr/bin/env python3
"""Meet-LWE and its hybrid with lattice reduction, for the sparse secrets of bootstraps (SECURITY.md).

  security_ship.py [EXPONENT ...]    for each preset the number of secrets and bits at these exponents (0.5, 0.4, 0.36)

A guess of S keys costs S^EXPONENT: 0.5 is a plain meeting in the middle, 0.4 the rule of eprint 2025/784, which has no proof, and
0.36 what a better splitting of keys might leave. Two figures for each: of the attack that guesses whole keys, without polynomial
factors, and of the hybrid that guesses some coordinates and decodes the rest, where one lattice reduction serves all
rotations of a guess. The lattice part is that of security_blocks.py. Plain Python, nothing to install.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
PRESETS = ROOT / "crates/aglet/presets/ckks"
NAMES = ("ship14", "ship14-precise", "ship13", "ship13-bits")
ENCAPSULATED = ("regular",)
"""Sets whose sparse secret has a key modulo q0 p'."""
SIGMA = 3.2
EXPONENTS = [0.5, 0.4, 0.36]


def blocks() -> ModuleType:
    """security_blocks.py, which lies beside this file."""
    spec = importlib.util.spec_from_file_location("security_blocks", Path(__file__).with_name("security_blocks.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("security_blocks", module)
    spec.loader.exec_module(module)
    return module


model = blocks()


@dataclass(frozen=True)
class Ship:
    """The sparse secret of a preset, which appears modulo its lowest prime alone, or times the prime of one key."""

    n: int
    log_q: float
    weight: int
    half_window: int | None

    @staticmethod
    def load(name: str) -> Ship:
        """From the file of the preset."""
        text = (PRESETS / f"{name}.toml").read_text(encoding="utf-8")

        def number(pattern: str) -> int | None:
            found = re.search(pattern + r" = (\d+)", text, re.MULTILINE)
            return int(found[1]) if found else None

        log_n, weight, log_q = number("^log_n"), number("^ephemeral_weight"), number('role = "base", bits')
        assert log_n is not None
        assert weight is not None
        assert log_q is not None
        log_q += number("^sparse_switch_bits") or 0
        return Ship(1 << log_n, log_q, weight, number("^window"))

    def log_count(self) -> float:
        """log2 of the number of secrets: increasing places, each in its window, and signs."""
        if self.half_window is None:
            return log_choose(self.n, self.weight) + self.weight
        width, ends = 2 * self.half_window, [0] * self.n
        for k in range(self.weight):
            start = min(max(k * self.n // self.weight - self.half_window, 0), self.n - width)
            before, here = 0, [0] * self.n
            for place in range(self.n):
                if start <= place < start + width:
                    here[place] = before if k else 1
                before += ends[place]
            ends = here
        return math.log2(sum(ends)) + self.weight

    def patterns(self, guessed: int, weight: int) -> float:
        """log2 of the ways that guessed coordinates have this weight."""
        if self.half_window is None:
            return log_choose(guessed, weight) + weight
        return log_choose(self.weight, weight) + weight * (math.log2(max(guessed, 1) / self.weight) + 1)

    def hit(self, guessed: int, weight: int) -> float:
        """log2 of the chance that they have it."""
        if self.half_window is None:
            return (
                log_choose(self.n - self.weight, guessed - weight)
                + log_choose(self.weight, weight)
                - log_choose(self.n, guessed)
            )
        share = guessed / self.n
        if share == 0:
            return 0.0 if weight == 0 else -model.NEVER
        rest = (self.weight - weight) * math.log2(1 - share)
        return log_choose(self.weight, weight) + weight * math.log2(share) + rest


def log_choose(n: int, k: int) -> float:
    """log2 of a binomial coefficient."""
    if not 0 <= k <= n:
        return -model.NEVER
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / model.LN2


def hybrid(ship: Ship, exponent: float) -> float:
    """Guess coordinates up to a weight, at `exponent` of their bits, and decode the rest (after eprint 2022/1473)."""
    deviation = math.sqrt(ship.weight / ship.n)
    secret = model.Secret("sparse", 1, 3, deviation)
    problem = model.Problem(ship.n, ship.log_q - math.log2(SIGMA), secret)

    @cache
    def levels(guessed: int) -> list[tuple[float, float]]:
        keys, chance, found = -model.NEVER, -model.NEVER, []
        for weight in range(min(ship.weight, guessed) + 1):
            keys = model.add(keys, ship.patterns(guessed, weight))
            chance = min(0.0, model.add(chance, ship.hit(guessed, weight)))
            found.append((keys, chance))
        return found

    def at(guessed: int) -> float:
        def cost(beta: int) -> float:
            basis = model.Basis.of(problem, beta, guessed)
            chance = basis.log_success(model.RIGHT, 0) + basis.log_success(model.ALIKE, 0)
            if chance < -400:
                return float(model.NEVER)
            reduction, search = model.reduction(beta, basis.d), 2 * math.log2(basis.d)

            def total(keys: float, hit: float) -> float:
                again = model.repetitions(chance + hit)
                return float(
                    model.add(reduction + max(0.0, again - math.log2(ship.n)), search + exponent * keys + again)
                )

            return min(total(keys, hit) for keys, hit in levels(guessed))

        return float(model.cheapest(cost, 50, 1200)[0])

    # Nearly all coordinates are guessed: the sparser the secret, the fewer are left.
    return min(at(ship.n - left) for left in range(ship.n // 64, ship.n // 4, ship.n // 256))


def rows(exponents: list[float]) -> list[str]:
    """A head, and a line for each preset: bits of whole keys and of the hybrid at each exponent."""
    heads = "".join(f" whole secrets at {x:g} | hybrid at {x:g} |" for x in exponents)
    lines = [f"| preset | log2 of the secrets |{heads}"]
    for name in NAMES + ENCAPSULATED:
        ship = Ship.load(name)
        count = ship.log_count()
        cells = "".join(f" {x * count:.1f} | {hybrid(ship, x):.1f} |" for x in exponents)
        lines.append(f"| {name} | {count:.1f} |{cells}")
    return lines


def main(arguments: list[str]) -> int:
    print(*rows([float(x) for x in arguments] or EXPONENTS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""How far the preset `ntru` is from 128 bits: the attack on the dense sublattice of NTRU (eprint 2021/999, section 3), and LWE beside it.

  security_ntru.py [N Q]      block sizes and bits of both attacks, for ternary secrets and errors; the preset's own if none are given

The lattice of NTRU holds N short vectors that lie in a sublattice of dimension N, which is much denser than the whole once Q is
large: reduction then finds that sublattice before any of its vectors. The model is the paper's for circulant keys, at the block size where
the expected length is reached; costs are those of `security_blocks.py`. Plain Python, nothing to install.
"""

from __future__ import annotations

import math
import sys

import security_blocks as model

VARIANCE = 2 / 3
"""Of a coefficient of the secret, and of an error."""
SMALLEST = 60
"""Block sizes and dimensions below this are not modelled."""


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function, for x > 0, to ten digits."""
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    y = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y / 252))


def log_ball(d: int) -> float:
    """ln of the volume of the unit ball."""
    return d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)


def profile(n: int, log_q: float, beta: int) -> list[float]:
    """ln of the Gram-Schmidt norms after reduction by `beta`: a slope in the middle, q before it and 1 after."""
    slope = 2 * model.log_delta(beta)
    middle = [log_q / 2 + slope * (n - 0.5 - i) for i in range(2 * n)]
    return [min(max(x, 0.0), log_q) for x in middle]


def dense_sublattice(n: int, log_q: float) -> int:
    """The block size that finds a vector of the dense sublattice."""
    # ln of its volume for circulant keys (claim 3.4 of the paper).
    each = 1 - 0.5772156649 + math.log(n * VARIANCE)
    whole = (math.log(2 * n * VARIANCE) - 0.5772156649 + (n - 1) * each) / 2
    for beta in range(SMALLEST, n):
        norms, volume = profile(n, log_q, beta), whole
        # The volume of its intersection with the first s vectors, by duals that are projected (claim 3.5).
        for s in range(2 * n, n + SMALLEST, -1):
            i = s - n
            length = (volume - log_ball(i)) / i
            if length + math.log(beta / s) / 2 <= norms[s - beta]:
                return beta
            volume += (digamma((s - n) / 2) - digamma(s / 2)) / 2 - norms[s - 1]
    return n


def secret_key(n: int, log_q: float) -> int:
    """The block size that finds the key itself, as with LWE of as many samples as serve best (eprint 2016/758)."""
    for beta in range(SMALLEST, n):
        slope = 2 * model.log_delta(beta)
        found = max(m * log_q / (n + m) - slope * ((n + m - 1) / 2 - beta) for m in range(n // 2, n + 1))
        if math.log(beta * VARIANCE) / 2 <= found:
            return beta
    return n


def main(arguments: list[str]) -> int:
    n, q = (int(x) for x in arguments) if arguments else (1024, 995_329)
    print(f"N = {n}, Q = {q} = 2^{math.log2(q):.2f}; fatigue point 2^{math.log2(0.004 * n**2.484):.2f}")
    for name, beta in (("dense sublattice", dense_sublattice(n, math.log(q))), ("key", secret_key(n, math.log(q)))):
        print(
            f"{name}: block size {beta}, {model.reduction(beta, 2 * n):.1f} bits, {0.292 * beta:.1f} by 2^0.292b alone"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Time SEAL on one thread, by the wheel seal-python: `python seal_peer.py WHAT REPEAT` prints one line of JSON.

WHAT is bfv, bgv, ckks or rotation. Results are compared with plain ones.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import seal

MODULUS = 65537
DEPTH = 8
LOG_N = 15


def timed(repeat: int, call: Callable[[], Any]) -> tuple[list[float], Any]:
    """A call that is not counted, and those that are."""
    found, seconds = call(), []
    for _ in range(repeat):
        start = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - start)
    return seconds, found


class Scheme:
    """A scheme of SEAL at 128 bits by its own table, with all that its bench needs. The last prime is the special one."""

    def __init__(self, name: str, primes: list[int]) -> None:
        parameters = seal.EncryptionParameters(getattr(seal.scheme_type, name))
        parameters.set_poly_modulus_degree(1 << LOG_N)
        parameters.set_coeff_modulus(seal.CoeffModulus.Create(1 << LOG_N, primes))
        if name != "ckks":
            parameters.set_plain_modulus(seal.Modulus(MODULUS))
        context = seal.SEALContext(parameters, True, seal.sec_level_type.tc128)
        if not context.parameters_set():
            raise SystemExit(f"SEAL refuses {primes}")
        maker = seal.KeyGenerator(context)
        secret = maker.secret_key()
        self.relin, self.turns = maker.create_relin_keys(), None
        if name == "ckks":
            self.turns = seal.GaloisKeys()
            maker.create_galois_keys([1], self.turns)
        self.encryptor = seal.Encryptor(context, maker.create_public_key())
        self.decryptor, self.evaluator = seal.Decryptor(context, secret), seal.Evaluator(context)
        self.encoder = (seal.CKKSEncoder if name == "ckks" else seal.BatchEncoder)(context)
        self.name, self.text = name, f"N = 2^{LOG_N}, {len(primes) - 1} primes and a special one, {sum(primes)} bits"

    def product(self, x: Any, y: Any) -> Any:
        made = self.evaluator.multiply(x, y)
        self.evaluator.relinearize_inplace(made, self.relin)
        if self.name == "ckks":
            self.evaluator.rescale_to_next_inplace(made)
        if self.name == "bgv":
            self.evaluator.mod_switch_to_next_inplace(made)
        return made


def integers(name: str, repeat: int) -> dict[str, Any]:
    """A product of a chain that is as deep as promised, which is checked too. The fewest limbs that do it."""
    scheme = Scheme(name, [60] * 6 if name == "bfv" else [47] + [38] * DEPTH + [47])
    numbers = np.array([31 * i * i % MODULUS - MODULUS // 2 for i in range(1 << LOG_N)])
    x, y = (scheme.encryptor.encrypt(scheme.encoder.encode(some)) for some in (numbers, numbers[::-1].copy()))
    seconds, made = timed(repeat, lambda: scheme.product(x, y))

    def wrong(found: Any, expected: Any) -> int:
        return int(((np.array(scheme.encoder.decode(scheme.decryptor.decrypt(found))) - expected) % MODULUS != 0).sum())

    bad = wrong(made, numbers * numbers[::-1])
    power, expected = x, numbers
    for _ in range(DEPTH):
        power, expected = scheme.product(power, power), expected * expected % MODULUS
    return {"seconds": seconds, "wrong": bad + wrong(power, expected), "parameters": f"{scheme.text}, depth {DEPTH}"}


def numbers(what: str, repeat: int) -> dict[str, Any]:
    """At the top of a chain with the primes of Aglet's levels-15; SEAL has one special prime."""
    scheme = Scheme("ckks", [50] + [40] * 17 + [50])
    x = np.sin(np.arange(1 << LOG_N - 1) * 7.0 + 1)
    full = scheme.encryptor.encrypt(scheme.encoder.encode(x, 2.0**40))
    if what == "rotation":
        seconds, made = timed(repeat, lambda: scheme.evaluator.rotate_vector(full, 1, scheme.turns))
    else:
        seconds, made = timed(repeat, lambda: scheme.product(full, full))
    expected = np.roll(x, -1) if what == "rotation" else x * x
    errors = np.abs(np.array(scheme.encoder.decode(scheme.decryptor.decrypt(made))) - expected)
    bits = {"bits_mean": -float(np.log2(errors.mean())), "bits_worst": -float(np.log2(errors.max()))}
    return {"seconds": seconds, "wrong": int(bits["bits_worst"] < 15), "parameters": scheme.text, **bits}


if __name__ == "__main__":
    what, repeat = sys.argv[1], int(sys.argv[2])
    print(json.dumps((integers if what in ("bfv", "bgv") else numbers)(what, repeat)))

"""An exact dot product of int16 vectors: a product of polynomials modulo each of three numbers."""

import math
import time

import numpy as np

from aglet import IntegerEngine

MODULI = (65537, 65535, 65533)  # no two have a common divisor

random = np.random.default_rng()
engines = [IntegerEngine(plaintext_modulus=t, depth=1, packing="coefficients") for t in MODULI]
length = engines[0].slot_count
x, y = random.integers(-(2**15), 2**15, (2, length))

residues, start = [], time.perf_counter()
for t, engine in zip(MODULI, engines, strict=True):
    secret_key = engine.create_secret_key()
    key = engine.create_relinearization_key(secret_key)
    # The coefficient of X^(N-1) in sum x_i X^i times sum y_i X^(N-1-i) is sum x_i y_i.
    a, b = engine.encrypt(x % t, secret_key), engine.encrypt(y[::-1] % t, secret_key)
    residues.append(int(engine.decrypt(engine.multiply(a, b, key), secret_key)[-1]))
seconds = time.perf_counter() - start

whole = math.prod(MODULI)
found = sum(r * (whole // t) * pow(whole // t, -1, t) for r, t in zip(residues, MODULI, strict=True)) % whole
found -= whole if found > whole // 2 else 0
assert found == int(np.dot(x.astype(np.int64), y.astype(np.int64)))
print(f"the dot product of two vectors of {length} int16 is {found}: exact, in {seconds:.2f} s with keys")

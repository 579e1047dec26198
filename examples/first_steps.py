"""First steps: encrypt, compute, decrypt. No bootstrapping; runs in a second."""

import numpy as np

from aglet import Engine

# A small ring: seven multiplications one after the other, 8192 numbers in a ciphertext.
engine = Engine()  # one thread; Engine(mode="parallel") takes all cores
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
relinearization_key = engine.create_relinearization_key(secret_key)
rotation_key = engine.create_rotation_key(secret_key)

# Whoever has the public key encrypts. Every slot is computed on at once.
temperature = np.array([18.5, 21.0, 19.5, 23.0])
humidity = np.array([0.40, 0.55, 0.45, 0.60])
a = engine.encrypt(temperature, public_key)
b = engine.encrypt(humidity, public_key)

# (a - 20) * b + b^2, without seeing a or b.
product = engine.multiply(engine.subtract(a, 20), b, relinearization_key)
result = engine.add(product, engine.square(b, relinearization_key))

# Add up the first four slots: rotate and add, twice. Positive steps go right, as in numpy.roll.
total = result
for step in (1, 2):
    total = engine.add(total, engine.rotate(total, rotation_key, -step))

values = engine.decrypt(result, secret_key)[:4].real
expected = (temperature - 20) * humidity + humidity**2
print("computed  ", values.round(6))
print("expected  ", expected.round(6))
print("sum       ", engine.decrypt(total, secret_key)[0].real.round(6), "expected", expected.sum().round(6))
print("level     ", result.level, "of", engine.max_level)

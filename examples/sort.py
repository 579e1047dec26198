"""Sort 64 encrypted bytes, equal ones included, with two bootstraps. Needs 9 GB of memory and a minute.

All pairs are compared at once: the 64 values stand in 64 rows, and row s holds x[c] - x[c + s] in column c. The signs
give each value its rank, a Fejer kernel of the ranks says where it belongs, and one sum puts it there. A network of
compare-and-exchange steps would do the same with 21 comparisons one after the other.
"""

import time

import numpy as np
from numpy.polynomial import chebyshev

from aglet import Engine

engine = Engine(use_bootstrap=True, mode="parallel")
slots = engine.slot_count
count = 64 if slots >= 64**2 else 16
start = time.perf_counter()


def say(what: str) -> None:
    print(f"{time.perf_counter() - start:6.1f} s  {what}", flush=True)


secret_key = engine.create_secret_key()
relin = engine.create_relinearization_key(secret_key)
conj = engine.create_conjugation_key(secret_key)
rotation = engine.create_rotation_key(secret_key)
boot = engine.create_bootstrap_key(secret_key)
say("keys made")

data = np.random.default_rng().integers(0, 256, count)
data[1] = data[0]
encrypted = engine.encrypt(data / 256, secret_key)

# From here on nothing is known but the encrypted values.
start = time.perf_counter()
column = np.arange(slots) % count
row = np.arange(slots) // count % count


def sum_of_rotations(ciphertext, step, stop):
    """Sum over the rotations by 0, step, 2 step, ... below stop."""
    while step < stop:
        ciphertext = engine.add(ciphertext, engine.rotate(ciphertext, rotation, step))
        step *= 2
    return ciphertext


# 1. Every row holds all values; row s then takes the differences x[c] - x[c + s]. Equal values keep their order.
values = sum_of_rotations(encrypted, count, slots)
turned = engine.rotate_batch(values, rotation, [(-s) % count for s in range(count)])
differences = engine.weighted_sum([values, *turned], [1, *[-1.0 * (row == s) for s in range(count)]])
first_is_larger = np.where(column > (column + row) % count, 1, -1) * (row > 0)
differences = engine.add(differences, first_is_larger / 512)
say("differences")

# 2. Their signs, 1/256 and the order of equal ones being 1/512 from 0 at least: alpha = 9.
plan = engine.comparison_plan(9, error_bits=12, level=differences.level)
print(f"          {plan}")
signs = engine.sign(differences, relin, conj, boot, alpha=9, error_bits=12)
say(f"signs at level {signs.level}")

# 3. In column c the rank of x[c], from 0 to count - 1; in row s compared with the place (c + s) mod count.
place = (column + row) % count
ranks = engine.multiply(sum_of_rotations(signs, count, count * count), 1 / (2 * count))
distance = engine.add(ranks, ((count - 1) / 2 - place) / count)

# 4. cos(2 pi distance), then the Fejer kernel: 1 where the distance is 0, and 0, twice, where it is another place.
points = np.arange(1 - count, count) / count
weights = np.where(points == 0, 100, 1)
cosine = chebyshev.chebfit(points, np.cos(2 * np.pi * points), 14, w=weights)
cosine[1::2] = 0
angle = engine.evaluate_chebyshev_polynomial(distance, cosine, relin)
say(f"ranks at level {angle.level}")
angle = engine.bootstrap(angle, relin, conj, boot)
say("refreshed")
kernel = 2 * (1 - np.arange(count) / count) / count
kernel[0] /= 2
here = engine.evaluate_chebyshev_polynomial(angle, kernel, relin)

# 5. Row s holds x[c] where it belongs to place c + s: turn it there, and add up the rows.
chosen = engine.multiply(here, values, relin)
turned = engine.rotate_batch(chosen, rotation, range(count))
rows = [np.roll(row == s, s) * (count * count / slots) for s in range(count)]
ordered = sum_of_rotations(engine.weighted_sum(turned, rows), count, slots)
say(f"sorted, at level {ordered.level}, with {plan.bootstraps + 1} bootstraps")

result = engine.decrypt(ordered, secret_key).real[:count] * 256
print("error", f"{np.abs(result - np.sort(data)).max():.3f} of the distance of two values")
assert np.array_equal(np.rint(result), np.sort(data)), "this is not the order of numpy.sort"
print(np.rint(result).astype(int))

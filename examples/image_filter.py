"""Sharpen an encrypted picture: a 3 x 3 kernel of whole numbers, and results clipped to 0..255, as numpy does it.

The picture is encrypted, the kernel is in the clear. Pixels are uint8, sums of nine of them int16, so that nothing
wraps around. Run it as `image_filter.py 16` for 16 x 16 pixels instead of 6 x 6. They take 17 bootstraps each, together
21 s of a thread of a shared machine.
"""

import sys
import time

import numpy as np

from aglet import FhewEngine, Session

SIDE = int(sys.argv[1]) if len(sys.argv) > 1 else 6
KERNEL = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], dtype=np.int16)


def sharpened(picture):
    """The picture after the kernel, encrypted or in the clear. Beyond the border it goes on with what stands there."""
    near = [np.clip(np.arange(SIDE) + step, 0, SIDE - 1) for step in (-1, 0, 1)]
    windows = np.stack([picture[rows][:, columns] for rows in near for columns in near], axis=-1)
    sums = windows.astype(np.int16) @ KERNEL.ravel()
    return np.clip(sums, 0, 255).astype(np.uint8, casting="unsafe")


# A bright disc on a dark ground, with some noise: along its edge sums leave 0..255.
y, x = np.mgrid[:SIDE, :SIDE] - SIDE / 2
noise = np.random.default_rng(4).integers(-15, 16, (SIDE, SIDE))
picture = (np.where(np.hypot(x, y) < SIDE / 3, 230, 20) + noise).astype(np.uint8)

engine = FhewEngine(bits=4, thread_count=0)
owner = Session(engine, engine.create_keys())
encrypted = owner.encrypt(picture)

# From here on a session without the secret key, `Session(engine, keys.evaluation())`, would do as well.
start = time.perf_counter()
result = sharpened(encrypted)
seconds = time.perf_counter() - start

found, wanted = owner.decrypt(result), sharpened(picture)
print("\n".join(" ".join(f"{pixel:3}" for pixel in row) for row in found))
print(f"{picture.size} pixels in {seconds:.1f} s, {owner.rotations} blind rotations")
assert found.dtype == np.uint8
assert np.array_equal(found, wanted)
assert {0, 255} <= set(wanted.ravel().tolist()), "no sum was clipped"

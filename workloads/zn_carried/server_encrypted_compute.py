"""Server: the products as digits of 2 bits, with all carries."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, WorkloadError, empty, read_all, read_one, run
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """The result of a batch is one ciphertext."""
    engine, clock = digits.engine(place.size), Clock()
    if place.count is None or place.count < 1:
        raise WorkloadError("The number of products is missing; give it after the size.")
    with clock.part("reading keys"):
        names = ("relinearization", "rotation", "bootstrap")
        keys = (read_one(engine, place.public_keys / f"{name}.key", "client_key_generation") for name in names)
        carrier = digits.Carrier(engine, *keys)
    empty(place.download)
    for batch in range(-(-place.count // digits.batch_size(engine.slot_count))):
        with clock.part("reading"):
            path = place.upload / f"batch_{batch}.bin"
            inputs = list(read_all(engine, path, 2 * digits.DIGITS, "client_encode_encrypt_input"))
        with clock.part("compute"):
            product = carrier.multiply(inputs)
        engine.write(product, place.download / f"batch_{batch}.bin")
    clock.save(place)


if __name__ == "__main__":
    run(stage, digits.SIZES)

"""Client: decrypt the digits and write them as numbers."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, read_one, run, save_array
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """The products in the order of the inputs."""
    engine = digits.engine(place.size)
    key = read_one(engine, place.secret_key, "client_key_generation")
    if place.count is None or place.count < 1:
        raise WorkloadError("The number of products is missing; give it after the size.")
    found = []
    for batch in range(-(-place.count // digits.batch_size(engine.slot_count))):
        product = read_one(engine, place.download / f"batch_{batch}.bin", "server_encrypted_compute")
        found.append(digits.unpacked(engine.decrypt(product, key)))
    save_array(place.intermediate / "products.npy", np.concatenate(found)[: place.count])


if __name__ == "__main__":
    run(stage, digits.SIZES)

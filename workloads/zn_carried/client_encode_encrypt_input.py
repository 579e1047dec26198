"""Client: encrypt the digits of both operands, a file for each batch."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, empty, load_array, read_one, run, write_all
from workloads.zn_carried import digits


def stage(place: Place) -> None:
    """64 ciphertexts for each batch, under the secret key."""
    engine = digits.engine(place.size)
    key = read_one(engine, place.secret_key, "client_key_generation")
    left, right = (load_array(place.intermediate / f"{name}.npy", "client_preprocess_input") for name in ("lhs", "rhs"))
    size = digits.batch_size(engine.slot_count)
    empty(place.upload)
    for batch, first in enumerate(range(0, len(left), size)):
        part = slice(first, first + size)
        slots = digits.packed(left[part], right[part], engine.slot_count)
        write_all(engine, (engine.encrypt(row, key) for row in slots), place.upload / f"batch_{batch}.bin")


if __name__ == "__main__":
    run(stage, digits.SIZES)

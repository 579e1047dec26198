"""Client: encrypt the digits, a file for each batch of 8,192 pairs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, read_one, run, side_by_side, write_all
from workloads.zn import columns


def stage(place: Place) -> None:
    """Fresh ciphertexts, under the secret key."""
    engine = columns.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    operands = [load_array(place.intermediate / f"{name}.npy", "client_preprocess_input") for name in ("lhs", "rhs")]
    rows = [row for digits in operands for row in digits]

    def encrypt(batch: int) -> None:
        part = slice(batch * engine.slot_count, (batch + 1) * engine.slot_count)
        digits = (engine.encrypt(row[part], key, level=columns.LEVEL) for row in rows)
        write_all(engine, digits, place.upload / f"batch_{batch}.bin")

    side_by_side(encrypt, columns.batch_count(rows[0].size, engine.slot_count))


if __name__ == "__main__":
    run(stage, columns.SIZES)

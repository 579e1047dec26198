"""Client: decrypt the columns."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, read_all, read_one, run, save_array, side_by_side
from workloads.zn import columns


def stage(place: Place) -> None:
    """The columns of all products, a row for each place."""
    engine = columns.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    if place.count is None or place.count < 1:
        raise WorkloadError("The number of products is missing; give it after the size.")
    count = columns.batch_count(place.count, engine.slot_count)
    found = np.zeros((columns.DIGITS, count * engine.slot_count), dtype=np.int64)

    def decrypt(batch: int) -> None:
        first, path = batch * engine.slot_count, place.download / f"batch_{batch}.bin"
        for k, column in enumerate(read_all(engine, path, columns.DIGITS, "server_encrypted_compute")):
            found[k, first : first + engine.slot_count] = engine.decrypt(column, key)

    side_by_side(decrypt, count)
    save_array(place.intermediate / "columns.npy", found[:, : place.count])


if __name__ == "__main__":
    run(stage, columns.SIZES)

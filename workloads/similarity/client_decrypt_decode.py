"""Client: decrypt the count, or the payloads of all chunks."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, read_all, read_one, run, save_array
from workloads.similarity import search


def stage(place: Place) -> None:
    """Slots by pair of columns."""
    engine = search.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    path, maker = place.download / "results.bin", "server_encrypted_compute"
    if place.count_only:
        [found] = read_all(engine, path, 1, maker)
        save_array(place.intermediate / "count.npy", engine.decrypt(found, key).real / 2)
    else:
        width = (search.COLUMNS + 1) // 2
        chunks = len(list(place.upload.glob("records_*.bin")))
        slots = [engine.decrypt(one, key) for one in read_all(engine, path, width * chunks, maker)]
        by_column = np.array(slots).reshape(chunks, width, -1).swapaxes(0, 1)
        save_array(place.intermediate / "payloads.npy", by_column.reshape(width, -1))


if __name__ == "__main__":
    run(stage, search.SIZES)

"""Client: encrypt the query, repeated over all slots."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, read_one, run
from workloads.similarity import search


def stage(place: Place) -> None:
    """One ciphertext."""
    engine = search.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    query = search.read_vectors(place.data / "query.bin", search.DIMENSIONS[place.size])
    engine.write(engine.encrypt(search.query_slots(query, engine.slot_count), key), place.upload / "query.bin")


if __name__ == "__main__":
    run(stage, search.SIZES)

"""Client: encrypt the records and their payloads, a file for each chunk of 16,384."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, empty, read_one, run, side_by_side, write_all
from workloads.similarity import search


def stage(place: Place) -> None:
    """Payloads wait at level 1, where matches arrive."""
    engine = search.engine()
    key = read_one(engine, place.secret_key, "client_key_generation")
    records = search.read_vectors(place.data / "db.bin", search.DIMENSIONS[place.size])
    payloads, slots = search.read_payloads(place.data / "payloads.bin", len(records)), engine.slot_count
    empty(place.upload)

    def encrypt(chunk: int) -> None:
        part = slice(chunk * slots, (chunk + 1) * slots)
        rows = (engine.encrypt(row, key) for row in search.record_slots(records[part], slots))
        write_all(engine, rows, place.upload / f"records_{chunk:04}.bin")
        rows = (engine.encrypt(row, key, level=1) for row in search.payload_slots(payloads[part], slots))
        write_all(engine, rows, place.upload / f"payloads_{chunk:04}.bin")

    side_by_side(encrypt, -(-len(records) // slots))


if __name__ == "__main__":
    run(stage, search.SIZES)

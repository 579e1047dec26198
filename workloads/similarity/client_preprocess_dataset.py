"""Client, in the clear: check the records and their payloads before anything is encrypted."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run
from workloads.similarity import search


def stage(place: Place) -> None:
    """As many payloads as records, all of them in range."""
    records = search.read_vectors(place.data / "db.bin", search.DIMENSIONS[place.size])
    search.read_payloads(place.data / "payloads.bin", len(records))


if __name__ == "__main__":
    run(stage, search.SIZES)

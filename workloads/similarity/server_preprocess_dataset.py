"""Server: nothing to prepare; the records are used as they came."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, needed, run
from workloads.similarity import search


def stage(place: Place) -> None:
    """The first chunk is there."""
    needed(place.upload / "records_0000.bin", "client_encode_encrypt_db")


if __name__ == "__main__":
    run(stage, search.SIZES)

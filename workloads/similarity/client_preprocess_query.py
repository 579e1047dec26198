"""Client, in the clear: check the query."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, WorkloadError, run
from workloads.similarity import search


def stage(place: Place) -> None:
    """One vector of length 1."""
    if len(search.read_vectors(place.data / "query.bin", search.DIMENSIONS[place.size])) != 1:
        raise WorkloadError(f"{place.data / 'query.bin'} has more than one vector; make one query at a time.")


if __name__ == "__main__":
    run(stage, search.SIZES)

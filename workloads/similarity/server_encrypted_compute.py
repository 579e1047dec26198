"""Server: find the matches chunk by chunk, then count them or multiply them with their payloads."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, needed, read_one, run, side_by_side, write_all
from workloads.similarity import matching, search


def stage(place: Place) -> None:
    """Chunks run side by side."""
    needed(place.upload / "records_0000.bin", "client_encode_encrypt_db")
    chunks = len(list(place.upload.glob("records_*.bin")))
    engine, clock = search.engine(), Clock()
    with clock.part("reading keys"):
        server = matching.Server.load(place, engine)
    with clock.part("turning the query"):
        query = read_one(engine, place.upload / "query.bin", "client_encode_encrypt_query")
        turned = server.turned(query, search.DIMENSIONS[place.size])
    found: dict[int, list[Any]] = {}

    def search_chunk(chunk: int) -> None:
        found[chunk] = server.chunk(place, chunk, turned)

    with clock.part("reading records, and matches"):
        side_by_side(search_chunk, chunks)
    with clock.part("result"):
        results = [one for chunk in range(chunks) for one in found[chunk]]
        write_all(engine, [server.count(results)] if place.count_only else results, place.download / "results.bin")
    clock.save(place)


if __name__ == "__main__":
    run(stage, search.SIZES)

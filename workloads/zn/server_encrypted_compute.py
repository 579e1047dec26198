"""Server: the columns of all products, from encrypted digits and without a key."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, WorkloadError, read_all, run, side_by_side, write_all
from workloads.zn import columns


def stage(place: Place) -> None:
    """A batch is 66 slotwise products of 8,192 pairs."""
    engine, clock = columns.engine(), Clock(side_by_side=True)
    if place.count is None or place.count < 1:
        raise WorkloadError("The number of products is missing; give it after the size.")

    def multiply(batch: int) -> None:
        with clock.part("reading"):
            path = place.upload / f"batch_{batch}.bin"
            digits = list(read_all(engine, path, 2 * columns.DIGITS, "client_encode_encrypt_input"))
        with clock.part("compute"):
            found = columns.columns(engine, digits[: columns.DIGITS], digits[columns.DIGITS :])
        with clock.part("writing"):
            write_all(engine, found, place.download / f"batch_{batch}.bin")

    with clock.part("from start to end"):
        side_by_side(multiply, columns.batch_count(place.count, engine.slot_count))
    clock.save(place)


if __name__ == "__main__":
    run(stage, columns.SIZES)

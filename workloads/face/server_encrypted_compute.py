"""Server: the networks on encrypted patches, and the score of each pair."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, WorkloadError, empty, read_all, run
from workloads.face import layers, model
from workloads.face.reference import NETS


def stage(place: Place) -> None:
    """One network after the other, each for all pairs. The client says that values stay in the ranges of the sample."""
    engine, clock, size = layers.engine(place.size), Clock(), place.size
    files = sorted(place.upload.glob("pair_*.bin"))
    if not files:
        raise WorkloadError(f"{place.upload} has no pair; run client_encode_encrypt_input first.")
    with clock.part("planning"):
        state = model.load(place.root / "io" / "server_data" / model.file(size), "server_preprocess_model", size)
        plans = layers.plans(size, state)
        plan = next(plans)
    with clock.part("reading"):
        keys = layers.read_keys(place, plan)
        pairs = [list(read_all(engine, path, NETS, "client_encode_encrypt_input")) for path in files]
    for net in range(NETS):
        if net:
            # Its diagonals go before those of the next one are made.
            del plan
            with clock.part("planning"):
                plan = next(plans)
        with clock.part("compute"):
            for pair, made in zip(pairs, plan.run_many([pair[net] for pair in pairs], keys, assume=True), strict=True):
                pair[net] = made
    empty(place.download)
    for path, pair in zip(files, pairs, strict=True):
        with clock.part("compute"):
            score = layers.compare(plan, pair, keys, model.score_of(size))
        engine.write(score, place.download / path.name.replace("pair", "score"))
    clock.save(place)


if __name__ == "__main__":
    run(stage, layers.SIZES)

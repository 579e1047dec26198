"""Server: the network on encrypted pictures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, WorkloadError, empty, read_one, run
from workloads.resnet20 import layers, model


def stage(place: Place) -> None:
    """All pictures, step by step. The client says that pictures are like those that ranges were taken from."""
    engine, clock = layers.engine(), Clock()
    with clock.part("planning"):
        weights = model.load(place.root / "io" / "server_data" / "weights.npz", "server_preprocess_model")
        plan = layers.the_plan(weights)
    with clock.part("reading"):
        keys = layers.read_keys(place, plan)
    files = sorted(place.upload.glob("input_*.bin"))
    if not files:
        raise WorkloadError(f"{place.upload} has no input; run client_encode_encrypt_input first.")
    with clock.part("reading"):
        pictures = [read_one(engine, path, "client_encode_encrypt_input") for path in files]
    with clock.part("compute"):
        scores = plan.run_many(pictures, keys, assume=True)
    empty(place.download)
    for path, one in zip(files, scores, strict=True):
        engine.write(one, place.download / path.name.replace("input", "scores"))
    clock.save(place)


if __name__ == "__main__":
    run(stage, layers.SIZES)

"""Server: the network on encrypted pictures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, WorkloadError, empty, read_all, read_one, run
from workloads.mnist import layers, model


def stage(place: Place) -> None:
    """One picture at a time, or 128."""
    engine, clock = layers.engine(), Clock()
    with clock.part("reading"):
        network = layers.of_size(
            place.size, model.load(place.root / "io" / "server_data" / "weights.npz", "server_preprocess_model")
        )
        steps = sorted(layers.key_levels(network))
        keys = read_all(engine, place.public_keys / "rotations.bin", len(steps), "client_key_generation")
        relin = read_one(engine, place.public_keys / "relinearization.key", "client_key_generation")
        classify = layers.Network(engine, network, dict(zip(steps, keys, strict=True)), relin)
    files = sorted(place.upload.glob("input_*.bin"))
    if not files:
        raise WorkloadError(f"{place.upload} has no input; run client_encode_encrypt_input first.")
    if len(files) > 1:
        with clock.part("encoding"):
            classify = classify.encoded()
    empty(place.download)
    for path in files:
        with clock.part("reading"):
            inputs = list(read_all(engine, path, classify.inputs, "client_encode_encrypt_input"))
        with clock.part("compute"):
            scores = classify(inputs)
        engine.write(scores, place.download / path.name.replace("input", "scores"))
    clock.save(place)


if __name__ == "__main__":
    run(stage, layers.SIZES)

"""Client, in the clear: the label of each picture is that of its largest score."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.resnet20 import layers


def stage(place: Place) -> None:
    """A label a line."""
    labels = load_array(place.intermediate / "scores.npy", "client_decrypt_decode").argmax(axis=1)
    write_text(place.io / "encrypted_model_predictions.txt", "".join(f"{label}\n" for label in labels.tolist()))


if __name__ == "__main__":
    run(stage, layers.SIZES)

"""Client, in the clear: write the scores as the harness reads them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, load_array, run, write_text
from workloads.face import layers


def stage(place: Place) -> None:
    """A score a line."""
    scores = load_array(place.intermediate / "scores.npy", "client_decrypt_decode")
    write_text(place.io / "encrypted_model_predictions.txt", "".join(f"{score:.9f}\n" for score in scores.tolist()))


if __name__ == "__main__":
    run(stage, layers.SIZES)

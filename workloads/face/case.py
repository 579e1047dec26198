"""The stand-in's half of the faces: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np

from workloads.common import Place, WorkloadError, load_array, network_stages, write_text
from workloads.face import layers, model, pictures
from workloads.face.reference import embeddings

SIZES = layers.SIZES
once, each_run = network_stages(SIZES)


def parameters(size: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = layers.engine(size)
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_report().security_bits}


def make_data(place: Place, seed: int) -> None:
    """The data comes with each run."""


def make_input(place: Place, seed: int) -> None:
    """Drawn faces, other ones than those that ranges were taken from."""
    pairs, labels = pictures.drawn(layers.COUNTS[SIZES.index(place.size)], seed)
    folder = place.data / "intermediate"
    pictures.write_pairs(folder, pairs)
    write_text(folder / "test_labels.txt", "".join(f"{label}\n" for label in labels.tolist()))


def check(place: Place) -> dict[str, object]:
    """Every score against CryptoFace in the clear, within the error that follows from the bits of the plans.

    Raises
    ------
    WorkloadError
        If a score differs, or the file of scores is not that of the decrypted ones.
    """
    size = place.size
    patches = load_array(place.intermediate / "patches.npy", "client_preprocess_input")
    first, second = (embeddings(model.weights(size), patches[:, :, one].swapaxes(0, 1)) for one in (0, 1))
    wanted = model.score_of(size).of(first, second)
    planned = list(layers.plans(size))
    stated = layers.error(size, min(plan.bits for plan in planned), first, second)
    found = load_array(place.intermediate / "scores.npy", "client_decrypt_decode")
    if found.shape != wanted.shape or not (np.abs(found - wanted) <= stated).all():
        raise WorkloadError("The scores differ from those in the clear.")
    lines = np.array((place.io / "encrypted_model_predictions.txt").read_text().split(), dtype=float)
    if lines.shape != found.shape or not (np.abs(lines - found) < 1e-8).all():
        raise WorkloadError("The scores of the file are not those that were decrypted.")
    largest = float(np.abs(found - wanted).max())
    return {
        "pairs": len(found),
        "largest difference": largest,
        "bits": float(-np.log2(largest)),
        "stated bits": float(-np.log2(stated)),
        "plan": str(planned[0]),
    }

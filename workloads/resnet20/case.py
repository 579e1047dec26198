"""The stand-in's half of the pictures: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np

from workloads.common import Place, WorkloadError, load_array, network_stages, write_text
from workloads.resnet20 import layers, model, pictures

SIZES = layers.SIZES
once, each_run = network_stages(SIZES)
COUNTS = (1, 15)


def parameters(_: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = layers.engine()
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_report().security_bits}


def make_data(place: Place, seed: int) -> None:
    """The data comes with each run."""


def make_input(place: Place, seed: int) -> None:
    """Pictures that were not trained on."""
    known, labels = pictures.coloured(training=False, seed=seed)
    chosen = np.random.default_rng(seed).integers(0, len(known), COUNTS[SIZES.index(place.size)])
    folder = place.data / "intermediate"
    rows = known[chosen].reshape(len(chosen), -1)
    write_text(folder / "test_pixels.txt", "".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in rows))
    write_text(folder / "test_labels.txt", "".join(f"{label}\n" for label in labels[chosen]))


def check(place: Place) -> dict[str, object]:
    """Every score against the network of polynomials in the clear, within the bits that its plan states, and labels.

    Raises
    ------
    WorkloadError
        If a score or a label differs.
    """
    folder = place.data / "intermediate"
    plan = layers.the_plan(model.load())
    wanted = plan.network(pictures.read_pixels(folder / "test_pixels.txt"))
    found = load_array(place.intermediate / "scores.npy", "client_decrypt_decode")
    if found.shape != wanted.shape or not (np.abs(found - wanted) <= 2.0**-plan.bits).all():
        raise WorkloadError("The scores differ from those in the clear.")
    labels = np.array((place.io / "encrypted_model_predictions.txt").read_text().split(), dtype=int)
    if not np.array_equal(labels, wanted.argmax(axis=1)):
        raise WorkloadError("The labels differ from those in the clear.")
    right = float(np.mean(labels == np.array((folder / "test_labels.txt").read_text().split(), dtype=int)))
    largest = float(np.abs(found - wanted).max())
    return {
        "pictures": len(labels),
        "right": right,
        "largest difference": largest,
        "bits": float(-np.log2(largest)),
        "stated bits": plan.bits,
        "plan": str(plan),
    }

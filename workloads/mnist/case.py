"""The stand-in's half of the digits: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np

from workloads.common import Place, WorkloadError, load_array, network_stages, write_text
from workloads.mnist import layers, model, pictures

SIZES = layers.SIZES
once, each_run = network_stages(SIZES)
COUNTS = (1, 15, 1_000, 10_000)
TOLERANCE = 2.0**-12
"""Scores are of the size of 50."""
LEAST_RIGHT = 0.9


def parameters(_: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = layers.engine()
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_report().security_bits}


def make_data(place: Place, seed: int) -> None:
    """The data comes with each run."""


def make_input(place: Place, seed: int) -> None:
    """Pictures that were not trained on, moved by up to a pixel."""
    rng = np.random.default_rng(seed)
    known, labels = pictures.digits(training=False)
    chosen = rng.integers(0, len(known), COUNTS[SIZES.index(place.size)])
    moved, folder = pictures.shifted(known[chosen], rng), place.data / "intermediate"
    write_text(folder / "test_pixels.txt", "".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in moved))
    write_text(folder / "test_labels.txt", "".join(f"{label}\n" for label in labels[chosen]))


def check(place: Place) -> dict[str, object]:
    """Every score and label against the network in the clear, and labels against the truth.

    Raises
    ------
    WorkloadError
        If a score differs by more than the tolerance, a label at all, or a batch has less than 90 % right.
    """
    folder = place.data / "intermediate"
    wanted = model.classify(model.load(), model.read_pixels(folder / "test_pixels.txt"))
    found = load_array(place.intermediate / "scores.npy", "client_decrypt_decode")
    if found.shape != wanted.shape or not (np.abs(found - wanted) <= TOLERANCE).all():
        raise WorkloadError("The scores differ from those in the clear.")
    labels = np.array((place.io / "encrypted_model_predictions.txt").read_text().split(), dtype=int)
    if not np.array_equal(labels, wanted.argmax(axis=1)):
        raise WorkloadError("The labels differ from those in the clear.")
    right = float(np.mean(labels == np.array((folder / "test_labels.txt").read_text().split(), dtype=int)))
    if len(labels) >= 100 and right < LEAST_RIGHT:
        raise WorkloadError(f"Only {right:.1%} of the labels are right; train the network again.")
    largest = float(np.abs(found - wanted).max())
    return {"pictures": len(labels), "right": right, "largest difference": largest, "bits": float(-np.log2(largest))}

"""The stand-in's half of the 64-bit products: data of the harness's shape, its calls, and the check."""

from __future__ import annotations

import numpy as np

from workloads.common import Place, WorkloadError, write_text
from workloads.zn import columns
from workloads.zn_carried import digits

SIZES = columns.SIZES
COUNTS = {
    **dict(zip(columns.SIZES, columns.COUNTS, strict=True)),
    **dict(zip(digits.SIZES, digits.COUNTS, strict=True)),
}


def parameters(_: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = columns.engine()
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_bits}


def make_data(place: Place, seed: int) -> None:
    """Two files of uniform numbers of 64 bits."""
    rng, count = np.random.default_rng(seed), COUNTS[place.size]
    for name in ("lhs", "rhs"):
        values = rng.integers(0, 2**64, size=count, dtype=np.uint64)
        write_text(place.data / f"{name}.txt", "".join(f"{value}\n" for value in values.tolist()))


def make_input(place: Place, seed: int) -> None:
    """Every run multiplies the same numbers."""


def once(place: Place) -> list[list[str]]:
    """The stages before the runs, with their arguments."""
    count = str(COUNTS[place.size])
    return [
        ["client_preprocess_input", count],
        ["client_key_generation", place.size],
        ["client_encode_encrypt_input", place.size],
    ]


def each_run(place: Place) -> list[list[str]]:
    """The stages of a run."""
    count = str(COUNTS[place.size])
    names = ("server_encrypted_compute", "client_decrypt_decode", "client_postprocess")
    return [[name, place.size, count] for name in names]


def check(place: Place) -> dict[str, object]:
    """Every product, against numpy's.

    Raises
    ------
    WorkloadError
        If one differs.
    """
    count = COUNTS[place.size]
    left, right = (columns.numbers(place.data / f"{name}.txt", count) for name in ("lhs", "rhs"))
    found = columns.numbers(place.io / "cleartext_output" / "out.txt", count)
    if (found != left * right).any():
        raise WorkloadError("The products differ from those in the clear.")
    return {"products": found.size, "equal": found.size, "bits": 64.0}

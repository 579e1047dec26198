"""Client: decrypt the largest word."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from workloads.common import Place, read_one, run, save_array
from workloads.transciphering import maximum, parts


def stage(place: Place) -> None:
    """One number."""
    engine = parts.engine()
    secret = read_one(engine, place.secret_key, "client_key_generation")
    slots = engine.decrypt(read_one(engine, place.download / "maximum.bin", "server_encrypted_compute"), secret)
    save_array(place.intermediate / "maximum.npy", np.array(maximum.largest(slots)))


if __name__ == "__main__":
    run(stage, parts.SIZES)

"""Client: make the secret key. The server needs no key at all."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, new_secret_key, run, write_text
from workloads.zn import columns


def stage(place: Place) -> None:
    """What the server gets is the name of the parameter set."""
    engine = columns.engine()
    new_secret_key(engine, place)
    write_text(place.public_keys / "parameters.json", json.dumps({"preset": engine.preset, "keys": []}) + "\n")


if __name__ == "__main__":
    run(stage, columns.SIZES)

"""Server: the largest of the encrypted words."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, empty, read_one, run
from workloads.transciphering import maximum, parts


def stage(place: Place) -> None:
    """One ciphertext."""
    clock = Clock()
    with clock.part("reading"):
        machine = parts.machine(place)
        bits = read_one(machine.engine, parts.bits_path(place), "server_encrypted_aes_decryption")
    with clock.part("maximum"):
        found = maximum.maximum(machine, bits, parts.blocks(place))
    empty(place.download)
    machine.engine.write(found, place.download / "maximum.bin")
    print(f"{machine.bootstraps} bootstraps")
    clock.save(place)


if __name__ == "__main__":
    run(stage, parts.SIZES)

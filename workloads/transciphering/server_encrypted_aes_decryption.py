"""Server: from data that AES encrypted to encrypted words."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Clock, Place, empty, read_all, run
from workloads.transciphering import circuit, layout, maximum, parts


def stage(place: Place) -> None:
    """The words for the client, and their bits for the next stage."""
    clock, inverse = Clock(), parts.is_inverse(place.size)
    first, last = parts.public_states(place)
    with clock.part("reading"):
        machine = parts.machine(place)
        turns = parts.turns(place)
        keys = list(read_all(machine.engine, place.upload / "keys.bin", len(turns), "client_encode_encrypt"))
    with clock.part("aes"):
        signs = (layout.signs(one, turn) for one, turn in ((first, turns[0]), (last, turns[-1])))
        bits = circuit.aes(machine, next(signs), keys, next(signs), inverse)
        words = maximum.words(machine, bits)
    for path, value in ((parts.bits_path(place), bits), (parts.words_path(place), words)):
        empty(path.parent)
        machine.engine.write(value, path)
    print(f"{machine.bootstraps} bootstraps")
    clock.save(place)


if __name__ == "__main__":
    run(stage, parts.SIZES)

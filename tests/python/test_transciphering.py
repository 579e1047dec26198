"""AES on slots, in the clear: the cipher, the layout, the circuit. tests/python/by_hand has the run on ciphertexts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clear_integers import ClearIntegers, T
from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads.common import Place, WorkloadError, write_text
from workloads.transciphering import cipher, circuit, layout, maximum, parts

KEY = bytes.fromhex("000102030405060708090a0b0c0d0e0f")
TEXT = bytes.fromhex("00112233445566778899aabbccddeeff")


def machine() -> circuit.Machine:
    """A machine whose ciphertexts are clear."""
    engine: Any = ClearIntegers()
    return circuit.Machine(engine, None, {step: step for step in circuit.steps()}, None)


def test_the_cipher_has_the_vectors_of_its_standards() -> None:
    """FIPS 197, appendices A.1 and C.1; NIST SP 800-38A, F.5.1."""
    assert bytes(cipher.SBOX[[0, 1, 0x53, 0xFF]]).hex() == "637ced16"
    last = cipher.to_bytes(cipher.expanded(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))[-1:])
    assert last.hex() == "d014f9a8c9ee2589e13f0cc8b6630ca6"
    found = cipher.to_bytes(cipher.ciphered(cipher.states(TEXT), cipher.round_keys(KEY, False), False))
    assert found.hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert cipher.to_bytes(cipher.ciphered(cipher.states(found), cipher.round_keys(KEY, True), True)) == TEXT
    keys = cipher.round_keys(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), False)
    counters = cipher.counters(bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), 2)
    text = cipher.states(bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"))
    found = cipher.to_bytes(cipher.ciphered(counters, keys, False) ^ text)
    assert found.hex() == "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    assert cipher.to_bytes(cipher.counters(b"\xff" * 16, 2))[16:] == bytes(16), "a counter begins again at 0"


@pytest.mark.parametrize(("inverse", "blocks"), [(False, 16), (True, 1), (False, 32)])
def test_the_circuit_is_the_cipher(inverse: bool, blocks: int) -> None:
    random, m = np.random.default_rng(blocks), machine()
    first, last = random.integers(0, 256, (2, blocks, 4, 4), dtype=np.uint8)
    keys = cipher.round_keys(random.bytes(16), inverse)
    step = 1 if inverse else -1
    turns = [(circuit.FIRST_TURN + step * i) % 4 for i in range(11)]
    assert turns[-1] == 0
    sent = [m.engine.encrypt(layout.signs(key[None], turn)) for key, turn in zip(keys, turns, strict=True)]
    signs = layout.signs(first, turns[0]), layout.signs(last, 0)
    found: Any = circuit.aes(m, signs[0], sent, signs[1], inverse)
    states = cipher.ciphered(first, keys, inverse) ^ last
    row = found.slots.reshape(2, *layout.SHAPE)[0]
    assert np.array_equal(row[..., 0], layout.bits(states, 0) % T)
    assert m.bootstraps == 13

    wanted = np.frombuffer(cipher.to_bytes(states), dtype=">u2")
    words: Any = maximum.words(m, found)
    assert np.array_equal(maximum.read_words(words.slots, wanted.size), wanted)


@pytest.mark.parametrize("blocks", [1, 16])
@pytest.mark.parametrize("kind", ["random", "equal", "zeros", "ones", "one bit", "two largest"])
def test_the_maximum_of_words(blocks: int, kind: str) -> None:
    random, m = np.random.default_rng(7), machine()
    words = random.integers(0, 2**16, 8 * blocks)
    match kind:
        case "equal":
            words[:] = words[0]
        case "zeros":
            words[:] = 0
        case "ones":
            words[:] = 0xFFFF
        case "one bit":
            words[:] = np.where(np.arange(words.size) == 5, 0x0100, 0)
        case "two largest":
            words[[1, 6]] = 0xFFFE
    slots = random.integers(0, T, layout.SHAPE)
    slots[..., 0] = layout.bits(cipher.states(words.astype(">u2").tobytes()), 0)
    found: Any = maximum.maximum(m, m.engine.encrypt(layout.slots(slots)), blocks)
    assert maximum.largest(found.slots) == words.max()


def test_files_that_are_no_data(tmp_path: Path) -> None:
    place = Place("small", tmp_path)
    with pytest.raises(WorkloadError, match="run client_encode_encrypt first"):
        parts.public_states(place)
    for text in ("", "00" * 255, "zz" * 256):
        write_text(place.upload / "db.hex", text)
        with pytest.raises(WorkloadError, match="256 bytes"):
            parts.public_states(place)
    write_text(place.upload / "db.hex", "00" * 256)
    with pytest.raises(WorkloadError, match="aes_iv"):
        parts.public_states(place)
    write_text(place.upload / "aes_iv.hex", "00" * 15 + "ff")
    first, last = parts.public_states(place)
    assert cipher.to_bytes(first)[-16:] == bytes(14) + b"\x01\x0e"
    assert not last.any()

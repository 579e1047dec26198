"""Engines on a card: by a library that has the functions of NVIDIA's driver and emulates a card, as no card is here."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aglet import DeviceError, Engine, FhewEngine, IntegerEngine, MemoryLimitError, ParameterError, Table, _core
from aglet.cli import info
from aglet_bench.ckks.card import CardCase, bench_card
from aglet_bench.ckks.card_model import LAUNCH, MODELS, SYNCHRONOUS, model_of
from emulated_card import driver, library
from support import ROOT

__all__ = ["driver", "library"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator of cards is for Linux")

TOY: dict[str, Any] = {"preset": "toy", "allow_insecure": True}


def test_without_a_driver_the_reason_is_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("AGLET_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    with pytest.raises(DeviceError, match=r"no driver of NVIDIA cards: install it.*nowhere"):
        Engine(mode="gpu")
    with caplog.at_level(logging.INFO, "aglet"):
        engine = Engine(mode="auto", max_level=2)
    assert (engine.mode, engine.device) == ("parallel", "host")
    assert "uses the processor. The card cannot be used: there is no driver" in caplog.text
    with pytest.raises(DeviceError, match="computes on the processor"):
        engine.to_cuda(engine.encrypt([1], engine.create_secret_key()))
    found, why = info.cards()
    assert found == []
    assert "no driver" in why
    with pytest.raises(ParameterError, match="counted from 0"):
        Engine(mode="gpu", device_id=-1)


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        (b"cards", 0, "finds no card"),
        (b"init", 34, "is the stub"),
        (b"version", 11040, r"serves CUDA 11\.4, and 12\.8 is needed"),
        (b"major", 7, r"compute capability 7\.0, 8 GB is too old"),
        (b"ptx", 222, "does not take the kernels"),
        (b"spoil", 1, "computes wrong words in the self-test"),
        (b"memory", 1 << 12, r"has no \d+ bytes left, \d+ are free"),
    ],
)
def test_what_is_wrong_with_a_card_is_said(driver: ctypes.CDLL, setting: bytes, value: int, said: str) -> None:
    driver.fake_set(setting, value)
    with pytest.raises(DeviceError, match=said):
        Engine(mode="gpu", max_level=2)
    assert Engine(mode="auto", max_level=2).mode == "parallel"


def test_a_number_that_no_card_has(driver: ctypes.CDLL) -> None:
    driver.fake_set(b"cards", 2)
    with pytest.raises(DeviceError, match=r"no card 2: choose a device_id of 0: fake card 0.*; 1: fake card 1"):
        Engine(mode="gpu", device_id=2)
    assert Engine(mode="auto", device_id=1, max_level=2).device == "fake card 1, F50"


def test_programs_on_a_card_give_the_bits_of_the_processor(driver: ctypes.CDLL) -> None:
    card, here = Engine(mode="gpu", use_bootstrap=True, **TOY), Engine(use_bootstrap=True, **TOY)
    assert (card.mode, card.device, card.thread_count) == ("gpu", "fake card 0, F50", len(os.sched_getaffinity(0)))
    secret = here.create_secret_key()
    keys = [here.create_relinearization_key(secret), here.create_conjugation_key(secret)]
    keys += [here.create_rotation_key(secret), here.create_bootstrap_key(secret)]
    rng = np.random.default_rng(5)
    message = here.encrypt(rng.uniform(-1, 1, here.slot_count), secret)

    def program(engine: Engine) -> list[bytes]:
        # Objects belong to their engine: they get there as files do.
        relin, conjugation, rotation, bootstrap = (engine.deserialize(here.serialize(key)) for key in keys)
        x = engine.deserialize(here.serialize(message))
        y = engine.rotate(engine.multiply(x, x, relin), rotation, 3)
        z = engine.subtract(engine.conjugate(y, conjugation), engine.multiply(x, 0.5))
        low = engine.level_down(z, 0)
        fresh = engine.bootstrap(engine.multiply(z, 0.25), relin, conjugation, bootstrap)
        return [engine.serialize(value) for value in (y, z, low, fresh)]

    assert program(card) == program(here)


def test_a_card_without_room_for_a_bootstrap_is_said_before_anything_goes_up(driver: ctypes.CDLL) -> None:
    card = Engine(mode="gpu", use_bootstrap=True, **TOY)
    report, secret = card.memory_report(), card.create_secret_key()
    keys = [card.create_relinearization_key(secret), card.create_conjugation_key(secret)]
    keys.append(card.create_bootstrap_key(secret))
    low = card.encrypt(np.full(card.slot_count, 0.25), secret, level=0)
    assert f"on a card {report.card / 1e6:.1f} MB" in str(report)
    # Engines of other tests have their share.
    others = driver.fake_used()
    driver.fake_set(b"memory", others + report.card * 3 // 4)
    with pytest.raises(MemoryLimitError, match=r"card has room for 0\.0\d GB .* takes 0\.0\d GB there.*\"medium\""):
        card.bootstrap(low, *keys)
    driver.fake_set(b"memory", others + 2 * report.card)
    assert abs(card.decrypt(card.bootstrap(low, *keys), secret)[0] - 0.25) < 1e-3


def test_integers_on_a_card_give_the_bits_of_the_processor(driver: ctypes.CDLL) -> None:
    words: dict[str, Any] = {"preset": "toy-int16", "allow_insecure": True}
    card, here = IntegerEngine(mode="gpu", **words), IntegerEngine(**words)
    assert (card.mode, card.device, here.mode, here.device) == ("gpu", "fake card 0, F50", "cpu", "host")
    secret = here.create_secret_key()
    keys = [here.create_relinearization_key(secret), here.create_rotation_key(secret)]
    message = here.encrypt(np.arange(here.slot_count) - 500, secret)

    def program(engine: IntegerEngine) -> list[bytes]:
        relin, rotation = (engine.deserialize(here.serialize(key)) for key in keys)
        x = engine.deserialize(here.serialize(message))
        y = engine.rotate_rows(engine.multiply(x, x, relin), rotation, 3)
        return [engine.serialize(value) for value in (y, engine.add(y, engine.multiply(x, 7)))]

    assert program(card) == program(here)
    with pytest.raises(ParameterError, match="no mode"):
        IntegerEngine(mode="cuda", **words)


def test_integers_on_a_card_without_room_are_refused_before_anything_goes_up(driver: ctypes.CDLL) -> None:
    # A pool has the two megabytes that the self-test took, which is more than a power takes here.
    driver.fake_set(b"pools", 0)
    card = IntegerEngine(mode="gpu", preset="toy-int16", allow_insecure=True)
    report, secret = card.memory_report(), card.create_secret_key()
    assert (report.bootstrap_key, report.matrices) == card.bootstrap_forecast()
    assert report.bootstrap_key + report.matrices < report.peak
    assert f"on a card {report.card / 1e6:.1f} MB" in str(report)
    key, relin = card.create_bootstrap_key(secret), card.create_relinearization_key(secret)
    low, x = card.encrypt([3, 4], secret, level=1), card.encrypt([3, 4], secret)
    others = driver.fake_used()
    driver.fake_set(b"memory", others + report.card * 3 // 4)
    with pytest.raises(MemoryLimitError, match=r"card has room for .* a bootstrap of this set takes"):
        card.bootstrap(low, key)
    driver.fake_set(b"memory", others + 2 * relin.byte_count)
    with pytest.raises(MemoryLimitError, match=r"a power of this set takes .* of them keys; end other programs"):
        card.power(x, 30, relin)
    assert driver.fake_used() == others
    driver.fake_set(b"memory", others + 2 * report.card)
    assert card.decrypt(card.bootstrap(low, key), secret)[:2].tolist() == [3, 4]
    assert card.decrypt(card.power(x, 5, relin), secret)[:2].tolist() == [243, 1024]


def test_gates_and_tables_on_a_card_give_the_bits_of_the_processor(driver: ctypes.CDLL) -> None:
    """With short secrets: an emulated card takes a minute for a rotation of a real one."""
    for preset in ("gate", "lut4"):
        text = (ROOT / f"crates/aglet/presets/fhew/{preset}.toml").read_text().split("[claims]")[0]
        for name, value in (("dimension", 196), ("lwe_error", -20.0)):
            text = re.sub(f"{name} = .*", f"{name} = {value}", text, count=1)
        words: dict[str, Any] = {"parameters": text, "allow_insecure": True}
        with pytest.warns(UserWarning, match="NOT SECURE"):
            card, here = FhewEngine(mode="gpu", **words), FhewEngine(**words)
        assert (card.mode, card.device, here.mode, here.device) == ("gpu", "fake card 0, F50", "cpu", "host")
        secret = here.create_secret_key()
        values = [True, False, True] if preset == "gate" else [0, 7, 15]
        given = [here.create_bootstrap_key(secret), *(here.encrypt(values, secret) for _ in range(2))]
        stored = [here.serialize(one) for one in given]

        def program(engine: FhewEngine, stored: list[bytes] = stored) -> bytes:
            key, x, y = (engine.deserialize(one) for one in stored)
            z = engine.nand(x, y, key) if engine.bits == 1 else engine.lookup(x, Table(lambda m: m * m % 16), key)
            return engine.serialize(z)

        assert program(card) == program(here)
    with pytest.raises(ParameterError, match="no mode"):
        FhewEngine(mode="cuda")
    with pytest.raises(TypeError, match="no argument gpu"):
        FhewEngine(gpu=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("preset", ["dm", "lmkcdey"])
def test_sets_that_a_card_does_not_rotate_by_are_named(driver: ctypes.CDLL, preset: str) -> None:
    with pytest.warns(UserWarning, match=rf'no blind rotation of the set "{preset}".*gate, cggi.*toy-lut4'):
        FhewEngine(preset=preset, mode="gpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FhewEngine(preset=preset).estimate("nand", batch=9).card_bytes == 0
        engine = FhewEngine(mode="gpu")
    # A word for each coefficient of a key, and ciphertexts: more the more are bootstrapped at once.
    few, many, most = (engine.estimate("nand", batch=batch).card_bytes for batch in (1, 4096, 9000))
    assert engine.estimate("nand").key_bytes < few < many - 4095 * 8 * 4 * 512
    assert many == most
    # Tables of two messages choose by a key of one digit, half as large as that of the bootstrap.
    engine = FhewEngine(preset="wide")
    one, pair = (engine.estimate(what).card_bytes for what in ("lookup", "lookup2"))
    assert 42e6 < pair - one < 0.6 * one
    # A set with too much noise for that chooses by the bootstrap key.
    engine = FhewEngine(preset="lut4")
    one, pair = (engine.estimate(what).card_bytes for what in ("lookup", "lookup2"))
    assert one <= pair < one + 2e6
    (_, card), *rows = info._card_rows()
    assert "self-test: passed" in card
    assert dict(rows)["FHEW on the processor alone"] == "lmkcdey, dm, ntru"


def test_a_card_that_is_lost_is_an_error_and_inputs_stay(driver: ctypes.CDLL) -> None:
    engine = Engine(mode="gpu", **TOY)
    secret = engine.create_secret_key()
    rotation = engine.create_fixed_rotation_key(secret, 1)
    x = engine.encrypt(np.linspace(0, 1, 8), secret)
    before = engine.serialize(x)
    driver.fake_set(b"fail_status", 719)
    driver.fake_set(b"fail_at", driver.fake_calls() + 40)

    def rotations() -> None:
        for _ in range(20):
            engine.rotate(x, rotation)

    for _ in range(2):
        with pytest.raises(
            DeviceError, match=r"The card failed: the card was lost in cu\w+ \(CUDA_ERROR_LAUNCH_FAILED"
        ):
            rotations()
    assert engine.serialize(x) == before
    driver.fake_set(b"fail_at", 0)


def test_a_forked_child_has_no_part_in_the_card(driver: ctypes.CDLL) -> None:
    engine = Engine(mode="gpu", **TOY)
    secret = engine.create_secret_key()
    rotation, x = engine.create_fixed_rotation_key(secret, 1), engine.encrypt([0.5], secret)
    engine.rotate(x, rotation)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = "no error"
        try:
            engine.rotate(x, rotation)
        except DeviceError as error:
            said = str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert "opened before a fork" in os.read(reader, 1000).decode()
    os.close(reader)
    engine.rotate(x, rotation)


def test_pickles_and_the_command_line(driver: ctypes.CDLL, library: Path) -> None:
    engine = pickle.loads(pickle.dumps(Engine(mode="gpu", **TOY)))
    assert engine.device == "fake card 0, F50"
    secret = engine.create_secret_key()
    x = engine.to_cuda(engine.encrypt([0.25], secret))
    assert abs(engine.decrypt(engine.to_cpu(x), secret)[0] - 0.25) < 1e-4
    command = [sys.executable, "-m", "aglet", "doctor", "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (card,) = said["cards"]
    assert (card["name"], card["self_test"], said["cards_missing"]) == ("fake card 0", "passed", None)


def test_a_card_is_measured_beside_the_processor(driver: ctypes.CDLL) -> None:
    records = list(bench_card(CardCase("toy", many=2, allow_insecure=True), repeat=1))
    assert [record["operation"] for record in records] == ["rotate", "multiply", "bootstrap"]
    for record in records:
        assert record["same_words"]
        assert min(record["first_seconds"], record["seconds"], record["processor_seconds"]) > 0
    plan = _core.plan("toy", "regular", None, "large", 512)
    stages = records[-1]["stages"]
    assert [stage["name"] for stage in stages] == [stage["name"] for stage in plan["stages"]]
    for stage, planned in zip(stages, plan["stages"], strict=True):
        # Two ciphertexts side by side take more than one, less than twice as much where they share what they read.
        one = MODELS[0].seconds(planned["work"], 10)
        assert one <= stage["model_seconds"] - stage["model_call_seconds"] <= 2.001 * one
        # What goes to the lowest modulus by dropping limbs is no work of a card.
        assert (stage["launches"] > 0) == (stage["name"] != "scale_down")
        calls = LAUNCH * (stage["launches"] + stage["other_copies"]) + SYNCHRONOUS * stage["synchronous_copies"]
        assert stage["model_call_seconds"] == pytest.approx(calls)
    # Lists that kernels read wait for nothing.
    assert sum(stage["synchronous_copies"] for stage in stages) < 20
    assert sum(stage["model_seconds"] for stage in stages) > 1e-6
    command = [sys.executable, "-m", "aglet", "bench", "card", "--preset", "toy", "--allow-insecure", "--repeat", "1"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "fake card 0, F50" in said
    assert said.count("the same") == 3
    assert "model of an H200" in said
    assert "coeffs_to_slots" in said
    assert "are assumed" in " ".join(said.split())


def test_stages_of_a_card_that_is_measured_end_when_their_work_is_done(
    driver: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGLET_CUDA_WAIT", "1")
    driver.fake_count.restype = ctypes.c_long
    before = driver.fake_count(b"waits")
    records = list(bench_card(CardCase("toy", allow_insecure=True), repeat=0))
    # At the beginning and at the end of each stage.
    assert driver.fake_count(b"waits") - before >= 2 * len(records[-1]["stages"])
    # An emulated card computes when somebody waits: the longest stage is one that has most to do.
    longest = max(records[-1]["stages"], key=lambda stage: stage["seconds"])
    assert longest["launches"] > 0
    assert sum(stage["seconds"] for stage in records[-1]["stages"]) > 0.8 * records[-1]["first_seconds"]


def test_the_model_of_a_card_counts_instructions_and_bytes() -> None:
    """A real bootstrap has about 42 G instructions of doubles."""
    plan = _core.plan("regular", "regular", None, "large", 1 << 15)
    work = [stage["work"] for stage in plan["stages"]]
    assert 30e9 < sum(MODELS[0].arithmetic(one, 16) for one in work) < 60e9
    h200, h100 = (sum(model.seconds(one, 16) for one in work) for model in MODELS)
    assert 3e-3 < h200 <= h100 < 15e-3
    none = dict.fromkeys(work[0], 0)
    assert MODELS[0].seconds(none | {"key_bytes_read": 48 * 10**9}, 16) == pytest.approx(0.01 / 0.68)  # type: ignore[arg-type]
    assert model_of("NVIDIA H100 80GB HBM3").name == "H100"

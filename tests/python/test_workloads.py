"""The public workloads: whole chains of stages in small, against results in the clear, and what stages refuse."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stages import chain, refused
from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import common, standin
from workloads.mnist import case as mnist_case
from workloads.mnist import layers, model, pictures, train
from workloads.resnet20 import model as resnet
from workloads.resnet20 import pictures as coloured
from workloads.similarity import case as similarity_case
from workloads.similarity import matching, search
from workloads.zn import case as zn_case
from workloads.zn import columns
from workloads.zn_carried import digits

STAGES = sorted(p for p in (ROOT / "workloads").glob("*/*.py") if p.stem.startswith(("client_", "server_")))


# All workloads


def test_stages_are_short_and_servers_know_no_secret() -> None:
    assert len(STAGES) >= 6
    for path in STAGES:
        text = path.read_text()
        assert len(text.splitlines()) <= 50, path
        if path.stem.startswith("server"):
            assert "secret" not in text, path
            assert "intermediate" not in text, path


def test_the_stand_in_hides_what_a_server_must_not_have(tmp_path: Path) -> None:
    place = common.Place("single", tmp_path)
    for path in (place.secret_key, place.intermediate / "digits", place.data / "lhs.txt", place.upload / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with standin.hidden(place):
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["x"]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 4


def test_a_stage_that_opens_the_secret_key_fails_under_the_stand_in(tmp_path: Path, monkeypatch: Any) -> None:
    """The check of the check: a server that reads the key is found."""
    fake = tmp_path / "workloads" / "zn"
    fake.mkdir(parents=True)
    (fake / "server_bad.py").write_text("open('io/single/secret_key/secret.key')")
    monkeypatch.setattr(standin, "WORKLOADS", fake.parent)
    place = common.Place("single", tmp_path / "root")
    place.secret_key.parent.mkdir(parents=True)
    place.secret_key.touch()
    with pytest.raises(common.WorkloadError, match="server_bad"):
        standin.run_stage("zn", place, ["server_bad"])
    assert place.secret_key.exists()


def test_streams_of_ciphertexts_refuse_other_lengths(tmp_path: Path) -> None:
    engine = columns.engine()
    key, path = engine.create_secret_key(), tmp_path / "two.bin"
    common.write_all(engine, [engine.encrypt([number], key) for number in (3, 5)], path)
    assert [engine.decrypt(one, key)[0] for one in common.read_all(engine, path, 2, "it")] == [3, 5]
    for count, message in ((1, "more than 1"), (3, "part 2 of 3")):
        with pytest.raises(common.WorkloadError, match=message):
            list(common.read_all(engine, path, count, "it"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(common.WorkloadError, match=r"part 1 of 2; run it again\."):
        list(common.read_all(engine, path, 2, "it"))


def test_launchers_stand_where_harnesses_look(tmp_path: Path) -> None:
    script = ROOT / "workloads" / "zn" / "build_task.sh"
    found = subprocess.run(
        ["sh", str(script)],
        cwd=tmp_path,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.returncode, found.stderr
    made = tmp_path / "submission" / "target" / "release"
    assert {path.name for path in made.iterdir()} == {path.stem for path in STAGES if path.parent.name == "zn"}
    assert "is missing" in subprocess.run(
        [made / "client_preprocess_input", "1"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stderr  # fmt: skip


# 64-bit products


@pytest.mark.parametrize("size", ["single", "small"])
def test_products(size: str, tmp_path: Path) -> None:
    found = chain("zn", size, tmp_path)
    count = columns.COUNTS[columns.SIZES.index(size)]
    assert found["runs"][0]["result"] == {"products": count, "equal": count, "bits": 64}
    place = common.Place(size, tmp_path)
    out = place.io / "cleartext_output" / "out.txt"
    out.write_text(out.read_text().replace("7", "1"))
    if count > 1:
        with pytest.raises(common.WorkloadError, match="differ"):
            zn_case.check(place)


def test_products_at_the_ends_of_the_range() -> None:
    engine = columns.engine()
    key = engine.create_secret_key()
    left = np.array([0, 1, 2**64 - 1, 2**64 - 1, 2**63, 2**32 + 1], dtype=np.uint64)
    right = np.array([5, 2**64 - 1, 2**64 - 1, 1, 2, 2**32 - 1], dtype=np.uint64)
    a, b = ([engine.encrypt(row, key, level=columns.LEVEL) for row in columns.digits(x)] for x in (left, right))
    found = np.array([engine.decrypt(one, key)[: left.size] for one in columns.columns(engine, a, b)])
    np.testing.assert_array_equal(columns.combined(found), left * right)


def test_what_stages_of_products_refuse(tmp_path: Path) -> None:
    assert "client_key_generation" in refused("zn/client_encode_encrypt_input", tmp_path, "small")
    assert "client_encode_encrypt_input first" in refused("zn/server_encrypted_compute", tmp_path, "small", "1000")
    assert "number of products is missing" in refused("zn/server_encrypted_compute", tmp_path, "small")
    assert "no size 'tiny'" in refused("zn/client_key_generation", tmp_path, "tiny")
    assert "no size of 7 inputs" in refused("zn/client_preprocess_input", tmp_path, "7")
    place = common.Place("single", tmp_path)
    for name, text, message in (("lhs", "1\n2\n", "2 numbers, not 1"), ("lhs", "-3", "whole number")):
        common.write_text(place.data / f"{name}.txt", text)
        assert message in refused("zn/client_preprocess_input", tmp_path, "1")


# 64-bit products with their carries


class ClearIntegers:
    """The calls of `digits.Carrier` on integers in the clear; a table refuses what it has no entry for."""

    slot_count = 1_024

    def multiply(self, x: Any, y: Any, *_: Any) -> Any:
        return x * y

    def relinearize(self, x: Any, _: Any) -> Any:
        return x

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def subtract(self, x: Any, y: Any) -> Any:
        return x - y

    def lookup(self, x: Any, table: list[int], _: Any) -> Any:
        assert x.min() >= 0
        return np.array(table)[x]

    def rotate_rows(self, x: Any, _: Any, delta: int) -> Any:
        return np.roll(x.reshape(2, -1), delta, axis=1).ravel()

    def bootstrap(self, x: Any, _: Any) -> Any:
        return x

    def bootstrap_many(self, x: Any, _: Any) -> Any:
        return x


def factors(count: int) -> list[Any]:
    """Factors whose carries are the longest there are, and uniform ones."""
    rng, top = np.random.default_rng(8), 2**64 - 1
    hard = [(top, top), (top, 1), (2**63, 2), (2**32 + 1, 2**32 - 1), (0, top), (0x5555555555555555, 3), (1, top)]
    pairs = [*hard, *rng.integers(0, 2**64, (count - len(hard), 2), dtype=np.uint64).tolist()]
    return list(np.array(pairs, dtype=np.uint64).T)


@pytest.mark.parametrize("slots", [1_024, 32_768])
def test_carries_in_the_clear(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClearIntegers, "slot_count", slots)
    carrier = digits.Carrier(ClearIntegers(), None, None, None)  # type: ignore[arg-type]
    count = digits.batch_size(slots)
    assert count == {1_024: 28, 32_768: 896}[slots]
    left, right = factors(count)
    for a, b in ((left, right), (right, left), (left[:5], right[:5])):
        inputs: list[Any] = [row.ravel() for row in digits.packed(a, b, slots)]
        found = carrier.multiply(inputs)
        assert isinstance(found, np.ndarray)
        blocks = found.reshape(2, -1)[:, : digits.DIGITS * (count // 2)]
        assert (blocks.min(), blocks.max()) == (0, 3)
        np.testing.assert_array_equal(digits.unpacked(found)[: a.size], a * b)


def test_the_guards_hold_every_column() -> None:
    assert sum(9 * (k + 1) * 4**k for k in range(digits.DIGITS)) < 4**digits.BLOCKS


def test_carried_products(tmp_path: Path) -> None:
    found = chain("zn_carried", "toy", tmp_path)
    assert found["security_bits"] < 128
    assert found["runs"][0]["result"]["equal"] == 40


def test_carried_products_go_on(tmp_path: Path) -> None:
    """At the ends of the range; and a result is at a level that a bootstrap takes."""
    engine = digits.engine("toy")
    key = engine.create_secret_key()
    bootstrap = engine.create_bootstrap_key(key)
    carrier = digits.Carrier(
        engine, engine.create_relinearization_key(key), engine.create_rotation_key(key), bootstrap
    )  # fmt: skip
    left, right = factors(28)
    product = carrier.multiply([engine.encrypt(row, key) for row in digits.packed(left, right, engine.slot_count)])
    assert product.level == 3
    again = engine.bootstrap(product, bootstrap)
    np.testing.assert_array_equal(digits.unpacked(engine.decrypt(again, key)), left * right)


def test_what_carried_stages_refuse(tmp_path: Path) -> None:
    assert "client_key_generation first" in refused("zn_carried/client_encode_encrypt_input", tmp_path, "toy")
    assert "number of products is missing" in refused("zn_carried/server_encrypted_compute", tmp_path, "toy")


# Handwritten digits


class ClearEngine:
    """The calls of `layers.Network` on numbers in the clear, with the checks of levels that keys have."""

    def rotate_batch(self, x: Any, keys: list[int]) -> list[Any]:
        return [self.rotate(x, key) for key in keys]

    def rotate(self, x: Any, key: int) -> Any:
        return np.roll(x, -key)

    def weighted_sum(self, terms: list[Any], weights: list[Any]) -> Any:
        return sum(x * w for x, w in zip(terms, weights, strict=True))

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def square(self, x: Any, _: Any) -> Any:
        return x * x


def few_pictures(count: int) -> Any:
    return pictures.shifted(pictures.digits(training=False)[0][:count], np.random.default_rng(3))


@pytest.mark.parametrize("size", ["single", "medium"])
def test_both_packings_in_the_clear(size: str) -> None:
    weights, pixels = model.load(), few_pictures(150 if size == "medium" else 1)
    network = layers.of_size(size, weights)
    steps = layers.key_levels(network)
    clear: Any = layers.Network(ClearEngine(), network, {step: step for step in steps}, None)  # type: ignore[arg-type]
    calls = layers.write(size, pixels)
    assert {len(call) for call in calls} == {clear.inputs}
    found = layers.read(size, [clear(call) for call in calls], len(pixels))
    np.testing.assert_allclose(found, model.classify(weights, pixels), atol=1e-9)


def test_the_count_of_operations_is_that_of_the_readme() -> None:
    for size, products, rotations in (("single", 96, 35), ("medium", 1_808, 136)):
        network = layers.of_size(size, model.load())
        terms = [len(part) for layer in network for output in layer.weights for part in output]
        inputs = [len(layer.weights[0][0]) // len(layer.baby) for layer in network]
        turns = sum(n * (len(layer.baby) - 1) for n, layer in zip(inputs, network, strict=True))
        outputs = sum(len(layer.weights) * (len(layer.weights[0]) - 1 + len(layer.folds)) for layer in network)
        assert (sum(terms), turns + outputs) == (products, rotations)


def test_a_picture(tmp_path: Path) -> None:
    found = chain("mnist", "single", tmp_path)
    result = found["runs"][0]["result"]
    assert result["pictures"] == 1
    assert result["largest difference"] < 2**-14
    place = common.Place("single", tmp_path)
    scores = np.load(place.intermediate / "scores.npy")
    np.save(place.intermediate / "scores.npy", scores + np.eye(10)[3] * 1e-3)
    with pytest.raises(common.WorkloadError, match="scores differ"):
        mnist_case.check(place)
    np.save(place.intermediate / "scores.npy", scores)
    common.write_text(place.io / "encrypted_model_predictions.txt", f"{(scores.argmax() + 1) % 10}\n")
    with pytest.raises(common.WorkloadError, match="labels differ"):
        mnist_case.check(place)


def test_the_shipped_network_reads_what_it_was_not_trained_on() -> None:
    assert model.SHIPPED.stat().st_size < 400_000
    test, labels = pictures.digits(training=False)
    assert (model.classify(model.load(), test).argmax(axis=1) == labels).mean() > 0.93


def test_training_learns() -> None:
    data, labels = pictures.digits(training=True)
    weights = train.train((data[:300], labels[:300]), epochs=3)
    assert (model.classify(weights, data[:300]).argmax(axis=1) == labels[:300]).mean() > 0.6


def test_gradients_are_differences() -> None:
    rng = np.random.default_rng(5)
    weights = [(rng.normal(0, 0.05, shape), rng.normal(0, 0.1, shape[0])) for shape in model.SHAPES]
    x, labels = rng.random((4, 784)), np.array([1, 2, 3, 9])

    def loss() -> float:
        scores = model.classify(weights, x)
        entropy = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(4), labels]
        return float(entropy.mean() + sum(train.DECAY / 2 * (w**2).sum() for w, _ in weights))

    slopes, flat = train.gradients(weights, x, labels), [part for layer in weights for part in layer]
    for slope, part in zip(slopes, flat, strict=True):
        before, step = loss(), 1e-6
        part.flat[7] += step
        assert abs((loss() - before) / step - slope.flat[7]) < 1e-4 * max(1, abs(slope.flat[7]))
        part.flat[7] -= step


def test_files_of_mnist(tmp_path: Path) -> None:
    images = np.arange(2 * 784, dtype=np.uint8).reshape(2, 28, 28)
    head = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28])
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images.tobytes()))
    labels = tmp_path / "t10k-labels-idx1-ubyte"
    with pytest.raises(common.WorkloadError, match="is missing"):
        pictures.idx(tmp_path, training=False)
    labels.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 4]))
    found = pictures.idx(tmp_path, training=False)
    np.testing.assert_array_equal(found[0], images.reshape(2, 784) / 255)
    assert found[1].tolist() == [7, 4]
    labels.write_bytes(labels.read_bytes()[:-1])
    with pytest.raises(common.WorkloadError, match="too early"):
        pictures.idx(tmp_path, training=False)


def test_what_stages_of_pictures_refuse(tmp_path: Path) -> None:
    assert "client_key_generation first" in refused("mnist/client_encode_encrypt_input", tmp_path, "0")
    assert "server_preprocess_model first" in refused("mnist/server_encrypted_compute", tmp_path, "0")
    assert "no size '4'" in refused("mnist/client_key_generation", tmp_path, "4")
    path = tmp_path / "datasets" / "single" / "intermediate" / "test_pixels.txt"
    for text in ("0.5 " * 783, "0.5 " * 783 + "1.5", "0.5 " * 783 + "a", ("0.5 " * 784 + "\n") * 2):
        common.write_text(path, text)
        assert "make the data again" in refused("mnist/client_preprocess_input", tmp_path, "0")


# Records near a query


@pytest.mark.parametrize("count_only", [True, False])
def test_a_search(count_only: bool, tmp_path: Path) -> None:
    found = chain("similarity", "tiny", tmp_path, count_only=count_only)
    result = found["runs"][0]["result"]
    assert result["records"] == 300
    assert result["matches"] > 1
    place = common.Place("tiny", tmp_path, count_only=count_only)
    kind = np.int64 if count_only else np.int16
    results = np.fromfile(place.io / "results.bin", kind)
    assert results.size == (1 if count_only else result["matches"] * search.COLUMNS)
    results[0] += 1
    common.save_binary(place.io / "results.bin", results)
    with pytest.raises(common.WorkloadError, match="in the clear"):
        similarity_case.check(place)


def unit(rng: np.random.Generator, *shape: int) -> Any:
    vectors = rng.standard_normal(shape)
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("dimension", [16, 128, 256])
def test_scores_stand_in_the_slots_of_their_records(dimension: int) -> None:
    rng, slots = np.random.default_rng(dimension), 1_024
    records, query = unit(rng, 700, dimension), unit(rng, 1, dimension)
    turned = [np.roll(search.query_slots(query, slots), -d) for d in range(dimension // 2)]
    total = sum(x * y for x, y in zip(search.record_slots(records, slots), turned, strict=True))
    wanted = np.pad(records.astype(float) @ query[0].astype(float), (0, slots - 700))
    np.testing.assert_allclose((total + total.conj()) * search.REACH, wanted, atol=1e-12)


@pytest.mark.parametrize("dimension", [16, 128, 256])
def test_the_query_is_turned_by_every_step(dimension: int) -> None:
    steps = matching.key_steps(dimension, 1_024)
    keys = {step: step for step in steps}
    server: Any = matching.Server(ClearEngine(), keys, None, None)  # type: ignore[arg-type]
    query = np.arange(1_024)
    turned = server.turned(query, dimension)
    assert len(turned) == dimension // 2
    for d, one in enumerate(turned):
        np.testing.assert_array_equal(one, np.roll(query, -d))


def test_payloads_are_read_back_and_undecided_matches_refused() -> None:
    rng = np.random.default_rng(1)
    payloads = rng.integers(0, 512, (60, search.COLUMNS), dtype=np.int16)
    payloads[0], payloads[1] = 511, 0
    matches = np.zeros(64)
    matches[[1, 0, 7, 30]] = 2 * (1 + 1e-6)
    slots = np.array([row * matches for row in search.payload_slots(payloads, 64)])
    wanted = payloads[[1, 0, 7, 30]]
    np.testing.assert_array_equal(search.fetched(slots), wanted[np.lexsort(wanted.T[::-1])])
    assert search.fetched(slots * 0).shape == (0, search.COLUMNS)
    with pytest.raises(common.WorkloadError, match="undecided"):
        search.fetched(slots * 0.3)


def test_what_stages_of_the_search_refuse(tmp_path: Path) -> None:
    assert "client_key_generation first" in refused("similarity/client_encode_encrypt_db", tmp_path, "0")
    assert "client_encode_encrypt_db first" in refused("similarity/server_encrypted_compute", tmp_path, "0")
    place, rng = common.Place("tiny", tmp_path), np.random.default_rng(1)
    good = unit(rng, 5, 16)
    payloads = np.zeros((5, search.COLUMNS), np.int16)
    cases = [(good[:, :15], payloads, "not a number of vectors"), (good * 1.1, payloads, "length is not 1"),
             (good, payloads[:4], "not 5 payloads"), (good, payloads + 512, "outside of 0 to 511")]  # fmt: skip
    for records, values, message in cases:
        common.save_binary(place.data / "db.bin", records)
        common.save_binary(place.data / "payloads.bin", values)
        assert message in refused(
            "similarity/client_preprocess_dataset", tmp_path, "tiny", "--seed", "1", "--seed", "2"
        )
    common.save_binary(place.data / "query.bin", good)
    assert "more than one vector" in refused("similarity/client_preprocess_query", tmp_path, "4")
    common.save_array(place.intermediate / "count.npy", np.array([12.4]))
    assert "is no whole number" in refused("similarity/client_postprocess", tmp_path, "4", "--count_only")


# ResNet-20; tests/python/by_hand has a run


def test_resnet_20_is_what_its_paper_has() -> None:
    """Nineteen convolutions, a dense layer and two projections."""
    layers = resnet.architecture(resnet.load())
    kinds = [type(layer).__name__ for layer, *_ in layers.values()]
    wanted = {"Convolution": 21, "BatchNorm": 21, "Function": 19, "Add": 9, "Dense": 1}
    assert {kind: kinds.count(kind) for kind in wanted} == wanted
    weights = [layer.weights for layer, *_ in layers.values() if hasattr(layer, "weights")]
    assert sum(one.size for one in weights) == 268_336 + 16 * 32 + 32 * 64


def test_resnet_20_reads_pictures_that_it_was_not_trained_on() -> None:
    pictures, labels = coloured.coloured(training=False, seed=8)
    found = {"input": pictures[:40]}
    for name, (layer, *inputs) in resnet.architecture(resnet.load()).items():
        relu = type(layer).__name__ == "Function"
        found[name] = np.maximum(found[inputs[0]], 0) if relu else layer(*(found[one] for one in inputs))
    assert (found["dense"].reshape(40, -1).argmax(axis=1) == labels[:40]).sum() >= 39


def test_coloured_pictures(tmp_path: Path) -> None:
    found, labels = coloured.coloured(training=False, seed=1)
    assert found.shape == (len(labels), *coloured.SHAPE)
    assert 0 <= found.min() < found.max() <= 1
    path = tmp_path / "test_pixels.txt"
    path.write_text("".join(" ".join(f"{x:.6f}" for x in row) + "\n" for row in found[:2].reshape(2, -1)))
    assert np.abs(coloured.read_pixels(path) - found[:2]).max() < 1e-6
    for text in ("", "0.5 0.5\n", "1.5 " * 3072, "x " * 3072):
        path.write_text(text)
        with pytest.raises(common.WorkloadError, match="3072 numbers"):
            coloured.read_pixels(path)
    with pytest.raises(common.WorkloadError, match="is missing"):
        coloured.read_pixels(tmp_path / "none")


def test_weights_of_resnet_20_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    with pytest.raises(common.WorkloadError, match="is missing"):
        resnet.load(path)
    path.write_bytes(b"no archive")
    with pytest.raises(common.WorkloadError, match="is damaged"):
        resnet.load(path)
    np.savez(path, first=np.zeros(3))
    with pytest.raises(common.WorkloadError, match="is damaged"):
        resnet.load(path)
    resnet.save(path, resnet.load())
    assert all(np.array_equal(part, resnet.load()[name]) for name, part in resnet.load(path).items())

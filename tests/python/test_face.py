"""Face verification: CryptoFace against its definition, scores, pictures; a small network through all stages."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from aglet import ParameterError
from stages import chain, refused
from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import common
from workloads.face import case, layers, model, pictures, reference


def evaluated(made: model.Layers, x: np.ndarray) -> np.ndarray:
    """The result of the last layer."""
    found = {"input": x}
    for name, (layer, *inputs) in made.items():
        found[name] = layer(*(found[one] for one in inputs))
    return found[name].reshape(len(x), -1)


@pytest.mark.parametrize("size", ["single", "toy"])
def test_squares_are_the_network_as_it_is_trained(size: str) -> None:
    """Every batch norm and Hermite polynomial of the definition, against squares between linear layers."""
    shape, sample = model.shape(size), model.sample(size)[:, :6]
    state = reference.seeded(shape, sample, seed=4)
    made = [model.architecture(state, net, shape.side) for net in range(reference.NETS)]
    found = sum(evaluated(layers, x) for layers, x in zip(made, sample, strict=True))
    assert np.abs(found - reference.embeddings(state, sample)).max() < 1e-9
    kinds = [type(layer).__name__ for layer, *_ in made[0].values()]
    counts = {kind: kinds.count(kind) for kind in ("Square", "Convolution", "BatchNorm", "Add", "Dense", "AveragePool")}
    # Five blocks: a stem, two convolutions each and two shortcuts; the other shortcuts scale channels.
    assert counts == {"Square": 11, "Convolution": 13, "BatchNorm": 3, "Add": 5, "Dense": 1, "AveragePool": 1}
    if size == "single":
        assert sum(part.size for name, part in state.items() if name.endswith(".weight")) == pytest.approx(
            0.94e6, rel=0.01
        )


def test_pictures_that_were_not_in_the_sample_stay_in_its_ranges() -> None:
    """Eleven squares in a row; a network of the library raises where a value leaves its range."""
    networks, side = model.networks("toy"), model.shape("toy").side
    drawn = [one for pair in pictures.drawn(32, seed=77)[0] for one in pair]
    patches = pictures.patches(np.array([pictures.prepared(one, 2 * side) for one in drawn]), side)
    found = sum(network(x) for network, x in zip(networks, patches, strict=True))
    assert np.abs(found - reference.embeddings(model.weights("toy"), patches)).max() < 1e-9
    assert {network.scales["input"] for network in networks} == {1.0}
    assert len({network.scales["embedding"] for network in networks}) == 1


def test_scores_are_cosines_where_the_parabola_is_the_square_root() -> None:
    random = np.random.default_rng(3)
    lengths = random.choice([200.0, 260.0, 320.0], 400)
    vectors = random.normal(size=(400, 16))
    vectors *= np.sqrt(lengths / (vectors**2).sum(axis=1))[:, None]
    score = model.Score.fit(vectors)
    first, second = vectors[:200], vectors[200:]
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    found = score.of(first, second)
    assert np.abs(found - (first * second).sum(axis=1) / norms).max() < 2e-3
    x, y = first / score.bound, second / score.bound
    m = [((z**2).sum(axis=1) + score.shift) ** 2 + score.constant for z in (x, y)]
    assert np.abs(score.factor * (x * y).sum(axis=1) * m[0] * m[1] - found).max() < 1e-9
    moved = score.of(first + random.choice([-1e-6, 1e-6], first.shape), second)
    assert np.abs(moved - found).max() < score.error(first, second, 1e-6)


def test_a_pair(tmp_path: Path) -> None:
    found = chain("face", "toy", tmp_path)
    result = found["runs"][0]["result"]
    assert result["pairs"] == 1
    assert result["bits"] > result["stated bits"] > 8
    place = common.Place("toy", tmp_path)
    assert {path.name for path in (tmp_path / "io" / "server_data").iterdir()} == {"toy.npz"}
    path = place.intermediate / "scores.npy"
    scores = np.load(path)
    np.save(path, scores + 2.0 ** -result["stated bits"] * 1.1)
    with pytest.raises(common.WorkloadError, match="differ from those in the clear"):
        case.check(place)
    np.save(path, scores)
    common.write_text(place.io / "encrypted_model_predictions.txt", f"{scores[0] + 1e-5}\n")
    with pytest.raises(common.WorkloadError, match="not those that were decrypted"):
        case.check(place)


def test_patches_are_the_quarters_of_a_picture() -> None:
    tall = np.zeros((3, 80, 64), np.uint8)
    tall[0, :40, :32], tall[1, :40, 32:], tall[2, 40:, :32] = 255, 255, 255
    found = pictures.patches(np.array([pictures.prepared(tall, 16)]), 8)
    assert found.shape == (4, 1, 3, 8, 8)
    for number, colours in enumerate([(1, -1, -1), (-1, 1, -1), (-1, -1, 1), (-1, -1, -1)]):
        middle = found[number, 0, :, 3:5, 3:5]
        assert np.array_equal(middle, np.broadcast_to(np.array(colours)[:, None, None], middle.shape))
    plain = np.random.default_rng(1).integers(0, 256, (3, 16, 16), dtype=np.uint8)
    assert np.abs(pictures.prepared(plain, 16) - (plain / 127.5 - 1)).max() < 1e-12


def test_half_of_the_drawn_pairs_are_of_one_person() -> None:
    pairs, same = pictures.drawn(20, seed=2)
    assert same.sum() == 10
    apart = np.array([np.abs(a.astype(float) - b).mean() for a, b in pairs])
    assert apart[same == 1].mean() < apart[same == 0].mean()


def test_pairs_of_both_harnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = pictures.drawn(3, seed=5)[0]
    with pytest.raises(common.WorkloadError, match="is missing"):
        list(pictures.read_pairs(tmp_path))
    pictures.write_pairs(tmp_path, pairs)
    assert all(np.array_equal(a, b) for a, b in zip(pictures.read_pairs(tmp_path), pairs, strict=True))
    (tmp_path / "test_pairs.npz").write_bytes(b"no archive")
    with pytest.raises(common.WorkloadError, match="is damaged"):
        list(pictures.read_pairs(tmp_path))

    def encoded(picture: np.ndarray) -> np.ndarray:
        file = io.BytesIO()
        Image.fromarray(picture.transpose(1, 2, 0)).save(file, "PNG")
        return np.frombuffer(file.getvalue(), np.uint8)

    class Store(dict[str, Any]):
        def __enter__(self) -> Store:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    (tmp_path / "test_pairs.h5").touch()
    monkeypatch.setitem(sys.modules, "h5py", None)  # type: ignore[arg-type]
    with pytest.raises(common.WorkloadError, match="h5py is missing"):
        list(pictures.read_pairs(tmp_path))
    store = Store(image0=[encoded(a) for a, _ in pairs], image1=[encoded(b) for _, b in pairs])
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=lambda *_: store))
    assert all(np.array_equal(a, b) for a, b in zip(pictures.read_pairs(tmp_path), pairs, strict=True))
    store["image1"] = store["image1"][:2]
    with pytest.raises(common.WorkloadError, match="as many first pictures"):
        list(pictures.read_pairs(tmp_path))
    del store["image1"]
    with pytest.raises(common.WorkloadError, match="is damaged"):
        list(pictures.read_pairs(tmp_path))


def test_what_stages_of_faces_refuse(tmp_path: Path) -> None:
    place = common.Place("toy", tmp_path)
    size = str(layers.SIZES.index("toy"))
    assert layers.SIZES[:4] == ("single", "small", "medium", "large"), "the indices of the harness"
    assert "no size '5'" in refused("face/client_key_generation", tmp_path, "5")
    assert "client_encode_encrypt_input first" in refused("face/server_encrypted_compute", tmp_path, size)
    assert "client_key_generation first" in refused("face/client_encode_encrypt_input", tmp_path, size)
    pictures.write_pairs(place.data / "intermediate", pictures.drawn(2, seed=1)[0])
    assert "is 1 pairs and the file has 2" in refused("face/client_preprocess_input", tmp_path, size)
    path = tmp_path / "toy.npz"
    with pytest.raises(common.WorkloadError, match=r"is missing; run it first\."):
        model.load(path, "it", "toy")
    model.save(path, model.weights("toy"))
    assert all(np.array_equal(part, model.weights("toy")[name]) for name, part in model.load(path, "it", "toy").items())
    np.savez(path, first=np.zeros(3))
    with pytest.raises(common.WorkloadError, match="is damaged"):
        model.load(path, "it", "toy")
    state = dict(model.weights("toy"))
    state["nets.0.layers.0.herpn1.weight"] = np.zeros_like(state["nets.0.layers.0.herpn1.weight"])
    with np.errstate(all="ignore"), pytest.raises(ParameterError, match="finite numbers"):
        model.architecture(state, 0, 8)

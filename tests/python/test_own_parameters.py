"""A parameter set of the user's own: an engine of it, files, pickles, and refusals by name."""

import pathlib
import pickle

import numpy as np
import pytest

import aglet
from aglet import Engine

PRESETS = pathlib.Path(__file__).parents[2] / "crates" / "aglet" / "presets" / "ckks"


@pytest.fixture
def mine(tmp_path):
    """A file with the toy ring under another name."""
    path = tmp_path / "mine.toml"
    text = (PRESETS / "toy.toml").read_text()
    assert 'name = "toy"' in text
    path.write_text(text.replace('name = "toy"', 'name = "mine"'))
    return path


def test_an_engine_of_ones_own_parameters_computes_and_bootstraps(mine):
    engine = Engine(parameters=mine, allow_insecure=True)
    assert (engine.preset, "mine" in repr(engine)) == ("mine", True)
    assert engine.security_report().secret == Engine(preset="toy", allow_insecure=True).security_report().secret
    key = engine.create_secret_key()
    relin, conj = engine.create_relinearization_key(key), engine.create_conjugation_key(key)
    boot = engine.create_bootstrap_key(key, 3)
    assert engine.estimate(3).output_level == engine.bootstrap(engine.encrypt([0.5], key, 0), relin, conj, boot).level


@pytest.fixture
def secure(tmp_path):
    """A file with one level in dimension 2^13: a set that no preset is, above 128 bits."""
    path = tmp_path / "single.toml"
    text = (PRESETS / "levels-13.toml").read_text()
    path.write_text(text.replace('name = "levels-13"', 'name = "single"').replace("count = 2 }", "count = 1 }"))
    return path


def test_engines_and_what_they_made_are_pickled_with_the_text(secure):
    engine = Engine(parameters=secure)
    assert (engine.preset, engine.max_level, engine.security_report().is_secure) == ("single", 1, True)
    key = engine.create_secret_key()
    pickled = pickle.dumps((engine, engine.encrypt([0.25, -1.0], key)))
    secure.unlink()
    again, ciphertext = pickle.loads(pickled)
    assert again.preset == "single"
    assert np.allclose(engine.decrypt(again.add(ciphertext, ciphertext), key)[:2], [0.5, -2.0], atol=1e-6)


def test_text_serves_as_well_as_a_path(mine):
    text = mine.read_text()
    assert (
        Engine(parameters=text, allow_insecure=True).preset == Engine(parameters=str(mine), allow_insecure=True).preset
    )


def test_another_set_refuses_its_files_by_name(secure, tmp_path):
    engine = Engine(parameters=secure)
    engine.write_ciphertext(engine.encrypt([1.0], engine.create_secret_key()), tmp_path / "ct")
    with pytest.raises(aglet.AgletError, match="single"):
        Engine(preset="levels-13").read_ciphertext(tmp_path / "ct")


def test_what_cannot_be_is_refused_by_a_sentence(mine, tmp_path):
    with pytest.raises(aglet.InsecureParametersError, match="allow_insecure"):
        Engine(parameters=mine)
    for words in [
        {"preset": "toy"},
        {"use_bootstrap": True},
        {"max_level": 3},
        {"precision": "high"},
        {"compact": True},
    ]:
        with pytest.raises(aglet.ParameterError, match="leave out"):
            Engine(parameters=mine, allow_insecure=True, **words)
    with pytest.raises(aglet.ParameterError, match="cannot be read"):
        Engine(parameters=tmp_path / "nothing.toml")
    with pytest.raises(TypeError, match="path"):
        Engine(parameters=7)
    for text in ["no toml\n", 'family = "other"\n', "log_n = 3\n"]:
        with pytest.raises(aglet.ParameterError):
            Engine(parameters=text)

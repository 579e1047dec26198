"""A parameter set of the user's own, of CKKS or integers: an engine of it, files, pickles, and refusals by name."""

import pathlib
import pickle

import numpy as np
import pytest

import aglet
from aglet import Engine, IntegerEngine, KeySet, SchemeSwitch
from digit_sets import toy as digits

PRESETS = pathlib.Path(__file__).parents[2] / "crates" / "aglet" / "presets" / "ckks"
INTEGERS = PRESETS.parent / "integer"


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


def integers(preset, *changes):
    """A set of integers under the name "mine", with other numbers."""
    text = (INTEGERS / f"{preset}.toml").read_text().split("[claims]")[0]
    for old, new in [(f'name = "{preset}"', 'name = "mine"'), *changes]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_integers_of_ones_own_parameters_compute_and_bootstrap(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(integers("toy-int16", ("log_n = 10", "log_n = 6")))
    engine = IntegerEngine(parameters=path, allow_insecure=True)
    assert (engine.preset, engine.slot_count, engine.plaintext_modulus) == ("mine", 64, 65537)
    assert "NOT SECURE" in repr(engine)
    keys, values = engine.create_keys(), np.arange(64) - 30
    ct = engine.encrypt(values, keys.public)
    low = engine.mod_switch(engine.rotate_rows(engine.square(ct, keys.relinearization), keys.rotation, 1), 2)
    refreshed = engine.bootstrap(low, keys.bootstrap)
    assert refreshed.level == engine.bootstrap_output_level > 2
    wanted = np.roll((values**2).reshape(2, -1), 1, axis=1).ravel()
    assert (engine.decrypt(refreshed, keys.secret) == wanted).all()
    small, large = (one.keys_forecast() for one in (engine, IntegerEngine(preset="toy-int16", allow_insecure=True)))
    assert keys.byte_count < small < large / 8


def test_integers_of_ones_own_parameters_go_to_fhew():
    text = integers("toy-int16", ("log_n = 10", "log_n = 10\nlog_slots = 7"))
    switch = SchemeSwitch(IntegerEngine(parameters=text, allow_insecure=True), digits())
    keys, values = switch.create_keys(), np.arange(128) % 16
    low = switch.to_fhew(switch.engine.encrypt(values, keys.secret), [5, 127], keys)
    assert switch.fhew_engine.decrypt(low, keys.fhew_secret).tolist() == [5, 15]
    assert min(switch.estimate(what).seconds for what in ("to_fhew", "from_fhew")) > 0


def test_integers_keep_their_parameters_in_pickles_files_and_sets_of_keys(tmp_path):
    text = integers(
        "int-levels-13", ("count = 4", "count = 3"), ("plaintext_modulus = 65537", "plaintext_modulus = 257")
    )
    engine = IntegerEngine(parameters=text, signed=False)
    assert (engine.max_level, engine.plaintext_modulus, engine.security_bits > 128) == (3, 257, True)
    keys = engine.create_keys(rotation=False)
    ct = engine.encrypt([200, 3], keys.public)
    again, copied = pickle.loads(pickle.dumps((engine, ct)))
    assert again.decrypt(again.multiply(copied, 2), keys.secret)[:2].tolist() == [143, 6]
    keys.save(tmp_path / "keys")
    engine.write(ct, tmp_path / "ct")
    found = KeySet.load(tmp_path / "keys", secret=True)
    assert (found.engine.preset, found.engine.max_level, found.engine.signed) == ("mine", 3, False)
    assert found.engine.decrypt(found.engine.read(tmp_path / "ct"), found.secret)[:2].tolist() == [200, 3]
    with pytest.raises(aglet.AgletError, match="mine"):
        IntegerEngine(depth=4).read(tmp_path / "ct")


def test_integers_that_cannot_be_are_refused_by_a_sentence(tmp_path):
    text = integers("toy-int16")
    with pytest.raises(aglet.InsecureParametersError, match="allow_insecure"):
        IntegerEngine(parameters=text)
    for words in [{"preset": "int16"}, {"use_bootstrap": True}, {"depth": 4}, {"plaintext_modulus": 257}]:
        with pytest.raises(aglet.ParameterError, match="leave them out"):
            IntegerEngine(parameters=text, allow_insecure=True, **words)
    with pytest.raises(aglet.ParameterError, match="cannot be read"):
        IntegerEngine(parameters=tmp_path / "nothing.toml")
    with pytest.raises(TypeError, match="path"):
        IntegerEngine(parameters=7)
    for wrong in ["no toml\n", "log_n = 3\n", (PRESETS / "toy.toml").read_text(), text.replace("36", "9999999999")]:
        with pytest.raises(aglet.ParameterError):
            IntegerEngine(parameters=wrong, allow_insecure=True)

"""The bootstrap on the toy ring: same chain of primes as the real one, far too small to be secure."""

from __future__ import annotations

import re
import runpy

import numpy as np
import pytest

import aglet
from aglet import Engine
from aglet_bench.ckks.measure import MESSAGES, Precision, make_message
from conftest import Keys
from support import ROOT, SNIPPETS, ToyEngine, assert_near, random_message, snippet

# The ring of FHEW does not fit into that of the toy: test_scheme_switch.py runs them in a larger one.
SCHEME_SWITCHES = ("mean_of_adults.py", "nearest.py", "slot_tree.py")
# Bootstraps of integers have their real size: tests/python/long runs it.
LONG = ("recurrence.py",)
# Those of digits alone run on a toy of FHEW, in test_digits.py.
DIGITS = ("aes_block.py", "forest.py", "image_filter.py", "kmeans.py", "prefixes.py")
# A process of its own starts another one: test_client_server.py.
PROCESSES = ("client_server.py",)
APART = SCHEME_SWITCHES + LONG + DIGITS + PROCESSES
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py") if path.name not in APART)


@pytest.mark.parametrize("kind", MESSAGES)
def test_all_messages(engine: Engine, keys: Keys, kind: str) -> None:
    message = make_message(kind, engine.slot_count)
    ciphertext = engine.encrypt(message, keys.secret, level=0)
    refreshed = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
    assert refreshed.level == 10
    precision = Precision.of(message, engine.decrypt(refreshed, keys.secret))
    assert precision.bits_mean > 20
    assert precision.bits_worst > 17
    assert ciphertext.level == 0
    assert_near(engine.decrypt(ciphertext, keys.secret), message)


@pytest.mark.parametrize("level", [0, 1, 7, 10])
def test_from_any_level(engine: Engine, keys: Keys, level: int) -> None:
    message = random_message(engine.slot_count, 5)
    ciphertext = engine.encrypt(message, keys.public, level)
    refreshed = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
    assert refreshed.level == 10
    assert_near(engine.decrypt(refreshed, keys.secret), message)


def test_compute_refresh_compute(engine: Engine, keys: Keys) -> None:
    """Ten squarings, a bootstrap, ten squarings more: numbers on the unit circle stay there."""
    angles = np.linspace(0, 1, engine.slot_count) / 2**20
    ciphertext = engine.encrypt(np.exp(2j * np.pi * angles), keys.secret, level=10)
    for _ in range(2):
        while ciphertext.level > 0:
            ciphertext = engine.square(ciphertext, keys.relinearization)
        ciphertext = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
    assert_near(engine.decrypt(ciphertext, keys.secret), np.exp(2j * np.pi * angles * 2**20), 2.0**-4)


def test_progress_and_stage_times(engine: Engine, keys: Keys) -> None:
    seen: list[tuple[int, int, str]] = []
    engine.create_bootstrap_key(keys.secret, progress=lambda *step: seen.append(step))
    assert seen
    assert all(0 <= done <= total and what for done, total, what in seen)
    ciphertext = engine.encrypt([1], keys.public, level=0)
    engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
    names = {part.split()[0] for name, _ in engine.stage_times() for part in name.split(", ")}
    assert {"slots_to_coeffs", "mod_raise", "coeffs_to_slots", "eval_mod"} <= names
    assert all(seconds >= 0 for _, seconds in engine.stage_times())


@pytest.mark.parametrize("stage_count", [2, 3])
def test_every_planned_level_is_kept(engine: Engine, keys: Keys, stage_count: int) -> None:
    try:
        planned = engine.estimate(stage_count)
    except aglet.ParameterError:
        with pytest.raises(aglet.ParameterError):
            engine.create_bootstrap_key(keys.secret, stage_count)
        return
    key = engine.create_bootstrap_key(keys.secret, stage_count)
    assert key.stage_count == stage_count
    ciphertext = engine.encrypt([0.5], keys.secret, level=planned.input_level)
    refreshed = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, key)
    assert refreshed.level == planned.output_level


@pytest.mark.parametrize("name", [name for name in SNIPPETS if "sparse" not in name])
def test_published_snippets(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The real ring runs them all in the long suite; the sparse ones have more slots than the toy ring."""
    monkeypatch.setattr(aglet, "Engine", ToyEngine)
    names: dict[str, object] = {}
    exec(compile(snippet(name), name, "exec"), names)
    bootstrapped = names["bootstrapped"]
    assert isinstance(bootstrapped, aglet.Ciphertext)
    assert bootstrapped.level == (14 if "14" in name else 13 if "lossy" in name or "sign" in name else 10)
    if name.startswith("precision"):
        found = re.search(r"Noise \(Bits\) :(-[0-9.]+)", capsys.readouterr().out)
        assert found is not None
        assert float(found[1]) < -20


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(aglet, "Engine", ToyEngine)
    # Examples read numbers among their arguments: those of pytest are none of theirs.
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text()
    program = text.split("```python\n")[1].split("```")[0]
    monkeypatch.setattr(aglet, "Engine", ToyEngine)
    exec(compile(program, "README.md", "exec"), {})
    assert "level 10" in capsys.readouterr().out

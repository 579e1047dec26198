"""SHIP on the toy ring: the same calls as every bootstrap, and what has no meaning there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from aglet import Engine, MemoryLimitError, ParameterError, _core
from aglet.cli.params import params
from aglet_bench.advise import Wish
from aglet_bench.ckks.advice import advise
from aglet_bench.ckks.measure import Case, bench_bootstrap, make_message


@dataclass(frozen=True)
class Made:
    """An engine with all keys, and the keys as bootstraps take them."""

    engine: Engine
    secret: _core.SecretKey
    keys: tuple[_core.RelinearizationKey, _core.ConjugationKey, _core.BootstrapKey]


@pytest.fixture(scope="module")
def made() -> Made:
    engine = Engine(preset="toy-ship", allow_insecure=True)
    secret = engine.create_secret_key()
    relinearization, conjugation = engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)
    return Made(engine, secret, (relinearization, conjugation, engine.create_bootstrap_key(secret)))


def test_numbers_bits_and_batches(made: Made) -> None:
    engine, x = made.engine, make_message("uniform", made.engine.slot_count)
    ciphertext = engine.encrypt(x, made.secret, level=0)
    one = engine.bootstrap(ciphertext, *made.keys)
    assert one.level == 1
    # The toy ring leaves 18 bits; its sine 2^-19 of 1.
    assert np.abs(engine.decrypt(one, made.secret) - x).max() < 2.0**-14
    many = engine.bootstrap_many([ciphertext, ciphertext], *made.keys)
    assert [engine.serialize_ciphertext(refreshed) for refreshed in many] == 2 * [engine.serialize_ciphertext(one)]
    bits = np.arange(engine.slot_count) % 2
    rough = engine.encrypt(bits + 0.02 * np.sin(np.arange(engine.slot_count)), made.secret, level=0)
    clean = engine.decrypt(engine.sign_bootstrap(rough, *made.keys, bits=True), made.secret)
    assert np.abs(clean - bits).max() < 2.0**-9.5
    wide = engine.bootstrap(engine.encrypt(8 * x, made.secret, level=0), *made.keys, bound=8)
    assert np.abs(engine.decrypt(wide, made.secret) - 8 * x).max() < 2.0**-9


def test_what_has_no_meaning_is_refused(made: Made) -> None:
    engine, keys = made.engine, made.keys
    ciphertext = engine.encrypt([0.5], made.secret, level=0)
    for stages in (2, 3):
        with pytest.raises(ParameterError, match="leave stage_count out"):
            engine.create_bootstrap_key(made.secret, stage_count=stages)
        with pytest.raises(ParameterError, match="leave stage_count out"):
            engine.bootstrap(ciphertext, *keys, stage_count=stages)
        with pytest.raises(ParameterError, match="leave stage_count out"):
            engine.estimate(stages)
    with pytest.raises(ParameterError, match="keys of one size"):
        engine.create_bootstrap_key(made.secret, size="medium")
    with pytest.raises(ParameterError, match="keys of one size"):
        engine.create_small_bootstrap_key(made.secret)
    with pytest.raises(ParameterError, match="no level for a second pass"):
        engine.bootstrap(ciphertext, *keys, iterations=2)
    with pytest.raises(ParameterError):
        engine.lossy_bootstrap(ciphertext, *keys)
    with pytest.raises(MemoryLimitError):
        engine.create_bootstrap_key(made.secret, memory_limit_bytes=2**20)


def test_the_plan_the_bench_and_the_estimate_know_it() -> None:
    case = Case(preset="toy-ship", allow_insecure=True)
    engine = case.engine()
    keys = case.keys(engine)
    (record,) = bench_bootstrap(case, repeat=1, keys=keys, engine=engine)
    assert (record["stage_count"], record["output_level"], record["slot_count"]) == (1, 1, 512)
    names = [stage["name"] for stage in case.plan(engine)["stages"]]
    assert names == ["pack", "encapsulate", "roots", "product", "real_part"]
    # The same keys clean bits.
    bits = Case(preset="toy-ship", method="bits", real=True, allow_insecure=True)
    (record,) = bench_bootstrap(bits, repeat=1, messages=["bits"], engine=engine)
    assert record["method"] == "bits"
    assert record["bits_worst"] > 9


def test_few_slots_are_the_same_calls() -> None:
    case = Case(preset="toy-ship", slot_count=4, real=True, allow_insecure=True)
    engine = case.engine()
    names = [stage["name"] for stage in case.plan(engine)["stages"]]
    assert names == ["slots_to_coeffs", "encapsulate", "select", "trace", "product", "real_part"]
    (record,) = bench_bootstrap(case, repeat=1, engine=engine)
    assert (record["stage_count"], record["output_level"], record["slot_count"]) == (1, 1, 4)
    secret = engine.create_secret_key()
    keys = (
        engine.create_relinearization_key(secret),
        engine.create_conjugation_key(secret),
        engine.create_bootstrap_key(secret),
    )
    x = np.array([0.5, -1.0, 0.25, 1.0])
    fresh = engine.bootstrap(engine.encrypt(x, secret, level=0), *keys)
    square = engine.decrypt(engine.square(fresh, keys[0]), secret)
    assert fresh.level == 1
    assert np.abs(square - x * x).max() < 2.0**-10
    crowded = Engine(preset="toy-ship", slot_count=32, allow_insecure=True)
    with pytest.raises(ParameterError, match="choose a power of two up to 16"):
        crowded.create_bootstrap_key(crowded.create_secret_key())


def test_presets_are_experimental_with_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        preset["name"]: preset
        for preset in _core.presets()
        if not preset["raises_modulus"] and preset["name"] != "toy-ship"
    }
    secure, published = {"ship14", "ship14-precise", "ship13", "ship13-bits"}, {"ship13-published", "ship14-published"}
    assert set(found) == secure | published
    for name, preset in found.items():
        assert preset["experimental"] is not None
        assert (preset["security_bits"] >= 128) == (name in secure)
        assert ((preset["sparse_secrets_bits"] or 0) >= 128) == (name in secure)
    params(sorted(found))
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("Experimental │ The number of sparse secrets") == len(found)
    assert not any(
        preset["experimental"] for name, preset in ((p["name"], p) for p in _core.presets()) if name not in found
    )


def test_advice_has_it_with_calls_that_leave_stages_out() -> None:
    found = next(way for way in advise(Wish(100, 14, 1), []) if way.preset == "ship14")
    assert (found.slot_count, found.bootstraps, found.iterations) == (2**13, 1, 1)
    assert "create_bootstrap_key(secret_key)" in found.calls(1)
    assert 'Engine(preset="ship14")' in found.calls(1)


def test_advice_for_few_values_has_few_slots() -> None:
    found = next(way for way in advise(Wish(5, 12, 1), []) if way.preset == "ship14")
    assert (found.slot_count, found.bootstraps) == (8, 1)
    assert 'Engine(preset="ship14", slot_count=8)' in found.calls(1)
    alone = next(way for way in advise(Wish(2048, 14, 1), []) if way.preset == "ship14")
    assert alone.slot_count == 2**13

"""The forms of the constructor: which parameter set each one means, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aglet import Engine
from aglet.ckks import options
from aglet.errors import AgletError, InsecureParametersError, LevelError, ParameterError
from support import assert_near


def choose(*positional: Any, **named: Any) -> options.EngineOptions:
    names = [
        "max_level",
        "mode",
        "slot_count",
        "log_slot_count",
        "thread_count",
        "log_coeff_count",
        "special_prime_count",
        "precision",
        "preset",
        "parameters",
    ]
    flags = dict.fromkeys(["use_bootstrap", "use_bootstrap_to_14_levels", "compact"], False)
    arguments = {**dict.fromkeys(names), **flags, "device_id": 0, **named}
    return options.choose(positional, arguments)


def log_n(chosen: options.EngineOptions) -> int:
    return next(p["log_n"] for p in options._core.presets() if p["name"] == chosen.preset)


@pytest.mark.parametrize(
    ("max_level", "expected"),
    [(0, 13), (2, 13), (3, 14), (7, 14), (8, 15), (17, 15), (18, 16), (36, 16), (37, 17), (77, 17)],
)
def test_the_smallest_ring_that_fits(max_level: int, expected: int) -> None:
    assert log_n(choose(max_level=max_level)) == expected


@pytest.mark.parametrize(("pair", "levels"), [((13, 1), 2), ((14, 1), 7), ((15, 2), 17), ((16, 4), 36), ((17, 6), 77)])
def test_the_expert_form(pair: tuple[int, int], levels: int) -> None:
    named = choose(log_coeff_count=pair[0], special_prime_count=pair[1])
    assert named == choose(*pair)
    assert log_n(named) == pair[0] == log_n(choose(max_level=levels))


def test_positional_forms() -> None:
    assert choose("cpu") == choose() == choose(mode="cpu")
    assert choose(5) == choose(max_level=5) == choose(np.int64(5)) == choose(max_level=np.uint8(5))
    assert choose(np.int32(15), np.int32(2)) == choose(15, 2)
    assert choose(slot_count=np.int64(64), thread_count=np.int8(2)) == choose(slot_count=64, thread_count=2)
    assert choose(5).levels == 5
    assert choose(5, "parallel") == choose(max_level=5, mode="parallel")
    assert choose(15, 2, "parallel") == choose(log_coeff_count=15, special_prime_count=2, mode="parallel")


def test_the_word_for_precision_chooses_preset_and_iterations() -> None:
    def chosen(word: str | None, **named: Any) -> tuple[str, int]:
        options = choose(use_bootstrap=True, precision=word, **named)
        return options.preset, options.iterations

    assert chosen(None) == chosen("standard") == ("regular", 1)
    assert chosen("standard", compact=True) == ("compact", 1)
    assert chosen("high") == ("precise", 1)
    assert chosen("highest") == ("precise", 2)
    for word, named in [
        ("finest", {"use_bootstrap": True}),
        ("high", {}),
        ("high", {"use_bootstrap_to_14_levels": True}),
        ("high", {"use_bootstrap": True, "compact": True}),
        ("high", {"use_bootstrap": True, "preset": "regular"}),
    ]:
        with pytest.raises(ParameterError, match="precision"):
            choose(precision=word, **named)


def test_the_highest_precision_takes_two_iterations_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "PRECISIONS", {"standard": ("toy", 1), "highest": ("toy", 2)})
    passes = []
    for word, asked in [("standard", {}), ("highest", {}), ("highest", {"iterations": 1})]:
        engine = Engine(use_bootstrap=True, precision=word, allow_insecure=True)
        secret = engine.create_secret_key()
        keys = (
            engine.create_relinearization_key(secret),
            engine.create_conjugation_key(secret),
            engine.create_bootstrap_key(secret),
        )
        engine.bootstrap(engine.encrypt([0.5j], secret, level=0), *keys, **asked)
        passes.append(any(stage.startswith("pass 2") for stage, _ in engine.stage_times()))
    assert passes == [False, True, False]


def test_any_number_of_special_primes_means_the_ring() -> None:
    assert choose(16, 1, "cpu") == choose(16, 4, "cpu")
    assert choose(16, 1).levels == choose(max_level=36).levels


def test_compact_without_bootstrapping_changes_nothing() -> None:
    assert choose(max_level=12, compact=True) == choose(max_level=12)


def test_threads() -> None:
    assert choose(max_level=7, mode="cpu", thread_count=4).threads == 4
    assert choose().threads == 1
    assert choose(mode="parallel").threads == options.available_cores()
    assert choose(mode="parallel", thread_count=0).threads == options.available_cores()
    assert choose(mode="parallel", thread_count=3).threads == 3
    assert Engine(1, "parallel", thread_count=64).thread_count == 64
    with pytest.warns(RuntimeWarning, match="one per core") as caught:
        assert Engine(1, thread_count=5000).thread_count == options.available_cores()
    assert len(caught) == 1


def test_slots() -> None:
    assert choose(slot_count=1024).slot_count == 1024
    assert choose(log_slot_count=10).slot_count == 1024
    assert choose(use_bootstrap=True, slot_count=2**15).slot_count == 2**15
    assert choose(use_bootstrap=True, slot_count=1).slot_count == 1


@pytest.mark.parametrize(
    ("slots", "ring", "levels"), [(2**13, 14, 7), (2**14, 15, 17), (2**15, 16, 36), (2**16, 17, 77)]
)
def test_more_slots_take_a_larger_ring(slots: int, ring: int, levels: int) -> None:
    for named in ({"slot_count": slots}, {"log_slot_count": slots.bit_length() - 1}):
        assert (log_n(choose(**named)), choose(**named).levels) == (ring, levels)
    few = choose(slot_count=slots, max_level=1)
    assert log_n(few) == ring
    assert few.max_level == 1
    with pytest.raises(ParameterError, match="at most 65536"):
        choose(slot_count=2 * 2**16)
    with pytest.raises(ParameterError, match="negative"):
        choose(slot_count=slots, max_level=-1)


def test_a_wide_engine_of_few_levels() -> None:
    engine = Engine(slot_count=2**14, max_level=1)
    assert (engine.slot_count, engine.max_level) == (2**14, 1)
    secret = engine.create_secret_key()
    x = engine.encrypt(np.linspace(-1, 1, 2**14), secret)
    assert x.level == 1
    square = engine.square(x, engine.create_relinearization_key(secret))
    assert_near(engine.decrypt(square, secret), np.linspace(-1, 1, 2**14) ** 2)
    with pytest.raises(LevelError, match="max_level="):
        engine.encrypt([1], secret, level=2)


def test_bootstrap_presets() -> None:
    assert choose(use_bootstrap=True).preset == "regular"
    assert choose(use_bootstrap=True, compact=True).preset == "compact"
    assert choose(use_bootstrap_to_14_levels=True).preset == "to14"
    assert choose(use_bootstrap_to_14_levels=True, compact=True).preset == "to14-compact"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mode": "fast"}, "no mode"),
        ({"mode": "parallel", "thread_count": -1}, "0 for all"),
        ({"device_id": 1}, "leave it out"),
        ({"mode": "parallel", "device_id": 1}, "leave it out"),
        ({"max_level": -1}, "negative"),
        ({"max_level": 10**6}, "use_bootstrap=True"),
        ({"use_bootstrap": True, "max_level": 7}, "leave out max_level"),
        ({"preset": "toy", "log_coeff_count": 14}, "leave out max_level"),
        ({"log_coeff_count": 14}, "belong together"),
        ({"log_coeff_count": 18, "special_prime_count": 3}, "13 to 17"),
        ({"log_coeff_count": 14, "special_prime_count": 0}, "give at least 1"),
        ({"log_coeff_count": 14, "special_prime_count": 1, "max_level": 7}, "leave out max_level"),
        ({"preset": "nonsense"}, "this version has"),
        ({"slot_count": 1000}, "1024"),
        ({"slot_count": 0}, "power of two"),
        ({"log_slot_count": -1}, "out of range"),
        ({"slot_count": 8, "log_slot_count": 3}, "one of them"),
        ({"use_bootstrap": True, "use_bootstrap_to_14_levels": True}, "exclude each other"),
        ({"use_bootstrap_to_14_levels": True, "max_level": 3}, "use_bootstrap_to_14_levels already fixes"),
    ],
)
def test_contradictions(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        choose(**arguments)


def test_wrong_types() -> None:
    for positional in [(1.5,), (14, 1, 2), ("cpu", 4), (5, "cpu", "cpu")]:
        with pytest.raises(TypeError, match="by position"):
            choose(*positional)
    with pytest.raises(TypeError, match="twice"):
        choose("cpu", mode="cpu")
    for named in [{"max_level": 1.5}, {"slot_count": 8.0}, {"mode": "parallel", "thread_count": 1.5}]:
        with pytest.raises(TypeError, match="whole number"):
            choose(**named)


def test_without_a_card_auto_is_parallel() -> None:
    automatic = choose(mode="auto", device_id=1)
    assert (automatic.mode, automatic.threads) == ("parallel", options.available_cores())
    assert choose("auto") == choose("parallel")


def test_a_subclass_may_assign_what_it_was_made_with() -> None:
    class Mine(Engine):
        def __init__(self, mode: str, max_level: int) -> None:
            self.mode, self.max_level = mode, max_level
            super().__init__(mode=mode, max_level=max_level)
            self.mode, self.slot_count, self.thread_count = mode, 2**12, 1

    engine = Mine("cpu", 1)
    assert (engine.mode, engine.max_level) == ("cpu", 1)
    for name, value in [("mode", "parallel"), ("slot_count", 8), ("max_level", 7)]:
        with pytest.raises(ParameterError, match=f"make another engine with Engine\\({name}="):
            setattr(engine, name, value)


def test_an_insecure_ring_must_be_spelled_out() -> None:
    with pytest.raises(InsecureParametersError) as caught:
        Engine(preset="toy")
    assert isinstance(caught.value, AgletError)
    assert isinstance(caught.value, ValueError)
    assert "NOT SECURE" in repr(Engine(preset="toy", allow_insecure=True))


def test_a_missing_method_says_so(engine: Engine) -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        engine.nonsense  # noqa: B018


def test_the_default_engine() -> None:
    engine = Engine()
    assert (engine.max_level, engine.slot_count, engine.log_coeff_count) == (7, 8192, 14)
    assert (engine.mode, engine.thread_count) == ("cpu", 1)
    assert engine.security_report().is_secure


@pytest.mark.parametrize("max_level", range(10))
def test_every_number_of_levels(max_level: int) -> None:
    """As many products as asked for, and not one more."""
    engine = Engine(max_level=max_level)
    secret = engine.create_secret_key()
    relin = engine.create_relinearization_key(secret)
    assert engine.max_level == max_level
    assert engine.security_report().is_secure
    angles = np.arange(8) / 8 / 2**max_level
    ciphertext = engine.encrypt(np.exp(2j * np.pi * angles), engine.create_public_key(secret))
    assert ciphertext.level == max_level
    for _ in range(max_level):
        ciphertext = engine.square(ciphertext, relin)
    assert_near(engine.decrypt(ciphertext, secret)[:8], np.exp(2j * np.pi * np.arange(8) / 8), 2.0**-12)
    with pytest.raises(LevelError, match="at level 0"):
        engine.square(ciphertext, relin)


def test_fewer_levels_have_smaller_keys() -> None:
    for ring in (range(1, 3), range(3, 8), range(8, 11)):
        sizes = []
        for max_level in ring:
            engine = Engine(max_level=max_level)
            sizes.append(engine.create_relinearization_key(engine.create_secret_key()).byte_count)
        assert sizes == sorted(set(sizes))


def test_reports(engine: Engine) -> None:
    assert "NOT SECURE" in str(engine.security_report())
    memory = engine.memory_report()
    assert memory.peak >= memory.bootstrap_key > 0
    assert memory.keys_seeded <= memory.bootstrap_key + memory.other_keys
    assert memory.fits
    assert "peak" in str(memory)
    estimate = engine.estimate(stage_count=3)
    assert (estimate.input_level, estimate.output_level) == (0, 10)
    assert estimate.log2_failure is not None
    assert estimate.log2_failure < -64
    assert "some slot six bits below it 2^-88" in str(estimate)

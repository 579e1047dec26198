"""Whole numbers, flags, words and lists that every public method takes: one rule, and one kind of sentence, for all."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import AgletError, Engine, SecretKey
from conftest import Keys
from support import ToyEngine

SENTENCE = re.compile(r"^[A-Za-z].*[.]$", re.DOTALL)
# What Python or PyO3 say by themselves when nobody checked.
UNCHECKED = re.compile(r"object is not|not supported between|cannot be interpreted|too large to convert|argument '")

NOT_WHOLE: list[Any] = ["3", True, np.True_, 3.0, np.float64(3), 2j, [3], np.array([1, 2]), b"3"]
TOO_LARGE: list[Any] = [2**62, 2**63, 2**70, -(2**70)]


class World:
    """A toy engine with everything that its methods take."""

    def __init__(self, engine: Engine, keys: Keys) -> None:
        self.engine, self.keys = engine, keys
        self.x = engine.encrypt([0.5, 0.25], keys.secret, level=4)
        self.rest = (keys.relinearization, keys.conjugation)
        self.map = engine.create_map_key(keys.secret, [3])
        self.small = engine.create_small_bootstrap_key(keys.secret)


class Diagonal(dict[Any, Any]):
    """A map of one diagonal at any offset, also one that no dict takes."""

    def __init__(self, offset: Any) -> None:
        super().__init__({0: [1.0]})
        self.offset = offset

    def items(self) -> Any:
        return [(self.offset, [1.0])]


@pytest.fixture(scope="module")
def world(engine: Engine, keys: Keys) -> World:
    return World(engine, keys)


Call = Callable[[World, Any], Any]
# Every argument of a public method that is a whole number: the call, and a value that it takes.
WHOLE: dict[tuple[str, str], tuple[Call, int]] = {
    ("memory_report", "stage_count"): (lambda w, v: w.engine.memory_report(v), 3),
    ("estimate", "stage_count"): (lambda w, v: w.engine.estimate(stage_count=v), 3),
    ("comparison_plan", "stage_count"): (lambda w, v: w.engine.comparison_plan(stage_count=v), 3),
    ("comparison_plan", "alpha"): (lambda w, v: w.engine.comparison_plan(v), 8),
    ("comparison_plan", "error_bits"): (lambda w, v: w.engine.comparison_plan(error_bits=v), 12),
    ("comparison_plan", "level"): (lambda w, v: w.engine.comparison_plan(level=v), 3),
    ("create_fixed_rotation_key", "delta"): (lambda w, v: w.engine.create_fixed_rotation_key(w.keys.secret, v), 3),
    ("create_fixed_rotation_key", "level"): (
        lambda w, v: w.engine.create_fixed_rotation_key(w.keys.secret, 1, v).level,
        3,
    ),
    ("create_map_key", "level"): (lambda w, v: w.engine.create_map_key(w.keys.secret, [1], v).level, 3),
    ("create_map_key", "offsets"): (lambda w, v: w.engine.create_map_key(w.keys.secret, [v], 3).level, 3),
    ("map_cut", "offsets"): (lambda w, v: w.engine.map_cut([v]).rotations, 3),
    ("encode_map", "diagonals"): (lambda w, v: w.engine.encode_map(Diagonal(v), w.map, 3).level, 3),
    ("encode_map", "level"): (lambda w, v: w.engine.encode_map({3: [1.0]}, w.map, v).level, 3),
    ("linear_map", "diagonals"): (lambda w, v: w.engine.linear_map(Diagonal(v), w.x, w.map).level, 3),
    ("create_relinearization_key", "level"): (
        lambda w, v: w.engine.create_relinearization_key(w.keys.secret, v).byte_count,
        3,
    ),
    ("create_conjugation_key", "level"): (
        lambda w, v: w.engine.create_conjugation_key(w.keys.secret, v).byte_count,
        3,
    ),
    ("create_rotation_key", "level"): (lambda w, v: w.engine.create_rotation_key(w.keys.secret, v).byte_count, 3),
    ("create_matrix_multiplication_key", "level"): (
        lambda w, v: w.engine.create_matrix_multiplication_key(w.keys.secret, level=v, baby_step_count=1),
        3,
    ),
    ("create_matrix_multiplication_key", "baby_step_count"): (
        lambda w, v: w.engine.create_matrix_multiplication_key(w.keys.secret, level=0, baby_step_count=v),
        4,
    ),
    ("check_memory", "count"): (lambda w, v: w.engine.check_memory(v), 3),
    ("check_memory", "level"): (lambda w, v: w.engine.check_memory(1, v), 3),
    ("check_memory", "beside_bytes"): (lambda w, v: w.engine.check_memory(1, beside_bytes=v), 3),
    ("encode_matrix", "level"): (lambda w, v: w.engine.encode_matrix(np.eye(2), w.keys.rotation, level=v), 3),
    ("encode_weights", "level"): (lambda w, v: w.engine.encode_weights([1.0], v).level, 3),
    # The bits that remain follow from the size of the noise alone; 2^62 queries need more than fits.
    ("create_keys", "stage_count"): (
        lambda w, v: w.engine.create_keys(w.keys.secret, stage_count=v, rotation=False).bootstrap.stage_count,
        3,
    ),
    ("keys_forecast", "stage_count"): (lambda w, v: w.engine.keys_forecast("large", v, rotation=False), 3),
    ("decrypt_shared", "queries"): (
        lambda w, v: w.engine.decrypt_shared(w.x, w.keys.secret, v, security=40).bits,
        3,
    ),
    ("encode", "level"): (lambda w, v: w.engine.encode([1], v).level, 3),
    ("encode_pytorch_tensor", "level"): (lambda w, v: w.engine.encode_pytorch_tensor([1], v).level, 3),
    ("encode_to_plain_matrix", "level"): (lambda w, v: w.engine.encode_to_plain_matrix([[1]], v).level, 3),
    ("encode_to_plain_matrix", "diagonal_indices"): (
        lambda w, v: w.engine.encode_to_plain_matrix([[1]], 3, [v]).level,
        3,
    ),
    ("encode_to_light_plain_matrix", "level"): (lambda w, v: w.engine.encode_to_light_plain_matrix([[1]], v).level, 3),
    ("encode_to_light_plain_matrix", "diagonal_indices"): (
        lambda w, v: w.engine.encode_to_light_plain_matrix([[1]], 3, [v]).level,
        3,
    ),
    ("encode_to_light_plaintext", "level"): (lambda w, v: w.engine.encode_to_light_plaintext([1], v).level, 3),
    ("encrypt", "level"): (lambda w, v: w.engine.encrypt([1], w.keys.public, v).level, 3),
    ("encrypt_many", "level"): (lambda w, v: w.engine.encrypt_many([1], w.keys.public, v)[0].level, 3),
    ("encrypt_pytorch_tensor", "level"): (lambda w, v: w.engine.encrypt_pytorch_tensor([1], w.keys.public, v).level, 3),
    ("level_down", "level"): (lambda w, v: w.engine.level_down(w.x, v).level, 3),
    ("make_power_basis", "degree"): (
        lambda w, v: len(w.engine.make_power_basis(w.x, v, w.keys.relinearization)),
        3,
    ),
    ("make_power_basis", "max_power"): (
        lambda w, v: len(w.engine.make_power_basis(w.x, relinearization_key=w.keys.relinearization, max_power=v)),
        3,
    ),
    ("make_chebyshev_basis", "degree"): (
        lambda w, v: len(w.engine.make_chebyshev_basis(w.x, v, w.keys.relinearization)),
        3,
    ),
    ("multiply_imaginary_integer", "integer"): (lambda w, v: w.engine.multiply_imaginary_integer(w.x, v).level, 3),
    ("rotate", "delta"): (lambda w, v: w.engine.rotate(w.x, w.keys.rotation, v).level, 3),
    ("rotate_batch", "deltas"): (lambda w, v: len(w.engine.rotate_batch(w.x, w.keys.rotation, [v])), 3),
    ("sum", "axis"): (lambda w, v: w.engine.sum(w.x, w.keys.rotation, v).level, 1),
}


def arguments_of(method: Any) -> dict[str, str]:
    """The arguments with their annotations; those that a TypedDict lists are spelled out."""
    found = {}
    for name, argument in inspect.signature(method).parameters.items():
        listed = re.fullmatch(r"Unpack\[(\w+)\]", str(argument.annotation))
        if listed is None:
            found[name] = str(argument.annotation)
        else:
            named = method.__globals__[listed[1]].__annotations__
            found |= {word: value.__forward_arg__ for word, value in named.items()}
    return found


for _name in ("sign", "relu", "compare", "maximum", "minimum", "max", "min"):
    for _argument, _good in (("alpha", 3), ("error_bits", 12)):

        def _compare(w: World, v: Any, name: str = _name, argument: str = _argument) -> Any:
            both = (w.x,) if name in ("sign", "relu") else (w.x, w.x)
            rest = (w.keys.relinearization, w.keys.conjugation, w.keys.bootstrap)
            return getattr(w.engine, name)(*both, *rest, **{"alpha": 3, "error_bits": 12, argument: v}).level

        WHOLE[_name, _argument] = (_compare, _good)
for _size in ("bootstrap", "lossy_bootstrap", "merge_bootstrap"):
    for _argument, _good in (("stage_count", 3), ("count", 3), ("memory_limit_bytes", 10**9)):

        def _create(w: World, v: Any, name: str = f"create_{_size}_key", argument: str = _argument) -> Any:
            return getattr(w.engine, name)(w.keys.secret, **{argument: v}).stage_count

        WHOLE[f"create_{_size}_key", _argument] = (_create, _good)
for _name in (
    "bootstrap",
    "lossy_bootstrap",
    "sign_bootstrap",
    "merge_bootstrap",
    "lossy_merge_bootstrap",
    "bootstrap_many",
):
    for _argument, _good in (("stage_count", 3), ("target_level", 3), ("iterations", 1)):
        if _argument in arguments_of(getattr(Engine, _name)):

            def _refresh(w: World, v: Any, name: str = _name, argument: str = _argument) -> Any:
                inputs: Any = (w.x, w.x) if "merge" in name else ([w.x],) if "many" in name else (w.x,)
                made = getattr(w.engine, name)(*inputs, *w.rest, w.keys.rotation, w.small, **{argument: v})
                return repr(made)

            WHOLE[_name, _argument] = (_refresh, _good)

for _argument, _good in (("stage_count", 3), ("target_level", 3), ("order", 2)):

    def _functional(w: World, v: Any, argument: str = _argument) -> Any:
        keys = (*w.rest, w.keys.rotation, w.small)
        return repr(w.engine.functional_bootstrap(w.x, [0, 1, 0, 1], *keys, input_error=0.0, **{argument: v}))

    def _estimate(w: World, v: Any, argument: str = _argument) -> Any:
        return repr(w.engine.functional_estimate([0, 1, 0, 1], **{argument: v}))

    WHOLE["functional_bootstrap", _argument] = (_functional, _good)
    WHOLE["functional_estimate", _argument] = (_estimate, _good)

BY_NAME = {
    "alpha",
    "axis",
    "baby_step_count",
    "count",
    "degree",
    "delta",
    "deltas",
    "diagonal_indices",
    "error_bits",
    "integer",
    "iterations",
    "level",
    "max_power",
    "memory_limit_bytes",
    "queries",
    "stage_count",
    "target_level",
}


def public_arguments() -> list[tuple[str, str, str]]:
    """Method, argument and annotation of all public methods."""
    methods = [(name, getattr(Engine, name)) for name in dir(Engine) if not name.startswith("_")]
    return [
        (name, argument, annotation)
        for name, method in methods
        if inspect.isfunction(method)
        for argument, annotation in arguments_of(method).items()
    ]


def test_no_whole_number_is_left_out() -> None:
    found = {(m, a) for m, a, annotation in public_arguments() if re.search(r"\bint\b", annotation) or a in BY_NAME}
    progress = {(m, a) for m, a in found if a == "progress"}
    assert found - progress == set(WHOLE)


def refused(call: Callable[[], Any], *classes: type[Exception]) -> str:
    """The sentence of a call that must fail."""
    with pytest.raises(classes) as caught:
        call()
    text = str(caught.value)
    assert SENTENCE.match(text), text
    assert not UNCHECKED.search(text), text
    assert len(text) < 400
    return text


@pytest.mark.parametrize(("method", "argument"), WHOLE)
def test_whole_numbers(world: World, method: str, argument: str) -> None:
    call, good = WHOLE[method, argument]
    expected = call(world, good)
    for kind in (np.int64, np.uint8, np.int32) if good < 256 else (np.int64, np.uint64):
        assert repr(call(world, kind(good))) == repr(expected) or "key" in repr(expected)
    for wrong in NOT_WHOLE:
        assert "is a whole number, not" in refused(lambda wrong=wrong: call(world, wrong), TypeError), wrong
    for wrong in TOO_LARGE:
        refused(lambda wrong=wrong: call(world, wrong), AgletError)


COUNTS = [
    key for key in WHOLE if key[1] in ("stage_count", "iterations", "degree", "baby_step_count", "alpha", "queries")
]


@pytest.mark.parametrize(("method", "argument"), COUNTS)
@pytest.mark.parametrize("number", [0, -1])
def test_counts_that_are_too_small(world: World, method: str, argument: str, number: int) -> None:
    assert str(number) in refused(lambda: WHOLE[method, argument][0](world, number), AgletError)


CONSTRUCTOR = [
    "max_level",
    "slot_count",
    "log_slot_count",
    "thread_count",
    "device_id",
    "log_coeff_count",
    "special_prime_count",
]


@pytest.mark.parametrize("name", CONSTRUCTOR)
def test_whole_numbers_of_the_constructor(name: str) -> None:
    partner = {"log_coeff_count": {"special_prime_count": 1}, "special_prime_count": {"log_coeff_count": 13}}
    for wrong in NOT_WHOLE:
        text = refused(lambda wrong=wrong: Engine(**partner.get(name, {}), **{name: wrong}), TypeError)
        assert f"{name} is a whole number, not" in text
    for wrong in TOO_LARGE:
        refused(lambda wrong=wrong: Engine(**partner.get(name, {}), **{name: wrong}), AgletError)
    for wrong in (True, np.True_, 3.0):
        refused(lambda wrong=wrong: Engine(wrong), TypeError)


def test_flags_and_words_of_the_constructor() -> None:
    flags = [name for name, p in inspect.signature(Engine.__init__).parameters.items() if p.annotation == "bool"]
    assert len(flags) == 7
    for name in flags:
        for wrong in ("no", 1, 0, None, "False"):
            text = refused(lambda name=name, wrong=wrong: Engine(**{name: wrong}), TypeError)
            assert f"{name} must be True or False, not" in text
    assert Engine(max_level=1, compact=np.False_).max_level == 1
    for name in ("mode", "precision", "preset"):
        for wrong in (3, True, ["cpu"], b"cpu"):
            text = refused(lambda name=name, wrong=wrong: Engine(**{name: wrong}), TypeError)
            assert f"{name} is a string, not" in text


def test_flags_words_and_callbacks(world: World) -> None:
    engine, keys, x = world.engine, world.keys, world.x
    for wrong in (1, 0, "yes", np.int64(1)):
        for call in (
            lambda v: engine.bootstrap(x, *world.rest, keys.bootstrap, real=v),
            lambda v: engine.bootstrap_many([x], *world.rest, keys.bootstrap, real=v),
            lambda v: engine.encode([1], real=v),
            lambda v: engine.encrypt([1], keys.public, real=v),
            lambda v: engine.sign(x, *world.rest, keys.bootstrap, real=v),
        ):
            assert "real is True, False or None" in refused(lambda call=call, wrong=wrong: call(wrong), TypeError)
        call = lambda v: engine.sign_bootstrap(x, *world.rest, keys.rotation, world.small, bits=v)  # noqa: E731
        assert "bits must be True or False" in refused(lambda call=call, wrong=wrong: call(wrong), TypeError)
    for wrong in (3, None, b"large", ["large"]):
        for call in (
            lambda v: engine.create_bootstrap_key(keys.secret, size=v),
            lambda v: engine.memory_report(size=v),
            lambda v: engine.estimate(method=v),
        ):
            assert "is a string, not" in refused(lambda call=call, wrong=wrong: call(wrong), TypeError)
    for wrong in (3, "bar", [print]):
        for call in (
            lambda v: engine.create_rotation_key(keys.secret, progress=v),
            lambda v: engine.bootstrap(x, *world.rest, keys.bootstrap, progress=v),
            lambda v: engine.multiply_matrix([[1.0, 2], [3, 4]], x, keys.rotation, progress=v),
            lambda v: engine.sign(x, *world.rest, keys.bootstrap, progress=v),
            lambda v: engine.serialize(x, progress=v),
        ):
            assert "cannot be called" in refused(lambda call=call, wrong=wrong: call(wrong), TypeError)


def test_lists(world: World) -> None:
    engine, keys, x = world.engine, world.keys, world.x
    for wrong in (x, 3, None, "ab", b"ab"):
        for call in (
            lambda v: engine.bootstrap_many(v, *world.rest, keys.bootstrap),
            lambda v: engine.decrypt_many(v, keys.secret),
            lambda v: engine.weighted_sum(v, [1]),
            lambda v: engine.weighted_sum([x], v),
            lambda v: engine.rotate_batch(x, keys.rotation, v if v is not None else 3),
            lambda v: engine.encode_to_plain_matrix([[1]], 1, v if v is not None else 3),
        ):
            assert "is a list or another iterable, not" in refused(
                lambda call=call, wrong=wrong: call(wrong), TypeError
            )
    for call in (
        lambda: engine.decrypt_many([], keys.secret),
        lambda: engine.encrypt_many([], keys.secret),
        lambda: engine.encode([]),
        lambda: engine.weighted_sum([], []),
        lambda: engine.evaluate_polynomial(x, [], keys.relinearization),
        lambda: engine.evaluate_chebyshev_polynomial(x, np.array([]), keys.relinearization),
        lambda: engine.encode_to_plain_matrix([[]]),
        lambda: engine.encode_to_plain_matrix([[1]], diagonal_indices=[]),
        lambda: engine.multiply_matrix([], x, keys.rotation),
        lambda: engine.add(x, []),
    ):
        refused(call, AgletError)
    assert engine.rotate_batch(x, keys.rotation, []) == engine.bootstrap_many([], *world.rest, keys.bootstrap) == []


def test_masked_and_large(world: World) -> None:
    engine, keys, x = world.engine, world.keys, world.x
    masked: Any = np.ma.array([1.0, 2.0], mask=[False, True])
    for call in (
        lambda v: engine.encode(v),
        lambda v: engine.encrypt(v, keys.public),
        lambda v: engine.encrypt_many(v, keys.public),
        lambda v: engine.encode_to_light_plaintext(v),
        lambda v: engine.add(x, v),
        lambda v: engine.multiply(v, x),
        lambda v: engine.weighted_sum([x], [v]),
        lambda v: engine.evaluate_polynomial(x, v, keys.relinearization),
    ):
        assert "masked" in refused(lambda call=call: call(masked), TypeError)
        text = refused(lambda call=call: call([2**70, 1]), TypeError)
        assert "more than 64 bits" in text
        assert "holds numbers" in refused(lambda call=call: call("123"), TypeError)
    assert "masked" in refused(lambda: engine.add(x, np.ma.masked), TypeError)
    assert "masked" in refused(lambda: engine.encode_to_plain_matrix(np.ma.ones((2, 2))), TypeError)
    for large in (2**62, 2**70):
        assert "62 bits" in refused(lambda large=large: engine.multiply(x, large), AgletError)
        assert "62 bits" in refused(lambda large=large: engine.add(x, large), AgletError)
    for bound in ("1", True, np.True_, None, 1j, [1]):
        if bound is not None:
            call = lambda bound=bound: engine.bootstrap(x, *world.rest, keys.bootstrap, bound=bound)  # noqa: E731
            assert "A bound is a real number" in refused(call, TypeError)
            assert "A bound is a real number" in refused(lambda b=bound: engine.encode([1], bound=b), TypeError)
    for bound in (0, -1, float("nan"), float("inf"), 1e300, 10**400):
        refused(lambda bound=bound: engine.bootstrap(x, *world.rest, keys.bootstrap, bound=bound), AgletError)
        if bound != 1e300:
            refused(lambda bound=bound: engine.encrypt([1], keys.public, bound=bound), AgletError)


def test_another_secrets_key_is_refused_where_it_has_nothing_to_do(world: World) -> None:
    """A diagonal matrix, a step of 0: no rotation takes place, and the key is wrong all the same."""
    engine, x = world.engine, world.x
    stranger: SecretKey = engine.create_secret_key()
    rotation, matrices = engine.create_rotation_key(stranger), engine.create_matrix_multiplication_key(stranger)
    for matrix in (np.eye(4), np.zeros((2, 2)), [[3.0]]):
        for key in (matrices, rotation):
            assert "secret key" in refused(lambda m=matrix, key=key: engine.multiply_matrix(m, x, key), AgletError)
    for call in (
        lambda: engine.rotate(x, rotation, 0),
        lambda: engine.rotate_batch(x, rotation, []),
        lambda: engine.rotate_batch(x, rotation, [0]),
        lambda: engine.sum(x, rotation, axis=0),
        lambda: engine.rotate(x, engine.create_fixed_rotation_key(stranger, 0)),
        lambda: engine.rotate(x, engine.create_bootstrap_key(stranger), 0),
    ):
        assert "secret key" in refused(call, AgletError)


def test_the_wrong_kind_of_bootstrap_key_says_so(world: World) -> None:
    engine, keys, x, rest = world.engine, world.keys, world.x, world.rest
    lossy = engine.create_lossy_bootstrap_key(keys.secret)
    for call, words in (
        (lambda: engine.bootstrap(x, *rest, lossy), "is for lossy bootstraps .* with create_bootstrap_key"),
        (lambda: engine.merge_bootstrap(x, x, *rest, lossy), "is for lossy bootstraps .* with create_bootstrap_key"),
        (lambda: engine.lossy_bootstrap(x, *rest, keys.bootstrap), "is for regular .* with create_lossy_bootstrap_key"),
        (lambda: engine.sign_bootstrap(x, *rest, keys.bootstrap), "is for regular .* with create_lossy_bootstrap_key"),
        (lambda: engine.bootstrap(x, *rest, keys.rotation, keys.bootstrap), "this is a large regular key"),
        (lambda: engine.lossy_bootstrap(x, *rest, keys.rotation, lossy), "this is a large lossy key"),
        (lambda: engine.bootstrap(x, *rest, world.small), "needs the rotation key beside it"),
        (lambda: engine.sign(x, *rest, world.small), "small regular bootstrap key, and a comparison"),
        (lambda: engine.bootstrap(x, *rest, keys.secret), "BootstrapKey is needed here, not SecretKey"),
    ):
        assert re.search(words, refused(call, AgletError, TypeError))


def test_messages_name_pythons_words() -> None:
    for make in (lambda: Engine(preset="toy"), lambda: ToyEngine(use_bootstrap=True, slot_count=3)):
        text = refused(make, AgletError)
        assert "::" not in text
    assert "allow_insecure=True" in refused(lambda: Engine(preset="toy"), AgletError)

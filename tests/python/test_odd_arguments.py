"""Odd arguments for public methods: wrong types, numbers beyond reason, keys of others, other families.

Each call gives what numpy gives, or one of the documented errors with a whole sentence: never a panic, nor what numpy
or the compiled half say by themselves.
"""

from __future__ import annotations

import decimal
import fractions
import operator
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aglet
from aglet import AgletError, Engine, FhewCiphertext, FhewEngine, IntegerEngine, KeySet, SchemeSwitch, Session, Table
from conftest import Keys

# What Python says of operators, before anybody is asked.
OF_OPERATORS = re.compile(r"^unsupported operand|^can't multiply sequence|^can only concatenate")

NAN, INF = float("nan"), float("inf")


def plain() -> dict[str, Any]:
    """Numbers, text and containers; some are right where numbers are wanted."""
    odd = {
        "none": None,
        "text": "abc",
        "no text": "",
        "half a character": "\ud800",
        "with a zero": "a\0b",
        "bytes": b"ab",
        "bytearray": bytearray(b"ab"),
        "view": memoryview(b"ab"),
        "nan": NAN,
        "inf": INF,
        "-inf": -INF,
        "1e308": 1e308,
        "tiny": 5e-324,
        "complex": 1 + 2j,
        "complex nan": complex(NAN, 1),
        "true": True,
        "numpy true": np.True_,
        "half": 0.5,
        "zero": 0,
        "one": 1,
        "minus one": -1,
        "2^62": 2**62,
        "-2^70": -(2**70),
        "2^5000": 2**5000,
        "decimal": decimal.Decimal("0.5"),
        "fraction": fractions.Fraction(1, 2),
        "date": np.datetime64("2020-01-01"),
        "nanoseconds": np.datetime64(1, "ns"),
        "span": np.timedelta64(2, "ns"),
        "void": np.void(b"ab"),
        "numpy text": np.str_("a"),
        "without axes": np.array(1.0),
        "nan without axes": np.array(NAN),
        "object": object(),
        "class": Engine,
        "module": np,
        "slice": slice(None),
        "dots": ...,
        "set": {1, 2},
        "dict": {1: 2},
        "range": range(2),
        "ragged": [[1, 2], [3]],
        "no list": [],
        "lists of nothing": [[]],
        "none in a list": [None],
        "text in a list": ["a"],
        "nested": [[[1]]],
        "long": [0.5] * 9000,
        "masked": np.ma.array([1.0, 2.0], mask=[False, True]),
        "records": np.zeros(2, dtype=[("a", int)]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "texts": np.array(["a", "b"]),
        "objects": np.array([1, None], dtype=object),
        "objects of numbers": np.array([1, 2], dtype=object),
        "nan in an array": np.array([NAN, 1.0]),
        "no array": np.zeros(0),
        "no row": np.zeros((0, 2)),
        "cube": np.ones((2, 2, 2)),
        "backwards": np.arange(4.0)[::-1],
        "big endian": np.array([1.0, 2.0], dtype=">f8"),
        "largest": np.array([2**64 - 1, 1], dtype=np.uint64),
    }
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16):
        odd[kind.__name__] = kind(3)
        odd[f"array of {kind.__name__}"] = np.array([3, 1], dtype=kind)
    for kind in (np.float32, np.float64, np.longdouble, np.complex64, np.clongdouble):
        odd[kind.__name__] = kind(0.5)
        odd[f"array of {kind.__name__}"] = np.array([0.5, 1], dtype=kind)
    odd["int8 at its ends"] = np.array([-128, 127], dtype=np.int8)
    return odd


class World:
    """Engines of all families, with keys and ciphertexts, and the same of strangers."""

    def __init__(self, engine: Engine, keys: Keys, folder: Path) -> None:
        self.engine, self.keys, self.folder = engine, keys, folder
        self.x = engine.encrypt([0.5, 0.25], keys.secret, level=4)
        self.light, self.plain = engine.encode_to_light_plaintext([0.5]), engine.encode([0.5], 2)
        self.session = Session(engine, engine.create_keys(keys.secret, bootstrap=None, matrix=True))
        self.values = np.array([[0.1, 0.2], [0.3, 0.4]])
        self.session.keys.evaluation().save(folder / "keys")
        self.array = self.session.encrypt(self.values, bound=0.5)
        self.integers = IntegerEngine(preset="int-levels-13")
        self.integer_secret = self.integers.create_secret_key()
        self.integer_relinearization = self.integers.create_relinearization_key(self.integer_secret)
        self.integer = self.integers.encrypt([1, 2, 3], self.integer_secret)
        self.bits, self.fhew = FhewEngine(bits=1), FhewEngine(bits=2)
        self.bit_secret, self.fhew_secret = self.bits.create_secret_key(), self.fhew.create_secret_key()
        self.bit = self.bits.encrypt([True, False], self.bit_secret)
        self.lwe = self.fhew.encrypt([1, 2], self.fhew_secret)
        self.bit_key = self.bits.create_bootstrap_key(self.bit_secret)
        self.fhew_bootstrap_key = self.fhew.create_bootstrap_key(self.fhew_secret)
        self.switch = SchemeSwitch(engine, self.fhew)
        self.switch_keys = self.switch.create_keys(keys.secret, self.fhew_secret)
        stranger = engine.create_secret_key()
        other = Engine(max_level=1)
        other_secret = other.create_secret_key()
        self.strangers: Mapping[str, Any] = {
            "a secret": keys.secret,
            "a public key": keys.public,
            "another secret": stranger,
            "another's ciphertext": engine.encrypt([0.5], stranger),
            "another's relinearization key": engine.create_relinearization_key(stranger),
            "another's conjugation key": engine.create_conjugation_key(stranger),
            "another engine": other,
            "another engine's secret": other_secret,
            "another engine's ciphertext": other.encrypt([0.5], other_secret),
            "another engine's relinearization key": other.create_relinearization_key(other_secret),
            "a relinearization key": keys.relinearization,
            "a conjugation key": keys.conjugation,
            "a rotation key": keys.rotation,
            "a bootstrap key": keys.bootstrap,
            "a key set": self.session.keys,
            "an integer secret": self.integer_secret,
            "an integer relinearization key": self.integer_relinearization,
            "another integer secret": self.integers.create_secret_key(),
            "an LWE secret": self.fhew_secret,
            "a secret of bits": self.bit_secret,
            "a FHEW bootstrap key": self.fhew_bootstrap_key,
            "a key of bits": self.bit_key,
            "switching key": self.switch_keys,
            "an integer": self.integer,
            "an integer plaintext": self.integers.encode([1]),
            "bits": self.bit,
            "small integers": self.lwe,
            "an array": self.array,
            "a ciphertext in a list": [self.x],
            "a mixed list": [self.x, 1],
        }


@pytest.fixture(scope="module")
def world(engine: Engine, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(engine, keys, tmp_path_factory.mktemp("odd"))


def few(value: Any) -> bool:
    """Whether it is short, if it has a length."""
    return (
        isinstance(value, FhewCiphertext)
        or not isinstance(value, list | np.ndarray)
        or np.asarray(value, object).size < 9
    )


Call = Callable[[World, Any], Any]


def _engine() -> dict[str, Call]:
    """Of `Engine`: what is refused before work begins, or quick."""
    return {
        "bit_gate name": lambda w, v: w.engine.bit_gate(v, w.x, w.x, w.keys.relinearization),
        "bit_gate y": lambda w, v: w.engine.bit_gate("and", w.x, v, w.keys.relinearization),
        "bootstrap": lambda w, v: w.engine.bootstrap(v, w.keys.relinearization, w.keys.conjugation, w.keys.bootstrap),
        "bootstrap key": lambda w, v: w.engine.bootstrap(w.x, w.keys.relinearization, w.keys.conjugation, v),
        "comparison_plan": lambda w, v: w.engine.comparison_plan(operation=v),
        "compare": lambda w, v: w.engine.compare(w.x, v, w.keys.relinearization, w.keys.conjugation),
        "conjugate": lambda w, v: w.engine.conjugate(v, w.keys.conjugation),
        "conjugate key": lambda w, v: w.engine.conjugate(w.x, v),
        "create_keys": lambda w, v: w.engine.create_keys(w.keys.secret, bootstrap=v, rotation=False),
        "create_relinearization_key": lambda w, v: w.engine.create_relinearization_key(v),
        "decode": lambda w, v: w.engine.decode(v),
        "decrypt": lambda w, v: w.engine.decrypt(v, w.keys.secret),
        "decrypt key": lambda w, v: w.engine.decrypt(w.x, v),
        "decrypt_many": lambda w, v: w.engine.decrypt_many(v, w.keys.secret),
        "decrypt_shared": lambda w, v: w.engine.decrypt_shared(w.x, w.keys.secret, security=v),
        "deserialize": lambda w, v: w.engine.deserialize(v),
        "deserialize_ciphertext": lambda w, v: w.engine.deserialize_ciphertext(v),
        "encode": lambda w, v: w.engine.encode(v),
        "encode bound": lambda w, v: w.engine.encode([0.5], bound=v),
        "encode_matrix": lambda w, v: w.engine.encode_matrix(v, w.keys.rotation),
        "encode_to_light_plaintext": lambda w, v: w.engine.encode_to_light_plaintext(v),
        "encode_to_plain_matrix": lambda w, v: w.engine.encode_to_plain_matrix([[1]], 3, v),
        "encode_weights": lambda w, v: w.engine.encode_weights(v, 3),
        "encrypt key": lambda w, v: w.engine.encrypt([0.5], v),
        "evaluate_polynomial": lambda w, v: w.engine.evaluate_polynomial(w.x, v, w.keys.relinearization),
        "level_down": lambda w, v: w.engine.level_down(v, 1),
        "multiply key": lambda w, v: w.engine.multiply(w.x, w.x, v),
        "multiply_matrix": lambda w, v: w.engine.multiply_matrix(v, w.x, w.keys.rotation),
        "read": lambda w, v: w.engine.read(v),
        "rescale": lambda w, v: w.engine.rescale(v),
        "rotate": lambda w, v: w.engine.rotate(w.x, w.keys.rotation, v),
        "rotate key": lambda w, v: w.engine.rotate(w.x, v, 1),
        "rotate_batch": lambda w, v: w.engine.rotate_batch(w.x, w.keys.rotation, v),
        "serialize": lambda w, v: w.engine.serialize(v) if v is not w.keys.bootstrap else None,
        "weighted_sum": lambda w, v: w.engine.weighted_sum([w.x], v),
        "weighted_sum of": lambda w, v: w.engine.weighted_sum(v, [1.0]),
        "write": lambda w, v: w.engine.write(w.x, v),
    }


def _arrays() -> dict[str, Call]:
    """Of `Session` and `EncryptedArray`, but for arithmetic."""
    return {
        "session": lambda w, v: Session(w.engine, v),
        "session engine": lambda w, v: Session(v, w.session.keys),
        "encrypt": lambda w, v: w.session.encrypt(v, bound=2.0),
        "encrypt bound": lambda w, v: w.session.encrypt([0.5], bound=v),
        "encrypt_like": lambda w, v: w.session.encrypt_like([0.5], v),
        "encrypt_like message": lambda w, v: w.session.encrypt_like(v, w.array),
        "session decrypt": lambda w, v: w.session.decrypt(v),
        "poly": lambda w, v: w.session.poly(w.array, v),
        "poly array": lambda w, v: w.session.poly(v, [1.0, 2.0]),
        "chebyshev": lambda w, v: w.session.chebyshev(w.array, v),
        "chebyshev array": lambda w, v: w.session.chebyshev(v, [1.0, 2.0]),
        "chebyshev domain": lambda w, v: w.session.chebyshev(w.array, [1.0, 2.0], domain=v),
        "session encode_matrix": lambda w, v: w.session.encode_matrix(v),
        "load": lambda w, v: w.session.load(v),
        "plan": lambda w, v: Session.plan(v, [(2,)], engine=w.engine),
        "plan result": lambda w, v: Session.plan(lambda _: v, [(2,)], engine=w.engine),
        "plan shapes": lambda w, v: Session.plan(lambda *x: x[:1], v, engine=w.engine),
        "plan shape": lambda w, v: Session.plan(lambda x: x, [v], engine=w.engine),
        "plan engine": lambda w, v: Session.plan(lambda x: x, [(2,)], engine=v),
        "plan bounds": lambda w, v: Session.plan(lambda x: x, [(2,)], engine=w.engine, bounds=v),
        "plan bootstrap": lambda w, v: Session.plan(lambda x: x, [(2,)], engine=w.engine, bootstrap=v),
        "assume": lambda w, v: w.array.assume(bound=v),
        "sum keepdims": lambda w, v: w.array.sum(keepdims=v),
        "var ddof": lambda w, v: w.array.var(ddof=v),
        "matmul": lambda w, v: w.array @ v,
        "rmatmul": lambda w, v: v @ w.array[0],
        "power": lambda w, v: w.array**v if not isinstance(v, int | np.integer) or v < 8 else None,
        "division": lambda w, v: w.array / v,
    }


def _exact() -> dict[str, Call]:
    """Of integers, gates, tables and scheme switching."""
    return {
        "integer decrypt": lambda w, v: w.integers.decrypt(v, w.integer_secret),
        "integer decrypt key": lambda w, v: w.integers.decrypt(w.integer, v),
        "integer encode": lambda w, v: w.integers.encode(v),
        "integer encrypt key": lambda w, v: w.integers.encrypt([1], v),
        "integer lookup": lambda w, v: w.integers.plan_lookup(v),
        "integer multiply": lambda w, v: w.integers.multiply(v, w.integer, w.integer_relinearization),
        "integer multiply key": lambda w, v: w.integers.multiply(w.integer, w.integer, v),
        "integer multiply method": lambda w, v: w.integers.multiply(
            w.integer, w.integer, w.integer_relinearization, method=v
        ),
        "integer noise_budget": lambda w, v: w.integers.noise_budget(w.integer, v),
        "integer polynomial": lambda w, v: (
            w.integers.evaluate_polynomial(w.integer, v, w.integer_relinearization) if few(v) else None
        ),
        "integer mod_switch": lambda w, v: w.integers.mod_switch(v, 1),
        "integer write": lambda w, v: w.integers.write(w.integer, v),
        "gate": lambda w, v: w.bits.nand(w.bit, v, w.bit_key),
        "gate key": lambda w, v: w.bits.nand(w.bit, w.bit, v),
        "gate failure": lambda w, v: w.bits.nand(w.bit, w.bit, w.bit_key, max_failure=v),
        "bit encrypt": lambda w, v: w.bits.encrypt(v, w.bit_secret),
        "bit encrypt key": lambda w, v: w.bits.encrypt([True], v),
        "bit decrypt": lambda w, v: w.bits.decrypt(v, w.bit_secret),
        "bit decrypt key": lambda w, v: w.bits.decrypt(w.bit, v),
        "lookup table": lambda w, v: w.fhew.lookup(w.lwe[0], v, w.fhew_bootstrap_key),
        "lookup domain": lambda w, v: w.fhew.lookup(w.lwe[0], [0, 1, 2, 3], w.fhew_bootstrap_key, domain=v),
        "lookup encrypt": lambda w, v: w.fhew.encrypt(v, w.fhew_secret),
        "lookup estimate": lambda w, v: w.fhew.estimate(v),
        "lookup estimate domain": lambda w, v: w.fhew.estimate("lookup", domain=v),
        "lookup estimate batch": lambda w, v: w.fhew.estimate("lookup", batch=v),
        "broadcast_to": lambda w, v: w.lwe.broadcast_to(v) if few(v) else None,
        "transpose": lambda w, v: w.lwe.transpose(v),
        "switch indices": lambda w, v: w.switch.to_fhew(w.x, v, w.switch_keys, bits=2) if few(v) else None,
        "switch ciphertext": lambda w, v: w.switch.to_fhew(v, [0], w.switch_keys, bits=2),
        "switching key": lambda w, v: w.switch.to_fhew(w.x, [0], v, bits=2),
        "switch part": lambda w, v: w.switch.to_fhew(w.x, [0], w.switch_keys, bits=2, part=v),
        "switch order": lambda w, v: w.switch.compare(v, w.x, w.x, [0], w.switch_keys),
        "switch from_fhew": lambda w, v: w.switch.from_fhew(v, w.switch_keys),
        "switch create_keys": lambda w, v: w.switch.create_keys(w.keys.secret, v),
    }


def _made() -> dict[str, Call]:
    """What is made by its class."""
    return {
        "KeySet": lambda _, v: KeySet(v),
        "KeySet public": lambda w, v: KeySet(w.engine, public=v),
        "KeySet rotation": lambda w, v: KeySet(w.engine, rotation=v),
        "KeySet fhew_engine": lambda w, v: KeySet(w.engine, fhew_engine=v),
        "KeySet.load engine": lambda w, v: KeySet.load(w.folder / "keys", v),
        "Table": lambda _, v: Table(v).values(2),
        "Engine mode": lambda _, v: Engine(max_level=1, mode=v),
        "Engine slots": lambda _, v: Engine(max_level=1, slot_count=v),
        "IntegerEngine": lambda _, v: IntegerEngine(preset=v),
        "FhewEngine": lambda _, v: FhewEngine(preset=v),
        "bootstrap plan": lambda _, v: aglet.plan("toy", "regular", 3, "large", v),
        "bootstrap plan stages": lambda _, v: aglet.plan("toy", "regular", v, "large", 512),
        "bootstrap plan method": lambda _, v: aglet.plan("toy", v, 3, "large", 512),
        "SchemeSwitch": lambda w, v: SchemeSwitch(v, w.fhew),
        "SchemeSwitch lookups": lambda w, v: SchemeSwitch(w.engine, v),
    }


CALLS = _engine() | _arrays() | _exact() | _made()
# What a call may say of paths that the system does not take.
PATHS = ("read", "write", "load", "integer write")


def outcome(name: str, call: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether it gave something, and what; a refusal has to be a sentence."""
    said: Exception
    try:
        return True, call()
    except (AgletError, TypeError, ZeroDivisionError) as error:
        said = error
    except OSError as error:
        if not name.startswith(PATHS):
            raise
        return False, str(error)
    text = str(said)
    whole = text.endswith(".") or (isinstance(said, TypeError) and OF_OPERATORS.match(text))
    assert whole, f"{name}: {type(said).__name__}: {text}"
    return False, text


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_are_refused_in_sentences(world: World, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.folder)
    odd = plain() | dict(world.strangers)
    if name.startswith("plan"):  # Each looks up what work costs.
        odd = dict(list(odd.items())[::4])
    refused = [not outcome(f"{name} {label}", lambda v=v: CALLS[name](world, v))[0] for label, v in odd.items()]
    # Whatever it takes, most of these are no such thing.
    assert sum(refused) > len(odd) // 3


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "swapped subtract": lambda x, y: y - x,
}


def doubles(value: Any) -> Any:
    """What numpy makes of it, in dtypes that do not wrap."""
    found = np.asarray(value)
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


@pytest.mark.parametrize("name", OPERATORS)
def test_what_is_taken_is_computed(world: World, name: str) -> None:
    """Odd operands that no method refuses: slots, arrays, exact integers and lookups against numpy."""
    apply, slots = OPERATORS[name], world.engine.slot_count
    x = np.pad([0.5, 0.25], (0, slots - 2))
    by_slots = {
        "add": world.engine.add,
        "subtract": world.engine.subtract,
        "multiply": world.engine.multiply,
        "swapped subtract": lambda a, b: world.engine.subtract(b, a),
    }[name]
    taken = 0
    for label, value in plain().items():
        fine, found = outcome(f"Engine {name} {label}", lambda value=value: by_slots(world.x, value))
        if fine:
            wanted = doubles(value)
            wanted = apply(x, np.pad(wanted, (0, slots - wanted.size)) if wanted.ndim else wanted)
            if np.abs(wanted).max() < 2**20:
                assert np.abs(world.engine.decrypt(found, world.keys.secret) - wanted).max() < 1e-4, (name, label)
                taken += 1
        fine, found = outcome(f"array {name} {label}", lambda value=value: apply(world.array, value))
        if fine:
            wanted = apply(world.values, doubles(value))
            assert found.shape == wanted.shape, (name, label)
            if np.abs(wanted).max() < 2**20:
                assert np.abs(world.session.decrypt(found) - wanted).max() < 1e-4, (name, label)
                taken += 1
        fine, found = outcome(f"lookup {name} {label}", lambda value=value: apply(world.lwe, value))
        if fine:
            assert np.asarray(value).dtype.kind in "iu", (name, label)
            assert found.shape == np.broadcast_shapes((2,), np.shape(value)), (name, label)
            taken += 1
    assert taken > 50


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_integers_that_are_taken_are_computed(world: World, name: str) -> None:
    apply, t = OPERATORS[name], world.integers.plaintext_modulus
    taken = 0
    for label, value in plain().items():
        fine, found = outcome(
            f"integer {name} {label}", lambda value=value: getattr(world.integers, name)(world.integer, value)
        )
        if fine:
            numbers = np.asarray(value).astype(np.int64)
            wanted = np.zeros(world.integers.slot_count, dtype=np.int64)
            wanted[:3] = [1, 2, 3]
            wanted = apply(wanted, np.pad(numbers, (0, wanted.size - numbers.size)) if numbers.ndim else numbers)
            apart = world.integers.decrypt(found, world.integer_secret) - wanted
            assert not (apart % t).any(), (name, label)
            taken += 1
    assert taken > 15


INDICES: list[Any] = [*plain().values(), (0, 0), (0, 0, 0), [0, 0], [-1], -2, 2, slice(1, 9), np.array([True, False])]


def test_indices_and_shapes_are_numpys(world: World) -> None:
    """What numpy refuses is refused, out of range as an `IndexError` too."""
    for array in (world.array, world.lwe):
        with pytest.raises(IndexError, match=r"out of bounds .*[.]$"):
            array[9]
    places = np.arange(4).reshape(2, 2)
    for index in INDICES:
        if isinstance(index, str | bytes | bytearray | memoryview | set | dict | range):
            continue
        for array, clear in ((world.array, places), (world.lwe, places[0])):
            fine, found = outcome(f"index {index}", lambda array=array, index=index: array[index])
            if fine:
                assert found.shape == clear[index].shape, index
            fine, found = outcome(f"reshape {index}", lambda array=array, index=index: array.reshape(index))
            if fine:
                assert found.shape == clear.reshape(index).shape, index

"""The calls that Orion makes of its library, replayed from a list, beside numpy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from aglet import Engine
from aglet.errors import LevelError, MissingKeyError, ParameterError, RangeError
from aglet.orion import AgletLibrary
from aglet.orion.polynomials import sign_coefficients
from support import assert_near

CALLS = (Path(__file__).parent / "orion" / "calls.txt").read_text().splitlines()
LEVEL, SLOTS = 10, 8


def parameters(**changed: Any) -> Any:
    """Orion's parameters, by the methods that it asks."""
    values = {"logn": 4, "logq": [40] * (LEVEL + 1), "logp": [40, 40], "logscale": 40, "hamming_weight": 192}
    values |= {"ringtype": "standard", "keys_path": "", "io_mode": "none", **changed}
    return SimpleNamespace(**{f"get_{name}": lambda value=value: value for name, value in values.items()})


def given(value: Any, results: dict[str, Any]) -> Any:
    """An argument, with names of earlier results replaced."""
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name, start, end = re.fullmatch(r"\$(\w+)(?:\[(\d*):(\d*)\])?\*?", value).groups()  # type: ignore[union-attr]
    return results[name] if start is None else results[name][int(start or 0) : int(end) if end else None]


def replay(library: AgletLibrary) -> dict[str, Any]:
    """All results by their names."""
    results: dict[str, Any] = {}
    for line in CALLS:
        if line.startswith("#"):
            continue
        name, call, text = re.fullmatch(r"(?:(\w+) = )?(\w+) (\[.*\])", line).groups()  # type: ignore[union-attr]
        arguments = json.loads(text)
        if arguments and str(arguments[-1]).endswith("*"):
            for one in given(arguments[-1], results):
                getattr(library, call)(one)
            continue
        results[name] = getattr(library, call)(*(given(one, results) for one in arguments))
    return results


def argument(call: str, name: str) -> Any:
    """The arguments of the line that makes a result."""
    return json.loads(next(line for line in CALLS if line.startswith(f"{name} = {call} ")).split(call, 1)[1])


def transformed(name: str, x: Any) -> Any:
    offsets, data, *_ = argument("GenerateLinearTransform", name)
    diagonals = np.reshape(data, (len(offsets), SLOTS))
    return sum(diagonal * np.roll(x, -offset) for offset, diagonal in zip(offsets, diagonals, strict=True))


@pytest.fixture(scope="module")
def small() -> Engine:
    return Engine(preset="toy", slot_count=SLOTS, allow_insecure=True)


@pytest.fixture
def library(small: Engine) -> AgletLibrary:
    made = AgletLibrary(small)
    made.setup_bindings(parameters())
    return made


def test_the_list_of_calls(library: AgletLibrary) -> None:
    results = replay(library)
    x, bias1, bias2 = (np.array(argument("Encode", name)[0]) for name in ("p", "bias1", "bias2"))
    z = transformed("layer1", x) + bias1
    a = chebyshev.chebval(z * z * 0.125 - 0.25, argument("GenerateChebyshev", "activation")[0])
    v = transformed("layer2", a)
    v = v + np.roll(v, -4) + bias2
    assert np.abs(v).max() < 2  # half of it is bootstrapped
    assert np.abs(v).min() > 2 * 2.0**-3  # and its sign is decided
    # The step is off by 2^-12 at most, where it is multiplied by v.
    assert_near(results["result_relu"], np.maximum(v, 0), 2.0**-11)
    other = np.roll(2 * x - bias1, 1) - 0.5 + (0.1 + 0.5 * x + 0.2 * x**3)
    other = 3 * ((other + bias1 - bias2 - x) * bias2) * x
    assert_near(results["result_other"], other)
    assert (results["level1"], results["level2"], results["bias_level"], results["degree"]) == (9, LEVEL, 9, 1)
    assert results["slots"] == results["slots2"] == SLOTS
    assert results["chain"] == [results["scale"]] * (LEVEL + 1) == [2**40] * (LEVEL + 1)
    assert results["bias1"] in results["plaintexts"]
    assert results["y"] not in results["ciphertexts"]
    assert results["x"] in results["ciphertexts"]
    with pytest.raises(ParameterError, match="no linear transform 0"):
        library.EvaluateLinearTransform(results["layer1"], results["x"])
    with pytest.raises(MissingKeyError, match="no bootstrap of 8 slots"):
        library.Bootstrap(results["x"], 8)


def test_an_engine_is_made_from_the_parameters() -> None:
    library = AgletLibrary()
    library.setup_bindings(parameters(logn=12, logq=[50, 40, 40]))
    assert library.engine.max_level == 2
    assert library.engine.slot_count == 2**11
    assert library.engine.security_report().is_secure
    library.GenerateSecretKey()
    with pytest.raises(ParameterError, match="does not bootstrap"):
        library.NewBootstrapper([40], 2**11)
    library.DeleteScheme()
    with pytest.raises(ParameterError, match="no scheme yet"):
        library.engine  # noqa: B018


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"ringtype": "conjugateinvariant"}, "RingType: standard"),
        ({"io_mode": "save"}, "io_mode: none"),
        ({"logn": 5}, "have 16 slots and 10 levels, and the engine has 8 and 13"),
        ({"logq": [40] * 15}, "8 slots and 14 levels"),
    ],
)
def test_parameters_that_are_refused(small: Engine, changed: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        AgletLibrary(small).setup_bindings(parameters(**changed))


def test_calls_that_are_refused(library: AgletLibrary) -> None:
    with pytest.raises(AttributeError, match="no call 'SerializeSecretKey' for Orion; use io_mode none"):
        library.SerializeSecretKey()
    with pytest.raises(MissingKeyError, match="no public key yet"):
        library.Encrypt(library.Encode([1.0], 2, 2**40))
    replayed = {name: getattr(library, name)() for name in ("GenerateSecretKey", "GeneratePublicKey")}
    assert replayed == {"GenerateSecretKey": None, "GeneratePublicKey": None}
    x = library.Encrypt(library.Encode([1.0], 2, 2**40))
    with pytest.raises(ParameterError, match="A scale of 1024 would change the values"):
        library.SetCiphertextScale(x, 1024)
    with pytest.raises(ParameterError, match="no ciphertext 99"):
        library.Negate(99)
    with pytest.raises(ParameterError, match="Level 11 does not exist"):
        library.Encode([1.0], 11, 2**40)
    with pytest.raises(RangeError, match="8 numbers for each diagonal"):
        library.GenerateLinearTransform([0, 8], [1.0] * 16, 3, 2.0, "none")
    transform = library.GenerateLinearTransform([0], [1.0] * 8, 3, 2.0, "none")
    with pytest.raises(LevelError, match="made for level 3 and the ciphertext is at level 2"):
        library.EvaluateLinearTransform(transform, x)
    with pytest.raises(RangeError, match="finite"):
        library.AddScalar(x, float("nan"))


@pytest.mark.parametrize(
    ("degrees", "alpha", "error_bits"), [([15, 15, 27], 6, 12), ([7, 15], 3, 5), ([15, 16, 27, 31], 7, 20)]
)
def test_signs(degrees: list[int], alpha: int, error_bits: int) -> None:
    """They lie in the shapes that Orion asks for, as it splits them."""
    found = sign_coefficients(degrees, alpha, error_bits)
    x = np.concatenate([np.linspace(-1, -(2.0**-alpha), 999), np.linspace(2.0**-alpha, 1, 999)])
    wanted = np.where(x < 0, 0.0, 1.0)
    for part in np.split(found, np.cumsum([degree + 1 for degree in degrees])[:-1]):
        x = chebyshev.chebval(x, part)
    assert_near(x, wanted, 2.0**-error_bits)


def test_signs_that_do_not_fit() -> None:
    with pytest.raises(ParameterError, match=r"No sign of the degrees 3, 3 .* give degrees=\[7, 7, 15\] or larger"):
        sign_coefficients([3, 3], 6, 12)
    with pytest.raises(ParameterError, match=r"an error of 2\^-30; ask for logerr of 20 or less"):
        sign_coefficients([63, 63, 63], 6, 30)
    with pytest.raises(ParameterError, match="alpha=20"):
        sign_coefficients([63, 63, 63], 20, 12)

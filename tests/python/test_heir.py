"""Programs in the form of HEIR's OpenFHE emitter, beside numpy; and texts that are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

from aglet import Engine, heir
from aglet.errors import (
    AgletError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    ParameterError,
    RangeError,
    SerializationError,
)
from aglet.heir import crossing, loops
from aglet.heir.values import Budget
from clear_engine import Clear, ClearEngine
from support import assert_near

FOLDER = Path(__file__).parent / "heir"
TEXTS = {path.name.split(".")[0]: path.read_text() for path in sorted(FOLDER.glob("*.cpp.txt"))}
RANDOM = np.random.default_rng(7)


def rolled(x: Any) -> Any:
    return sum(np.roll(x, -k) for k in range(4))


def polynomial(x: Any) -> Any:
    series = chebyshev.chebval(x / 2, [0.5, 0.5, 0, -0.25, 0, 0.125])  # OpenFHE halves the first coefficient
    return -(3 * x**3 - x**2) + x / 4 - series


def refreshed(x: Any) -> Any:
    for _ in range(3):
        x = x * x - x
    return x


MATRIX = np.array([((i * 7 + 3) % 11 - 5) / 8 for i in range(16)]).reshape(4, 4)


# Programs


def test_dot_product() -> None:
    client = heir.load(FOLDER / "dot_product.cpp.txt").setup()
    x, y = RANDOM.uniform(-1, 1, (2, 8))
    assert client.context.engine.security_report().is_secure
    assert client.context.engine.max_level == 2
    assert_near(client(x, y), x @ y + 0.1)


def test_polynomial_and_chebyshev_series() -> None:
    client = heir.load(TEXTS["polynomial"]).setup()
    x = RANDOM.uniform(-1, 1, 16)
    assert client.context.engine.slot_count == 16
    found = client(x)
    assert found.dtype == np.float32
    assert_near(found, polynomial(x))


def test_matrix_times_vector_with_hoisted_rotations(monkeypatch: pytest.MonkeyPatch) -> None:
    client = heir.load(TEXTS["matrix_vector"]).setup()
    batches: list[int] = []
    rotate = Engine.rotate_batch
    monkeypatch.setattr(
        Engine, "rotate_batch", lambda self, x, keys: batches.append(len(keys)) or rotate(self, x, keys)
    )
    x = RANDOM.uniform(-1, 1, 4)
    assert_near(client(x), MATRIX @ x + [0.5, -0.25, 0.125, 1])
    assert batches == [3]


def test_parts_of_a_program_pass_plaintexts_through_python(engine: Engine) -> None:
    client = heir.load(TEXTS["matrix_vector"], engine=engine).setup()
    x, matrix, bias = RANDOM.uniform(-1, 1, 4), RANDOM.uniform(-1, 1, (4, 4)), np.zeros(4)
    diagonals, added = client.matrix_vector__preprocessing(matrix, bias)
    assert len(diagonals) == 4
    ciphertext = client.matrix_vector__encrypt__arg0(x)
    found = client.matrix_vector__preprocessed(ciphertext, diagonals, added)
    assert_near(client.matrix_vector__decrypt__result0(found), matrix @ x)


def test_loops_over_vectors_of_ciphertexts(engine: Engine) -> None:
    client = heir.load(TEXTS["loops"], engine=engine).setup()
    x, y, weights = RANDOM.uniform(-1, 1, (3, 8))
    given = [client.loops__encrypt__one(one) for one in (x, y)]
    first, second, third = (client.loops__decrypt__one(one) for one in client.loops(given, weights))
    assert_near(first, -rolled(x))
    assert_near(second, 2 * y * weights**2)
    assert_near(third, -rolled(x) - 2 * y * weights**2)
    assert_near(client.loops__decrypt__one(given[0]), x)


def test_bootstraps(engine: Engine) -> None:
    client = heir.load(TEXTS["bootstrap"], engine=engine).setup()
    x = RANDOM.uniform(-0.5, 0.5, 8)
    assert_near(client(x), refreshed(x))


def test_functions_are_called_like_those_of_the_compiled_module(engine: Engine) -> None:
    program = heir.load(TEXTS["dot_product"], engine=engine)
    context = program.dot_product__generate_crypto_context()
    keys = context.KeyGen()
    context = program.dot_product__configure_crypto_context(context, keys.secretKey)
    x, y = RANDOM.uniform(-1, 1, (2, 8))
    first = program.dot_product__encrypt__arg0(context, x, keys.publicKey)
    second = program.dot_product__encrypt__arg1(context, list(y), keys.publicKey)
    result = program.dot_product(context, first, second)
    assert_near(program.dot_product__decrypt__result0(context, result, keys.secretKey), x @ y + 0.1)
    assert "dot_product" in dir(program)
    assert program.signature("dot_product").startswith("CiphertextT dot_product(CryptoContextT cc, CiphertextT ct,")
    with pytest.raises(AttributeError, match="has no function 'dot_products'"):
        program.dot_products  # noqa: B018
    with pytest.raises(TypeError, match="Ciphertext is needed"):
        program.dot_product(context, x, y)


def test_a_program_that_bootstraps_asks_for_an_engine_that_does() -> None:
    context = heir.load(TEXTS["bootstrap"]).bootstrap__generate_crypto_context()
    assert context.engine.can_bootstrap
    assert context.engine.slot_count == 2**15


# What is refused at run time


def test_too_few_levels_name_the_line() -> None:
    client = heir.load(TEXTS["dot_product"], engine=Engine(max_level=1)).setup()
    with pytest.raises(LevelError, match=r"^Line 49 \('const auto& ct7 = cc->EvalMult\(ct6, pt1\);'\): .*one level"):
        client(np.ones(8), np.ones(8))
    text = TEXTS["polynomial"].replace("nullptr, 1", "nullptr, 9")
    with pytest.raises(LevelError, match=r"LevelReduce.*cannot lose 9 levels"):
        heir.load(text).setup()(np.ones(16))


def test_keys_that_the_program_does_not_make(engine: Engine) -> None:
    text = TEXTS["dot_product"].replace("{1, 2, 4, 7}", "{1, 2, 4}")
    with pytest.raises(MissingKeyError, match=r"EvalRotate\(ct7, 7\).*no key for rotations by 7"):
        heir.load(text, engine=engine).setup()(np.ones(8), np.ones(8))
    text = TEXTS["dot_product"].replace("  cc->EvalMultKeyGen(sk);\n", "")
    with pytest.raises(MissingKeyError, match="call EvalMultKeyGen"):
        heir.load(text, engine=engine).setup()(np.ones(8), np.ones(8))


def test_slots_that_the_program_counts_on(engine: Engine) -> None:
    with pytest.raises(ParameterError, match="counts on 16 slots, and this engine has 512; make it with slot_count=16"):
        heir.load(TEXTS["polynomial"], engine=engine).setup()
    client = heir.load(TEXTS["dot_product"], engine=engine).setup()
    with pytest.raises(RangeError, match=r"repeats 513 values .* slot_count=513 or more"):
        client.dot_product__encrypt__arg0(np.ones(513))


def function(body: str, head: str = "CiphertextT f(CryptoContextT cc, CiphertextT ct, CiphertextT ct1)") -> str:
    return f"{head} {{\n{body}\n}}\n"


@pytest.fixture(scope="module")
def client(engine: Engine) -> heir.Client:
    return heir.load(TEXTS["dot_product"], engine=engine).setup()


def ran(client: heir.Client, body: str, *values: Any) -> Any:
    """The result of a body on two ciphertexts, decrypted."""
    program, (context, keys) = heir.load(function(body)), (client.context, client.keys)
    given = [context.engine.encrypt(one, keys.secretKey) for one in values or ([0.5, 0.25], [0.125, 1.0])]
    return context.engine.decrypt(program.f(context, *given), keys.secretKey)[:2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return cc->EvalSub(ct, ct1);", [0.375, -0.75]),
        ("auto v = cc->EvalMult(ct, 3);\ncc->EvalNegateInPlace(v);\nreturn v;", [-1.5, -0.75]),
        ("auto v = ct->Clone();\ncc->EvalSquareInPlace(v);\nreturn cc->EvalAdd(v, ct);", [0.75, 0.3125]),
        # Two names of one ciphertext; a clone is another one.
        ("auto v = ct;\ncc->EvalAddInPlace(v, ct1);\nreturn ct;", [0.625, 1.25]),
        ("auto v = ct->Clone();\ncc->EvalAddInPlace(v, ct1);\nreturn ct;", [0.5, 0.25]),
        # A reference to an element sees what the element becomes.
        (
            "std::vector<CiphertextT> v = {ct, ct1};\nconst auto& w = v[0];\nauto u = v;\nv[0] = ct1;\n"
            "return cc->EvalSub(w, u[0]);",
            [-0.375, 0.75],
        ),
        ("cc->EvalSubInPlace(ct, 0.5);\nreturn cc->LevelReduce(ct, nullptr, 2);", [0.0, -0.25]),
        (
            "std::vector<double> v = {2, 4};\nauto p = cc->MakeCKKSPackedPlaintext(v);\nreturn cc->EvalSub(p, ct);",
            [1.5, 3.75],
        ),
    ],
)  # fmt: skip
def test_calls_in_place_and_names_of_one_ciphertext(client: heir.Client, body: str, expected: list[float]) -> None:
    assert_near(ran(client, body), expected)


@pytest.mark.parametrize(
    ("body", "error", "match"),
    [
        ("return cc->KeySwitchDown(ct);", ParameterError, "does not run KeySwitchDown: Aglet switches keys inside"),
        ("return cc->KeySwitch(ct, ct1);", ParameterError, "does not run KeySwitch:"),
        ("return cc->EvalAutomorphism(ct, 0, ct1);", ParameterError, "compile to EvalRotate"),
        ("auto d = cc->EvalFastRotationPrecompute(ct);\nreturn cc->EvalFastRotationExt(ct, 1, d, true);",
         ParameterError, "does not run EvalFastRotationExt"),
        ("return cc->EvalInnerProduct(ct, ct1, 8);", ParameterError, "no call 'EvalInnerProduct'"),
        ("return cc->EvalBootstrap(ct);", MissingKeyError, "no bootstrap key; call EvalBootstrapKeyGen"),
        ("auto d = cc->EvalFastRotationPrecompute(ct);\nreturn cc->EvalFastRotation(ct1, 1, 2048, d);",
         ParameterError, "digits are of another ciphertext"),
        ("auto d = cc->EvalFastRotationPrecompute(ct);\nreturn cc->EvalFastRotation(ct, 1, 2047, d);",
         ParameterError, "cyclotomic order"),
        ("const auto& v = cc->EvalAdd(ct, ct1);\ncc->EvalAddInPlace(v, ct);\nreturn v;",
         SerializationError, "A constant cannot be changed"),
        ("CiphertextT v;\nreturn cc->EvalAdd(v, ct);", ParameterError, "'v' has no value yet"),
        ("std::vector<CiphertextT> v(2);\nreturn v[1];", ParameterError, "element of the vector has no value"),
        ("std::vector<CiphertextT> v(2);\nreturn v[2];", RangeError, "Index 2 is outside a vector of 2"),
        ("return g(ct);", ParameterError, "no function 'g'"),
        ("return f(cc, ct, ct1);", ParameterError, "4 functions call one another"),
        ("return v;", SerializationError, "'v' is not declared"),
        ("auto v = 1;\nreturn v;", ParameterError, "another type than CiphertextT"),
        ("auto v = 1;", ParameterError, "ends without a result"),
        ("return cc->EvalMultNoRelin(cc->EvalMultNoRelin(ct, ct), ct);", AgletError, "relinearize"),
        ("return cc->EvalMult(ct, 1.0E+300);", RangeError, "Line 2"),
        ("return cc->EvalChebyshevSeries(ct, std::vector<double>{1, 2}, 1, -1);", RangeError, "a < b"),
        ("assert(cc && \"x\");\nreturn ct;", ParameterError, "number is needed"),
        ("bool v = false;\nassert(v && \"x\");\nreturn ct;", ParameterError, "asserts what does not hold"),
        ("auto v = 5 / 0;\nreturn ct;", RangeError, "divided by 0"),
        ("int8_t v = 128;\nreturn ct;", RangeError, "128 does not fit the type int8_t"),
        ("for (auto i = 0; i < 99999999; ++i) {\n}\nreturn ct;", MemoryLimitError, "more than 16777216 statements"),
        ("std::vector<double> v(99999999, 1);\nauto w = v;\nreturn ct;", MemoryLimitError, "took more than"),
        ("for (auto i = 0; i < 4; i += 0) {\n}\nreturn ct;", RangeError, "by 1 or more"),
    ],
)  # fmt: skip
def test_refused_when_it_runs(
    client: heir.Client, body: str, error: type[AgletError], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "99999999; ++i" in body:
        monkeypatch.setattr(Budget, "STEPS", 10**5)
        match = "more than 100000 statements"
    with pytest.raises(error, match=match) as raised:
        ran(client, body)
    assert str(raised.value).startswith("Line ")
    assert str(raised.value).endswith(".")


# Numbers, as C++ has them


@pytest.mark.parametrize(
    ("kind", "expression", "expected"),
    [
        ("int64_t", "-7 / 2", -3), ("int64_t", "-7 % 2", -1), ("int64_t", "7 % -2", 1), ("int64_t", "2 + 3 * 4", 14),
        ("int64_t", "(v / 4) - ((v % 4 != 0) && ((v < 0) != (4 < 0)))", -2), ("bool", "v < 0 && 1 == 1", True),
        ("int64_t", "v < 0 ? std::max(v, w) : w", 3), ("size_t", "5 ^ 3", 6), ("double", "1 / 4", 0.0),
        ("double", "1.0 / 4", 0.25), ("float", "0.1", np.float32(0.1)), ("int32_t", "static_cast<int32_t>(-2.7)", -2),
        ("double", "std::sqrt(2.25)", 1.5), ("bool", "-1", True), ("bool", "!(v == -5)", False),
        ("int64_t", "10 - 3 - 2", 5), ("double", "static_cast<float>(0.1) + 0", np.float32(0.1)),
    ],
)  # fmt: skip
def test_numbers(kind: str, expression: str, expected: float) -> None:
    body = f"int64_t v = -5;\nint64_t w = 3;\n{kind} x = {expression};\nreturn x;"
    assert heir.load(function(body, f"{kind} f()")).f() == expected


VECTORS = {
    "std::vector<double> v(3, 1.5);\nreturn v;": [1.5, 1.5, 1.5],
    "std::vector<double> v = {1, -2};\nstd::vector<double> w;\nfor (int i = 0; i < 2; ++i) {\n"
    "w.insert(w.end(), v.begin(), v.end());\n}\nreturn w;": [1, -2, 1, -2],
    "std::vector<double> v = {1, 2, 3, 4};\nstd::vector<double> w(6);\n"
    "std::copy(v.begin() + 1, v.begin() + 1 + 2, w.begin() + 3);\nreturn w;": [0, 0, 0, 2, 3, 0],
    "std::vector<int64_t> v = {1, 2};\nstd::vector<double> v_d;\nv_d.reserve(v.size());\n"
    "for (auto i = 0; i < v.size(); ++i) {\nv_d.push_back(v[i]);\n}\nreturn v_d;": [1, 2],
    "std::vector<double> v = {1, 2, 3};\nfor (int i = 0; i < 2; ++i) {\nv[i] = v[i + 1] * 2;\n}\nreturn v;": [4, 6, 3],
    "std::vector<float> v = {0.1, 2};\nstd::vector<double> w(2);\nfor (int i = 0; i < 2; ++i) {\nw[i] = v[i] / v[i];\n}"
    "\nreturn w;": [1, 1],
    "std::vector<double> v = {1, 2, 3, 4, 5, 6};\nstd::vector<double> w(2);\nint64_t a = 0;\n"
    "for (int64_t b = 1; b < 1 + 2 * 2; b += 2) {\nw[a] = v[b + 2 * (0)];\na += 1;\n}\nreturn w;": [2, 4],
}


LOOPS = [
    "int32_t a = i % 3;\nsize_t b = static_cast<size_t>(a);\nfloat c = v[b];\nw[i + 2 * (0)] = c;",
    "bool a = i >= 4;\nif (a) {\nint64_t b = 5 - i;\nfloat c = v[b];\nw[b] = c;\n}",
    "w[i] = v[i] * v[(i + 1) % 6] - v[i];",
    "w[i % 4] = v[i];",  # the last turn stays
    "w[i] = w[i % 2] + 1;",
    "size_t a = i - 3;\nw[i] = v[i];",
    "w[i] = v[i] / v[0];",
    "w[i] = v[i + 1];",
    "w.push_back(v[i] + i);",
    "int32_t i = 5;\nw[i] = v[i];",
    "float a = 1.0E+38;\nfloat b = a * a;\nw[i] = b;",
]


@pytest.mark.parametrize("body", LOOPS)
def test_loops_at_once_and_turn_by_turn_are_the_same(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "std::vector<float> f(std::vector<float> v, std::vector<float> w)"
    program = heir.load(function(f"for (auto i = 0; i < 6; ++i) {{\n{body}\n}}\nreturn w;", head))
    given = [0, 0.1, -2.5, 7, 1.0e-3, 3], np.arange(6)
    found = []
    for _ in range(2):
        try:
            found.append(program.f(*given).tolist())
        except AgletError as error:
            found.append(str(error))
        monkeypatch.setattr(loops, "run", lambda *arguments: False)
    assert found[0] == found[1]


@pytest.mark.parametrize("body", VECTORS)
def test_vectors(body: str) -> None:
    found = heir.load(function(body, "std::vector<double> f()")).f()
    assert found.tolist() == VECTORS[body]


def test_arguments_are_checked_and_never_change() -> None:
    program = heir.load(function("v[0] = 2;\nreturn v;", "std::vector<int32_t> f(std::vector<int32_t> v)"))
    given = np.array([[1, 5], [3, 4]])
    assert program.f(given).tolist() == [2, 5, 3, 4]
    assert given[0, 0] == 1
    for wrong, error in ((given / 2, TypeError), (given + 2**40, RangeError), ("1", TypeError), (5, TypeError)):
        with pytest.raises(error):
            program.f(wrong)
    program = heir.load(function("v[0] = 2;", "void f(std::vector<double>& v)"))
    with pytest.raises(ParameterError, match="changes an argument"):
        program.f([1.0])
    inner = function("v[0] = 2;", "void g(std::vector<double>& v)")
    program = heir.load(inner + function("std::vector<double> v(2);\ng(v);\nreturn v;", "std::vector<double> f()"))
    assert program.f().tolist() == [2, 0]


# Texts that are refused


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("// nothing\n", SerializationError, "defines no function"),
        ("int f( {\n}", SerializationError, "Line 1: a type is expected before '{'"),
        ("int f() {\n  return 1;\n", SerializationError, "Line 4: .*the end of the text"),
        ("int f() {\n  return eval('1');\n}", SerializationError, "Line 2: the emitter never writes"),
        ("#define f g\n", SerializationError, "Line 1: the emitter never writes '#define f g'"),
        ("int f() {\n  while (1) {\n  }\n}", SerializationError, "Line 2: ';' is expected before '{'"),
        ("int f() {\n  goto x;\n}", SerializationError, "Line 2"),
        ("int f() {\n  int x = 0x10;\n}", SerializationError, "Line 2"),
        ("int f() {\n  x + 1;\n}", SerializationError, "neither assigns nor calls"),
        ("int f() {\n}\nint f() {\n}", SerializationError, "'f' is defined twice"),
        ("int f() {\n  for (auto i = 9; i > 0; --i) {\n  }\n}", SerializationError, "Line 2"),
        ("using CCParamsT = CCParams<CryptoContextBGVRNS>;\n", ParameterError, "exact integers .BGV and BFV."),
        ("using CiphertextT = int;\n", SerializationError, "another one than the emitter's"),
        ("CiphertextT f(CryptoContextT cc, EvalKeyT k) {\n}", ParameterError, "keys that are arguments"),
        ("void __heir_debug(CryptoContextT, PrivateKeyT, CiphertextT, const std::map<std::string, std::string>&);\n",
         ParameterError, "maps; compile without debug helpers"),
        ("int f() {\n  static const std::vector<float> v = load_resource<float>(\"/etc/passwd\", 4);\n}",
         ParameterError, "files of constants"),
        ("template <typename T>\nT g(T x) {\n  return x;\n}\n", SerializationError, "a template other than"),
        (f"int f() {{\n  int x = {'(' * 99}1{')' * 99};\n}}", ParameterError, "more than 16 blocks and brackets"),
        (f"int f() {{\n  int x = {'-' * 99}1;\n}}", ParameterError, "more than 16 blocks and brackets"),
        (f"int f() {{\n  int x = 1{' + 1' * 99};\n}}", ParameterError, "sums of more than 8"),
        (f"int f() {{\n{'if (1) {' * 99}\n", ParameterError, "more than 16 blocks and brackets"),
        ("int f() {\n  int x = 1" + "0" * 99 + ";\n}", SerializationError, "a number has 100 digits"),
        ("int f() {\n  int x = 99999999999999999999;\n}", RangeError, "Line 2: The integer 9+ has more than 64 bits"),
    ],
)  # fmt: skip
def test_refused_when_it_is_read(text: str, error: type[AgletError], match: str) -> None:
    with pytest.raises(error, match=match) as raised:
        heir.load(text + "\n")
    assert str(raised.value).endswith(".")


def test_files(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be read"):
        heir.load(tmp_path / "none.cpp")
    (tmp_path / "bytes.cpp").write_bytes(b"\xff\xfe")
    with pytest.raises(SerializationError, match="not text"):
        heir.load(tmp_path / "bytes.cpp")
    with pytest.raises(TypeError):
        heir.load(5)  # type: ignore[arg-type]


def test_aglet_does_not_load_compilers() -> None:
    code = "import aglet, sys; print([m for m in sys.modules if m.startswith(('aglet.heir', 'aglet.orion'))])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


# Changed at random: as in the clear, or refused


INPUTS = {"dot_product": (8, 2), "polynomial": (16, 1), "matrix_vector": (4, 1), "loops": (8, 3)}
WORDS = ["0", "1", "-1", "2", "5", "9", "1.0E+3", "3.5", "ct", "ct1", "v0", "v1", "v3", "&", "const", ";", "{", "}"]


def mutated(data: Any, text: str) -> str:
    """The text with one or two words or lines exchanged, repeated or left out."""
    for _ in range(data.draw(st.integers(1, 2))):
        by_line = data.draw(st.booleans())
        parts = text.split("\n") if by_line else text.split(" ")
        at = data.draw(st.integers(0, len(parts) - 1))
        other = data.draw(st.integers(max(at - 12, 0), min(at + 12, len(parts) - 1)))
        kind = data.draw(st.sampled_from(["swap", "drop", "repeat", "number"]))
        if kind == "swap":
            parts[at], parts[other] = parts[other], parts[at]
        elif kind == "drop":
            del parts[at]
        elif kind == "repeat":
            parts.insert(at, parts[other])
        else:
            parts[at] = parts[at].replace(
                data.draw(st.sampled_from("0123456789")), data.draw(st.sampled_from(WORDS)), 1
            )
        text = ("\n" if by_line else " ").join(parts)
    return text


def outputs(name: str, text: str, engine: Any) -> list[Any]:
    """What the main function of a program gives on fixed inputs, as ciphertexts with their keys."""
    length, count = INPUTS[name]
    values = list(np.random.default_rng(3).uniform(-1, 1, (count, length)))
    client = heir.load(text, engine=engine).setup()
    if name == "loops":
        found = client.loops([client.loops__encrypt__one(one) for one in values[:2]], values[2])
    else:
        given = [client.call(f"{name}__encrypt__arg{number}", one) for number, one in enumerate(values)]
        found = client.call(name, *given)
    return [(one, client.keys.secretKey) for one in (found if isinstance(found, list) else [found])]


@pytest.fixture(scope="module")
def engines(engine: Engine) -> dict[int | None, Engine]:
    return {None: engine, 16: Engine(preset="toy", slot_count=16, allow_insecure=True)}


@given(data=st.data())
@settings(max_examples=120, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_changed_at_random(engines: dict[int | None, Engine], data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(INPUTS)))
    text = mutated(data, TEXTS[name])
    engine = engines[16 if name == "polynomial" else None]
    refusal = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "STEPS", 2**12)
        try:
            found = [engine.decrypt(one, key) for one, key in outputs(name, text, engine)]
        except (AgletError, TypeError) as error:  # TypeError: of arguments that a changed function does not take
            refusal = error
        patch.setattr(crossing, "Ciphertext", Clear)
        wanted = [] if refusal else [one for one, _ in outputs(name, text, ClearEngine(engine))]
    if refusal is not None:
        assert isinstance(refusal, AgletError) or "is needed" in str(refusal), text
        assert str(refusal).endswith("."), text
        return
    assert len(found) == len(wanted)
    for one, clear in zip(found, wanted, strict=True):
        assert (np.abs(one - clear.values) <= clear.error).all(), text

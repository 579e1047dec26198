"""Numbers of a fixed format: products of all bytes, rounding, casts, what they cost, and what they refuse."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aglet import DigitSession, EncryptedFixed, EncryptedIntegers, FhewEngine, fixed
from aglet.errors import AgletError, ParameterError, RangeError
from digit_sets import modelled
from test_every_function import ELSEWHERE, NAMES, PATTERNS

BYTES = [fixed(8, f, signed) for f in (0, 1, 4, 7, 8) for signed in (True, False)]
PRICE = fixed(16, 8)


def words_of(dtype: fixed) -> Any:
    """All bytes as words of a format of 8 bits."""
    return np.arange(256).astype(np.uint8).astype(dtype.word)


def encrypted(own: DigitSession, words: Any, dtype: fixed) -> EncryptedFixed:
    return dtype.of(own.encrypt(np.array(words, dtype=dtype.word)))


def check(found: Any, wanted: Any, dtype: fixed) -> None:
    """Words, of whole numbers that wrap around."""
    assert isinstance(found, EncryptedFixed)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.session.decrypt(found.words()), np.asarray(wanted).astype(dtype.word))


@pytest.mark.parametrize("preset", ["lut4", "wide"])
@pytest.mark.parametrize("dtype", BYTES, ids=repr)
def test_products_of_all_bytes_are_rounded_down_and_wrap(dtype: fixed, preset: str) -> None:
    own = modelled(preset)
    x, y = (one.ravel() for one in np.meshgrid(words_of(dtype), words_of(dtype)))
    exact = x.astype(np.int64) * y >> dtype.fraction
    a = encrypted(own, x, dtype)
    check(a * encrypted(own, y, dtype), exact, dtype)
    # Of numbers in the clear, one for each element or the same for all.
    check(y * dtype.step * a, exact, dtype)
    every = encrypted(own, words_of(dtype), dtype)
    for word in words_of(dtype).tolist():
        check(every * (word * dtype.step), words_of(dtype).astype(np.int64) * word >> dtype.fraction, dtype)


@pytest.mark.parametrize("dtype", [fixed(64, 64), fixed(64, 33), fixed(64, 40, signed=False), fixed(32, 17)], ids=repr)
def test_long_products(dtype: fixed) -> None:
    """Of more digits than a word has: in the clear too."""
    low, high = dtype.span
    x = [low, high, high - 1, low // 3, 1, 0, high // 5, 2 ** (dtype.bits // 2 + 1) - 3, 3]
    a = encrypted(modelled("wide"), x, dtype)
    low_bits = [(p * q >> dtype.fraction) % 2**dtype.bits for p, q in zip(x, x[::-1], strict=True)]
    found = (a * a[::-1]).words().astype(f"u{dtype.bits // 8}", casting="unsafe")
    assert modelled("wide").decrypt(found).tolist() == low_bits
    for number in (3, -5, 2**50 + 1):
        if low <= number <= high:
            clear = dtype.of(modelled("wide").clear(np.array(number, dtype.word)))
            found = (a * clear).words().astype(f"u{dtype.bits // 8}", casting="unsafe")
            wanted = [(p * number >> dtype.fraction) % 2**dtype.bits for p in x]
            assert modelled("wide").decrypt(found).tolist() == wanted


def test_encryption_rounds_to_the_nearest_even_multiple_and_decrypts_exactly() -> None:
    own, step = modelled("lut4"), PRICE.step
    given = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.4999, 0.5001, -32768, 32767.4]) * step
    np.testing.assert_array_equal(own.decrypt(own.encrypt(given, PRICE)) / step, np.rint(given / step))
    np.testing.assert_array_equal(PRICE.round(given) / step, np.rint(given / step))
    one = own.decrypt(own.encrypt(0.1, PRICE))
    assert (one, type(one)) == (26 / 256, np.float64)
    for values in ([3, -128], np.uint8([3, 127]), np.float32([0.5]), [True, False], np.zeros((0, 2))):
        np.testing.assert_array_equal(own.decrypt(own.encrypt(values, PRICE)), np.asarray(values, dtype=float))
    for beyond in (128, -128.01, 127.999, 1e300, 2**70, [0, 2**63]):
        with pytest.raises(RangeError, match=r"does not fit fixed\(16, 8\); give -128.0 to 127.99609375"):
            own.encrypt(beyond, PRICE)
    for nothing in (np.nan, [0.0, np.inf]):
        with pytest.raises(RangeError, match="NaN and infinities"):
            own.encrypt(nothing, PRICE)
    for wrong in (1j, ["a"], np.zeros((1, 1)).view(np.matrix), np.ma.masked_array([1.0], [True]), [[1], [1, 2]]):
        with pytest.raises(TypeError):
            own.encrypt(wrong, PRICE)


def test_ends_of_formats() -> None:
    own = modelled("lut4")
    for dtype, least, most in (
        (fixed(8, 8), -0.5, 127 / 256), (fixed(8, 8, signed=False), 0.0, 255 / 256), (fixed(8, 0), -128.0, 127.0),
        (fixed(32, 32), -0.5, 0.5 - 2.0**-32), (fixed(64, 64), -0.5, 0.25),
    ):  # fmt: skip
        assert dtype.least == least
        assert own.decrypt(own.encrypt([least, most, 0], dtype)).tolist() == [least, most, 0]
        with pytest.raises(RangeError, match="does not fit"):
            own.encrypt([1 if dtype.fraction else 128], dtype)
        with pytest.raises(RangeError, match="does not fit"):
            own.encrypt([min(least - dtype.step, np.nextafter(least, -1))], dtype)
    assert (fixed(np.int64(8), 3), fixed(8, 3, False)) == (fixed(8, 3, True), fixed(8, 3, signed=False))
    for wrong in ((12, 3), (16, 17), (16, -1)):
        with pytest.raises(ParameterError, match=r"choose one|give such"):
            fixed(*wrong)
    for wrong in ((16.0, 8), (16, "8"), (True, 0)):
        with pytest.raises(TypeError):
            fixed(*wrong)  # type: ignore[arg-type]


def test_more_than_53_bits_are_refused_where_float64_would_round() -> None:
    own = modelled("lut4")
    for dtype, words in (
        (fixed(64, 20), [2**53 + 1]), (fixed(64, 0), [2**63 - 1]), (fixed(64, 9, signed=False), [2**64 - 1, 0]),
        (fixed(64, 60), [-(2**53) - 1]),
    ):  # fmt: skip
        x = encrypted(own, words, dtype)
        with pytest.raises(RangeError, match=r"53 bits.*x.words\(\)"):
            own.decrypt(x)
        assert own.decrypt(x.words()).tolist() == words
    held = [-(2**63), 2**62, 2**53, -(2**53) + 1, (2**53 - 1) << 10]
    assert own.decrypt(encrypted(own, held, fixed(64, 10))).tolist() == [one / 1024 for one in held]
    # A list of whole numbers of which numpy makes floats.
    large = own.encrypt([2**63 + 1025, 5], fixed(64, 0, signed=False))
    assert own.decrypt(large.words()).tolist() == [2**63 + 1025, 5]
    with pytest.raises(TypeError, match="2\\^53"):
        own.encrypt([2**60 + 1, 0.5], fixed(64, 0))


SAME: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "<": operator.lt, ">=": operator.ge, "==": operator.eq,
    "minimum": np.minimum, "where": lambda x, y: np.where(x < y, x, y), "neg": lambda x, y: -x,
    "abs": lambda x, y: abs(x), "sum": lambda x, y: x.sum(), "cumsum": lambda x, y: x.cumsum(),
    "sort": lambda x, y: np.sort(x), "argmax": lambda x, y: x.argmax(), "clip": lambda x, y: x.clip(y, None),
    "concatenate": lambda x, y: np.concatenate([x, y]), "argsort": lambda x, y: np.argsort(x),
    "<< 3": lambda x, y: x << 3,
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_operations_cost_what_those_of_words_cost(name: str) -> None:
    own, call = modelled("lut4"), SAME[name]
    x, y = (own.encrypt(np.int16([3, -700, 32767, -32768])[::step]) for step in (1, -1))
    before = own.rotations
    wanted = call(x, y)
    of_words = own.rotations - before
    found = call(PRICE.of(x), PRICE.of(y))
    assert own.rotations - before == 2 * of_words
    beneath = found.words() if isinstance(found, EncryptedFixed) else found
    np.testing.assert_array_equal(own.decrypt(beneath), own.decrypt(wanted))


@pytest.mark.parametrize(
    ("dtype", "most"),
    [(fixed(8, 4, signed=False), 23), (fixed(8, 4), 30), (PRICE, 104), (fixed(32, 16), 381)],
    ids=repr,
)
def test_rotations_of_a_product(dtype: fixed, most: int) -> None:
    """On "wide", of one element: far fewer than in a dtype twice as wide, as only what is kept is computed."""
    own = modelled("wide")
    x, y = (own.encrypt([0.25], dtype) for _ in range(2))
    before = own.rotations
    _ = x * y
    assert own.rotations - before <= most
    wide = [one.words().astype(f"i{dtype.bits // 4}") for one in (x, y)]
    before = own.rotations
    _ = wide[0] * wide[1]
    if dtype.bits > 8:
        assert own.rotations - before > 1.8 * most
    # A power of two moves digits.
    before = own.rotations
    for factor in (4, 0.25) if dtype.fraction % 4 == 0 else ():
        _ = x * factor
    assert own.rotations - before <= 4 * dtype.signed


def test_plan_counts_what_runs() -> None:
    def program(x: Any, y: Any) -> Any:
        return np.where(x < y, x * 1.5 + y, y)

    plan = DigitSession.plan(program, [((3,), PRICE), ((3,), PRICE)], engine=FhewEngine(preset="wide"))
    own = modelled("wide")
    before = own.rotations
    program(*(own.encrypt([0.5, 1, -3], PRICE) for _ in range(2)))
    assert plan.rotations == own.rotations - before > 0


@pytest.mark.parametrize("own", [fixed(8, 3), fixed(8, 8, signed=False), fixed(16, 5)], ids=repr)
def test_casts_between_formats(own: fixed) -> None:
    words = np.arange(own.span[0], own.span[1] + 1, 1 if own.bits == 8 else 57)
    x = encrypted(modelled("lut4"), words, own)
    for bits in (8, 16, 32, 64):
        for fraction in (0, 2, 3, 4, 5, 8, bits // 2, bits):
            for signed in (True, False):
                other = fixed(bits, min(fraction, bits), signed)
                more = other.fraction - own.fraction
                wanted = [int(word) << more if more > 0 else int(word) >> -more for word in words]
                lossless = more >= 0 and other.span[0] <= min(wanted) and max(wanted) <= other.span[1]
                if lossless or other == own:
                    assert modelled("lut4").decrypt(x.astype(other).words()).tolist() == wanted
                else:
                    with pytest.raises(TypeError, match='casting="unsafe"'):
                        x.astype(other)
                found = modelled("lut4").decrypt(x.astype(other, casting="unsafe").words())
                assert [int(one) % 2**bits for one in found] == [one % 2**bits for one in wanted]


def test_casts_to_and_from_whole_numbers() -> None:
    own = modelled("lut4")
    given = np.array([1.75, -1.75, 127, -128, 0.25, 0])
    x = own.encrypt(given, PRICE)
    for dtype in (np.int16, np.int8, np.int64):
        found = own.decrypt(x.astype(dtype, casting="unsafe"))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.floor(given))
    np.testing.assert_array_equal(own.decrypt(x.astype(np.uint8, casting="unsafe")), np.floor(given).astype(int) % 256)
    np.testing.assert_array_equal(own.decrypt(x.astype(bool, casting="unsafe")), given != 0)
    np.testing.assert_array_equal(own.decrypt(own.encrypt([3, -4], fixed(16, 0)).astype(np.int32)), [3, -4])
    for refused, match in ((np.int32, "fraction"), (bool, "x != 0"), (np.float32, "float64"), (fixed(8, 0), "fewer")):
        with pytest.raises(TypeError, match=match):
            x.astype(refused)
    whole = own.encrypt(np.int32([3, -128]))
    with pytest.raises(TypeError, match=r"may not fit fixed\(16, 8\)"):
        whole.astype(PRICE)
    for cast in (whole.astype(PRICE, casting="unsafe"), whole.assume(bound=(-128, 127)).astype(PRICE)):
        check(cast, np.int16([3, -128]) * 256, PRICE)
    check(own.encrypt([True, False]).astype(PRICE), [256, 0], PRICE)
    check(own.encrypt(np.uint8([255])).astype(fixed(16, 7)), [255 << 7], fixed(16, 7))
    check(PRICE.of(x.words() // 3), (given * 256).astype(int) // 3, PRICE)
    for wrong in (whole, given, x):
        with pytest.raises(TypeError, match="int16"):
            PRICE.of(wrong)  # type: ignore[arg-type]


def test_bounds() -> None:
    own = modelled("lut4")
    x = own.encrypt([1.5, 3], PRICE, bound=(0, 3.75))
    assert x.words().bound == (0, 960)
    assert own.decrypt(x.assume(bound=4)).tolist() == [1.5, 3]
    # Digits that are known to be 0 cost nothing, and what is not negative has no sign.
    before = own.rotations
    assert own.decrypt(x * x).tolist() == [2.25, 9]
    assert own.rotations - before < 2 * 70
    assert own.decrypt(x * own.encrypt([-1.5, 2], PRICE)).tolist() == [-2.25, 6]
    with pytest.raises(RangeError, match=r"beyond 0\.0 to 2\.0"):
        own.decrypt(x.assume(bound=(0, 2)))
    with pytest.raises(RangeError, match=r"beyond -2\.0 to 2\.0"):
        own.encrypt([1.5, 3], PRICE, bound=2)
    for wrong, match in (((3, 2), "empty"), (0.1, "multiple"), (1000, "fit")):
        with pytest.raises(RangeError, match=match):
            x.assume(bound=wrong)
    with pytest.raises(TypeError, match="pair"):
        x.assume(bound=(1, 2, 3))


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "x + 0.1": (lambda x: x + 0.1, "round"),
    "x < 1000": (lambda x: x < 1000, "give -128.0 to"),
    "two formats": (lambda x: x + x.astype(fixed(32, 8)), "astype"),
    "words": (lambda x: x * x.words(), "cast one of them"),
    "words before": (lambda x: x.words() - x, "cast one of them"),
    "equal": (lambda x: x.words() == x, "convert it"),
    "joined": (lambda x: np.concatenate([x.words(), x]), "cast one of them"),
    "x // 2": (lambda x: x // 2, "x >> k"),
    "5 % x": (lambda x: 5 % x, "x >> k"),
    "divmod": (lambda x: divmod(x, 2), "x >> k"),
    "x ** 2": (lambda x: x**2, r"x \* x"),
    "2 ** x": (lambda x: 2**x, r"x \* x"),
    "x @ x": (lambda x: x @ x, "sum"),
    "x & 1": (lambda x: x & 1, r"x.words\(\)"),
    "~x": (operator.invert, r"x.words\(\)"),
    "x / 3": (lambda x: x / 3, "power of two"),
    "x / x": (lambda x: x / x, "power of two"),
    "1 / x": (lambda x: 1 / x, "power of two"),
    "x / -2": (lambda x: x / -2, "power of two"),
    "x / [2, 4, 8]": (lambda x: x / [2, 4, 8], "power of two"),
    "x << 0.5": (lambda x: x << 0.5, "whole numbers in the clear"),
    "1 << x": (lambda x: 1 << x, "whole numbers in the clear"),
    "x << -1": (lambda x: x << -1, "swap"),
    "x << w": (lambda x: x << x.words(), r"x.words\(\)"),
    "np.mean": (np.mean, "x.sum"),
    "np.var": (np.var, "float64"),
    "np.prod": (np.prod, "rounded down"),
    "np.multiply.reduce": (np.multiply.reduce, "rounded down"),
    "np.dot": (lambda x: np.dot(x, x), "sum"),
    "np.clip": (lambda x: np.clip([1.0], x, x), "first"),
    "np.take": (lambda x: np.take([1, 2], x), "decrypt"),
    "np.roll": (lambda x: np.roll(x, x), "places"),
    "float": (float, "decrypt"),
    "bool": (bool, "secret key"),
    "round": (round, "astype"),
    "floor": (math.floor, "astype"),
    "index": (lambda x: [1, 2][x], "decrypt"),
    "format": (lambda x: f"{x:.2f}", "decrypt"),
    "pickle": (pickle.dumps, "save"),
    "in": (lambda x: 1.5 in x, "any"),
    "out": (lambda x: np.add(x, 1, out=np.zeros(3)), "out="),
    "+=": (lambda x: operator.iadd(np.zeros(3), x), "out="),
    "np.array": (np.array, "stack"),
    "of two": (lambda x: np.array([x, x]), "stack"),
    "where": (lambda x: np.where(x, 1, 2), "!= 0"),
    "where=": (lambda x: x.words().sum(where=x), "!= 0"),
    "sum": (lambda x: x.sum(dtype=np.float64), "add up to"),
    "sum of another": (lambda x: x.sum(dtype=fixed(64, 4)), "add up to"),
    "sum unsigned": (lambda x: x.sum(dtype=fixed(64, 8, signed=False)), "add up to"),
    "initial": (lambda x: x.sum(initial=0.1), "round"),
    "set": (lambda x: operator.setitem(x, 0, 1), "never change"),
    "dtype": (lambda x: setattr(x, "dtype", PRICE), "never change"),
    "strings": (lambda x: x == "a", "convert"),
    "mask": (lambda x: x[x > 0], "numpy.where"),
    "x.mean": (lambda x: x.mean(), "x.sum"),
    "x.to": (lambda x: x.to("slots"), "words"),
    "x.real": (lambda x: x.real, "real"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused_in_a_sentence(name: str) -> None:
    call, match = REFUSED[name]
    x = modelled("lut4").encrypt([1.5, -2, 3], PRICE)
    with pytest.raises((AgletError, TypeError, AttributeError), match=match) as refusal:
        call(x)
    assert str(refusal.value).endswith(".")
    assert getattr(x, "__hash__", 0) is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_of_numpy_is_right_or_refused(pattern: str) -> None:
    """Of small numbers, whose sums and products are in the format: what numpy gives for floats."""
    clear, plain, call = np.array([[0.5, 1.5], [-1, 0]]), np.array([[1, 0], [2, 1]]), PATTERNS[pattern]
    given = 0
    for name in NAMES:
        if name.endswith("_shift"):
            # Of floats numpy has none.
            continue
        try:
            expected = call(getattr(np, name), clear.copy(), plain.copy())
        except Exception as one:
            expected = one
        try:
            found = call(getattr(np, name), modelled("lut4").encrypt(clear, PRICE), plain.copy())
        except Exception as refusal:
            text = str(refusal)
            assert isinstance(expected, Exception) or text.endswith(".") or ELSEWHERE.search(text), (name, text)
            continue
        assert not isinstance(expected, Exception), f"numpy.{name} as {pattern} is an error of numpy: {expected!r}"
        several = isinstance(found, list | tuple)
        for part, wanted in zip(found, expected, strict=True) if several else [(found, expected)]:
            if isinstance(part, EncryptedFixed | EncryptedIntegers):
                given += 1
                assert part.shape == np.shape(wanted), name
                part = modelled("lut4").decrypt(part)
            assert np.array_equal(part, wanted), f"numpy.{name} as {pattern}"
    assert given or pattern not in ("f(a)", "f(a, plain)", "f(a, axis=0)", "f.reduce", "f(v, v)")

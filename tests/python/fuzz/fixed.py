"""Random programs on numbers of a fixed format against whole numbers of Python, with the rules that the format states.

A program has a pool of arrays and adds a few by random operations. Words must agree, and formats; what no rule has, as
two formats in one sum, numbers in the clear between two multiples and most of numpy, must be refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from aglet import DigitSession, EncryptedFixed, fixed
from aglet.errors import AgletError
from digit_sets import modelled, session

__all__ = ["live_program", "program"]

SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (2, 3), (3, 1), (0,), (2, 1, 3)]
ALIKE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "minimum": np.minimum, "maximum": np.maximum,
    "join": lambda x, y: np.concatenate([x, y]), "append": np.append,
    "chosen": lambda x, y: np.where(x < y, x, y - x), "some": lambda x, y: np.where(np.arange(3) > 1, x, y),
    "stack": lambda x, y: np.stack([x, y], axis=-1),
}  # fmt: skip
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
MOVED: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "abs": abs, "+": operator.pos, "T": lambda x: x.T, "flip": np.flip, "ravel": np.ravel,
    "first": lambda x: x[:1], "roll": lambda x: np.roll(x, 1), "min": lambda x: x.min(), "max": np.max,
    "least": lambda x: x.min(axis=0), "sort": lambda x: np.sort(x, axis=-1), "repeat": lambda x: x.repeat(2),
    "largest": lambda x: np.maximum.reduce(x), "row": lambda x: x.reshape(1, -1), "copy": np.copy,
}  # fmt: skip
SUMS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(), "rows": lambda x: np.sum(x, axis=0), "cumsum": lambda x: x.cumsum(),
    "kept": lambda x: x.sum(axis=-1, keepdims=True),
    "sum of some": lambda x: np.sum(x, where=np.arange(x.size).reshape(x.shape) % 2 == 0, initial=0),
}  # fmt: skip
COUNTS: dict[str, Callable[[Any], Any]] = {
    "argmin": lambda x: x.argmin(), "argmax": lambda x: np.argmax(x, axis=0), "any": lambda x: np.any(x != 0),
    "argsort": lambda x: np.argsort(np.ravel(x), kind="stable"), "all": lambda x: (x != 0).all(axis=-1),
    "count": lambda x: np.count_nonzero(x),
}  # fmt: skip
REFUSED: dict[str, Callable[[Any], Any]] = {
    "//": lambda x: x // 2, "%": lambda x: x % 2, "**": lambda x: x**2, "&": lambda x: x & 1, "~": operator.invert,
    "@": lambda x: x @ x, "mean": np.mean, "var": np.var, "std": np.std, "prod": np.prod, "dot": lambda x: np.dot(x, x),
    "1 /": lambda x: 1 / x, "/ x": lambda x: x / x, "/ 3": lambda x: x / 3, "float": float, "bool": bool, "int": int,
    "round": np.round, "sqrt": np.sqrt, "square": np.square, "median": np.median, "between": lambda x: x + 2.0**-70,
    "far": lambda x: x > 2.0**70, "nan": lambda x: x * np.nan, "array": np.asarray, "list": lambda x: np.array([x, x]),
    "words": lambda x: x + x.words(), "words before": lambda x: x.words() < x,
    "einsum": lambda x: np.einsum("i,i", x, x),
    "place": lambda x: np.add(x, x, out=np.zeros(x.shape)), "isin": lambda x: np.isin(x, [1]), "flags": np.logical_not,
    "in place": lambda x: operator.iadd(np.zeros(x.shape), x), "cumprod": np.cumprod, "hash": hash,
    "isnan": np.isnan, "mask": lambda x: np.where(x, 1, 0), "where": lambda x: x.words().sum(where=x),
    "complex": lambda x: x + 1j, "to int": lambda x: x.astype(np.float32), "dtype": lambda x: x.sum(dtype=np.int64),
    "<< x": lambda x: 1 << x, "<< -1": lambda x: x << -1, "masked": lambda x: np.ma.masked_array([1.0], [1]) + x,
}  # fmt: skip


def program(data: Any) -> None:
    """Circuits on digits in the clear."""
    _run(data, modelled(data.draw(st.sampled_from(["lut4", "wide"]))), 6, [8, 16, 16, 32, 64])


def live_program(data: Any) -> None:
    """The same on ciphertexts of the toy set."""
    _run(data, session(), 3, [8, 8, 16])


def _format(data: Any, sizes: list[int]) -> fixed:
    bits = data.draw(st.sampled_from(sizes))
    fraction = data.draw(st.sampled_from([0, 1, bits // 2, bits // 2 - 1, bits - 1, bits]))
    return fixed(bits, fraction, data.draw(st.sampled_from([True, True, False])))


def _wrapped(values: Any, dtype: fixed) -> Any:
    """Whole numbers of any size as words."""
    low, _ = dtype.span
    array = np.asarray(values, dtype=object)
    return np.array([(int(one) - low) % 2**dtype.bits + low for one in array.flat], dtype=object).reshape(array.shape)


def _words(data: Any, dtype: fixed) -> Any:
    (low, high), shape = dtype.span, data.draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    one = 2**dtype.fraction
    edge = st.sampled_from([low, low + 1, 0, 1, one - 1, one, one + 1, 3 * one, -one, -1, high - 1, high])
    words = data.draw(st.lists(edge | st.integers(low, high), min_size=size, max_size=size))
    return np.array([min(max(word, low), high) for word in words], dtype=object).reshape(shape)


def _of(own: DigitSession, words: Any, dtype: fixed) -> EncryptedFixed:
    return dtype.of(own.encrypt(words.astype(dtype.word)))


def _clear(words: Any, dtype: fixed) -> tuple[Any, Any]:
    """Numbers in the clear that float64 holds, and their words."""
    short = words if dtype.bits < 64 else np.asarray(words >> 12, dtype=object) << 12
    short = np.asarray(short, dtype=object)
    return np.ldexp(short.astype(np.float64), -dtype.fraction), short


def _run(data: Any, own: DigitSession, most: int, sizes: list[int]) -> None:
    pool: list[tuple[Any, Any, fixed]] = []
    dtype = _format(data, sizes)
    for _ in range(2):
        words = _words(data, dtype)
        pool.append((_of(own, words, dtype), words, dtype))
    for _ in range(data.draw(st.integers(1, most))):
        name, call, wanted, kind = _drawn(data, own, pool, sizes)
        note(f"{name}: {[(one[2], one[1].tolist()) for one in pool]}")
        try:
            expected = wanted()
        except (TypeError, ValueError, IndexError):
            expected = None
        try:
            found = call()
        except (AgletError, TypeError, ValueError, IndexError):
            assert expected is None, "the rules give a result"
            continue
        assert expected is not None, "the rules refuse"
        if not isinstance(kind, fixed):
            assert found.dtype == kind
            np.testing.assert_array_equal(own.decrypt(found), expected)
            continue
        words = _wrapped(expected, kind)
        assert isinstance(found, EncryptedFixed)
        assert (found.dtype, found.shape) == (kind, words.shape)
        np.testing.assert_array_equal(np.asarray(own.decrypt(found.words())).astype(object), words)
        if kind.bits < 64:
            np.testing.assert_array_equal(
                own.decrypt(found), np.ldexp(np.asarray(words.astype(np.float64)), -kind.fraction)
            )
        if words.size <= 12 and kind.bits in sizes:
            pool.append((found, words, kind))


def _drawn(data: Any, own: DigitSession, pool: Any, sizes: list[int]) -> tuple[str, Any, Any, Any]:
    """An operation: its name, itself, the words by its rule, which raises an error if it has none, and the dtype."""
    x, words, dtype = data.draw(st.sampled_from(pool))
    y, others, other = data.draw(st.sampled_from(pool))
    kinds = ["two"] * 3 + ["product"] * 3 + ["order", "one", "one", "sum", "count", "shift", "cast", "whole", "refused"]
    kind = data.draw(st.sampled_from(kinds))
    swapped = data.draw(st.booleans())
    if kind in ("two", "product", "order"):
        if data.draw(st.booleans()):
            y, others = _clear(_words(data, dtype), dtype)
            other, y = dtype, y.item() if not y.ndim and data.draw(st.booleans()) else y
        left, right = ((y, x), (others, words)) if swapped else ((x, y), (words, others))
        table = {"two": ALIKE, "order": ORDERS, "product": {"*": operator.mul}}[kind]
        name = data.draw(st.sampled_from([*table]))

        def rule() -> Any:
            if dtype != other:
                raise TypeError("Two formats.")
            found = table[name](*right)
            return np.asarray(found) >> dtype.fraction if kind == "product" else found

        if name == "chosen":
            # Its last step is of words that wrapped around, or not: both wrap to the same.
            return name, lambda: np.where(left[0] < left[1], left[0], left[1] - left[0]), rule, dtype
        return name, lambda: table[name](*left), rule, np.dtype(bool) if kind == "order" else dtype
    if kind == "refused":
        name = data.draw(st.sampled_from([*REFUSED]))
        return name, lambda: REFUSED[name](x), _nothing, dtype
    if kind == "shift":
        return _shifted(data, x, words, dtype)
    if kind in ("cast", "whole"):
        return _cast(data, own, x, words, dtype) if kind == "cast" else _whole(data, own, x, words, dtype)
    table = {"one": MOVED, "sum": SUMS, "count": COUNTS}[kind]
    name = data.draw(st.sampled_from([*table]))
    found = {"one": dtype, "sum": fixed(64, dtype.fraction, dtype.signed)}.get(kind, np.dtype(np.int64))
    found = np.dtype(bool) if name in ("any", "all") else found
    return name, lambda: table[name](x), lambda: table[name](words), found


def _nothing() -> Any:
    raise TypeError("No rule.")


def _shifted(data: Any, x: Any, words: Any, dtype: fixed) -> tuple[str, Any, Any, Any]:
    bits = data.draw(st.sampled_from([0, 1, 2, 3, 5, dtype.bits - 1, dtype.bits, 70]))
    name = data.draw(st.sampled_from(["<<", ">>", "/", "/ of a fraction"]))
    call = {
        "<<": lambda: x << bits, ">>": lambda: x >> bits, "/": lambda: x / 2**bits,
        "/ of a fraction": lambda: x / 0.5**bits,
    }[name]  # fmt: skip
    left = name in ("<<", "/ of a fraction")
    return f"{name} {bits}", call, lambda: words << bits if left else words >> bits, dtype


def _cast(data: Any, own: DigitSession, x: Any, words: Any, dtype: fixed) -> tuple[str, Any, Any, Any]:
    """To another format. What casting "safe" allows is exact."""
    wanted = _format(data, [8, 16, 32, 64] if own is not session() else [8, 16])
    more, casting = wanted.fraction - dtype.fraction, data.draw(st.sampled_from(["safe", "unsafe"]))

    def rule() -> Any:
        fits = wanted.least <= dtype.least and wanted.span[1] >= dtype.span[1] * 2**more if more >= 0 else False
        if casting == "safe" and dtype != wanted and not fits:
            raise TypeError("It may not fit.")
        return words << more if more > 0 else words >> -more

    return f"astype {wanted} {casting}", lambda: x.astype(wanted, casting=casting), rule, wanted


def _whole(data: Any, own: DigitSession, x: Any, words: Any, dtype: fixed) -> tuple[str, Any, Any, Any]:
    """To whole numbers, or from them."""
    wanted = np.dtype(data.draw(st.sampled_from(["i1", "u2"] if own is session() else ["i1", "u4", "i8"])))
    if data.draw(st.booleans()):
        # By object arithmetic, as numpy has no wider whole numbers.
        low = int(np.iinfo(wanted).min)
        return (
            f"astype {wanted}",
            lambda: x.astype(wanted, casting="unsafe"),
            lambda: np.asarray(((words >> dtype.fraction) - low) % 2 ** (8 * wanted.itemsize) + low).astype(wanted),
            wanted,
        )
    numbers = np.array([0, 1, int(np.iinfo(wanted).max), int(np.iinfo(wanted).min)], dtype=wanted)
    given = own.encrypt(numbers)
    return (
        f"{wanted} as {dtype}",
        lambda: given.astype(dtype, casting="unsafe"),
        lambda: numbers.astype(object) << dtype.fraction,
        dtype,
    )

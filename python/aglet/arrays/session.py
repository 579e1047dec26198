"""`Session`: an engine and its keys, put together once, so that arrays carry neither."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aglet import checks
from aglet._core import Ciphertext
from aglet.arrays.array import EncryptedArray
from aglet.arrays.interval import Interval
from aglet.arrays.keyset import KeySet
from aglet.arrays.machine import Chunk, Live, Machine
from aglet.arrays.products import KeptMatrix
from aglet.arrays.shadow import Plan, Shadow, argument
from aglet.ckks import values
from aglet.ckks.engine import Engine
from aglet.errors import (
    KeyMismatchError,
    LevelError,
    MissingKeyError,
    ParameterError,
    RangeError,
    SerializationError,
)

__all__ = ["Session"]

_MOST_BOUND = 2.0**16
"""A refresh loses a bit with every doubling of the bound."""
_NOISE = 2.0**-18
"""More than a bootstrap leaves."""
_REFRESH = ("auto", "never")
_HEAD = "array.json"


class Session:
    """Encrypted arrays of one engine and one set of keys.

    Parameters
    ----------
    engine
        The engine that computes.
    keys
        Its keys, `engine.create_keys()` or `KeySet.load(folder)`; a server has them without the secret.
    refresh
        "auto" bootstraps an array, all chunks together, when an operation needs more levels than it has; "never" raises
        a LevelError then.
    alpha, error_bits
        Of comparisons, as in `Engine.sign`: values closer than 2^-alpha of the range are undecided, and decided ones
        are wrong by at most 2^-error_bits.

    Raises
    ------
    ParameterError
        If refresh is another word.
    KeyMismatchError
        If the keys belong to an engine with other parameters.

    Examples
    --------
    >>> from aglet import Engine, Session
    >>> engine = Engine(max_level=7)
    >>> session = Session(engine, engine.create_keys())
    >>> x = session.encrypt([[0.1, 0.2], [0.3, 0.4]])
    >>> session.decrypt((2 * x - x * x).sum(axis=1)).round(3).tolist()
    [0.55, 1.15]
    """

    machine: Machine

    def __init__(
        self, engine: Engine, keys: KeySet, *, refresh: str = "auto", alpha: int = 8, error_bits: int = 20
    ) -> None:
        if not isinstance(engine, Engine):
            raise TypeError(f"Session(engine, keys) begins with an Engine, not {type(engine).__name__}.")
        self.engine, self.keys = engine, checks.need(keys, KeySet, "engine.create_keys()")
        if (keys.engine.preset, keys.engine.slot_count) != (engine.preset, engine.slot_count):
            raise KeyMismatchError(
                f"These keys are of preset {keys.engine.preset} with {keys.engine.slot_count} slots, and the engine is "
                f"{engine.preset} with {engine.slot_count}; take the engine of the keys, keys.engine."
            )
        self._set(Live(engine, keys), refresh, alpha, error_bits)

    def _set(self, machine: Machine, refresh: str, alpha: int, error_bits: int) -> None:
        if checks.word("refresh", refresh) not in _REFRESH:
            raise ParameterError(f'refresh is "auto" or "never", not {refresh!r}.')
        self.machine, self._refreshes = machine, refresh == "auto"
        self._alpha, self._error_bits = checks.count("alpha", alpha), checks.count("error_bits", error_bits)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close: keys and arrays are freed with their last name."""

    def __repr__(self) -> str:
        return f"<Session of {self.engine!r} with {self.keys!r}>"

    @property
    def slots(self) -> int:
        """Values in a chunk."""
        return self.machine.slots

    @property
    def max_level(self) -> int:
        """The level of fresh arrays."""
        return self.engine.max_level

    @property
    def refreshed_level(self) -> int | None:
        """The level after a refresh; None without a bootstrap key. Data that meets refreshed arrays needs no more."""
        return self.machine.refreshed_level

    # In and out

    def encrypt(self, message: Any, *, bound: Any = 1.0, level: int | None = None) -> EncryptedArray:
        """Encrypt numbers of any shape.

        Rows (along the last axes, as many as fit a ciphertext) are kept whole, so that sums over them stay within
        ciphertexts; otherwise an array takes as many ciphertexts as its size asks for.

        Parameters
        ----------
        message
            Numbers, nested lists or a numpy array; bool, int and float dtypes are real, complex ones complex.
        bound
            The largest absolute value, or a pair of the least and the largest value. Everybody can read it off the
            ciphertexts, so it is what you declare, never what the data is. Of complex numbers only sizes are followed.
        level
            The level of the ciphertexts; `max_level` if not given.

        Raises
        ------
        RangeError
            If the message is empty, ragged or not finite, or a value lies beyond the bound.
        TypeError
            If it holds something else than numbers.
        """
        array = values.as_array(message)
        flat = values.as_vector(array.ravel())
        interval = Interval.of(bound) if flat.dtype.kind != "c" else Interval.of(bound).disc
        _refuse_beyond(flat, interval)
        filler = interval.inside
        if self.slots % flat.size == 0:
            # Written over and over, so that sums are short and broadcasting is free.
            chunk = self.machine.encrypt(np.tile(flat, self.slots // flat.size), level, interval.size)
            return EncryptedArray(self, [chunk], _in_a_row(array.shape), interval, None, flat.size)
        index, count = _places(array.shape, self.slots)
        if isinstance(self.machine, Live):
            self.engine.check_memory(count, level)
        laid = np.full(count * self.slots, filler, dtype=flat.dtype)
        laid[index.ravel()] = flat
        chunks = [self.machine.encrypt(row, level, interval.size) for row in laid.reshape(count, -1)]
        return EncryptedArray(self, chunks, index, interval, filler)

    def encrypt_like(self, message: Any, like: EncryptedArray) -> EncryptedArray:
        """Numbers that are no secret, as an array to join with another: their own range is public as they are."""
        self.same(like)
        array = values.as_operand(message)
        if not array.size:
            raise RangeError("There is no number in this array; give one at least.")
        around = Interval.around(array) | Interval(like.interval.inside, like.interval.inside)
        return self.encrypt(array, bound=(around.low, around.high) if around.size else 1.0)

    def decrypt(self, array: EncryptedArray) -> Any:
        """The values in their shape, float64 if real and complex128 if not; a number for shape ().

        Do not publish them as they are: see `Engine.decrypt`.

        Raises
        ------
        MissingKeyError
            If the keys of this session come without the secret.
        """
        self.same(array)
        if self.keys.secret is None:
            raise MissingKeyError(
                "These keys are without the secret; decrypt where it is: KeySet.load(folder, secret=True)."
            )
        flat = self.engine.decrypt_many(array.chunks, self.keys.secret)
        found = flat[array.index]
        return found if array.ndim else found[()]

    def encode_matrix(self, matrix: Any) -> KeptMatrix:
        """A plain matrix for many products: `x @ it` and `it @ x` keep what they encode of it, and skip that next time.

        An encoding takes memory: about a ciphertext's half for each diagonal. `byte_count` tells, `clear()` frees.

        Raises
        ------
        RangeError
            If it is empty, ragged, not finite, or has not two axes.
        """
        entries = values.as_operand(matrix)
        if entries.ndim != 2:
            raise RangeError(f"A matrix has two axes and an entry at least, and this one has shape {entries.shape}.")
        return KeptMatrix(self, entries)

    # Functions

    def poly(self, array: EncryptedArray, coefficients: Any) -> EncryptedArray:
        """`c[0] + c[1] x + c[2] x^2 + ...`, in `ceil(log2(degree + 1))` levels."""
        return self._polynomial(array, coefficients, chebyshev=False)

    def chebyshev(self, array: EncryptedArray, coefficients: Any, *, domain: Any = (-1.0, 1.0)) -> EncryptedArray:
        """`c[0] + c[1] T_1(x) + ...`, the basis to fit functions in; one level more for another domain.

        Parameters
        ----------
        domain
            The interval that the fit was made on, as `numpy.polynomial.Chebyshev.domain`: it is mapped to [-1, 1]. The
            values must be known to lie in it.

        Raises
        ------
        RangeError
            If the values are not known to lie in the domain.
        """
        self.same(array)
        ends = [checks.real("An end of the domain", end) for end in checks.each("domain", domain)]
        if len(ends) != 2:
            raise TypeError(f"domain is a pair, the least and the largest value, not {len(ends)} numbers.")
        low, high = ends
        if not (math.isfinite(high - low) and low < high):
            raise RangeError(f"domain={domain} holds no numbers; give the least and the largest value.")
        slack = 1e-6 * (high - low)
        if array.interval.low < low - slack or array.interval.high > high + slack or not array.is_real:
            raise RangeError(
                f"These values lie within [{array.interval.low:.6g}, {array.interval.high:.6g}], and the polynomial is "
                f"for real ones in [{low:.6g}, {high:.6g}]; say x.assume(bound=({low:.6g}, {high:.6g})) if they do."
            )
        degree = len(values.as_vector(coefficients, what="list of coefficients")) - 1
        if (low, high) != (-1.0, 1.0):
            array.need(1 + degree.bit_length())
            array = array * (2 / (high - low)) - (high + low) / (high - low)
        # All slots are within, but for the slack.
        inside = Interval(max(-1.0, min(1.0, array.interval.low)), min(1.0, max(-1.0, array.interval.high)))
        return self._polynomial(array.replaced(interval=inside), coefficients, chebyshev=True)

    def _polynomial(self, array: EncryptedArray, coefficients: Any, *, chebyshev: bool) -> EncryptedArray:
        self.same(array)
        vector = values.as_vector(coefficients, what="list of coefficients")
        array.need(int(len(vector) - 1).bit_length())
        real = array.is_real and vector.dtype.kind != "c"
        interval = array.interval.polynomial(list(vector), chebyshev=chebyshev, real=real)
        basis: Any = np.polynomial.chebyshev.chebval if chebyshev else np.polynomial.polynomial.polyval
        return array.each(
            lambda chunk: self.machine.polynomial(chunk, vector, chebyshev),
            interval,
            lambda filler: basis(filler, vector).item(),
        )

    def comparison(self, operation: str) -> Callable[[Sequence[Chunk]], Chunk]:
        """What compares chunks, with this session's alpha and error."""
        return lambda chunks: self.machine.compare(operation, chunks, self._alpha, self._error_bits)

    def loosened(self, operation: str, interval: Interval) -> Interval:
        """What a comparison makes of an interval: undecided values may leave it by as much as they are off."""
        slack = 2.0**-self._error_bits + _NOISE
        if operation not in ("sign", "compare"):
            slack += 2.0**-self._alpha
        return Interval(interval.low - slack, interval.high + slack)

    # Refreshes

    def may_refresh(self, levels: int, have: int) -> None:
        """Refuse where levels are missing and nothing may or can bring them."""
        after = self.machine.refreshed_level
        if not self._refreshes:
            raise LevelError(
                f"This takes {levels} levels and the array has {have}; call x.refresh(), or open the session with "
                'refresh="auto".'
            )
        if after is None:
            raise LevelError(
                f"This takes {levels} levels and the array has {have}, and the keys have no bootstrap key; make the "
                'engine with use_bootstrap=True and the keys with engine.create_keys(bootstrap="large").'
            )
        if after < levels:
            raise LevelError(
                f"This takes {levels} levels at once and a refresh leaves {after}; cut it into smaller steps."
            )

    def refreshed(self, chunks: Sequence[Chunk], interval: Interval, real: bool) -> list[Chunk]:
        """Chunks with their levels back."""
        if interval.size > _MOST_BOUND or not math.isfinite(interval.size):
            raise RangeError(
                f"As far as is known, these values reach {interval.size:.3g}, and a refresh loses a bit with every "
                "doubling beyond 1; say what they are, x.assume(bound=...), or divide them first."
            )
        return self.machine.refresh(chunks, max(1.0, interval.size), real)

    def same(self, array: EncryptedArray) -> None:
        """Refuse an array of another session.

        Raises
        ------
        KeyMismatchError
            If it is one.
        """
        if not isinstance(array, EncryptedArray):
            raise TypeError(f"An EncryptedArray is needed here, not {type(array).__name__}; session.encrypt makes one.")
        if array.session is not self:
            raise KeyMismatchError("These arrays are of two sessions; work in one, or save the array and load it here.")

    # Files

    def save(self, array: EncryptedArray, folder: Any) -> None:
        """Write an array to a folder of its own: a file for each ciphertext, and its shape.

        Raises
        ------
        FileExistsError
            If the folder holds something already.
        OSError
            If the system refuses.
        """
        self.same(array)
        place = Path(checks.path("folder", folder))
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise FileExistsError(f"{str(place)!a} is not empty; save the array to a folder of its own.")
        for i, chunk in enumerate(array.chunks):
            self.engine.write(chunk, place / f"{i}.ciphertext")
        np.save(place / "index.npy", array.index)
        filler = None if array.filler is None else [complex(array.filler).real, complex(array.filler).imag]
        head = {
            "version": 1,
            "chunks": len(array.chunks),
            "interval": [array.interval.low, array.interval.high],
            "filler": filler,
            "period": array.period,
        }
        # Last: a folder without it is no array.
        (place / _HEAD).write_text(json.dumps(head) + "\n", encoding="utf-8")

    def load(self, folder: Any) -> EncryptedArray:
        """Read an array that `save` wrote, of any session with these parameters and keys of this secret.

        Raises
        ------
        SerializationError
            If the folder holds no array, or a damaged one.
        KeyMismatchError
            If it is of another secret or other parameters.
        """
        place = Path(checks.path("folder", folder))
        damaged = SerializationError(f"{str(place)!a} holds no array that Session.save wrote, or a damaged one.")
        try:
            head = json.loads((place / _HEAD).read_text(encoding="utf-8"))
            index = np.load(place / "index.npy", allow_pickle=False)
            low, high = (float(end) for end in head["interval"])
            count, period, filler = int(head["chunks"]), head["period"], head["filler"]
            known = None if filler is None else complex(*filler)
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged from error
        fits = index.dtype == np.int64 and index.size and index.min() >= 0 and index.max() < count * self.slots
        divides = period is None or (type(period) is int and period > 0 and self.slots % period == 0)
        if not fits or not divides or not low <= high or not math.isfinite(high - low):
            raise damaged
        chunks: list[Any] = [self.engine.read(place / f"{i}.ciphertext") for i in range(count)]
        if not all(isinstance(chunk, Ciphertext) for chunk in chunks):
            raise damaged
        if any(chunk.key_id != self.keys.key_id for chunk in chunks):
            raise KeyMismatchError("This array is encrypted under another secret key; open a session with its keys.")
        value = known.real if known is not None and not known.imag else known
        return EncryptedArray(self, chunks, index, Interval(low, high), value, period)

    # Forecast

    @staticmethod
    def plan(
        function: Callable[..., Any],
        shapes: Sequence[Any],
        *,
        engine: Engine,
        bounds: Sequence[Any] | None = None,
        bootstrap: str = "large",
        refresh: str = "auto",
        alpha: int = 8,
        error_bits: int = 20,
        sample: Sequence[Any] | None = None,
    ) -> Plan:
        """Run a function on shadows of arrays: levels, refreshes, work, memory, seconds and bits before any key exists.

        Parameters
        ----------
        function
            Called with one array of each shape; `function(x).session` is there as in the real run.
        shapes
            One for each argument.
        engine
            The engine that will compute.
        bounds
            One for each argument, as in `encrypt`; 1 if not given.
        bootstrap
            Size of the bootstrap key.
        sample
            Values as they will be, for each argument an array of its shape: the bits are for them. Without it they are
            for values drawn evenly from the bounds, and none are stated where a comparison decides.

        Raises
        ------
        ParameterError
            If there are not as many bounds or samples as shapes.
        RangeError
            If a shape is none.
        TypeError
            If an argument is of another type.
        """
        if not callable(function):
            raise TypeError(f"plan runs a function of encrypted arrays, and {type(function).__name__} is none.")
        if not isinstance(engine, Engine):
            raise TypeError(
                f"engine is an Engine, not {type(engine).__name__}; Session.plan(f, shapes, engine=engine)."
            )
        session = Session.__new__(Session)
        session.engine, session.keys = engine, KeySet(engine)
        machine = Shadow(engine, checks.word("bootstrap", bootstrap))
        session._set(machine, refresh, alpha, error_bits)
        lengths = checks.each("shapes", shapes)
        given = [1.0] * len(lengths) if bounds is None else checks.each("bounds", bounds)
        if len(given) != len(lengths):
            raise ParameterError(f"There are {len(given)} bounds for {len(lengths)} shapes; give one for each.")
        drawn = [None] * len(lengths) if sample is None else checks.each("sample", sample)
        if len(drawn) != len(lengths):
            raise ParameterError(f"There are {len(drawn)} samples for {len(lengths)} shapes; give one for each.")
        arrays = [
            argument(session, machine, shape, bound, one)
            for shape, bound, one in zip(lengths, given, drawn, strict=True)
        ]
        machine.most = machine.live
        made = function(*arrays)
        several = list(made.values()) if isinstance(made, dict) else made if isinstance(made, list | tuple) else [made]
        if not several:
            raise ParameterError("This function gave no array, so there is nothing to plan; let it return its results.")
        for array in several:
            session.same(array)
        return machine.plan(made, sample is not None)


def _refuse_beyond(flat: Any, interval: Interval) -> None:
    inside = (
        np.abs(flat) <= interval.size if flat.dtype.kind == "c" else (flat >= interval.low) & (flat <= interval.high)
    )
    if not inside.all():
        raise RangeError(
            f"A value lies beyond [{interval.low:g}, {interval.high:g}]; declare the range, which everybody can read: "
            "session.encrypt(x, bound=(least, largest)), or scale the data."
        )


# Arrays of one shape share one index, so that operations see at once that their elements stand in the same places.
@functools.lru_cache(maxsize=2)
def _in_a_row(shape: tuple[int, ...]) -> Any:
    """Elements one after the other from the first slot."""
    index = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    index.setflags(write=False)
    return index


@functools.lru_cache(maxsize=2)
def _places(shape: tuple[int, ...], slots: int) -> tuple[Any, int]:
    """Where elements stand, and how many chunks that takes.

    The last axes, as many as fit a chunk together, are a block; a chunk takes whole blocks of the axis before, and
    every element of the axes before that begins a chunk of its own.
    """
    split = len(shape) - 1
    while split > 0 and math.prod(shape[split:]) <= slots:
        split -= 1
    block = math.prod(shape[split + 1 :])
    rows = max(1, slots // block)
    runs = -(-shape[split] // rows)
    lead = math.prod(shape[:split])
    row = np.arange(shape[split], dtype=np.int64)
    start = (row // rows) * slots + (row % rows) * block
    grid = (
        np.arange(lead, dtype=np.int64)[:, None, None] * (runs * slots)
        + start[None, :, None]
        + np.arange(block, dtype=np.int64)[None, None, :]
    )
    index = grid.reshape(shape)
    index.setflags(write=False)
    return index, lead * runs

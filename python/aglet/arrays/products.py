"""Products of encrypted arrays with plain matrices, by the diagonal method, and matrices that are encoded once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aglet.arrays import contractions, functions, moves, sums
from aglet.arrays.interval import Interval
from aglet.arrays.joins import is_encrypted, stack
from aglet.errors import KeyMismatchError, RangeError

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray
    from aglet.arrays.session import Session

__all__ = ["KeptMatrix", "dot", "fit_in_rows", "inner", "matmul", "rmatmul"]


class KeptMatrix:
    """A plain matrix that keeps its encodings, for `@` on either side. `session.encode_matrix` makes one.

    The first product at a level, and with a layout of the array, adds an encoding, which later products reuse. The
    results are the same, bit for bit.
    """

    __array_ufunc__ = None
    """Makes numpy leave `@` to this class."""

    def __init__(self, session: Session, entries: NDArray[Any]) -> None:
        self.session, self.entries = session, entries
        self._kept: dict[Any, Any] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, as in numpy."""
        return self.entries.shape

    @property
    def byte_count(self) -> int:
        """The bytes of the encodings that it keeps at present."""
        return sum(one.byte_count for one in list(self._kept.values()))

    def __repr__(self) -> str:
        return f"<KeptMatrix {self.shape}: {len(self._kept)} encodings, {self.byte_count / 1e6:.0f} MB>"

    def __matmul__(self, x: Any) -> EncryptedArray:
        return rmatmul(self, x)

    def clear(self) -> None:
        """Free the encodings."""
        self._kept.clear()

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """The encoding with that key. It is made the first time."""
        found = self._kept.get(key)
        if found is None:
            # Another thread may clear them at once.
            found = self._kept[key] = make()
        return found


def _plain(x: EncryptedArray, y: Any) -> tuple[NDArray[Any], KeptMatrix | None]:
    """The entries of a factor, and the matrix that keeps their encodings."""
    if isinstance(y, KeptMatrix):
        if y.session is not x.session:
            raise KeyMismatchError("This matrix was encoded in another session; encode it in the session of the array.")
        return y.entries, y
    return functions.plain(y), None


def dot(x: Any, y: Any) -> Any:
    """As `numpy.dot`: `@`, or `*` if one of the two is a number."""
    if not (_ndim(x) and _ndim(y)):
        return x * y
    if _ndim(y) > 1 and ((is_encrypted(x) and is_encrypted(y)) or max(_plain_ndim(x), _plain_ndim(y)) > 2):
        return contractions.over_last(_operand(x), _operand(y), -2)
    found = x @ y
    if not is_encrypted(x) and _ndim(x) == 2 and _ndim(y) > 2:
        # The rows of a matrix come first, and not beside the last axis, where `@` has them.
        found = found._view(np.moveaxis(found.index, -2, 0))
    return found


def inner(x: Any, y: Any) -> Any:
    """As `numpy.inner`: the products over the last axes of both."""
    if not (_ndim(x) and _ndim(y)):
        return x * y
    if _ndim(y) == 1:
        return x @ y
    if max(_ndim(x), _ndim(y)) > 2 or (is_encrypted(x) and is_encrypted(y)):
        return contractions.over_last(_operand(x), _operand(y))
    if is_encrypted(y):
        # Each row of the plain ones with every row of these.
        return rmatmul(x, y.T) if np.ndim(x) == 1 else (y @ np.asarray(x).T).T
    return x @ np.asarray(y).T


def _ndim(x: Any) -> int:
    return len(x.shape) if hasattr(x, "shape") else np.ndim(x)


def _plain_ndim(x: Any) -> int:
    return 0 if is_encrypted(x) else _ndim(x)


def _operand(x: Any) -> Any:
    return x if is_encrypted(x) else functions.plain(x)


def matmul(x: EncryptedArray, y: Any) -> EncryptedArray:
    """Compute `x @ y`, where `y` is plain or encrypted. Stacks of matrices broadcast as in numpy."""
    matrix: Any
    matrix, kept = (y, None) if is_encrypted(y) else _plain(x, y)
    if not x.ndim or not _ndim(matrix):
        raise TypeError("@ needs a vector or a matrix on each side; use * to multiply by a number.")
    if is_encrypted(y) or matrix.ndim > 2:
        _same_length(x.shape[-1], matrix.shape[max(0, matrix.ndim - 2)])
        return (x * y).sum(axis=-1) if matrix.ndim == 1 else contractions.matrices(x, matrix)
    _same_length(x.shape[-1], matrix.shape[0])
    if matrix.ndim == 1:
        return sums.total(x * matrix, -1, False)
    if x.ndim == 1:
        return _matrix_times(matrix.T, x, kept)
    if x.ndim == 2 and fit_in_rows(x, matrix.shape[1]):
        return _rows_times(x, matrix, kept)
    columns = [(x * np.ascontiguousarray(column)).sum(axis=-1) for column in matrix.T]
    return stack(columns, axis=-1)


def fit_in_rows(x: EncryptedArray, width: int) -> bool:
    """Whether each row is a run of consecutive slots, with room for as many numbers before the next row begins."""
    starts, slots = x.index[:, 0], x.session.slots
    runs = np.array_equal(x.index, starts[:, None] + np.arange(x.shape[1]))
    reach = max(width, x.shape[1])
    apart = np.diff(starts).min() >= reach if len(starts) > 1 else True
    return bool(runs and apart and (starts % slots + reach).max() <= slots)


def _rows_times(x: EncryptedArray, matrix: NDArray[Any], kept: KeptMatrix | None) -> EncryptedArray:
    """Multiply all rows of a chunk at once, by the diagonals of the matrix, in baby and giant steps. Uses one level.

    In `z = sum_s E_s roll(x, s)` slot `p + inputs - 1` holds the result for slot p, where `s = inputs - 1 + j - i` for
    input i and output j. So only one rotation goes to the left, which takes many key switches.
    """
    x.need(1)
    (inputs, outputs), slots, machine = matrix.shape, x.session.slots, x.session.machine
    diagonals = inputs + outputs - 1
    baby = 1 << (diagonals.bit_length() // 2)
    chunks = []

    def weight(starts: NDArray[np.int64], step: int) -> NDArray[Any]:
        return np.roll(_diagonal(matrix, starts, step, slots), -(step // baby) * baby)

    def encoded(starts: NDArray[np.int64], step: int, level: int) -> Any:
        return machine.encoded(weight(starts, step), level)

    for number, chunk in enumerate(x.chunks):
        starts = x.index[x.index[:, 0] // slots == number, 0] % slots
        turned = [chunk, *(machine.rotate(chunk, list(range(1, baby))) if baby > 1 else [])]
        place, total = (chunk.level, starts.tobytes()), None
        for giant in range((diagonals - 1) // baby, -1, -1):
            steps = range(giant * baby, min(diagonals, (giant + 1) * baby))
            weights = (
                [weight(starts, step) for step in steps]
                if kept is None
                else [kept.kept((*place, step), partial(encoded, starts, step, chunk.level)) for step in steps]
            )
            part = machine.weighted_sum(turned[: len(weights)], weights)
            total = part if total is None else machine.add(part, machine.rotate(total, [baby])[0])
        chunks.append(machine.rotate(total, [(1 - inputs) % slots])[0] if inputs > 1 else total)
    index = x.index[:, :1] + np.arange(outputs)
    return x.replaced(chunks=chunks, index=index, interval=_image(matrix.T, x), filler=0.0, period=None)


def _diagonal(matrix: NDArray[Any], starts: NDArray[np.int64], step: int, slots: int) -> NDArray[Any]:
    """The factor of `roll(x, step)`: the entries whose output is `step - inputs + 1` beyond their input."""
    inputs, outputs = matrix.shape
    columns = np.arange(max(0, step - inputs + 1), min(outputs, step + 1))
    weights = np.zeros(slots, dtype=matrix.dtype if matrix.dtype.kind == "c" else np.float64)
    places = starts[:, None] + columns + inputs - 1
    weights[places.ravel() % slots] = np.tile(matrix[columns - (step - inputs + 1), columns], len(starts))
    return weights


def rmatmul(matrix: Any, x: EncryptedArray) -> EncryptedArray:
    """Compute `matrix @ x` with a plain matrix or vector. Uses one level."""
    entries, kept = _plain(x, matrix)
    if not np.ndim(entries) or not x.ndim:
        raise TypeError("@ needs a vector or a matrix on each side; use * to multiply by a number.")
    _same_length(entries.shape[-1], x.shape[max(0, x.ndim - 2)])
    if entries.ndim > 2:
        return contractions.matrices(entries, x)
    if x.ndim == 1:
        return matmul(x, entries) if entries.ndim == 1 else _matrix_times(entries, x, kept)
    # The second axis from the end is that of the vectors.
    found = matmul(x._view(np.swapaxes(x.index, -1, -2)), entries.T)
    return found if entries.ndim == 1 else found._view(np.swapaxes(found.index, -1, -2))


def _matrix_times(entries: NDArray[Any], x: EncryptedArray, kept: KeptMatrix | None) -> EncryptedArray:
    """Multiply in blocks that fit a chunk on both sides."""
    _same_length(entries.shape[1], x.shape[0])
    slots, machine = x.session.slots, x.session.machine
    laid = moves.compact(moves.spelled_out(x) if x.uniform else x)
    laid.need(1)
    chunks: list[Any] = []
    for top in range(0, len(entries), slots):
        found: Any = None
        for i, chunk in enumerate(laid.chunks):
            block: Any = entries[top : top + slots, i * slots : (i + 1) * slots]
            if kept:
                # Told apart from its transpose, which stands on the other side.
                key = (entries is kept.entries, top, i, chunk.level)
                block = kept.kept(key, partial(machine.encoded_matrix, block, chunk.level))
            part = machine.matrix(block, chunk)
            found = part if found is None else machine.add(found, part)
        chunks.append(found)
    index = np.arange(len(entries), dtype=np.int64)
    return x.replaced(chunks=chunks, index=index, interval=_image(entries, laid), filler=0.0, period=None)


def _image(entries: Any, x: EncryptedArray) -> Interval:
    """The interval of a matrix product, with the zeros beside it."""
    if entries.dtype.kind == "c" or not x.is_real:
        size = float(np.abs(entries).sum(axis=1).max()) * x.interval.size
        return Interval(-size, size)
    above, below = np.maximum(entries, 0).sum(axis=1), np.minimum(entries, 0).sum(axis=1)
    low = float((above * x.interval.low + below * x.interval.high).min())
    high = float((above * x.interval.high + below * x.interval.low).max())
    return Interval(min(0.0, low), max(0.0, high))


def _same_length(left: int, right: int) -> None:
    if left != right:
        raise RangeError(
            f"@ needs equal inner lengths, and these are {left} and {right}; transpose or reshape one of the two."
        )

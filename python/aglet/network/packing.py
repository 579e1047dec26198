"""Multiplexed packing: where the numbers of a tensor lie in slots, and linear layers as diagonals between two packings.

Channels fill the gaps that a stride leaves (Lee et al., ICML 2022, "multiplexed parallel convolutions"). A layer is
written down place by place, so that one linear map takes a packing to the other, whatever lies between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aglet.errors import ParameterError
from aglet.network.layers import Convolution, Dense

__all__ = ["Packing", "diagonals"]

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packing:
    """The slots of a tensor of shape (channels, rows, columns), or of a batch of them, repeated with a period.

    The tensors of a batch lie in slots side by side: whatever a map does with one, it does with all.
    """

    places: Places
    """The slot of each element of the first tensor, of its shape."""
    period: int
    """A power of two. Slots without an element hold values of no meaning, within the same bounds."""
    gap: int
    """The elements between neighbours in a row. Rows have `width` elements, so `gap * width` is that of columns."""
    width: int
    batch: int = 1
    """The number of tensors, a power of two: the slots from one element of a tensor to the next."""

    @classmethod
    def multiplexed(cls, shape: tuple[int, ...], gap: int, width: int, height: int, batch: int = 1) -> Packing:
        """Channels in the gaps of a grid of `width` columns and `height` rows, then in further grids."""
        channels, rows, columns = shape
        channel, row, column = np.ogrid[:channels, :rows, :columns]
        grid, inside = channel // gap**2, channel % gap**2
        places = (grid * height + row * gap + inside // gap) * width + column * gap + inside % gap
        return cls(places * batch, _power(-(-channels // gap**2)) * height * width * batch, gap, width, batch)

    @classmethod
    def first(cls, shape: tuple[int, ...], batch: int = 1) -> Packing:
        """The packing of the input of a network."""
        return cls.multiplexed(shape, 1, _power(shape[2]), _power(shape[1]), batch)

    def after(self, layer: Convolution | Dense, shape: tuple[int, ...], slots: int) -> Packing:
        """The packing of the output of a layer.

        Raises
        ------
        ParameterError
            If it does not fit the slots.
        """
        if isinstance(layer, Dense):
            # Written over and over, a few numbers would take a diagonal for each slot.
            made = self._row(shape)
            there = self.places.ravel()[: shape[0]]
            if len(there) == shape[0] and self._offsets(there) < self._offsets(made.places.ravel()):
                made = replace(made, places=there.reshape(shape), period=self.period)
        else:
            gap, height = self.gap * layer.stride, self.grid_rows
            gap = gap if gap & (gap - 1) == 0 else 0
            fits = gap and gap * shape[1] <= height and gap * shape[2] <= self.width
            grid = (gap, self.width, height) if fits else (1, _power(shape[2]), _power(shape[1]))
            made = Packing.multiplexed(shape, *grid, self.batch)
        return made.within(slots)

    def _row(self, shape: tuple[int, ...]) -> Packing:
        """A few numbers in a row."""
        width = _power(shape[0])
        places = np.arange(shape[0]).reshape(shape) * self.batch
        return Packing(places, max(self.period, width * self.batch), 1, width, self.batch)

    def _offsets(self, targets: Places) -> int:
        """The diagonals of a dense layer from here to these slots."""
        return len(np.unique((self.places.ravel()[:, None] - targets) % self.period))

    def within(self, slots: int) -> Packing:
        """The same, if it fits so many slots.

        Raises
        ------
        ParameterError
            If not.
        """
        if self.period > slots:
            several = f"A batch of {self.batch} tensors" if self.batch > 1 else "A tensor"
            raise ParameterError(
                f"{several} of shape {self.places.shape} takes {self.period} slots and a ciphertext has {slots}; take "
                "an engine of more slots, a smaller network or a smaller batch."
            )
        return self

    @property
    def grid_rows(self) -> int:
        """The rows of a grid."""
        rows = int(self.places[0, -1, 0] - self.places[0, 0, 0]) // (self.width * self.batch) + self.gap
        return _power(rows)

    @property
    def all_places(self) -> Places:
        """The slots of all tensors, of shape (batch, channels, rows, columns)."""
        made: Places = self.places + np.arange(self.batch)[:, None, None, None]
        return made

    def pooled(self, size: int) -> Packing:
        """The packing of the first elements of squares of `size` rows, where sums over squares lie."""
        return Packing(self.places[:, ::size, ::size], self.period, self.gap * size, self.width, self.batch)

    def sums(self, size: int) -> list[int]:
        """The rotations to the left that put the sums over squares into their first places, one after the other."""
        steps = [1 << bit for bit in range(size.bit_length() - 1)]
        return [self.batch * self.gap * along * step for along in (1, self.width) for step in steps]

    def laid(self, tensor: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
        """A batch of tensors, one tensor for all, or one number for each channel, in slots. The others are 0."""
        row = np.zeros(self.period)
        row[self.all_places] = tensor if tensor.ndim >= 3 else tensor[:, None, None]
        return np.tile(row, slots // self.period)


def diagonals(layer: Convolution | Dense, before: Packing, after: Packing) -> dict[int, NDArray[np.float64]]:
    """The layer without its bias, for `Engine.linear_map`: diagonals of one period, by offset.

    Every copy of an output is computed, from the copies of its inputs at the smallest offset to the right, so the
    offsets are below the period of the input.
    """
    sources, targets, weights = _entries(layer, before, after)
    period = max(before.period, after.period)
    copies = np.arange(0, period, after.period)[:, None]
    targets = (targets[None] + copies).ravel()
    offsets = (np.tile(sources, len(copies)) - targets) % before.period
    there = np.zeros(before.period, dtype=bool)
    there[offsets] = True
    found = np.flatnonzero(there)
    rows = np.zeros((len(found), period))
    # A place of a diagonal has one source, so nothing is written twice.
    for tensor in range(after.batch):
        rows[(np.cumsum(there) - 1)[offsets], targets + tensor] = np.tile(weights, len(copies))
    return dict(zip(found.tolist(), rows, strict=True))


def _entries(layer: Convolution | Dense, before: Packing, after: Packing) -> tuple[Places, Places, NDArray[np.float64]]:
    """The slots of input and output and the weight, for each weight of the layer that is not zero."""
    if isinstance(layer, Dense):
        row, column = np.nonzero(layer.weights)
        return before.places.ravel()[column], after.places.ravel()[row], layer.weights[row, column]
    _, rows, columns = before.places.shape
    found = []
    for down, right in np.ndindex(*layer.weights.shape[2:]):
        output, channel = np.nonzero(layer.weights[:, :, down, right])
        row = np.arange(after.places.shape[1]) * layer.stride + down - layer.padding
        column = np.arange(after.places.shape[2]) * layer.stride + right - layer.padding
        there, here = np.nonzero((row >= 0) & (row < rows))[0], np.nonzero((column >= 0) & (column < columns))[0]
        weights = layer.weights[output, channel, down, right]
        sources = before.places[channel[:, None, None], row[there][:, None], column[here]]
        targets = after.places[output[:, None, None], there[:, None], here]
        found.append((sources.ravel(), targets.ravel(), np.repeat(weights, len(there) * len(here))))
    sources, targets, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return sources, targets, weights


def _power(count: int) -> int:
    """The least power of two that is not smaller."""
    return 1 << (count - 1).bit_length()

"""Pairs of pictures: those of the harness, what the network takes of them, and faces that are drawn here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workloads.common import WorkloadError, needed

__all__ = ["drawn", "patches", "prepared", "read_pairs", "write_pairs"]

Picture = NDArray[np.uint8]
"""Of shape (3, rows, columns): red, green and blue."""
_ROWS, _COLUMNS = 112, 96
"""The size of drawn pictures."""


def read_pairs(folder: Path) -> Iterator[tuple[Picture, Picture]]:
    """The pairs of a folder, in their order: `test_pairs.h5`, or the `test_pairs.npz` of earlier harnesses.

    Raises
    ------
    WorkloadError
        If there is none, it is damaged, or what reads it is not installed.
    """
    path = folder / "test_pairs.h5"
    if not path.exists():
        yield from _of_archive(needed(folder / "test_pairs.npz", "the harness's generate_input"))
        return
    h5py, pictures = _library("h5py"), _library("PIL.Image")
    try:
        with h5py.File(path, "r") as file:
            if len(file["image0"]) != len(file["image1"]):
                raise WorkloadError(f"{path} does not have as many first pictures as second ones; make the data again.")
            for pair in zip(file["image0"], file["image1"], strict=True):
                first, second = (pictures.open(io.BytesIO(bytes(one))).convert("RGB") for one in pair)
                yield np.asarray(first).transpose(2, 0, 1), np.asarray(second).transpose(2, 0, 1)
    except (OSError, KeyError):
        raise WorkloadError(f"{path} is damaged; make the data again.") from None


def _of_archive(path: Path) -> Iterator[tuple[Picture, Picture]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            for number in range(len(file.files) // 2):
                first, second = (_picture(file[f"pair_{number:05}_img{one}"]) for one in (0, 1))
                yield first, second
    except (OSError, ValueError, EOFError, KeyError):
        raise WorkloadError(f"{path} is damaged; make the data again.") from None


def _picture(given: NDArray[Any]) -> Picture:
    if given.dtype != np.uint8 or given.ndim != 3 or given.shape[0] != 3:
        raise ValueError
    return given


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise WorkloadError(f"{name.split('.')[0]} is missing, which reads test_pairs.h5; install it.") from None


def write_pairs(folder: Path, pairs: list[tuple[Picture, Picture]]) -> None:
    """Write pairs as earlier harnesses did: an archive of numpy."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {f"pair_{number:05}_img{one}": pair[one] for number, pair in enumerate(pairs) for one in (0, 1)}
    np.savez(folder / "test_pairs.npz", **named)  # type: ignore[arg-type]


def prepared(picture: Picture, side: int) -> NDArray[np.float64]:
    """The middle of a picture as a square of so many rows, with values of -1 to 1.

    Where the reference's detector finds no face it does the same.
    """
    _, rows, columns = picture.shape
    size = min(rows, columns)
    top, left = (rows - size) // 2, (columns - size) // 2
    cut = picture[:, top : top + size, left : left + size].astype(float)
    place = np.clip((np.arange(side) + 0.5) * size / side - 0.5, 0, size - 1)
    weights = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(size)))
    made: NDArray[np.float64] = weights @ cut @ weights.T / 127.5 - 1
    return np.clip(made, -1, 1)


def patches(pictures: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Squares of so many rows that cover pictures: row by row in front, then the pictures and their colours."""
    count, colours, rows, columns = pictures.shape
    cut = pictures.reshape(count, colours, rows // side, side, columns // side, side)
    return cut.transpose(2, 4, 0, 1, 3, 5).reshape(-1, count, colours, side, side)


def drawn(count: int, seed: int) -> tuple[list[tuple[Picture, Picture]], NDArray[np.int64]]:
    """Pairs of drawn faces, and 1 for each pair of one person: half of them."""
    random = np.random.default_rng(seed)
    same = random.permutation(np.arange(count) % 2)
    pairs = []
    for one in same:
        first = random.uniform(0, 1, 12)
        second = first if one else random.uniform(0, 1, 12)
        pairs.append((_face(first, random), _face(second, random)))
    return pairs, same.astype(np.int64)


def _face(person: NDArray[np.float64], random: np.random.Generator) -> Picture:
    """A face of twelve features, under a light, at a place and with noise that are new each time."""
    down, right = np.mgrid[-1 : 1 : _ROWS * 1j, -1 : 1 : _COLUMNS * 1j] - random.normal(0, 0.03, 2)[:, None, None]

    def oval(place: tuple[float, float], size: tuple[float, float]) -> NDArray[np.float64]:
        far = ((down - place[0]) / size[0]) ** 2 + ((right - place[1]) / size[1]) ** 2
        made: NDArray[np.float64] = 1 / (1 + np.exp(np.clip(12 * (far - 1), -50, 50)))
        return made

    wide, high, apart, eye, mouth, lips = 0.45 + 0.2 * person[:6]
    skin = np.array([0.9, 0.7, 0.6]) * (0.4 + 0.6 * person[6])
    hair = 0.6 * person[7:10]
    parts = [(oval((-0.25, 0), (high + 0.35, wide + 0.2)), hair), (oval((0, 0), (high + 0.2, wide)), skin)]
    parts += [(oval((-0.15, x * apart / 2), (eye / 6, eye / 4)), 0.2 * np.ones(3) * person[10]) for x in (-1, 1)]
    parts += [(oval((0.35, 0), (lips / 8, mouth / 2)), np.array([0.7, 0.2, 0.2]) * (0.5 + 0.5 * person[11]))]
    made = np.ones((3, _ROWS, _COLUMNS)) * random.uniform(0.2, 0.8, (3, 1, 1))
    for mask, colour in parts:
        made = made * (1 - mask) + colour[:, None, None] * mask
    light = 1 + random.normal(0, 0.1) * right + random.normal(0, 0.1) * down
    noisy = made * light + random.normal(0, 0.03, made.shape)
    picture: Picture = np.clip(noisy * 255, 0, 255).astype(np.uint8)
    return picture

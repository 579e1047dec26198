"""The subscripts of `numpy.einsum`, read for arrays of every kind."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from aglet import checks
from aglet.errors import RangeError

__all__ = ["placed", "read"]


def read(subscripts: str, arrays: Sequence[Any]) -> tuple[list[Any], list[str], str]:
    """The arrays, the labels of their axes, and those of the result: letters, each once in an array.

    Dots become letters. Of axes with one label the elements on the diagonal are taken.

    Raises
    ------
    RangeError
        If the subscripts do not fit the shapes.
    """
    shapes = [one.shape for one in arrays]
    checks.rearranged(
        "string of subscripts",
        shapes[0],
        lambda: np.einsum_path(subscripts, *(np.broadcast_to(0.0, shape) for shape in shapes)),
    )
    inputs, wanted = _spelled_out(subscripts.replace(" ", ""), shapes)
    taken = [_diagonal(array, labels) for array, labels in zip(arrays, inputs, strict=True)]
    return [array for array, _ in taken], [labels for _, labels in taken], wanted


def placed(x: Any, labels: str, order: str) -> Any:
    """The array with its axes in this order, and axes of length 1 for labels that it lacks."""
    axes = sorted(range(len(labels)), key=lambda axis: order.index(labels[axis]))
    lengths = tuple(slice(None) if label in labels else None for label in order)
    return np.transpose(x, axes)[lengths]


def _spelled_out(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str]:
    """The labels of each array and of the result, with letters for dots."""
    given, arrow, wanted = subscripts.partition("->")
    inputs = given.split(",")
    free = [letter for letter in string.ascii_letters if letter not in subscripts]
    counts = [
        len(shape) - len(one.replace("...", "")) if "..." in one else 0
        for one, shape in zip(inputs, shapes, strict=True)
    ]
    dots = "".join(free[: max(counts)])
    if dots and arrow and "..." not in wanted:
        raise RangeError(
            f"The dots of {subscripts!r} stand for axes that the result does not have; write ... after -> too, and sum "
            "over them after it, or name them by letters."
        )
    # As numpy broadcasts: the last ones belong together.
    inputs = [one.replace("...", dots[len(dots) - count :]) for one, count in zip(inputs, counts, strict=True)]
    if arrow:
        return inputs, wanted.replace("...", dots)
    once = sorted(label for label, times in Counter("".join(inputs)).items() if times == 1 and label not in dots)
    return inputs, dots + "".join(once)


def _diagonal(array: Any, labels: str) -> tuple[Any, str]:
    """Of axes with one label, the elements on the diagonal; this label comes last."""
    for label in [one for one, times in Counter(labels).items() for _ in range(times - 1)]:
        i = labels.index(label)
        j = labels.index(label, i + 1)
        if array.shape[i] != array.shape[j]:
            raise RangeError(
                f"This string of subscripts has {label} for axes of {array.shape[i]} and {array.shape[j]} elements; "
                "give equal lengths."
            )
        array, labels = np.diagonal(array, 0, i, j), labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + label
    return array, labels

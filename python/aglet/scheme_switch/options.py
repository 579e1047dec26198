"""What the methods of `SchemeSwitch` take by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from aglet._core import KeySize

__all__ = ["CompareOptions", "EstimateOptions", "LookupOptions", "RankOptions", "ReadOptions"]


class _Stated(TypedDict, total=False):
    noise: float | None
    progress: ProgressCallback | None


class ReadOptions(_Stated, total=False):
    """Of `SchemeSwitch.to_fhew`, which explains them."""

    bits: int | None
    signed: bool | None
    part: str
    bound: float | None


class LookupOptions(_Stated, total=False):
    """Of `SchemeSwitch.lookup` and `lookup_bytes`."""

    part: str
    bound: float | None
    max_failure: float | None


class CompareOptions(_Stated, total=False):
    """Of `SchemeSwitch.sign`, `compare` and `top_k`; `sign` explains them."""

    bits: int
    bound: Any
    max_failure: float | None


class RankOptions(CompareOptions, total=False):
    """Of `SchemeSwitch.argmin` and `argmax`."""

    one_hot: bool


class EstimateOptions(TypedDict, total=False):
    """Of `SchemeSwitch.estimate`, which explains them."""

    count: int
    bits: int | None
    row: int
    from_fhew: bool
    size: KeySize
    table: Any
    bound: Any

"""The stand-in's half of the carried products: the data, calls and check of `workloads.zn`, with other parameters."""

from __future__ import annotations

from workloads.zn.case import check, each_run, make_data, make_input, once
from workloads.zn_carried import digits

__all__ = ["SIZES", "check", "each_run", "make_data", "make_input", "once", "parameters"]

SIZES = digits.SIZES


def parameters(size: str) -> dict[str, object]:
    """The parameter set that the stages use."""
    made = digits.engine(size)
    return {"preset": made.preset, "slot_count": made.slot_count, "security_bits": made.security_bits}

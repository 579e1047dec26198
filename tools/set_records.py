"""Records of the bootstraps of CKKS, stage by stage: for `record.py --sets`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SETS = (
    ("regular", "--method regular"),
    ("regular, real messages", "--method regular --real"),
    ("to 14 levels", "--preset to14"),
    ("to 15 levels", "--preset to15"),
    ("lossy, real messages", "--method lossy --real"),
    ("32 slots", "--method sparse --slots 32"),
)
"""Bootstraps of CKKS that are measured stage by stage."""


def sets(run: Callable[[str], list[dict[str, Any]]], repeat: int) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Measure each set on one thread, and what its stages read of memory. `run` runs the command and reads its lines."""
    records, rows = [], []
    for name, options in SETS:
        (found,) = run(f"plan {options} --measure --repeat {repeat} --json")
        records.append(found)
        least = min(found["seconds_all"])
        bits = f"{found['bits_mean']:.1f} bits, worst slot {found['bits_worst']:.1f}"
        text = f"{found['seconds']:.2f} s (least {least:.2f}) to level {found['output_level']}, {bits}"
        rows.append((f"{name}, {found['stage_count']} stages", text))
        rows += [(f"- {stage['name']}", of_stage(stage)) for stage in found["stages"] if stage["seconds"]]
    rate = max(found["memory_gb_per_second"] for found in records)
    rows.append(("memory, read in order by one thread", f"{rate:.1f} GB/s"))
    return records, rows


def of_stage(stage: dict[str, Any]) -> str:
    """Seconds, what is read of keys, matrices and ciphertexts, and how fast."""
    read = sum(stage[name] for name in ("key_bytes_read", "matrix_bytes_read", "ciphertext_bytes_read"))
    return f"{stage['seconds']:.3f} s, {read / 1e9:.2f} GB read, {stage['gb_per_second']:.1f} GB/s"

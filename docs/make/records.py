"""Benchmark tables and plots out of the records of measurements, and the table of parameter sets."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from aglet import presets
from make.pictures import ACCENT, INK, save

Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    """The records of a file, one a line."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


SLOTS = {p["name"]: p["slots"] for p in presets()}
"""All slots of each set of CKKS."""


def kind(record: Record) -> tuple[Any, ...]:
    """What tells one bootstrap from another."""
    return tuple(
        record.get(field)
        for field in (
            "preset",
            "method",
            "slot_count",
            "real",
            "iterations",
            "stage_count",
            "key_size",
            "backend",
            "threads",
        )
    )


def bootstraps(records: list[Record]) -> list[Record]:
    """Bootstraps of a uniform message, each kind once, the last that was measured."""
    found = {
        kind(r): r
        for r in records
        if "method" in r
        and "table" not in r
        and r.get("message") == "uniform"
        and r.get("seconds")
        and r.get("bits_mean")
    }
    return sorted(found.values(), key=lambda r: r["seconds"])


def label(record: Record) -> str:
    """What was bootstrapped, and on what."""
    words = [record["preset"]]
    if record["method"] not in ("regular", "sparse"):
        words.append(record["method"])
    if record["slot_count"] != SLOTS.get(record["preset"]):
        words.append("1 slot" if record["slot_count"] == 1 else f"{record['slot_count']} slots")
    if record.get("iterations", 1) > 1:
        words.append(f"{record['iterations']} iterations")
    if record["backend"] != "avx512ifma":
        words.append(record["backend"])
    words.append("1 thread" if record["threads"] == 1 else f"{record['threads']} threads")
    return ", ".join(words) + ("*" if record.get("noisy") else "")


def plot(records: list[Record], path: Path) -> None:
    """Seconds of each bootstrap as bars."""
    figure, axes = plt.subplots(figsize=(7.2, 0.6 + 0.36 * len(records)), layout="constrained")
    colours = [ACCENT if r["backend"] == "scalar" else INK for r in records]
    bars = axes.barh([label(r) for r in records], [r["seconds"] for r in records], color=colours)
    axes.bar_label(bars, fmt="%.3g s", padding=3)
    axes.set(xlabel="seconds for one bootstrap", xlim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.invert_yaxis()
    save(figure, path)


def benchmarks(folder: Path, record: Path) -> str:
    """A section for each file of records with bootstraps in it."""
    sections = []
    for path in sorted(record.glob("*/*.jsonl"), key=lambda path: (path.stem, path.parent.name), reverse=True):
        found = bootstraps(read(path))
        if not found:
            continue
        name = f"{path.parent.name}-{path.stem}"
        plot(found, folder / f"{name}.svg")
        rows = [[label(r), f"{r['seconds']:.3g} s", str(r["output_level"]), f"{r['bits_mean']:.1f}"] for r in found]
        sections.append(
            f"## {found[0]['cpu']}, {path.stem}\n\n![Seconds of bootstraps]({name}.svg)\n\n"
            + table(["bootstrap", "time", "to level", "bits"], rows)
        )
    head = (
        "# All recorded bootstraps\n\nCKKS bootstraps of a uniform message out of `repro/record`, as `tools/record.py` "
        "measured them: all slots and AVX-512 IFMA kernels, unless a label says otherwise. A star marks a run on a "
        "machine that was not quiet.\n\n"
    )
    return head + "\n".join(sections)


def parameters() -> str:
    """All parameter sets of CKKS, from their claims."""
    rows = [
        [
            f"`{p['name']}`",
            f"2^{p['log_n']}",
            str(p["slots"]),
            str(p["levels"]),
            str(p["scale_bits"]),
            "-" if p["security_bits"] is None else f"{p['security_bits']:.0f}",
            ", ".join(p["methods"]) or "-",
        ]
        for p in presets()
    ]
    head = ["preset", "N", "slots", "levels", "bits of the scale", "security", "bootstraps"]
    return (
        "# All parameter sets\n\nMade from the files that the library reads; [what they are for](../parameters.md).\n\n"
        + table(head, rows)
    )


def write(folder: Path, record: Path) -> None:
    """Both pages and the plots."""
    (folder / "benchmarks.md").write_text(benchmarks(folder, record))
    (folder / "presets.md").write_text(parameters())

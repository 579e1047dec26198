#!/usr/bin/env python3
"""Write the records that come with the package: the latest bench of each bootstrap, gate, table and switch under repro/record.

Usage: .venv/bin/python tools/ship_records.py

Writes python/bench/aglet_bench/measured.jsonl, which `aglet advise` reads where there is no repro/record.
"""

from __future__ import annotations

import json
from typing import Any

from aglet_bench import recording

FIELDS = (
    "date", "commit", "cpu", "backend", "threads", "preset", "method", "message", "key_size", "stage_count",
    "slot_count", "real", "bound", "output_level", "seconds", "bits_mean",
)  # fmt: skip
INTEGERS = (
    "date", "commit", "cpu", "backend", "threads", "preset", "kind", "operation", "input_level", "output_level", "seconds",
    "peak_rss_bytes",
)  # fmt: skip
FHEW = (
    "date", "commit", "cpu", "backend", "threads", "preset", "kind", "operation", "method", "batch", "seconds",
)  # fmt: skip
SCHEME_SWITCHES = (
    "date", "commit", "cpu", "backend", "threads", "preset", "fhew_preset", "kind", "values", "integer_bits", "messages",
    "slot_count", "key_size", "output_level", "seconds",
)  # fmt: skip
SAME = ("cpu", "backend", "threads", "preset", "method", "key_size", "stage_count", "slot_count", "real", "bound")


def main() -> None:
    root = recording.checkout()
    if root is None:
        raise SystemExit("There is no source tree around the package; run this in one.")
    latest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in recording.read(root / recording.DEFAULT_FOLDER):
        if "kind" in record:
            fields = FHEW if record["kind"] != "integer" else INTEGERS if record["operation"] == "bootstrap" else ()
            if "scheme-switch-" in record["kind"]:
                # Those of before messages went up to integers say nothing of them.
                record, fields = {**dict.fromkeys(SCHEME_SWITCHES), **record}, SCHEME_SWITCHES
            if not set(fields) <= set(record):
                # Of a program.
                continue
            # What is left out tells apart: when it was measured, and what came out.
            same = [record[field] for field in fields if field not in ("date", "commit", "seconds", "peak_rss_bytes")]
            if fields:
                latest[tuple(same)] = {field: record[field] for field in fields}
            continue
        kept = {field: record[field] for field in FIELDS if field in record}
        kept = {"real": False, "bound": 1.0, **kept}
        if set(kept) == set(FIELDS) and kept["message"] in ("uniform", "alternating", "bits"):
            easy = "alternating" if kept["method"] == "sign" else "bits" if kept["method"] == "bits" else "uniform"
            if kept["message"] == easy:
                latest[tuple(kept[field] for field in (*SAME, "output_level"))] = {f: kept[f] for f in FIELDS}
    path = root / "python" / "bench" / "aglet_bench" / "measured.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in latest.values()))
    print(f"{len(latest)} records in {path.relative_to(root)}")


if __name__ == "__main__":
    main()

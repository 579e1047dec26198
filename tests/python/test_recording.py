"""Records of before 2026-11-24 stay as they were written, and are read in the names of today."""

from __future__ import annotations

import re

from aglet_bench import recording
from support import ROOT

RECORD = ROOT / "repro" / "record"
OLD = re.compile("bridge|lookup_preset")


def test_records_of_before_are_read_in_the_names_of_today() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in RECORD.glob("**/*.jsonl"))
    assert OLD.search(written), "no record of before is left, so nothing need be renamed"
    read = list(recording.read(RECORD))
    assert {kind for kind in (str(record.get("kind")) for record in read) if OLD.search(kind)} == set()
    assert {name for record in read for name in record if OLD.search(name)} == set()
    found = [record for record in read if record.get("kind") == "integer-scheme-switch-from-fhew"]
    assert found
    assert all(record["fhew_preset"] and record["switch_key_bytes"] for record in found)

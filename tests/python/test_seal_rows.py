"""The mapping of the RNS-CKKS-on-SEAL rows to presets: every row has its levels, slots and precision."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from aglet import _core


def rows() -> list[dict[str, Any]]:
    """The rows of the table."""
    text = resources.files("aglet_bench").joinpath("tables/seal_rows.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["rows"]
    return found


def test_every_row_is_met() -> None:
    assert len({(row["set"], row["log_slots"]) for row in rows()}) == 72
    presets = {preset["name"]: preset for preset in _core.presets()}
    for row in rows():
        assert row["slot_count"] == 2 ** row["log_slots"]
        assert row["bound"] == 2 ** row["integer_bits"]
        assert row["predicted_mean_bits"] - 0.5 >= row["fraction_bits"]
        assert row["predicted_worst_bits"] >= row["fraction_bits"]
        assert presets[row["preset"]]["security_bits"] >= 128
        choice = (row["method"], row["stage_count"], "large", row["slot_count"], False, row["target_level"])
        assert _core.plan(row["preset"], *choice)["output_level"] == row["levels_left"]


def test_what_is_predicted_of_a_row_is_what_the_model_says() -> None:
    # The model draws noise: the largest of 2^15 errors varies by 0.09 bits (Gumbel), and another order of operations
    # draws others.
    for row in rows()[::13]:
        choice = (row["method"], row["stage_count"], "large", row["slot_count"], False, row["target_level"])
        found = _core.predicted_precision(row["preset"], *choice, row["bound"])
        assert abs(found["mean_bits"] - row["predicted_mean_bits"]) < 0.06
        assert abs(found["worst_bits"] - row["predicted_worst_bits"]) < 0.4
        assert found["worst_bits"] >= row["fraction_bits"]

"""Random programs on whole numbers in slots against numpy: the quick part of them."""

from __future__ import annotations

from collections import Counter

from fuzz import chains, slots
from fuzz.profiles import drawn, programs

test_slots = programs(slots.program, share=0.05)
"""Random programs."""
test_chains = programs(chains.program, share=0.05)
"""Chains of which no operator may be refused."""


def test_few_operations_are_refused() -> None:
    """Refusals are no answers: of 169 operations that numpy has, 16 % were refused, and 2 % for their tables."""
    before = Counter(slots.COUNTS)
    drawn(slots.program, 120, 29)()
    counts = slots.COUNTS - before
    refused = counts.total() - counts["answered"]
    assert counts["answered"] > 100
    assert refused < 0.25 * counts.total(), counts
    assert counts["values, and a table"] < 0.1 * counts.total(), counts

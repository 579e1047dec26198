"""Random programs on whole numbers in slots against numpy: the quick part of them."""

from __future__ import annotations

from fuzz import slots
from fuzz.profiles import programs

test_slots = programs(slots.program, share=0.05)
"""Random programs."""

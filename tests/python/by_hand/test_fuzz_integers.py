"""Random programs of `IntegerEngine` without end: other ones each time, AGLET_FUZZ of all fronts together."""

from __future__ import annotations

from fuzz.integers import program
from fuzz.profiles import programs

test_integers = programs(program, share=0.2, profile="by_hand")

"""Ten times the random programs of the quick part, from other seeds."""

from __future__ import annotations

from fuzz import arrays
from fuzz.profiles import programs

test_arrays = programs(arrays.program, share=0.5, profile="long")

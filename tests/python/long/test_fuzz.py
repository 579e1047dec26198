"""Ten times the random programs of the quick part, from other seeds."""

from __future__ import annotations

from fuzz import arrays, engine, lookups
from fuzz.profiles import programs

test_arrays = programs(arrays.program, share=0.5, profile="long")
test_engine = programs(engine.program, share=0.1, profile="long")
test_lookups = programs(lookups.program, share=0.3, profile="long")

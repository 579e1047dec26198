"""Random programs from new seeds, a million of all fronts together, or as many as AGLET_FUZZ says."""

from __future__ import annotations

from fuzz import arrays, engine, lookups
from fuzz.profiles import programs

test_arrays = programs(arrays.program, share=0.5, profile="by_hand")
test_engine = programs(engine.program, share=0.1, profile="by_hand")
test_lookups = programs(lookups.program, share=0.2, profile="by_hand")

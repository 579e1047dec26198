"""Random programs from new seeds, a million of all fronts together, or as many as AGLET_FUZZ says."""

from __future__ import annotations

from fuzz import arrays, bridges, comparisons, engine, integer_bridges, integers, lookups
from fuzz.profiles import programs

test_arrays = programs(arrays.program, share=0.5, profile="by_hand")
test_engine = programs(engine.program, share=0.1, profile="by_hand")
test_lookups = programs(lookups.program, share=0.3, profile="by_hand")
test_integers = programs(integers.program, share=0.2, profile="by_hand")
test_bits_over_a_bridge = programs(bridges.bits_program, share=0.02, profile="by_hand")
test_noisy_bits_over_a_bridge = programs(bridges.noisy_program, share=0.01, profile="by_hand")
test_numbers_over_a_bridge = programs(bridges.numbers_program, share=0.01, profile="by_hand")
test_reals_over_a_bridge = programs(bridges.reals_program, share=0.02, profile="by_hand")
test_integers_over_a_bridge = programs(integer_bridges.program, share=0.002, profile="by_hand")
test_comparisons = programs(comparisons.program, share=0.02, profile="by_hand")

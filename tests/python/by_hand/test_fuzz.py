"""Random programs from new seeds, a million of all fronts together, or as many as AGLET_FUZZ says."""

from __future__ import annotations

from fuzz import arrays, comparisons, engine, fhew, functional, integer_scheme_switch, integers, scheme_switch
from fuzz.profiles import programs

test_arrays = programs(arrays.program, share=0.5, profile="by_hand")
test_engine = programs(engine.program, share=0.1, profile="by_hand")
test_lookups = programs(fhew.program, share=0.3, profile="by_hand")
test_integers = programs(integers.program, share=0.2, profile="by_hand")
test_bits_by_scheme_switch = programs(scheme_switch.bits_program, share=0.02, profile="by_hand")
test_noisy_bits_by_scheme_switch = programs(scheme_switch.noisy_program, share=0.01, profile="by_hand")
test_numbers_by_scheme_switch = programs(scheme_switch.numbers_program, share=0.01, profile="by_hand")
test_reals_by_scheme_switch = programs(scheme_switch.reals_program, share=0.02, profile="by_hand")
test_integers_by_scheme_switch = programs(integer_scheme_switch.program, share=0.002, profile="by_hand")
test_comparisons = programs(comparisons.program, share=0.02, profile="by_hand")
test_functional = programs(functional.program, share=0.02, profile="by_hand")

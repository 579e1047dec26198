"""Random programs over switches in rings without security."""

from __future__ import annotations

from fuzz import scheme_switch
from fuzz.profiles import programs

test_bits = programs(scheme_switch.bits_program, share=0.02)
test_noisy_bits = programs(scheme_switch.noisy_program, share=0.01)
test_numbers = programs(scheme_switch.numbers_program, share=0.01)
test_reals = programs(scheme_switch.reals_program, share=0.02)

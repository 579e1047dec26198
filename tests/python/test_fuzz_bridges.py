"""Random programs over bridges in rings without security."""

from __future__ import annotations

from fuzz import bridges
from fuzz.profiles import programs

test_bits = programs(bridges.bits_program, share=0.02)
test_noisy_bits = programs(bridges.noisy_program, share=0.01)
test_numbers = programs(bridges.numbers_program, share=0.01)
test_reals = programs(bridges.reals_program, share=0.02)

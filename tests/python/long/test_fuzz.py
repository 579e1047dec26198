"""Ten times the random programs of the quick part, from other seeds."""

from __future__ import annotations

import pytest

from fuzz import (
    arrays,
    casts,
    comparisons,
    digits,
    engine,
    fhew,
    fixed,
    functional,
    integer_scheme_switch,
    integers,
    scheme_switch,
)
from fuzz.profiles import programs

# On two cores with AVX2 alone some take ten minutes, and more beside other work.
pytestmark = pytest.mark.timeout(3600)

test_arrays = programs(arrays.program, share=0.35, profile="long")
test_engine = programs(engine.program, share=0.1, profile="long")
test_lookups = programs(fhew.program, share=0.3, profile="long")
test_integers = programs(integers.program, share=0.2, profile="long")
test_bits_by_scheme_switch = programs(scheme_switch.bits_program, share=0.02, profile="long")
test_noisy_bits_by_scheme_switch = programs(scheme_switch.noisy_program, share=0.01, profile="long")
test_numbers_by_scheme_switch = programs(scheme_switch.numbers_program, share=0.01, profile="long")
test_reals_by_scheme_switch = programs(scheme_switch.reals_program, share=0.02, profile="long")
test_integers_by_scheme_switch = programs(integer_scheme_switch.program, share=0.002, profile="long")
test_comparisons = programs(comparisons.program, share=0.02, profile="long")
test_functional = programs(functional.program, share=0.02, profile="long")
test_digits = programs(digits.program, share=0.05, profile="long")
test_digits_on_ciphertexts = programs(digits.live_program, share=0.01, profile="long")
test_fixed = programs(fixed.program, share=0.02, profile="long")
test_fixed_on_ciphertexts = programs(fixed.live_program, share=0.005, profile="long")
test_casts = programs(casts.program, share=0.01, profile="long")

"""Random programs on numbers of a fixed format against whole numbers: the quick part of them."""

from __future__ import annotations

from fuzz import fixed
from fuzz.profiles import programs

test_circuits = programs(fixed.program, share=0.03)
test_ciphertexts = programs(fixed.live_program, share=0.005)

"""Random programs of encrypted integers against numpy: the quick part of them."""

from __future__ import annotations

from fuzz import digits
from fuzz.profiles import programs

test_circuits = programs(digits.program, share=0.03)
test_ciphertexts = programs(digits.live_program, share=0.01)

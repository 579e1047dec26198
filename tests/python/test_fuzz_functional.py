"""Random functional bootstraps against numpy: the quick part of them."""

from __future__ import annotations

from fuzz.functional import program
from fuzz.profiles import programs

test_functional = programs(program, share=0.03)

"""Random programs on encrypted arrays: half of all random programs."""

from __future__ import annotations

from fuzz.arrays import program
from fuzz.profiles import programs

test_arrays = programs(program, share=0.45)

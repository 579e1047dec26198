"""Random comparisons by polynomials."""

from __future__ import annotations

from fuzz.comparisons import program
from fuzz.profiles import programs

test_comparisons = programs(program, share=0.02)

"""Random programs of `FhewEngine` against numpy: the quick part of them."""

from __future__ import annotations

from fuzz.fhew import program
from fuzz.profiles import programs

test_lookups = programs(program, share=0.2)

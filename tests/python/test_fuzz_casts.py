"""Random programs of digits and floats together against numpy: the quick part of them."""

from __future__ import annotations

from fuzz import casts
from fuzz.profiles import programs

test_casts = programs(casts.program, share=0.01)

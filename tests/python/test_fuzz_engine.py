"""Random programs of `Engine` beside numpy; the same ones in every run."""

from __future__ import annotations

from fuzz import engine
from fuzz.profiles import programs

test_engine = programs(engine.program, share=0.1)

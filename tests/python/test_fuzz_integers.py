"""The quick part of random programs of `IntegerEngine`."""

from __future__ import annotations

from fuzz.integers import program
from fuzz.profiles import programs

test_integers = programs(program, share=0.15)

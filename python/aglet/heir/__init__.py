"""Programs of the compiler HEIR: what its OpenFHE emitter writes for CKKS runs on Aglet.

`tokens`, `cursor`, `expressions` and `parser` read the C++, strictly and without compiling it; `machine`, `evaluate`,
`standard` and `loops` run it; `calls` has OpenFHE's calls, `context` engine and keys. HEIR is at https://heir.dev; the
forms are those of `lib/Target/OpenFhePke/OpenFhePkeEmitter.cpp` there, of August 2026.
"""

from aglet.heir.program import Client, Program, load

__all__ = ["Client", "Program", "load"]

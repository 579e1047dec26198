"""CKKS in Python: the engine in parts, what it takes and how it is chosen. `aglet.Engine` is the name to use."""

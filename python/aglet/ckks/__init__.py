"""CKKS in Python: `aglet.Engine`, the parts that it is built from, and the choice of its parameters."""

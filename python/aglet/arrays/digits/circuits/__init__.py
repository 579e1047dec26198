"""Circuits on lists of digits, the lowest first. They are written once, over a `Machine`: ciphertexts or a model."""

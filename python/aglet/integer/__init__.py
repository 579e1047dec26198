"""Exact integers: `aglet.IntegerEngine`."""

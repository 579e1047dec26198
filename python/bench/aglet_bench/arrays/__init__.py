"""Plans of programs on encrypted arrays."""

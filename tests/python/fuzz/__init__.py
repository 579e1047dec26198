"""Random programs on encrypted data against the same in the clear: a file for each front, counts in `profiles`."""

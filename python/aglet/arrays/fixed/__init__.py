"""Encrypted numbers of a fixed format: whole numbers in digits of FHEW, read as multiples of a power of two."""

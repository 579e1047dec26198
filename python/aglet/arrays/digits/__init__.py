"""Encrypted arrays of booleans and whole numbers over FHEW digits: `EncryptedIntegers`, `IntegerSession`."""

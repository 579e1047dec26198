"""Encrypted arrays of any shape, a thin layer on `Engine`: `Session`, `EncryptedArray`."""

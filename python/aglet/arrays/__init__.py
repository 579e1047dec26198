"""Encrypted arrays of any shape: `Session`, `EncryptedArray`, `KeySet`. Thin, on top of `Engine`."""

"""Gates and look-up tables on encrypted bits and small integers; `aglet.LookupEngine` is their face."""

"""Between slots of `Engine` and the bits and integers of `LookupEngine`; `aglet.Bridge` is the face of it."""

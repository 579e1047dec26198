"""Between slots of CKKS or integers and the bits and messages of FHEW; `aglet.SchemeSwitch` is the face of it."""

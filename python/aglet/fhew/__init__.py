"""FHEW/TFHE: gates and lookup tables on encrypted bits and small integers. The public class is `aglet.FhewEngine`."""

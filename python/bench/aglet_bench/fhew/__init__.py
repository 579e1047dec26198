"""Advice, measurements and records of FHEW."""

"""Measurements and predictions of CKKS bootstraps."""

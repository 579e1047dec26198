"""Advice and measurements of scheme switching."""

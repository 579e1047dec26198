"""Advice and measurements of exact integers."""

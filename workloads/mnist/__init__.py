"""Handwritten digits, as the harness ml-inference asks for them."""

"""Encrypted booleans and whole numbers in slots of integers: thousands at once, by tables and arithmetic modulo t."""

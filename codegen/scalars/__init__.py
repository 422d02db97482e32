"""Arithmetic on numbers that lie in registers."""

"""Draws from random streams of NumPy and Python."""

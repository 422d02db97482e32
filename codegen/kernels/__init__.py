"""Loops over arrays that are no nests: searches, gathers, orders."""

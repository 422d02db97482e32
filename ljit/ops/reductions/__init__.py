"""Reductions, scans and orders of arrays."""

"""Strs and bytearrays."""

"""Nested functions, and functions that functions make, as functions of their own."""

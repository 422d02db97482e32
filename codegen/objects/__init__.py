"""Objects of CPython's: attributes, items, methods, calls of its C functions."""

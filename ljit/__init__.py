"""ljit: a JIT compiler for plain numeric Python and NumPy functions."""

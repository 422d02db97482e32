"""References to Python objects: who holds them, how values become objects and objects values."""

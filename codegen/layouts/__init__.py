"""Where CPython and NumPy keep the fields of their objects."""

"""NumPy's ufuncs: the bodies of their inner loops, and calls with ``out``, in place and ``outer``."""

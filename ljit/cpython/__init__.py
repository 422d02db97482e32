"""What ljit knows of CPython: its frames, its threads and limits, its garbage collector, and its classes."""

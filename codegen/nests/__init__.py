"""Loop nests over arrays."""

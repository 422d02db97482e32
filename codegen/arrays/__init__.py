"""Arrays: their fields, their memory, those of a few elements."""

"""Tree views: what they are, and how Python's `ast` becomes them."""

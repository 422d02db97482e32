"""The frontend: a Python function's source to tree views, and those to a graph."""

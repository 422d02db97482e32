"""A tree to a graph, one kind of tree a module."""

"""Functions of NumPy that are formulas of other ops, and fuse with what is around them."""

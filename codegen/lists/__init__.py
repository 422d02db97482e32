"""Lists, in their own layout and as unboxed numbers."""

"""What all NumPy ops share: dtypes, shapes and layouts, conversions, boxed calls, attributes."""

"""Python's operators on numbers, the classes behind types, and ints beyond int64."""

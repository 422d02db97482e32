"""Lists, tuples, dicts, sets and strs: what is made, read, changed and gone through, and their methods."""

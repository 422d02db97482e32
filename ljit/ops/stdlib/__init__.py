"""Functions of Python's library: builtins, `math`, `cmath`, `random`."""

"""The op declarations, one family a file. Importing this package fills `ljit.ir.REGISTRY`."""

from ljit.ops import (
    builtins_containers,
    builtins_numbers,
    containers,
    control,
    math_functions,
    numpy_arithmetic,
    numpy_assign,
    numpy_index,
    numpy_inplace,
    numpy_logic,
    numpy_math,
    objects,
    python,
    python_iteration,
)  # isort: skip

__all__ = [
    "builtins_containers",
    "builtins_numbers",
    "containers",
    "control",
    "math_functions",
    "numpy_arithmetic",
    "numpy_logic",
    "numpy_math",
    "objects",
    "python",
    "python_iteration",
]

"""The op declarations, one family a file. Importing this package fills `ljit.ir.REGISTRY`."""

from ljit.ops import (
    builtins_containers,
    builtins_numbers,
    containers,
    control,
    objects,
    python,
    python_iteration,
)

from ljit.ops import numpy_arithmetic, numpy_assign, numpy_index, numpy_inplace, numpy_logic, numpy_math  # isort: skip

__all__ = [
    "builtins_containers",
    "builtins_numbers",
    "containers",
    "control",
    "numpy_arithmetic",
    "numpy_logic",
    "numpy_math",
    "objects",
    "python",
    "python_iteration",
]

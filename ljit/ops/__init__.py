"""The op declarations, one family a file. Importing this package fills `ljit.ir.REGISTRY`."""

from ljit.ops import containers, control, objects, python, python_iteration
from ljit.ops import numpy_arithmetic, numpy_logic, numpy_math  # isort: skip

__all__ = ["numpy_arithmetic", "numpy_logic", "numpy_math", "containers", "control", "objects", "python", "python_iteration"]

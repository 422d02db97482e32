"""The op declarations, one family a file. Importing this package fills `ljit.ir.REGISTRY`."""

from ljit.ops import containers, control, objects, python, python_iteration

__all__ = ["containers", "control", "objects", "python", "python_iteration"]

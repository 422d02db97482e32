"""The op declarations, one family a file. Importing this package fills `ljit.ir.REGISTRY`."""

from ljit.ops import control

__all__ = ["control"]

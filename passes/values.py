"""When two constants, or two nodes, are the same."""

from __future__ import annotations

import numpy as np

from ljit.cpython.classes import is_plain_class
from ljit.ir import Node

__all__ = ["constant_key", "node_key"]

_ATOMS = (bool, int, str, bytes, type(None))
_WITH_BITS = (float, complex, np.number, np.bool)


def constant_key(value: object) -> object:
    """Give a hashable that is equal for two objects only if no program can tell them apart.

    >>> constant_key(1) == constant_key(True), constant_key((0.0,)) == constant_key((-0.0,))
    (False, False)
    >>> a, b = [], []
    >>> constant_key(a) == constant_key(b)
    False
    """
    cls = type(value)
    if not is_plain_class(cls):
        return object, id(value)
    if cls in _ATOMS:
        return cls, value
    if cls is tuple:
        return cls, tuple(map(constant_key, value))  # type: ignore[call-overload]
    if cls is slice:
        return cls, tuple(map(constant_key, (value.start, value.stop, value.step)))  # type: ignore[attr-defined]
    if issubclass(cls, _WITH_BITS) and not issubclass(cls, np.void):
        return cls, np.asarray(value).tobytes()
    return cls, id(value)


def node_key(node: Node) -> object:
    """Give a hashable that is equal for nodes that compute the same from the same operands."""
    attrs = [(name, constant_key(value)) for name, value in sorted(node.attrs.items())]
    types = [out.type for out in node.outputs]
    return node.op, tuple(node.inputs), tuple(attrs), tuple(types), node.is_fast

"""Keys of dicts and sets that native code looks for without an object (`codegen/objects/hash_tables.py`).

Such a key is a number, a str, or a tuple of such keys. It becomes an object where it is put in, or where another key
may be equal to it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from ljit.characters import is_text
from ljit.ir import Node
from ljit.ops.containers.membership import is_in, is_not_in
from ljit.ops.objects import CALL_METHOD
from ljit.ops.python.types import class_of, is_c_method
from ljit.types import FLOAT, INT, ScalarType, TupleType, Type

__all__ = ["is_dict", "is_key", "is_set", "looks_for_key", "works_with_key"]

_NUMPYS_NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8")
_Places = Mapping[Any, tuple[int, int]]
#: for functions that look for a key: the operand that has it, and the key
_SEARCHES: _Places = {is_in: (1, 0), is_not_in: (1, 0), operator.getitem: (0, 1), dict.get: (0, 1)}
#: ... and that do more, which needs no object if there is the key
_CHANGES: _Places = {operator.setitem: (0, 1), dict.setdefault: (0, 1), set.add: (0, 1)}


def is_key(t: Type) -> bool:
    """Whether values of the type are looked for without an object."""
    if isinstance(t, TupleType):
        return all(map(is_key, t.items))
    if isinstance(t, ScalarType):
        return f"{t.dtype.kind}{t.dtype.itemsize}" in _NUMPYS_NUMBERS
    return t in (INT, FLOAT) or is_text(t)


def is_dict(t: Type) -> bool:
    """Whether it is a dict whose keys are looked up as those of all dicts are, by what its class has now."""
    cls = class_of(t)
    if cls is None or not issubclass(cls, dict):
        return False
    return cls.__getitem__ is dict.__getitem__ and cls.__contains__ is dict.__contains__


def is_set(t: Type) -> bool:
    """Whether it is a set."""
    return class_of(t) in (set, frozenset)


def looks_for_key(node: Node) -> bool:
    """Whether a node only looks for such a key."""
    return _has_key(node, _SEARCHES)


def works_with_key(node: Node) -> bool:
    """Whether a node looks for such a key, and may do more."""
    return _has_key(node, _SEARCHES) or _has_key(node, _CHANGES)


def _has_key(node: Node, functions: _Places) -> bool:
    places = functions.get(_function_of(node))
    if places is None:
        return False
    table, key = (node.inputs[place].type for place in places)
    return is_key(key) and (is_dict(table) or is_set(table))


def _function_of(node: Node) -> object:
    if node.op is not CALL_METHOD:
        return node.op.evaluate
    method = getattr(class_of(node.inputs[0].type), str(node.attrs["name"]), None)
    return method if is_c_method(method) else None  # others may have no hash

"""The types of Python objects: `type_of`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from weakref import WeakSet

import numpy as np

from ljit.cpython.classes import is_plain_class
from ljit.cpython.named_tuples import count_of_fields
from ljit.module_types import type_of_module
from ljit.places import has_distinct_places
from ljit.record_layouts import is_structured, kept_alignment
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    INT_MAX,
    INT_MIN,
    MAX_ITEMS,
    MAX_LEVELS,
    NATIVE_KINDS,
    NEVER,
    NONE,
    RANGE,
    STR,
    UINT,
    UINT_MAX,
    ArrayType,
    ListType,
    NamedTupleType,
    ObjectType,
    ScalarType,
    TupleType,
    Type,
    is_native,
    join_items,
    named_tuple_of,
    slice_of,
    tuple_of,
)

__all__ = ["register_class", "type_of"]

_SCALARS: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STR,
    type(None): NONE,
    range: RANGE,
}
_SAMPLE = 16  # of a list's items, which are guarded when read
_BY_CLASS = _SCALARS.keys() - {range}  # classes whose objects are of one type, but for large ints
#: of a tuple that is taken apart; of one of texts or other objects of one class, and of one of numbers
_MOST_OBJECTS, _MOST_NUMBERS = 8, 32
_SCALAR_CLASSES: dict[type, Type] = {d.type: ScalarType(d) for d in NATIVE_KINDS}
_ALL = slice(None)
_C_CONTIGUOUS, _CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x3, 0x100, 0x400  # of `flags.num`
_nodes: WeakSet[type] = (
    WeakSet()
)  # classes of named tuples that were seen to hold others of the class
_CLASS_RULES: dict[type, Callable[[object], Type]] = {ModuleType: type_of_module}


def register_class(cls: type, rule: Callable[[object], Type]) -> None:
    """Let `type_of` ask `rule` for objects of exactly `cls`."""
    _CLASS_RULES[cls] = rule


def type_of(value: object, *, is_constant: bool = False) -> Type:
    """Give the most precise type of a Python object (sizes of arrays are left unknown).

    `is_constant`: its items are those of all calls, so that nothing is taken apart for a precise type.

    >>> str(type_of((1, 2.5))), str(type_of(np.zeros((2, 3)))), str(type_of(2**63)), str(type_of(2**70))
    ('(int, float)', 'Float64(*, *)', 'uint', 'Any')
    """
    cls = type(value)
    if cls is int:
        if INT_MIN <= value <= INT_MAX:  # type: ignore[operator]
            return INT
        return UINT if 0 < value <= UINT_MAX else ANY  # type: ignore[operator]
    if type(cls) is not type and not is_plain_class(cls):  # the first saves the call, mostly
        return ANY
    found = _SCALARS.get(cls) or _SCALAR_CLASSES.get(cls)
    if found is not None:
        return _checked_range(value) if isinstance(value, range) else found
    if cls is np.ndarray:
        return _array_type(value)  # type: ignore[arg-type]
    if cls is tuple or cls is list:
        return _nested_type(value, MAX_LEVELS, is_constant) or ObjectType(tuple)
    if cls is slice:
        return slice_of(*map(type_of, (value.start, value.stop, value.step)))  # type: ignore[attr-defined]
    rule = _CLASS_RULES.get(cls)
    if rule is not None:
        return rule(value)
    return _named_type(value, MAX_LEVELS) if issubclass(cls, tuple) else ObjectType(cls)  # type: ignore[arg-type]


def _named_type(value: tuple[object, ...], levels: int) -> Type:
    """The type of an object of a subclass of tuple.

    The nodes of trees are objects, of whatever shape these are, and so are the leaves once a node was seen.
    """
    cls = type(value)
    if count_of_fields(cls) != tuple.__len__(value) or cls in _nodes:
        return ObjectType(cls)
    items = _type_of_tuple(tuple.__getitem__(value, _ALL), levels, is_constant=False)
    if isinstance(items, TupleType) and _holds(items, ObjectType(cls)):
        _nodes.add(cls)
    if not isinstance(items, TupleType) or cls in _nodes:
        return ObjectType(cls)
    return named_tuple_of(cls, items.items)


def _holds(t: Type, named: ObjectType) -> bool:
    """Whether a value of the type has objects of the class in it."""
    match t:
        case TupleType(items):
            return any(_holds(item, named) for item in items)
        case NamedTupleType(cls, items):
            return cls == named or any(_holds(item, named) for item in items)
        case ListType(item):
            return _holds(item, named)
    return t == named


def _checked_range(value: range) -> Type:
    fits = all(INT_MIN <= x <= INT_MAX for x in (value.start, value.stop, value.step))
    return RANGE if fits else ObjectType(range)


def _array_type(value: np.ndarray) -> Type:
    dtype, flags = value.dtype, value.flags.num
    if not (is_native(dtype) or _are_records(value)):
        return ObjectType(np.ndarray)
    if flags < 0 or not flags & _ALIGNED:  # the sign: of those that warn when they are written to
        return ObjectType(np.ndarray)
    layout = "C" if flags & _C_CONTIGUOUS else "strided"
    writeable = bool(flags & _WRITEABLE and (flags & _CONTIGUOUS or has_distinct_places(value)))
    return ArrayType(dtype, (None,) * value.ndim, layout, writeable)


def _are_records(value: np.ndarray) -> bool:
    """Whether it is an array of plain records that lie as native code needs them."""
    if value.dtype.names is None or not is_structured(value.dtype):
        return False
    needed = kept_alignment(value.dtype)
    return not any(place % needed for place in (value.ctypes.data, *value.strides))


def _nested_type(value: object, levels: int, is_constant: bool) -> Type | None:
    """The type of an object at most so many containers deep; None: a tuple that is deeper."""
    if type(value) is not list:
        if type(value) is tuple:
            return _type_of_tuple(value, levels, is_constant)
        is_tuple = issubclass(type(value), tuple)
        return _named_type(value, levels) if is_tuple else type_of(value)  # type: ignore[arg-type]
    sample: list[object] = value[:_SAMPLE] if levels else []
    if sample and _are_alike(sample):
        return ListType(_type_of_alike(sample))
    item: Type = NEVER if levels else ANY
    for x in sample:
        item = join_items(item, _nested_type(x, levels - 1, is_constant) or ObjectType(tuple))
    return ListType(item)


def _are_alike(items: Sequence[object]) -> bool:
    """Whether all are of one class, which is in `_BY_CLASS`."""
    cls = type(items[0])
    return is_plain_class(cls) and cls in _BY_CLASS and all(type(x) is cls for x in items)


def _type_of_alike(items: Sequence[object]) -> Type:
    """The type of objects of one class, which is in `_BY_CLASS`."""
    if type(items[0]) is not int:
        return _SCALARS[type(items[0])]
    return join_items(type_of(min(items)), type_of(max(items)))  # type: ignore[type-var]


def _is_sequence(value: tuple[object, ...]) -> bool:
    """Whether a tuple is long and has items of one class: that is gone through, or indexed, rather than taken apart."""
    if len(value) <= _MOST_OBJECTS:
        return False
    cls = type(value[0])
    if not is_plain_class(cls):
        return False
    is_number = cls in (bool, int, float, complex) or cls in _SCALAR_CLASSES
    most = _MOST_NUMBERS if is_number else _MOST_OBJECTS
    return len(value) > most and all(type(x) is cls for x in value)


def _type_of_tuple(value: tuple[object, ...], levels: int, is_constant: bool) -> Type | None:
    items: list[Type] = []
    if not levels:
        return None
    if not is_constant and _is_sequence(value):
        return ObjectType(tuple)
    for x in value[: MAX_ITEMS + 1]:
        if (found := _nested_type(x, levels - 1, is_constant)) is None:
            return None
        items.append(found)
    if not is_constant and _is_node(items):
        return ObjectType(tuple)
    return tuple_of(tuple(items))


def _is_node(items: Sequence[Type]) -> bool:
    """Whether a tuple is one of a tree, `("+", ("x", 1), ("y", 2))`: others of the tree are of any shape."""
    return _is_named(items) and any(isinstance(t, TupleType) and _is_named(t.items) for t in items)


def _is_named(items: Sequence[Type]) -> bool:
    return bool(items) and items[0] == STR

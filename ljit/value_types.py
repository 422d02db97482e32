"""The types of Python objects: `type_of`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ljit.places import has_distinct_places
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
    ObjectType,
    ScalarType,
    Type,
    is_native_number,
    join_items,
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
_SCALAR_CLASSES: dict[type, Type] = {d.type: ScalarType(d) for d in NATIVE_KINDS}
_C_CONTIGUOUS, _CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x3, 0x100, 0x400  # of `flags.num`
_CLASS_RULES: dict[type, Callable[[object], Type]] = {}


def register_class(cls: type, rule: Callable[[object], Type]) -> None:
    """Let `type_of` ask `rule` for objects of exactly `cls`."""
    _CLASS_RULES[cls] = rule


def type_of(value: object) -> Type:
    """Give the most precise type of a Python object (sizes of arrays are left unknown).

    >>> str(type_of((1, 2.5))), str(type_of(np.zeros((2, 3)))), str(type_of(2**63)), str(type_of(2**70))
    ('(int, float)', 'Float64(*, *)', 'uint', 'Any')
    """
    cls = type(value)
    if cls is int:
        if INT_MIN <= value <= INT_MAX:  # type: ignore[operator]
            return INT
        return UINT if 0 < value <= UINT_MAX else ANY  # type: ignore[operator]
    found = _SCALARS.get(cls) or _SCALAR_CLASSES.get(cls)
    if found is not None:
        return _checked_range(value) if isinstance(value, range) else found
    if cls is np.ndarray:
        return _array_type(value)  # type: ignore[arg-type]
    if cls is tuple or cls is list:
        return _nested_type(value, MAX_LEVELS) or ObjectType(tuple)
    if cls is slice:
        return slice_of(*map(type_of, (value.start, value.stop, value.step)))  # type: ignore[attr-defined]
    rule = _CLASS_RULES.get(cls)
    return rule(value) if rule is not None else ObjectType(cls)


def _checked_range(value: range) -> Type:
    fits = all(INT_MIN <= x <= INT_MAX for x in (value.start, value.stop, value.step))
    return RANGE if fits else ObjectType(range)


def _array_type(value: np.ndarray) -> Type:
    dtype, flags = value.dtype, value.flags.num
    if not is_native_number(dtype):
        return ObjectType(np.ndarray)
    if flags < 0 or not flags & _ALIGNED:  # the sign: of those that warn when they are written to
        return ObjectType(np.ndarray)
    layout = "C" if flags & _C_CONTIGUOUS else "strided"
    writeable = bool(flags & _WRITEABLE and (flags & _CONTIGUOUS or has_distinct_places(value)))
    return ArrayType(dtype, (None,) * value.ndim, layout, writeable)


def _nested_type(value: object, levels: int) -> Type | None:
    """The type of an object at most so many containers deep; None: a tuple that is deeper."""
    if type(value) is not list:
        return _type_of_tuple(value, levels) if type(value) is tuple else type_of(value)
    item: Type = NEVER if levels else ANY
    for x in value[: 16 if levels else 0]:  # items are guarded when read: a sample is enough
        item = join_items(item, _nested_type(x, levels - 1) or ObjectType(tuple))
    return ListType(item)


def _type_of_tuple(value: tuple[object, ...], levels: int) -> Type | None:
    items: list[Type] = []
    if not levels:
        return None
    for x in value[: MAX_ITEMS + 1]:
        if (found := _nested_type(x, levels - 1)) is None:
            return None
        items.append(found)
    return tuple_of(tuple(items))

"""The classes behind types, who decides what operators of them do, and the length of a range."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from types import (
    BuiltinMethodType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)

import numpy as np

from ljit.cpython.classes import found_in, is_open, is_plain_class
from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.ranges.int_ranges import FROM_START, INSIDE
from ljit.record_types import item_type
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UINT,
    ArrayType,
    ItemsType,
    ListType,
    ObjectType,
    RangeType,
    ScalarType,
    SliceType,
    Type,
    is_numpy,
    join,
)

__all__ = [
    "NO_ATTRIBUTE",
    "UINT64",
    "bound_function",
    "check_index",
    "class_of",
    "common_type",
    "find_behind",
    "fixed_method",
    "has_plain_lookup",
    "has_plain_stores",
    "is_below",
    "is_c_method",
    "join_all",
    "numpy_decides",
    "own_attribute",
    "range_count",
    "range_length",
    "select_item",
    "subarray",
    "wrap_index",
]

_CLASSES: dict[Type, type] = {
    BOOL: bool,
    INT: int,
    UINT: int,
    FLOAT: float,
    COMPLEX: complex,
    STR: str,
    CHARACTER: str,
    NONE: type(None),
}
UINT64 = ScalarType(np.dtype(np.uint64))


def class_of(t: Type) -> type | None:
    """Give the exact class of all values of type `t`; None if it is not known."""
    match t:
        case ScalarType(dtype):
            return dtype.type
        case ArrayType():
            return np.ndarray
        case ItemsType():
            return t.cls
        case ListType():
            return list
        case RangeType():
            return range
        case SliceType():
            return slice
        case ObjectType(cls):
            return cls
    return _CLASSES.get(t)


_PLAIN_LOOKUP = frozenset(
    (
        *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, np.ndarray),
        *(GeneratorType, deque, bytearray, array),
    )
)


def fixed_method(t: Type, name: str) -> object | None:
    """Give the function of the method ``x.name`` for all x of type `t`, if nobody can change that."""
    cls = class_of(t)
    if cls is None or not _has_fixed_members(cls):
        return None
    function = getattr(cls, name, None)
    return function if is_c_method(function) else None


def _has_fixed_members(cls: type) -> bool:
    if cls in _PLAIN_LOOKUP or issubclass(cls, np.generic):
        return True
    return has_plain_lookup(cls) and not (is_open(cls) or cls.__dictoffset__)


def has_plain_lookup(cls: type) -> bool:
    """Whether attributes of the objects are looked up as usual: in the object, then in the class and its bases."""
    lookup: object = cls.__getattribute__
    return lookup is object.__getattribute__ and not hasattr(cls, "__getattr__")


def has_plain_stores(cls: type) -> bool:
    """Whether attributes of the objects are stored as usual."""
    store: object = cls.__setattr__
    return store is object.__setattr__


def find_behind(cls: type, above: type, name: str) -> object:
    """Give what ``super(above, x).name`` finds for an object `x` of the class, not bound; None: nothing."""
    bases = cls.__mro__
    behind = bases[bases.index(above) + 1 :] if above in bases else ()
    return next((vars(c)[name] for c in behind if name in vars(c)), None)


#: what `own_attribute` gives if there is none
NO_ATTRIBUTE = object()


def is_users_object(x: object) -> bool:
    """Whether it is of a class of Python's whose attributes are looked up as usual."""
    cls = type(x)
    return is_open(cls) and has_plain_lookup(cls)


def own_attribute(x: object, name: str) -> object:
    """Give what an object of a class of Python's has itself under the name, not its class: runs no code of either."""
    cls = type(x)
    if not is_users_object(x):
        return NO_ATTRIBUTE
    found = found_in(cls, name)
    if type(found) not in (type(None), FunctionType, MemberDescriptorType):
        return NO_ATTRIBUTE
    try:
        value = getattr(x, name)
    except AttributeError:
        return NO_ATTRIBUTE
    is_of_class = type(value) is MethodType and value.__func__ is found
    return NO_ATTRIBUTE if is_of_class else value


def is_c_method(function: object) -> bool:
    """Whether it is a method as a class of C or Cython has it."""
    cls = type(function)
    if cls is MethodDescriptorType:
        return True
    return is_plain_class(cls) and cls.__name__ == "cython_function_or_method"


def bound_function(method: object) -> tuple[object, object] | None:
    """Give the function and the receiver of a bound method, if calling it is calling that function."""
    if type(method) is MethodType:
        return method.__func__, method.__self__
    if type(method) is not BuiltinMethodType or isinstance(method.__self__, type | ModuleType):
        return None
    for cls in type(method.__self__).__mro__:
        function = vars(cls).get(method.__name__)
        if isinstance(function, MethodDescriptorType):
            same = function.__get__(method.__self__) == method
            return (function, method.__self__) if same else None
    return None


def range_count(e: Emitter, x: V) -> V:
    """Give the number of items of a range as np.uint64, which holds every length."""
    start, stop, step = e.range_parts(x)
    rising = e.compare("gt", step, 0)
    low, high = e.select(rising, start, stop), e.select(rising, stop, start)
    # Invariant: wrapping 64-bit arithmetic; the true values fit in unsigned 64 bits
    width = e.cast(e.select(rising, step, e.sub(0, step)), UINT64)
    distance = e.sub(e.cast(high, UINT64), e.cast(low, UINT64))
    none, is_empty = e.const(UINT64, 0), e.compare("ge", low, high)

    def divided() -> V:
        # The width of no range is 0; the division says so too
        divisor = e.select(e.compare("eq", width, none), 1, width)
        return e.add(e.div(e.sub(distance, 1), divisor), 1)

    # Branches: a division takes longer than many a loop, and LLVM repeats one that it sees in a trip count
    return e.branch(
        e.compare("eq", width, 1),
        lambda: e.select(is_empty, none, distance),
        lambda: e.branch(is_empty, lambda: none, divided),
    )


def range_length(e: Emitter, x: V) -> V:
    """Give the number of items of a range as an int; beyond int64 it bails out."""
    result = e.cast(range_count(e, x), INT)
    if not e.is_proven("fits"):
        e.bail_if(e.compare("lt", result, 0), "length beyond int64")
    return result


def join_all(types: Iterable[Type]) -> Type:
    """Give the least type that holds the values of all."""
    result: Type = NEVER
    for t in types:
        result = join(result, t)
    return result


def common_type(types: Sequence[Type]) -> Type:
    """Give the type of an item that is found by its index."""
    return join_all(types) if types else ANY


def select_item(e: Emitter, items: Sequence[V], index: V) -> V:
    """Give the item of a tuple at an index within its bounds."""
    type_ = common_type([item.type for item in items])
    if type_ == ANY and any(item.type != ANY for item in items):
        return _boxed_item(e, items, index, 0)
    return e.item_at([e.widen(item, type_) for item in items], index)


def _boxed_item(e: Emitter, items: Sequence[V], index: V, first: int) -> V:
    """Box one item only."""
    if first == len(items) - 1:
        return e.widen(items[first], ANY)
    return e.branch(
        e.compare("eq", index, first),
        lambda: e.widen(items[first], ANY),
        lambda: _boxed_item(e, items, index, first + 1),
    )


def wrap_index(e: Emitter, index: V, size: V) -> V:
    """Give the index counted from the front; one out of bounds bails out."""
    index = index if index.type == INT else e.cast(index, INT)
    if e.is_proven(INSIDE):
        return index
    wrapped = index
    if not e.is_proven(FROM_START):
        wrapped = e.select(e.compare("lt", index, 0), e.add(index, size), index)
    check_index(e, wrapped, size)
    return wrapped


def is_below(e: Emitter, index: V, size: V) -> V:
    """Whether 0 <= index < size."""
    return e.compare("lt", e.cast(index, UINT64), e.cast(size, UINT64))


def check_index(e: Emitter, index: V, size: V) -> None:
    """Bail out unless 0 <= index < size: memory is never read out of bounds."""
    outside = e.compare("ge", e.cast(index, UINT64), e.cast(size, UINT64))
    e.bail_if(outside, "index out of range")


def subarray(e: Emitter, array: V, k: V) -> V:
    """Give row `k`, which exists, of an array of two or more dimensions, or a record, as a view."""
    t = array.type
    sizes, strides = e.array_sizes(array), e.array_strides(array)
    return e.array_view(array, item_type(t), e.mul(k, strides[0]), sizes[1:], strides[1:])


def numpy_decides(types: Sequence[Type]) -> bool:
    """Whether NumPy decides what an operator does: with a NumPy operand, but that of a Python `complex`.

    A `np.float64` is a `float`, and `complex` has the first say of ``z * x``.
    """
    is_complex = (
        len(types) == 2 and types[0] == COMPLEX and types[1] == ScalarType(np.dtype(np.float64))
    )
    return any(map(is_numpy, types)) and not is_complex

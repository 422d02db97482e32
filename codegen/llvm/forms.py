"""Machine forms: how a value of each ljit type is held in LLVM values.

| type | components |
|---|---|
| bool, np.bool | i1 |
| int, uint, np.int64 ..., float, np.float32 ... | i64, i64, ..., double, float ... |
| complex | two floats |
| character | i32, -1 for an empty str |
| tuple, view | the components of its items, one after the other |
| range | start, stop, step |
| slice | the components of start, stop and step |
| array, record | object, owner, data, each unknown size (i64), with layout "strided" each stride (i64, bytes) |
| Union | tag (i8, index of the member), then the components of every member; all ints share one, and all floats |
| None, Unbound, Never | nothing |
| Any, str, list, Object | one pointer |

In memory (array elements) a bool is an i8. An array's `object` is null or equal to `owner`; `owner` keeps
the memory alive. Values with object null are views that were never needed as Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ljit.codegen.llvm.builder import Ref, undef
from ljit.records import Record
from ljit.types import (
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    UINT,
    ArrayType,
    ItemsType,
    RangeType,
    ScalarType,
    SliceType,
    Type,
    UnionType,
    ViewType,
)
from ljit.unique import forgets_classes

__all__ = [
    "ArrayParts",
    "LateSlot",
    "Native",
    "Turn",
    "aggregate",
    "array_parts",
    "array_value",
    "components",
    "dtype_of",
    "is_scalar",
    "items_of",
    "llvm_of_dtype",
    "member_parts",
    "memory_type",
    "owned_positions",
    "split",
    "undef_of",
]


class LateSlot:
    """A slot for the object of a view, made when it is first asked for: most views never become objects."""

    __slots__ = ("_make", "_slot")

    def __init__(self, make: Callable[[], Ref], slot: Ref | None = None) -> None:
        self._make = make
        self._slot = slot

    @property
    def is_made(self) -> bool:
        return self._slot is not None

    @property
    def ref(self) -> Ref:
        """The stack variable."""
        if self._slot is None:
            self._slot = self._make()
        return self._slot


class Native:
    """A value inside the emitter: its ljit type and its components."""

    __slots__ = ("constant", "late", "memos", "parts", "type")

    def __init__(
        self,
        type_: Type,
        parts: Sequence[Ref],
        memos: Mapping[int, LateSlot] | None = None,
        late: Callable[[], Ref] | None = None,
    ) -> None:
        self.type = type_
        self.parts = tuple(parts)
        #: by the position of a view's `object`: the slot that holds the object once it was made
        self.memos: Mapping[int, LateSlot] = memos or {}
        #: of an object that only exits need: writes the code that makes it there, a new reference or null
        self.late = late
        #: the Python object that it is, if it is known while compiling: the code keeps that
        self.constant: Ref | None = None

    @property
    def ref(self) -> Ref:
        """The only component."""
        (part,) = self.parts
        return part

    def __repr__(self) -> str:
        return f"<Native {self.type}: {', '.join(p.typed for p in self.parts)}>"


Turn = Callable[[Native, Native], Native]  # a trip of a loop: of its number and what is carried


_LLVM = {
    "b": "i1",
    "i1": "i8",
    "u1": "i8",
    "i2": "i16",
    "u2": "i16",
    "i4": "i32",
    "u4": "i32",
    "i8": "i64",
    "u8": "i64",
    "f2": "half",
    "f4": "float",
    "f8": "double",
    "c8": "float",
    "c16": "double",
}
_PYTHON_DTYPES = {
    BOOL: np.dtype(np.bool_),
    INT: np.dtype(np.int64),
    UINT: np.dtype(np.uint64),
    FLOAT: np.dtype(np.float64),
    COMPLEX: np.dtype(np.complex128),
}


def dtype_of(type_: Type) -> np.dtype:
    """The dtype with the machine form of a scalar type."""
    if isinstance(type_, ScalarType):
        return type_.dtype
    return _PYTHON_DTYPES[type_]  # type: ignore[index]  # a KeyError for a type that is no scalar


def is_scalar(type_: Type) -> bool:
    """Whether the type is a Python or NumPy number (or bool)."""
    return isinstance(type_, ScalarType) or type_ in _PYTHON_DTYPES


def llvm_of_dtype(dtype: np.dtype) -> str:
    """LLVM type of a dtype's value in a register; of complex, of each half."""
    return _LLVM["b" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize}"]


def memory_type(dtype: np.dtype) -> str:
    """LLVM type of a dtype's value in an array; of complex, of each half."""
    return "i8" if dtype.kind == "b" else llvm_of_dtype(dtype)


@forgets_classes
@lru_cache(maxsize=4096)
def components(type_: Type) -> tuple[str, ...]:
    """Give the LLVM types of the components of a value."""
    if type_.is_boxed:
        return ("ptr",)
    if is_scalar(type_):
        dtype = dtype_of(type_)
        return (llvm_of_dtype(dtype),) * (2 if dtype.kind == "c" else 1)
    if type_ == CHARACTER:
        return ("i32",)
    match type_:
        case ArrayType():
            unknown = sum(size is None for size in type_.shape)
            strides = type_.ndim if type_.layout != "C" else 0
            return ("ptr", "ptr", "ptr") + ("i64",) * (unknown + strides)
        case UnionType():
            return _union_layout(type_)[0]
        case RangeType():
            return ("i64", "i64", "i64")
        case ItemsType() | ViewType() | SliceType():
            return tuple(part for item in items_of(type_) for part in components(item))
    return ()


def items_of(type_: Type) -> tuple[Type, ...]:
    """The types of the items of an aggregate, in the order of their components."""
    match type_:
        case ItemsType():
            return type_.items
        case ViewType():
            return type_.parts
        case SliceType():
            return (type_.start, type_.stop, type_.step)
        case RangeType():
            return (INT, INT, INT)
        case UnionType():
            return type_.members
    return ()


def split(value: Native) -> list[Native]:
    """Take an aggregate (tuple, range, slice, view) apart into its items."""
    result: list[Native] = []
    at = 0
    for item in items_of(value.type):
        count = len(components(item))
        memos = {p - at: slot for p, slot in value.memos.items() if at <= p < at + count}
        result.append(Native(item, value.parts[at : at + count], memos))
        at += count
    return result


def aggregate(type_: Type, items: Sequence[Native]) -> Native:
    """Put items together; the inverse of `split`."""
    parts: list[Ref] = []
    memos: dict[int, LateSlot] = {}
    for item in items:
        memos |= {len(parts) + p: slot for p, slot in item.memos.items()}
        parts += item.parts
    return Native(type_, parts, memos)


@forgets_classes
@lru_cache(maxsize=1024)
def _union_layout(type_: UnionType) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The components of a union, and where those of each member start and stop.

    A float and an np.float64 share theirs: what is done to either is the same code then, and LLVM needs no
    branch on the tag. So do numbers of fewer bits, which are held exactly (`scalars/unions.py`).
    """
    kept = {_sharing(member): components(member) for member in sorted(type_.members, key=_width)}
    parts: tuple[str, ...] = ("i8",)
    starts: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    for member in type_.members:
        name = _sharing(member)
        if name == "" or name not in starts:
            starts[name] = len(parts)
            parts += kept[name] if name else components(member)
        start = starts[name]
        places.append((start, start + len(components(member))))
    return parts, tuple(places)


def _sharing(member: Type) -> str:
    """Name the component that members of a union share; nothing for others than numbers."""
    if not is_scalar(member):
        return ""
    kind = dtype_of(member).kind
    return "i" if kind in "iu" else kind if kind in "bf" else str(components(member))


def _width(member: Type) -> int:
    return dtype_of(member).itemsize if is_scalar(member) else 0


def member_parts(type_: UnionType, index: int) -> tuple[int, int]:
    """Where (start, stop) the components of member `index` lie among those of the union, maybe wider than its own."""
    return _union_layout(type_)[1][index]


@forgets_classes
@lru_cache(maxsize=4096)
def owned_positions(type_: Type) -> tuple[int, ...]:
    """Which components are pointers to objects that the holder of the value must keep alive."""
    if type_.is_boxed:
        return (0,)
    if isinstance(type_, ArrayType):
        return (1,)
    if isinstance(type_, UnionType):
        return ()
    positions: list[int] = []
    at = 0
    for item in items_of(type_):
        positions += [at + p for p in owned_positions(item)]
        at += len(components(item))
    return tuple(positions)


def undef_of(type_: Type) -> Native:
    """Some value of the type, for places that are never read."""
    return Native(type_, [undef(part) for part in components(type_)])


class ArrayParts(Record, eq=True, frozen=False):
    """The components of an array by name. `sizes` has constants where the type knows them.

    `strides` is None for layout "C": they follow from the sizes.
    """

    object: Ref
    owner: Ref
    data: Ref
    sizes: tuple[Ref, ...]
    strides: tuple[Ref, ...] | None

    def __init__(
        self,
        object: Ref,
        owner: Ref,
        data: Ref,
        sizes: tuple[Ref, ...],
        strides: tuple[Ref, ...] | None,
    ) -> None:
        self.object = object
        self.owner = owner
        self.data = data
        self.sizes = sizes
        self.strides = strides


def array_parts(value: Native) -> ArrayParts:
    """Give the components of an array by name."""
    type_ = value.type
    assert isinstance(type_, ArrayType)
    rest = iter(value.parts[3:])
    sizes = tuple(
        next(rest) if size is None else Ref("i64", str(size), size) for size in type_.shape
    )
    strides = tuple(rest) if type_.layout != "C" else None
    made, owner, data = value.parts[:3]
    return ArrayParts(made, owner, data, sizes, strides)


def array_value(type_: ArrayType, parts: ArrayParts) -> Native:
    """The inverse of `array_parts`: `parts.strides` must be given for layout "strided"."""
    refs = [parts.object, parts.owner, parts.data]
    refs += [ref for ref, size in zip(parts.sizes, type_.shape, strict=True) if size is None]
    if type_.layout != "C":
        assert parts.strides is not None
        refs += parts.strides
    return Native(type_, refs)

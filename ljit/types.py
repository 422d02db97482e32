"""The type lattice: what ljit can know of a value before it is computed.

Types are immutable and compare by value: there is one object for each. `join` is the least upper bound;
`Any` is the top (a boxed object of unknown class), `Never` the bottom. Python scalars (`int`, `float`) and
NumPy scalars (`np.int64`, `np.float64`) are different types, since they behave differently. Types print in the
text form that `parse_type` reads back.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Self

import numpy as np

from ljit.record_layouts import layout_text, named_parts
from ljit.unique import Unique, UniqueByClass, forgets_classes

__all__ = [
    "ANY",
    "BOOL",
    "BYTEARRAY",
    "BYTES",
    "CHARACTER",
    "COMPLEX",
    "FLOAT",
    "INT",
    "NEVER",
    "NONE",
    "RANGE",
    "SLICE",
    "STR",
    "UINT",
    "UNBOUND",
    "ArrayType",
    "AtomType",
    "ItemsType",
    "ListType",
    "NamedTupleType",
    "ObjectType",
    "RangeType",
    "ScalarType",
    "SliceType",
    "TupleType",
    "Type",
    "UnionType",
    "ViewType",
    "is_index",
    "is_native",
    "is_number",
    "is_numpy",
    "join",
    "join_items",
    "list_of",
    "named_tuple_of",
    "scalar_type",
    "slice_of",
    "tuple_of",
]

MAX_UNION = 4


class Type(Unique):
    """Base of all types. They are equal if they are of one class and have the same `key`, the tuple of their fields.

    Classes and methods are written out: types are made, compared and looked up all the time.
    """

    __slots__ = ("__weakref__", "key")

    def __init__(self, *key: object) -> None:
        self.key = key

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.key

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.key!r}"

    @property
    def is_boxed(self) -> bool:
        """Whether a value of this type is a plain ``PyObject *`` in native code."""
        return False


class AtomType(Type):
    """A type without parameters: ``int``, ``float``, ``None``, ``Any`` ..."""

    __slots__ = ("is_boxed", "name")
    __match_args__ = ("name",)

    def __init__(self, name: str) -> None:
        self.key = (name,)
        self.name: Final = name
        self.is_boxed: Final = name in ("Any", "str")

    def __str__(self) -> str:
        return self.name


ANY = AtomType("Any")
NEVER = AtomType("Never")
UNBOUND = AtomType("Unbound")  # the "value" of a local variable that is not bound
NONE = AtomType("None")
BOOL = AtomType("bool")
INT = AtomType("int")  # a Python int that fits in int64
UINT = AtomType("uint")  # one in [0, 2**64), known as such if beyond int64; larger ones are `Any`
FLOAT = AtomType("float")
COMPLEX = AtomType("complex")
STR = AtomType("str")
CHARACTER = AtomType("char")  # a str of at most one character, as its code: `ljit/characters.py`


def _usual(dtype: np.dtype) -> np.dtype:
    """NumPy's own object for a dtype of numbers: there may be others that are equal."""
    return np.dtype(dtype.char) if dtype.kind in "biufc" else dtype


class ScalarType(Type):
    """A NumPy scalar (``np.float64(...)``, not a 0-d array) of a native-order dtype."""

    __slots__ = ("dtype",)
    __match_args__ = ("dtype",)

    def __init__(self, dtype: np.dtype) -> None:
        self.key = (dtype,)
        self.dtype: Final = _usual(dtype)

    def __str__(self) -> str:
        return f"np.{self.dtype.name}"


class ArrayType(Type):
    """An exact ``np.ndarray``: dtype, one entry a dimension (None: unknown size), memory layout.

    `layout` is ``"C"`` (C-contiguous) or ``"strided"`` (anything). Arrays with this type are aligned
    and in native byte order; others are `Any`.
    """

    __slots__ = ("dtype", "layout", "named", "shape", "writeable")
    __match_args__ = ("dtype", "shape", "layout", "writeable")

    def __init__(
        self,
        dtype: np.dtype,
        shape: tuple[int | None, ...],
        layout: str = "C",
        writeable: bool = True,
    ) -> None:
        self.key = (dtype, shape, layout, writeable)
        self.dtype: Final = _usual(dtype)
        #: of structured arrays: the dtypes with fields, and their names, which may be set
        self.named: Final = named_parts(dtype) if dtype.names is not None else ()
        self.shape: Final = shape
        self.layout: Final = layout
        self.writeable: Final = writeable

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def element(self) -> ScalarType:
        """The type of one element, a number."""
        return ScalarType(self.dtype)

    @property
    def has_fields(self) -> bool:
        """Whether the elements are records: few ops take such arrays (`OpDef.takes_records`)."""
        return bool(self.named)

    def like(self, shape: tuple[int | None, ...], layout: str, writeable: bool) -> ArrayType:
        """The type of arrays of the same kind with another form."""
        return ArrayType(self.dtype, shape, layout, writeable)

    def __str__(self) -> str:
        parts = ["*" if size is None else str(size) for size in self.shape]
        if self.layout != "C":
            parts.append(self.layout)
        if not self.writeable:
            parts.append("readonly")
        name = (
            f"Records[{layout_text(self.dtype)!r}]"
            if self.has_fields
            else self.dtype.name.capitalize()
        )
        return f"{name}({', '.join(parts)})"


class ItemsType(Type):
    """A tuple of a class, with the type of each item."""

    __slots__ = ("items",)
    items: tuple[Type, ...]

    @property
    def cls(self) -> type:
        """The class of the values."""
        return tuple

    def with_items(self, items: Iterable[Type]) -> Self:
        """The type of tuples of the class with other items."""
        raise NotImplementedError

    def is_like(self, other: Type) -> bool:
        """Whether the other one is that of tuples of the class with as many items."""
        is_of_class = isinstance(other, ItemsType) and other.cls is self.cls
        return is_of_class and len(other.items) == len(self.items)  # type: ignore[attr-defined]


class TupleType(ItemsType):
    """An exact tuple, with the type of each item."""

    __slots__ = ()
    __match_args__ = ("items",)

    def __init__(self, items: tuple[Type, ...]) -> None:
        self.key = (items,)
        self.items = items

    def with_items(self, items: Iterable[Type]) -> TupleType:
        """The type of tuples with other items."""
        return TupleType(tuple(items))

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.items))
        return f"({inside},)" if len(self.items) == 1 else f"({inside})"


class NamedTupleType(ItemsType):
    """A tuple of a class of named tuples (`ljit/cpython/named_tuples.py`), with the type of each item."""

    __slots__ = ("named",)
    __match_args__ = ("named", "items")

    def __init__(self, named: ObjectType, items: tuple[Type, ...]) -> None:
        self.key = (named, items)
        self.named: Final = named
        self.items = items

    @property
    def cls(self) -> type:
        """The class of the values."""
        return self.named.cls

    def with_items(self, items: Iterable[Type]) -> NamedTupleType:
        """The type of tuples of the class with other items."""
        return NamedTupleType(self.named, tuple(items))

    def __str__(self) -> str:
        return f"Named[{', '.join(map(str, (self.named, *self.items)))}]"


class ListType(Type):
    """An exact list whose items were all seen as `item`; items are checked again when read.

    If it `is_private` nobody else sees it, they are of that type for sure, and numbers among them are unboxed.
    """

    __slots__ = ("is_private", "item")
    __match_args__ = ("item",)

    def __init__(self, item: Type, is_private: bool = False) -> None:
        self.key = (item, is_private)
        self.item: Final = item
        self.is_private: Final = is_private

    def __str__(self) -> str:
        return f"PrivateList[{self.item}]" if self.is_private else f"List[{self.item}]"

    @property
    def is_boxed(self) -> bool:
        return True


class RangeType(Type):
    """A ``range`` object whose start, stop and step fit in int64."""

    __slots__ = ()

    def __str__(self) -> str:
        return "range"


RANGE = RangeType()


class SliceType(Type):
    """A ``slice`` object: types of start, stop, step (an int of Python or NumPy, or NONE, each)."""

    __slots__ = ("start", "step", "stop")
    __match_args__ = ("start", "stop", "step")

    def __init__(self, start: Type, stop: Type, step: Type) -> None:
        self.key = (start, stop, step)
        self.start: Final = start
        self.stop: Final = stop
        self.step: Final = step

    def __str__(self) -> str:
        return f"slice[{self.start}, {self.stop}, {self.step}]"


SLICE = SliceType(INT, INT, NONE)


class ViewType(Type):
    """A stateless iteration view (`kind`: enumerate, zip, reversed) over the views `parts`."""

    __slots__ = ("kind", "parts")
    __match_args__ = ("kind", "parts")

    def __init__(self, kind: str, parts: tuple[Type, ...]) -> None:
        self.key = (kind, parts)
        self.kind: Final = kind
        self.parts: Final = parts

    def __str__(self) -> str:
        return f"View[{self.kind}, {', '.join(map(str, self.parts))}]"


class ObjectType(UniqueByClass, Type):
    """A boxed object of exactly this class."""

    __slots__ = ("cls",)
    __match_args__ = ("cls",)

    def __init__(self, cls: type) -> None:
        self.key = (cls,)
        self.cls: Final = cls

    def __str__(self) -> str:
        return f"Object[{self.cls.__module__}.{self.cls.__qualname__}]"

    @property
    def is_boxed(self) -> bool:
        return True


class UnionType(Type):
    """One of a few unboxed types; native code carries a tag beside the value."""

    __slots__ = ("members",)
    __match_args__ = ("members",)

    def __init__(self, members: tuple[Type, ...]) -> None:
        self.key = (members,)
        self.members: Final = members  # sorted by text, at least two, no unions, no boxed types

    def __str__(self) -> str:
        return f"Union[{', '.join(map(str, self.members))}]"


_NUMBERS = frozenset((BOOL, INT, FLOAT, COMPLEX))


def is_index(t: Type) -> bool:
    """Whether values of type `t` are ints or stand for one, of 64 bits, as an index."""
    if isinstance(t, ScalarType):
        return t.dtype.kind in "iu" and t.dtype != np.uint64
    return t in (BOOL, INT)


def is_number(t: Type) -> bool:
    """Whether `t` is a Python bool, int, float or complex."""
    return t in _NUMBERS


def is_numpy(t: Type) -> bool:
    """Whether `t` is a NumPy scalar or array."""
    return isinstance(t, ScalarType | ArrayType)


@forgets_classes
@lru_cache(maxsize=4096)
def join(a: Type, b: Type) -> Type:
    """Give the least type that holds the values of both.

    >>> str(join(INT, FLOAT)), str(join(NEVER, INT)), str(join(STR, INT))
    ('Union[float, int]', 'int', 'Any')
    """
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        merged = _join_arrays(a, b)
        if merged is not None:
            return merged
    if isinstance(a, ItemsType) and a.is_like(b):
        return a.with_items(map(join, a.items, b.items))  # type: ignore[attr-defined]
    if isinstance(a, NamedTupleType) and a.named == b:
        return b
    if isinstance(b, NamedTupleType) and b.named == a:
        return a
    if isinstance(a, ListType) and isinstance(b, ListType):
        return ListType(join_items(a.item, b.item))
    return _union(a, b)


def join_items(a: Type, b: Type) -> Type:
    """The type of items of one list: a guess that reading checks, so that ints beside uints are uints."""
    joined = join(a, b)
    return UINT if isinstance(joined, UnionType) and {*joined.members} == {INT, UINT} else joined


def _join_arrays(a: ArrayType, b: ArrayType) -> ArrayType | None:
    if a.dtype != b.dtype or a.ndim != b.ndim or type(a) is not type(b):
        return None
    shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    layout = a.layout if a.layout == b.layout else "strided"
    return a.like(shape, layout, a.writeable and b.writeable)


def _union(a: Type, b: Type) -> Type:
    if {a, b} == {STR, CHARACTER}:
        return STR
    members: set[Type] = set()
    for t in (a, b):
        members.update(t.members if isinstance(t, UnionType) else (t,))
    if len(members) > MAX_UNION or not all(map(_can_be_member, members)):
        return ANY
    return UnionType(tuple(sorted(members, key=str)))


def _can_be_member(t: Type) -> bool:
    return t in _NUMBERS or t in (UINT, NONE, UNBOUND, CHARACTER) or isinstance(t, ScalarType)


BYTES = ObjectType(bytes)  # its items, ints below 256, are read where they lie
BYTEARRAY = ObjectType(bytearray)  # so are these, which may change, as its size may
INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1
#: dtypes that native code computes with; others stay boxed.
NATIVE_KINDS = {
    np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float16 float32 float64 complex64 complex128"
    ).split()
}
_NATIVE_NUMBERS = {d.num for d in NATIVE_KINDS}  # "longlong" equals int64 but is another dtype


MAX_ITEMS = 64  # of a tuple whose items have types, those of tuples in it counted one by one
MAX_LEVELS = 4  # of tuples and lists in one another; trees and chains of them are objects


def is_native(dtype: np.dtype) -> bool:
    """Whether native code computes with elements of a dtype.

    It is one of `NATIVE_KINDS`, and not only equal to one, as "longlong" is; the byte order is the machine's; nothing
    is attached, for native code would lose the metadata.
    """
    return dtype.num in _NATIVE_NUMBERS and dtype.isnative and dtype.metadata is None


def scalar_type(dtype: np.dtype) -> Type:
    """Give the type of an element of `dtype`; `Any` if native code does not compute with it."""
    return ScalarType(dtype) if is_native(dtype) else ANY


def tuple_of(items: tuple[Type, ...]) -> Type:
    """The type of a tuple with items of these types; an object's if these are many, or deep."""
    made = TupleType(items)
    levels, count = _extent(made)
    return made if levels <= MAX_LEVELS and count <= MAX_ITEMS else ObjectType(tuple)


def named_tuple_of(cls: type, items: tuple[Type, ...]) -> Type:
    """The type of a named tuple with items of these types; an object's if these are many, or deep."""
    named = ObjectType(cls)
    is_known = isinstance(tuple_of(items), TupleType)
    return NamedTupleType(named, items) if is_known else named


def list_of(item: Type) -> ListType:
    """The type of a list with items of this type; of any items if these are deep."""
    return ListType(item if _extent(item)[0] < MAX_LEVELS else ANY)


@forgets_classes
@lru_cache(maxsize=4096)
def _extent(t: Type) -> tuple[int, int]:
    """How many tuples and lists a type goes down, and how many items of tuples it has then."""
    if isinstance(t, ListType):
        return 1 + _extent(t.item)[0], 1
    if not isinstance(t, ItemsType):
        return 0, 1
    inside = [_extent(item) for item in t.items]
    return 1 + max((n for n, _ in inside), default=0), sum(n for _, n in inside)


def slice_of(start: Type, stop: Type, step: Type) -> Type:
    """The type of a slice with parts of these types."""
    parts = (start, stop, step)
    return SliceType(*parts) if all(p == NONE or is_index(p) for p in parts) else ObjectType(slice)

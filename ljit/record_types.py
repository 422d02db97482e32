"""Structured arrays and their records: which types hold them, and what is known of their fields.

Native code reads the numbers in them where they lie, and makes views of fields. To each op that does not say that it
takes them (`OpDef.takes_records`) they are objects like all others.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ljit.record_layouts import is_structured, layout_text, lies_likewise, offset_of
from ljit.types import ANY, ArrayType, ItemsType, ScalarType, Type, ViewType, is_native, scalar_type
from ljit.unique import forgets_classes

__all__ = [
    "RecordType",
    "UnalignedType",
    "as_objects",
    "field_offset",
    "has_records",
    "item_type",
    "type_of_field",
]


class RecordType(ArrayType):
    """An element of a structured array: an ``np.void`` that is a view of the array's memory.

    Only native code makes such values, of arrays. An ``np.void`` that comes from elsewhere is an object.
    """

    __slots__ = ()

    def __init__(self, dtype: np.dtype, writeable: bool = True) -> None:
        ArrayType._fill(self, dtype, (), "C", writeable)
        self.key = (dtype, writeable)

    def like(self, shape: tuple[int | None, ...], layout: str, writeable: bool) -> ArrayType:
        """The type of records of the same dtype."""
        return RecordType(self.dtype, writeable)

    def __str__(self) -> str:
        end = "" if self.writeable else ", readonly"
        return f"Record[{layout_text(self.dtype)!r}{end}]"


class UnalignedType(ArrayType):
    """The view of a field whose numbers are not aligned. Only native code makes such values."""

    __slots__ = ()

    def __init__(self, dtype: np.dtype, shape: tuple[int | None, ...], writeable: bool) -> None:
        ArrayType._fill(self, dtype, shape, "strided", writeable)
        self.key = (dtype, shape, writeable)

    def like(self, shape: tuple[int | None, ...], layout: str, writeable: bool) -> ArrayType:
        """The type of such views with another form."""
        return UnalignedType(self.dtype, shape, writeable)

    def __str__(self) -> str:
        return f"Unaligned{super().__str__()}"


@forgets_classes
@lru_cache(maxsize=4096)
def has_records(t: Type) -> bool:
    """Whether values of the type are records, structured arrays or views that are not aligned, or hold such."""
    match t:
        case ArrayType():
            return t.has_fields or isinstance(t, UnalignedType)
        case ItemsType() as items:
            return any(map(has_records, items.items))
        case ViewType(_, parts):
            return any(map(has_records, parts))
    return False


@forgets_classes
@lru_cache(maxsize=4096)
def as_objects(t: Type) -> Type:
    """Give the type with objects in the place of records and structured arrays.

    >>> from ljit.types import INT, TupleType
    >>> str(as_objects(TupleType((RecordType(np.dtype([("x", float)])), INT))))
    '(Any, int)'
    """
    if not has_records(t) or isinstance(t, ViewType):
        return t
    return t.with_items(map(as_objects, t.items)) if isinstance(t, ItemsType) else ANY


def item_type(t: ArrayType) -> Type:
    """Give the type of ``a[0]`` of an array with axes: an element, a record or a view."""
    if t.ndim > 1:
        return ArrayType(t.dtype, t.shape[1:], t.layout, t.writeable)
    return RecordType(t.dtype, t.writeable) if t.has_fields else scalar_type(t.dtype)


def field_offset(t: Type, name: object) -> int | None:
    """Give the place of a field in a record; None: there is none, or none whose elements native code knows."""
    if not isinstance(t, ArrayType) or not t.has_fields or name not in (t.dtype.names or ()):
        return None
    field = t.dtype[str(name)]
    is_known = is_native(field.base) or is_structured(field)
    return offset_of(t.dtype, str(name)) if is_known else None


def type_of_field(t: Type, name: object) -> Type:
    """Give the type of ``x[name]``: the view of an array's field, a record's number, a view of its subarray.

    `Any` where native code cannot tell.
    """
    offset = field_offset(t, name)
    if offset is None:
        return ANY
    assert isinstance(t, ArrayType)
    field = t.dtype[str(name)]
    is_record, shape = isinstance(t, RecordType), (*t.shape, *field.shape)
    if is_record and not shape:
        return ScalarType(field) if is_native(field) else ANY
    if not is_native(field.base) and (is_record or not lies_likewise(t.dtype, field, offset)):
        return ANY
    if not lies_likewise(t.dtype, field.base, offset):
        return UnalignedType(field.base, shape, t.writeable)
    layout = "strided" if t.ndim else "C"
    return ArrayType(field.base, shape, layout, t.writeable)

"""Which values pass between native functions without becoming objects, and as what."""

from __future__ import annotations

import ctypes

from ljit.characters import as_text
from ljit.record_types import RecordType, UnalignedType
from ljit.records import Record, made_by
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    UINT,
    ArrayType,
    ItemsType,
    RangeType,
    ScalarType,
    SliceType,
    Type,
    UnionType,
    join,
)

__all__ = ["NativeLink", "Signature", "as_parameter", "can_pass", "native_result"]

_PLAIN = frozenset((BOOL, INT, UINT, FLOAT, COMPLEX, NONE))
_MOST_ITEMS = 8  # of a tuple that is given back in registers


class Signature(Record, eq=True):
    """The types of a native function's parameters and of its result; a result `Any` is an object."""

    params: tuple[Type, ...]
    result: Type

    def takes(self, types: tuple[Type, ...]) -> bool:
        """Whether values of these types can be passed."""
        if len(types) != len(self.params):
            return False
        return all(map(can_pass, types, self.params))


class NativeLink(Record, frozen=False):
    """A call of a function's native code by that of another function.

    The caller relies on the signature, and if `is_clean`, on no unknown code running in the callee as long as it
    is native. Where there is no such native code (now), `address` is 0 and `callee` is called with objects.
    """

    callee: object
    signature: Signature
    is_clean: bool
    by_name: tuple[str, ...] = ()  # the last parameters: objects are given to them by name
    #: the callee's code has become another one: callers are to be compiled again
    is_stale: bool = False
    cell: ctypes.c_uint64 = made_by(factory=ctypes.c_uint64)

    @property
    def address(self) -> int:
        """Where the native code is."""
        return self.cell.value

    @address.setter
    def address(self, value: int) -> None:
        self.cell.value = value

    @property
    def place(self) -> int:
        """Where callers find the address: valid as long as the link is."""
        return ctypes.addressof(self.cell)

    def fits(self, signature: Signature, *, is_clean: bool) -> bool:
        """Whether native code is what callers rely on."""
        return self.signature == signature and is_clean >= self.is_clean


def as_parameter(type_: Type) -> Type | None:
    """The type that an argument of this type has for a function that is called with it; None: nobody knows."""
    match type_:
        case RecordType() | UnalignedType():
            return None
        case ArrayType():
            shape = (None,) * type_.ndim
            return ArrayType(type_.dtype, shape, type_.layout, type_.writeable)
        case ItemsType():
            items = tuple(map(as_parameter, type_.items))
            return None if None in items else type_.with_items(items)  # type: ignore[arg-type]
    return None if type_ in (ANY, NEVER) else as_text(type_)


def can_pass(given: Type, wanted: Type) -> bool:
    """Whether a value of type `given` can be passed as an unboxed parameter of type `wanted`."""
    if isinstance(given, UnionType) or given == NEVER or join(given, wanted) != wanted:
        return False
    return wanted.is_boxed or isinstance(wanted, ArrayType) or _is_plain(wanted)


def _is_plain(type_: Type) -> bool:
    """Whether a value has no objects in it."""
    match type_:
        case ItemsType():
            return all(map(_is_plain, type_.items))
        case SliceType():
            return all(map(_is_plain, (type_.start, type_.stop, type_.step)))
        case UnionType():
            return all(map(_is_plain, type_.members))
    return type_ in _PLAIN or isinstance(type_, ScalarType | RangeType)


def native_result(type_: Type) -> Type:
    """The type as which native code gives back a value of the type: itself, or `Any` for an object."""
    if type_ == NEVER:
        return NEVER
    if isinstance(type_, ItemsType) and len(type_.items) > _MOST_ITEMS:
        return ANY
    return type_ if _is_plain(type_) else ANY

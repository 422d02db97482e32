"""Which values pass between native functions without becoming objects, and as what."""

from __future__ import annotations

from ljit.records import Record
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    ArrayType,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    join,
)

__all__ = ["Signature", "can_pass", "native_result"]

_PLAIN = frozenset((BOOL, INT, FLOAT, COMPLEX, NONE))
_MOST_ITEMS = 3  # of a tuple that is given back in registers


class Signature(Record, eq=True):
    """The types of a native function's parameters and of its result; a result `Any` is an object."""

    params: tuple[Type, ...]
    result: Type

    def takes(self, types: tuple[Type, ...]) -> bool:
        """Whether values of these types can be passed."""
        if len(types) != len(self.params):
            return False
        return all(map(can_pass, types, self.params))


def can_pass(given: Type, wanted: Type) -> bool:
    """Whether a value of type `given` can be passed as an unboxed parameter of type `wanted`."""
    if isinstance(given, UnionType) or given == NEVER or join(given, wanted) != wanted:
        return False
    return wanted.is_boxed or isinstance(wanted, ArrayType) or _is_plain(wanted)


def _is_plain(type_: Type) -> bool:
    """Whether a value has no objects in it."""
    match type_:
        case TupleType():
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
    if isinstance(type_, TupleType) and len(type_.items) > _MOST_ITEMS:
        return ANY
    return type_ if _is_plain(type_) else ANY

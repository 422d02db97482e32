"""Values as Unions, and Unions as one of their members.

Numbers of fewer bits lie in a component that they share with wider ones: `v = 255`, then `v = min(v, a[i, j])` of
bytes: the int and the np.uint8 are one i64, so that what is done to either is the same code, without a branch on the
tag. Floats are doubles likewise. Both ways are exact; where a Union holds another member than the one that is asked
for, nobody looks at the result.
"""

from __future__ import annotations

import numpy as np

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, integer, undef
from ljit.codegen.llvm.forms import Native, components, dtype_of, is_scalar, member_parts
from ljit.codegen.scalars.casts import cast_value
from ljit.types import ScalarType, Type, UnionType

__all__ = ["as_number", "as_union", "member_at", "member_of"]


def member_of(f: FunctionBuilder, value: Native, member: Type) -> Native:
    """Give a Union as one of a member."""
    if not isinstance(value.type, UnionType):
        return value
    return member_at(f, value, value.type.members.index(member))


def member_at(f: FunctionBuilder, value: Native, index: int) -> Native:
    """Give a Union as one of its member `index`."""
    assert isinstance(value.type, UnionType)
    member = value.type.members[index]
    pairs = zip(_parts_of(value, member), components(member), strict=True)
    return Native(member, [_moved(f, part, own, member) for part, own in pairs])


def as_union(f: FunctionBuilder, value: Native, type_: UnionType) -> Native:
    """Give a value as one of a Union; the members that only its own Union has are not those that it holds."""
    source = value.type
    members = source.members if isinstance(source, UnionType) else (source,)
    parts: list[Ref | None] = [None for _ in components(type_)]
    for index, member in enumerate(members):
        if member not in type_.members:
            continue
        target = type_.members.index(member)
        start, stop = member_parts(type_, target)
        shared = zip(_parts_of(value, member), components(type_)[start:stop], strict=True)
        own = [_moved(f, part, wide, member) for part, wide in shared]
        for at, part in zip((0, *range(start, stop)), (integer("i8", target), *own), strict=True):
            other = parts[at]
            parts[at] = (
                part
                if other is None
                else f.select(f.icmp("eq", value.parts[0], index), part, other)
            )
    pairs = zip(parts, components(type_), strict=True)
    return Native(type_, [undef(llvm) if part is None else part for part, llvm in pairs])


def as_number(f: FunctionBuilder, x: Native, type_: Type) -> Native | None:
    """Give a Union as one of a type that holds its numbers; None if it takes the tag to tell which number it is."""
    assert isinstance(x.type, UnionType)
    members = x.type.members
    places = {member_parts(x.type, index) for index in range(len(members))}
    if len(places) != 1 or not all(map(is_scalar, members)):
        return None
    ((start, stop),) = places
    common = ScalarType(np.result_type(*map(dtype_of, members)))
    if components(common) != components(x.type)[start:stop]:
        return None
    return cast_value(f, Native(common, x.parts[start:stop]), type_)


def _parts_of(value: Native, member: Type) -> tuple[Ref, ...]:
    """The components that hold a value if it is the member."""
    if not isinstance(value.type, UnionType):
        return value.parts
    start, stop = member_parts(value.type, value.type.members.index(member))
    return value.parts[start:stop]


def _moved(f: FunctionBuilder, part: Ref, llvm: str, member: Type) -> Ref:
    """Give what holds a member in a component of one width in one of another width."""
    if part.type == llvm:
        return part
    opcodes = ("fpext", "fptrunc")
    if llvm[0] == "i":
        is_unsigned = dtype_of(member).kind == "u" and (part.type,) == components(member)
        opcodes = ("zext" if is_unsigned else "sext", "trunc")
    is_wider = _BITS[llvm] > _BITS[part.type]
    return f.convert(opcodes[0 if is_wider else 1], part, llvm)


_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}

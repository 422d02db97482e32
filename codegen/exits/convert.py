"""Between ljit types: widening to a type that holds more values, narrowing with a check.

Widening never fails; narrowing leaves for the interpreter when the value is not of the type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import is_contiguous, strides_of
from ljit.codegen.exits.bailout import known_object
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, Ref
from ljit.codegen.llvm.forms import (
    ArrayParts,
    Native,
    aggregate,
    array_parts,
    array_value,
    items_of,
    split,
    undef_of,
)
from ljit.codegen.references.boxing import box, incref, is_in_no_cycle, unbox, untrack
from ljit.codegen.scalars.unions import as_union, member_of
from ljit.errors import CodegenError
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    INT,
    NEVER,
    NONE,
    ArrayType,
    ItemsType,
    ListType,
    TupleType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "borrow_object",
    "convert",
    "has_member",
    "hold_made",
    "narrow",
    "new_object",
    "of_members",
    "unbox_or_bail",
]


# -- objects ---------------------------------------------------------------------------------------


def borrow_object(e: Emitter, value: Native) -> tuple[Ref, Ref | None]:
    """The Python object of a value, and the temporary slot that keeps it alive (None: not needed)."""
    there = _object_there(e, value)
    if there is not None:
        return there, None
    type_ = value.type
    if type_ == CHARACTER:
        pointer, held = _character(e, value)
        return pointer, e.ownership.acquire_temporary(held) if held.constant is None else None
    if isinstance(type_, ArrayType):
        parts = array_parts(value)
        if parts.object.text == parts.owner.text:
            return parts.object, None
        if 0 in value.memos:
            return _memoised_object(e, value, value.memos[0].ref), None
    pointer = _make_object(e, value)
    return pointer, e.ownership.acquire_temporary(pointer)


def _object_there(e: Emitter, value: Native) -> Ref | None:
    """The object of a value that need not be made: that of a constant, or the one that the value was read from."""
    if value.type.is_boxed:
        return value.ref
    if value.constant is not None:
        return value.constant
    if value.type == NONE:
        return e.context.keep(None)
    if value.type == BOOL:
        return e.f.select(value.ref, e.context.keep(True), e.context.keep(False))
    if value.type == INT and value.ref.constant is not None:
        return e.context.keep(value.ref.constant)
    return e.ownership.object_of(value)


def _character(e: Emitter, value: Native) -> tuple[Ref, Ref]:
    """The str of a character, and the reference that the function holds, null if it need not."""
    from ljit.codegen.references.characters import character_object

    pointer, held = character_object(e.f, value.ref, e.context.keep)
    if held.constant is None:
        e.bailout.error_if_null(pointer)
    return pointer, held


def _memoised_object(e: Emitter, view: Native, memo: Ref) -> Ref:
    """The object of a view, made at its first use and held by the slot `memo`."""
    f = e.f
    known = f.load("ptr", memo)
    make, done = f.new_block("make"), f.new_block("made")
    had = f.condbr(f.icmp("eq", known, NULL), make, done)
    f.start(make)
    made = box(f, view, e.context.keep)
    e.bailout.error_if_null(made)
    f.store(made, memo)
    left = f.br(done)
    f.start(done)
    result = f.phi("ptr")
    result.add(known, had)
    result.add(made, left)
    return result


def _boxed(e: Emitter, value: Native) -> Ref:
    """The object of a value, held by a slot of its own where it was not there before."""
    there = _object_there(e, value)
    if there is not None:
        return there
    if isinstance(value.type, ArrayType) and 0 in value.memos:
        return borrow_object(e, value)[0]
    if isinstance(value.type, ArrayType):
        parts = array_parts(value)
        if parts.object.text == parts.owner.text:
            return parts.object
    if value.type == CHARACTER:
        pointer, held = _character(e, value)
        if held.constant is None:
            e.ownership.acquire(held)
        return pointer
    pointer = _make_object(e, value)
    e.ownership.acquire(pointer)
    return pointer


def new_object(e: Emitter, value: Native) -> Ref:
    """A new reference to the boxed value, which the caller gives away."""
    is_view = isinstance(value.type, ArrayType) and 0 in value.memos
    if is_view or e.ownership.object_of(value) is not None:
        pointer, _ = borrow_object(e, value)
        incref(e.f, pointer)
        return pointer
    return _make_object(e, value)


def _make_object(e: Emitter, value: Native) -> Ref:
    """Box a value; items of a tuple that were read from objects that are kept are these objects."""
    given = _with_objects(e, value)
    pointer = box(e.f, known_object(e.f, given), e.context.keep)
    e.bailout.error_if_null(pointer)
    if given is not value and isinstance(value.type, TupleType) and is_in_no_cycle(value.type):
        untrack(e.f, pointer)
    return pointer


def _with_objects(e: Emitter, value: Native) -> Native:
    """A tuple with the objects that are kept in the places of its items, however deep; else the value."""
    if not isinstance(value.type, ItemsType):
        return value
    items, types = [], []
    for item in split(value):
        there = e.ownership.object_of(item)
        items.append(_with_objects(e, item) if there is None else Native(ANY, (there,)))
        types.append(items[-1].type)
    return aggregate(value.type.with_items(types), items) if types != [*value.type.items] else value


def hold_made(e: Emitter, value: Native) -> None:
    """Make the object of a tuple that several uses need, and hold it, unless it was read from one."""
    if e.f.is_reachable and e.ownership.object_of(value) is None and value.constant is None:
        e.ownership.hold_made(value, new_object(e, value))


# -- widening --------------------------------------------------------------------------------------


def convert(e: Emitter, value: Native, type_: Type) -> Native:
    """Give the value as one of a type that holds all values of its type."""
    source = value.type
    if source == type_:
        return value
    if source == NEVER or not e.f.is_reachable:
        return undef_of(type_)
    if type_.is_boxed:
        return Native(type_, (_boxed(e, value),))
    if isinstance(type_, UnionType):
        return _to_union(e, value, type_)
    if isinstance(source, ArrayType) and isinstance(type_, ArrayType):
        return _to_array(e, value, type_)
    if items_of(type_) and type(source) is type(type_):
        pairs = zip(split(value), items_of(type_), strict=True)
        return aggregate(type_, [convert(e, item, wanted) for item, wanted in pairs])
    msg = f"a value of type {source} cannot stand for one of type {type_}"
    raise CodegenError(msg)


def _to_union(e: Emitter, value: Native, type_: UnionType) -> Native:
    source = value.type
    for member in source.members if isinstance(source, UnionType) else (source,):
        if member not in type_.members:
            msg = f"{member} is not a member of {type_}"
            raise CodegenError(msg)
    return as_union(e.f, value, type_)


def _to_array(e: Emitter, value: Native, type_: ArrayType) -> Native:
    parts = array_parts(value)
    assert isinstance(value.type, ArrayType)
    if value.type.dtype != type_.dtype or value.type.ndim != type_.ndim:
        msg = f"an array {value.type} cannot stand for one of type {type_}"
        raise CodegenError(msg)
    strides = tuple(strides_of(e.f, value.type, parts)) if type_.layout != "C" else None
    made = ArrayParts(parts.object, parts.owner, parts.data, parts.sizes, strides)
    result = array_value(type_, made)
    result.memos = value.memos
    return result


# -- narrowing -------------------------------------------------------------------------------------


def has_member(e: Emitter, value: Native, member: Type) -> Ref:
    """Whether a Union (or a tuple with Unions) holds a value of the type `member` now, as an i1."""
    source = value.type
    wanted = member.members if isinstance(member, UnionType) else (member,)
    result = FALSE
    if isinstance(source, ItemsType) and isinstance(member, ItemsType):
        result = TRUE
        for item, type_ in zip(split(value), member.items, strict=True):
            result = e.f.binary("and", result, has_member(e, item, type_))
        return result
    if not isinstance(source, UnionType):
        return TRUE if source in wanted else FALSE
    if len(wanted) == 1 and wanted[0] == source.members[-1] and len(source.members) == 2:
        return e.f.bool_not(e.f.icmp("eq", value.parts[0], 0))
    for m in wanted:
        if m in source.members:
            tag = source.members.index(m)
            result = e.f.binary("or", result, e.f.icmp("eq", value.parts[0], tag))
    return result


def of_members(e: Emitter, value: Native, compute: Callable[[Native], Native]) -> Native:
    """Compute something of a Union as of each of its members, and choose by the tag."""
    if not isinstance(value.type, UnionType):
        return compute(value)
    result: Native | None = None
    for member in value.type.members:
        one = compute(member_of(e.f, value, member))
        is_it = Native(BOOL, (has_member(e, value, member),))
        result = one if result is None else e.select(is_it, one, result)
    assert result is not None
    return result


def narrow(e: Emitter, value: Native, type_: Type, reason: str) -> Native:
    """Leave for the interpreter unless the value has the type; give it as one of that type."""
    source = value.type
    if source == type_ or type_ == ANY:
        return convert(e, value, type_)
    if source.is_boxed:
        if isinstance(source, ListType) and isinstance(type_, ListType):
            return Native(type_, value.parts)  # List[a] as List[b]: items are checked when read
        return unbox_or_bail(e, value, type_, reason)
    if isinstance(source, UnionType):
        return _narrow_union(e, value, type_, reason)
    if isinstance(source, ArrayType) and isinstance(type_, ArrayType):
        return _narrow_array(e, value, type_, reason)
    if items_of(type_) and type(source) is type(type_):
        if len(items_of(source)) == len(items_of(type_)):
            return _narrow_items(e, value, type_, reason)
    elif isinstance(type_, UnionType) and source in type_.members:
        return convert(e, value, type_)
    e.bailout.bail_if(TRUE, reason)
    return undef_of(type_)


def _narrow_items(e: Emitter, value: Native, type_: Type, reason: str) -> Native:
    pairs = zip(split(value), items_of(type_), strict=True)
    return aggregate(type_, [narrow(e, item, wanted, reason) for item, wanted in pairs])


def _narrow_union(e: Emitter, value: Native, type_: Type, reason: str) -> Native:
    source = value.type
    assert isinstance(source, UnionType)
    e.bailout.bail_if(e.f.bool_not(has_member(e, value, type_)), reason)
    if not isinstance(type_, UnionType):
        return member_of(e.f, value, type_) if type_ in source.members else undef_of(type_)
    return as_union(e.f, value, type_)


def _narrow_array(e: Emitter, value: Native, type_: ArrayType, reason: str) -> Native:
    source, parts = value.type, array_parts(value)
    assert isinstance(source, ArrayType)
    fits = source.dtype == type_.dtype and source.ndim == type_.ndim
    if not fits or (type_.writeable and not source.writeable):
        e.bailout.bail_if(TRUE, reason)
        return undef_of(type_)
    bad = FALSE
    for size, wanted in zip(parts.sizes, type_.shape, strict=True):
        if wanted is not None:
            bad = e.f.binary("or", bad, e.f.icmp("ne", size, wanted))
    if type_.layout == "C" and source.layout != "C":
        contiguous = is_contiguous(e, source, parts)
        bad = e.f.binary("or", bad, e.f.bool_not(contiguous))
    e.bailout.bail_if(bad, reason)
    return _to_array(e, value, type_)


def unbox_or_bail(e: Emitter, value: Native, type_: Type, reason: str) -> Native:
    """Unbox an object as a value of the type (whose objects are borrowed); bail if it is not one."""
    if type_ in (ANY, value.type):
        return value
    if not e.f.is_reachable:
        return undef_of(type_)
    if type_ == NEVER:
        e.bailout.bail_if(TRUE, reason)
        return undef_of(type_)
    fail = e.bailout.fail_block(reason)
    return unbox(e.f, value.ref, type_, fail, by_call=True)

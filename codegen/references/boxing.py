"""Machine forms to Python objects: `box`. The way back is `unbox`, in `ljit.codegen.references.unboxing`.

`box` gives a new reference, or null with a Python error set (no memory); nothing leaks then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.analysis.alias import is_immutable
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import NULL, BlockRef, FunctionBuilder, Ref, address, integer
from ljit.codegen.llvm.forms import Native, array_parts, dtype_of, split
from ljit.codegen.references.unboxing import unbox, unbox_union
from ljit.codegen.scalars.unions import member_at
from ljit.ops.containers.iteration_views import VIEW_CLASSES
from ljit.ops.names import UNBOUND_VALUE
from ljit.record_types import RecordType, UnalignedType
from ljit.types import (
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    UINT,
    UNBOUND,
    ArrayType,
    ItemsType,
    NamedTupleType,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    ViewType,
)

__all__ = ["Keep", "box", "decref", "incref", "is_in_no_cycle", "unbox", "unbox_union", "untrack"]

#: Gives the address of a Python object and keeps it alive as long as the code lives.
Keep = Callable[[object], Ref]


# -- reference counts ----------------------------------------------------------------------------------


def incref(f: FunctionBuilder, pointer: Ref) -> None:
    """Take a reference to an object that is not null."""
    if layout.IS_IMMORTAL_AWARE:
        f.call_external("void", "Py_IncRef", (pointer,))
        return
    count = f.load("i64", pointer)
    f.store(f.binary("add", count, 1), pointer)


def decref(f: FunctionBuilder, pointer: Ref) -> None:
    """Give back a reference to an object that is not null."""
    if layout.IS_IMMORTAL_AWARE:
        f.call_external("void", "Py_DecRef", (pointer,))
        return
    count = f.binary("sub", f.load("i64", pointer), 1)
    f.store(count, pointer)
    dead, alive = f.new_block("dead"), f.new_block("alive")
    f.condbr(f.icmp("eq", count, 0), dead, alive)
    f.start(dead)
    f.call_external("void", "_Py_Dealloc", (pointer,))
    f.br(alive)
    f.start(alive)


def _new_reference(f: FunctionBuilder, pointer: Ref) -> Ref:
    incref(f, pointer)
    return pointer


# -- boxing --------------------------------------------------------------------------------------------


def box(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """Make the Python object of a value: a new reference, or null with an error set."""
    type_ = value.type
    if type_.is_boxed:
        return _new_reference(f, value.ref)
    if value.constant is not None:
        return _new_reference(f, value.constant)
    if type_ in (NONE, UNBOUND):
        return _new_reference(f, keep(None if type_ == NONE else UNBOUND_VALUE))
    boxer = _BOXERS.get(type_) or _BOXERS_BY_CLASS.get(type(type_))
    if boxer is not None:
        return boxer(f, value, keep)
    assert type_ == NEVER, type_
    return NULL


def _box_bool(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    return _new_reference(f, f.select(value.ref, keep(True), keep(False)))


def _box_int(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyLong_FromLongLong", value.parts)


def _box_uint(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyLong_FromUnsignedLongLong", value.parts)


def _box_float(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyFloat_FromDouble", value.parts)


def _box_complex(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyComplex_FromDoubles", value.parts)


def _box_character(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    from ljit.codegen.references.characters import new_character

    return new_character(f, value.ref, keep)


def _box_scalar(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """Allocate a NumPy scalar as its class does and write the value into it."""
    dtype = dtype_of(value.type)
    if dtype.kind == "b":
        return _new_reference(f, f.select(value.ref, keep(np.True_), keep(np.False_)))
    allocate = address(layout.type_alloc(dtype.type))
    made = f.call("ptr", allocate.text, (keep(dtype.type), integer("i64", 0)))
    return _if_not_null(f, made, lambda: _store_scalar(f, made, dtype, value.parts))


def _store_scalar(f: FunctionBuilder, pointer: Ref, dtype: np.dtype, parts: Sequence[Ref]) -> None:
    size = dtype.itemsize // len(parts)
    for index, part in enumerate(parts):
        offset = layout.SCALAR_VALUE + index * size
        f.store(part, f.gep("i8", pointer, offset), size)


def _if_not_null(f: FunctionBuilder, pointer: Ref, then: Callable[[], None]) -> Ref:
    """Run `then` unless the pointer is null; gives the pointer."""
    good, done = f.new_block("made"), f.new_block("boxed")
    f.condbr(f.icmp("eq", pointer, NULL), done, good, unlikely=True)
    f.start(good)
    then()
    f.br(done)
    f.start(done)
    return pointer


def _box_range(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    return _box_call(f, keep(range), split(value), keep)


def _box_items(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    type_ = value.type
    cls = type_.cls if isinstance(type_, ItemsType) else VIEW_CLASSES[type_.kind]  # type: ignore[attr-defined]
    return _box_tuple(f, split(value), keep, cls)


def _box_tuple(
    f: FunctionBuilder, items: Sequence[Native], keep: Keep, cls: type[tuple[object, ...]]
) -> Ref:
    """Make a tuple, or an object of a subclass that adds no fields.

    One that can be in no cycle is nothing for the garbage collector, as it finds out itself when it first looks.
    """
    count = integer("i64", len(items))
    if cls is tuple:
        made = f.call_external("ptr", "PyTuple_New", (count,))
    else:
        made = f.call("ptr", address(layout.type_alloc(cls)).text, (keep(cls), count))
    if not items:
        return made
    done, failed = f.new_block("boxed"), f.new_block("failed")
    edges = [(NULL, _branch_if_null(f, made, done))]
    views: dict[object, Ref] = {}  # one view is one object
    for index, item in enumerate(items):
        key = item.type, *[part.text for part in item.parts]
        is_again = isinstance(item.type, ArrayType) and key in views
        boxed = _new_reference(f, views[key]) if is_again else box(f, item, keep)
        views[key] = boxed
        place = f.gep("i8", made, layout.TUPLE_ITEMS + 8 * index)
        f.store(boxed, place)
        _branch_if_null(f, boxed, failed)
    if cls is tuple and all(is_in_no_cycle(item.type) for item in items):
        untrack(f, made)
    return _join_made(f, made, edges, done, failed)


def is_in_no_cycle(t: Type) -> bool:
    """Whether no object of the type refers to others that may refer to it. A named tuple refers to its class."""
    if isinstance(t, TupleType):
        return all(map(is_in_no_cycle, t.items))
    if isinstance(t, UnionType):
        return all(map(is_in_no_cycle, t.members))
    return is_immutable(t) and not isinstance(t, NamedTupleType)


def untrack(f: FunctionBuilder, made: Ref) -> None:
    """Take an object that can be in no cycle from the garbage collector."""
    f.call_external("void", "PyObject_GC_UnTrack", (made,))


def _branch_if_null(f: FunctionBuilder, pointer: Ref, target: BlockRef) -> BlockRef | None:
    """Go to the cold `target` if the pointer is null, else on; gives the block left."""
    following = f.new_block("made")
    left = f.condbr(f.icmp("eq", pointer, NULL), target, following, unlikely=True)
    f.start(following)
    return left


def _join_made(
    f: FunctionBuilder,
    made: Ref,
    edges: list[tuple[Ref, BlockRef | None]],
    done: BlockRef,
    failed: BlockRef,
) -> Ref:
    """Give the object that was made, or null with an error: in `failed` it is let go of."""
    edges.append((made, f.br(done)))
    if f.start(failed, cold=True):
        f.call_external("void", "Py_DecRef", (made,))
        edges.append((NULL, f.br(done)))
    return _join(f, done, edges)


def _join(f: FunctionBuilder, block: BlockRef, edges: Sequence[tuple[Ref, BlockRef | None]]) -> Ref:
    f.start(block)
    result = f.phi("ptr")
    for value, left in edges:
        result.add(value, left)
    return result


def _box_all(
    f: FunctionBuilder, items: Sequence[Native], keep: Keep
) -> tuple[list[Ref], BlockRef, list[tuple[Ref, BlockRef | None]]]:
    """Box several values; gives the objects, the block to join and the edges of failures to it.

    When one cannot be made, those before it are released.
    """
    done = f.new_block("boxed")
    boxed: list[Ref] = []
    edges: list[tuple[Ref, BlockRef | None]] = []
    for item in items:
        made = box(f, item, keep)
        failed, following = f.new_block("failed"), f.new_block("made")
        f.condbr(f.icmp("eq", made, NULL), failed, following, unlikely=True)
        if f.start(failed, cold=True):
            for earlier in boxed:
                f.call_external("void", "Py_DecRef", (earlier,))
            edges.append((NULL, f.br(done)))
        f.start(following)
        boxed.append(made)
    return boxed, done, edges


def _box_call(f: FunctionBuilder, callee: Ref, items: Sequence[Native], keep: Keep) -> Ref:
    """Call a class on the boxed values."""
    boxed, done, edges = _box_all(f, items, keep)
    array = f.alloca("ptr", len(boxed))
    for index, pointer in enumerate(boxed):
        f.store(pointer, f.gep("ptr", array, index))
    count = integer("i64", len(boxed))
    made = f.call_external("ptr", "PyObject_Vectorcall", (callee, array, count, NULL))
    return _release_and_join(f, made, boxed, done, edges)


def _box_slice(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    boxed, done, edges = _box_all(f, split(value), keep)
    made = f.call_external("ptr", "PySlice_New", boxed)
    return _release_and_join(f, made, boxed, done, edges)


def _release_and_join(
    f: FunctionBuilder,
    made: Ref,
    boxed: Sequence[Ref],
    done: BlockRef,
    edges: list[tuple[Ref, BlockRef | None]],
) -> Ref:
    for pointer in boxed:
        f.call_external("void", "Py_DecRef", (pointer,))
    return _join(f, done, [*edges, (made, f.br(done))])


def _box_union(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    type_ = value.type
    assert isinstance(type_, UnionType)
    done = f.new_block("boxed")
    blocks = [f.new_block("member") for _ in type_.members]
    f.switch(value.parts[0], blocks[-1], list(enumerate(blocks[:-1])))
    edges = []
    for index, block in enumerate(blocks):
        f.start(block)
        boxed = box(f, member_at(f, value, index), keep)
        edges.append((boxed, f.br(done)))
    return _join(f, done, edges)


# -- boxing arrays -------------------------------------------------------------------------------------


def _box_array(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """The array's object if there is one, else a new view of its owner."""
    parts = array_parts(value)
    if parts.object.text == parts.owner.text:
        return _new_reference(f, parts.object)
    if parts.object.constant == 0:
        return _new_view(f, value, keep, _writeable_flag(f, value))
    have, make, done = f.new_block("have"), f.new_block("view"), f.new_block("boxed")
    f.condbr(f.icmp("ne", parts.object, NULL), have, make)
    f.start(have)
    incref(f, parts.object)
    edges = [(parts.object, f.br(done))]
    f.start(make)
    edges.append((_new_view(f, value, keep, _writeable_flag(f, value)), f.br(done)))
    return _join(f, done, edges)


def read_only_view(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """The object of a view that must not be written to, whatever its owner allows."""
    return _new_view(f, value, keep, integer("i32", 0))


def _new_view(f: FunctionBuilder, value: Native, keep: Keep, writeable: Ref) -> Ref:
    """``PyArray_NewFromDescr`` on the memory of the owner, which becomes the view's base."""
    type_, parts = value.type, array_parts(value)
    assert isinstance(type_, ArrayType)
    strides = parts.strides or _contiguous_strides(f, type_.dtype.itemsize, parts.sizes)
    words = f.alloca("i64", 2 * max(type_.ndim, 1))
    for index, ref in enumerate((*parts.sizes, *strides)):
        f.store(ref, f.gep("i64", words, index))
    descriptor = keep(type_.dtype)
    incref(f, descriptor)  # stolen
    made = f.call_external(
        "ptr",
        "PyArray_NewFromDescr",
        (
            keep(np.ndarray),
            descriptor,
            integer("i32", type_.ndim),
            words,
            f.gep("i64", words, type_.ndim),
            parts.data,
            writeable,
            NULL,
        ),
    )
    done = f.new_block("boxed")
    edges = [(NULL, _branch_if_null(f, made, done))]
    incref(f, parts.owner)  # stolen, also on failure
    status = f.call_external("i32", "PyArray_SetBaseObject", (made, parts.owner))
    failed, good = f.new_block("failed"), f.new_block("based")
    f.condbr(f.icmp("slt", status, 0), failed, good, unlikely=True)
    f.start(good)
    return _join_made(f, made, edges, done, failed)


def _box_record(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """``PyArray_Scalar``: an ``np.void`` that is a view of its array's memory."""
    parts, descriptor = array_parts(value), keep(value.type.dtype)  # type: ignore[attr-defined]
    wanted = (parts.data, descriptor, parts.owner)
    if parts.object.constant == 0:
        return f.call_external("ptr", "PyArray_Scalar", wanted)
    have, make, done = f.new_block("have"), f.new_block("record"), f.new_block("boxed")
    f.condbr(f.icmp("ne", parts.object, NULL), have, make)
    f.start(have)
    incref(f, parts.object)
    edges = [(parts.object, f.br(done))]
    f.start(make)
    edges.append((f.call_external("ptr", "PyArray_Scalar", wanted), f.br(done)))
    return _join(f, done, edges)


def _writeable_flag(f: FunctionBuilder, value: Native) -> Ref:
    """A type that is not writeable does not say that the array isn't; its owner does."""
    flag = integer("i32", layout.FLAG_WRITEABLE)
    assert isinstance(value.type, ArrayType)
    if value.type.writeable:
        return flag
    place = f.gep("i8", array_parts(value).owner, layout.ARRAY_FLAGS)
    return f.binary("and", f.load("i32", place), flag)


def _contiguous_strides(f: FunctionBuilder, itemsize: int, sizes: Sequence[Ref]) -> Sequence[Ref]:
    strides: list[Ref] = []
    stride = integer("i64", itemsize)
    for size in reversed(sizes):
        strides.append(stride)
        stride = f.mul(stride, size)
    return strides[::-1]


_Boxer = Callable[[FunctionBuilder, Native, Keep], Ref]

_BOXERS: dict[Type, _Boxer] = {
    BOOL: _box_bool,
    INT: _box_int,
    UINT: _box_uint,
    FLOAT: _box_float,
    COMPLEX: _box_complex,
    CHARACTER: _box_character,
}
_BOXERS_BY_CLASS: dict[type[Type], _Boxer] = {
    ScalarType: _box_scalar,
    ArrayType: _box_array,
    RecordType: _box_record,
    UnalignedType: _box_array,
    TupleType: _box_items,
    NamedTupleType: _box_items,
    ViewType: _box_items,
    RangeType: _box_range,
    SliceType: _box_slice,
    UnionType: _box_union,
}

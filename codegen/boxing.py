"""Between Python objects and machine forms: `box` makes an object, `unbox` checks and reads one.

`box` gives a new reference, or null with a Python error set (no memory); nothing leaks then.
`unbox` borrows: the object must outlive the value. It checks the class exactly, so that a subclass never
passes for its base, and branches to the given block when the object is not of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.codegen import layout
from ljit.codegen.builder import (
    FALSE,
    NULL,
    BlockRef,
    FunctionBuilder,
    Ref,
    address,
    integer,
    undef,
)
from ljit.codegen.forms import (
    Native,
    array_parts,
    components,
    dtype_of,
    items_of,
    member_parts,
    memory_type,
    split,
)
from ljit.errors import CodegenError
from ljit.ops.objects import UNBOUND_VALUE
from ljit.ops.python_views import VIEW_CLASSES
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNBOUND,
    ArrayType,
    ListType,
    ObjectType,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    ViewType,
)

__all__ = ["Keep", "box", "decref", "incref", "unbox", "unbox_union"]

#: Gives the address of a Python object and keeps it alive as long as the code lives.
Keep = Callable[[object], Ref]



def _field(f: FunctionBuilder, type_: str, pointer: Ref, offset: int) -> Ref:
    return f.load(type_, f.gep("i8", pointer, integer("i64", offset)))


# -- reference counts ----------------------------------------------------------------------------------


def incref(f: FunctionBuilder, pointer: Ref) -> None:
    """Take a reference to an object that is not null."""
    if layout.IS_IMMORTAL_AWARE:
        f.call_external("void", "Py_IncRef", (pointer,))
        return
    count = f.load("i64", pointer)
    f.store(f.binary("add", count, integer("i64", 1)), pointer)


def decref(f: FunctionBuilder, pointer: Ref) -> None:
    """Give back a reference to an object that is not null."""
    if layout.IS_IMMORTAL_AWARE:
        f.call_external("void", "Py_DecRef", (pointer,))
        return
    count = f.binary("sub", f.load("i64", pointer), integer("i64", 1))
    f.store(count, pointer)
    dead, alive = f.new_block("dead"), f.new_block("alive")
    f.condbr(f.icmp("eq", count, integer("i64", 0)), dead, alive)
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
    if type_ in (NONE, UNBOUND):
        return _new_reference(f, keep(None if type_ == NONE else UNBOUND_VALUE))
    if type_ in _BOXERS:
        return _BOXERS[type_](f, value, keep)
    match type_:
        case ScalarType():
            return _box_scalar(f, value, keep)
        case ArrayType():
            return _box_array(f, value, keep)
        case TupleType():
            return _box_tuple(f, split(value), keep)
        case ViewType():
            return _box_tuple(f, split(value), keep, VIEW_CLASSES[type_.kind])
        case RangeType():
            return _box_call(f, keep(range), split(value), keep)
        case SliceType():
            return _box_slice(f, value, keep)
        case UnionType():
            return _box_union(f, value, keep)
    assert type_ == NEVER, type_
    return NULL


def _box_bool(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    return _new_reference(f, f.select(value.ref, keep(True), keep(False)))


def _box_int(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyLong_FromLongLong", value.parts)


def _box_float(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyFloat_FromDouble", value.parts)


def _box_complex(f: FunctionBuilder, value: Native, _keep: Keep) -> Ref:
    return f.call_external("ptr", "PyComplex_FromDoubles", value.parts)


_BOXERS: dict[Type, Callable[[FunctionBuilder, Native, Keep], Ref]] = {
    BOOL: _box_bool,
    INT: _box_int,
    FLOAT: _box_float,
    COMPLEX: _box_complex,
}


def _box_scalar(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """Allocate a NumPy scalar as its class does and write the value into it."""
    dtype = dtype_of(value.type)
    if dtype.kind == "b":
        return _new_reference(f, f.select(value.ref, keep(np.True_), keep(np.False_)))
    allocate = address(layout.type_alloc(dtype.type))
    made = f.call("ptr", allocate.text, (keep(dtype.type), integer("i64", 0)))
    return _if_not_null(f, made, lambda: _store_scalar(f, made, dtype, value.parts))


def _store_scalar(
    f: FunctionBuilder, pointer: Ref, dtype: np.dtype, parts: Sequence[Ref]
) -> None:
    size = dtype.itemsize // len(parts)
    for index, part in enumerate(parts):
        offset = integer("i64", layout.SCALAR_VALUE + index * size)
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


def _box_tuple(
    f: FunctionBuilder, items: Sequence[Native], keep: Keep, cls: type[tuple[object, ...]] = tuple
) -> Ref:
    """Make a tuple, or an object of a subclass that adds no fields."""
    count = integer("i64", len(items))
    if cls is tuple:
        made = f.call_external("ptr", "PyTuple_New", (count,))
    else:
        made = f.call("ptr", address(layout.type_alloc(cls)).text, (keep(cls), count))
    if not items:
        return made
    done, failed = f.new_block("boxed"), f.new_block("failed")
    edges = [(NULL, _branch_if_null(f, made, done))]
    for index, item in enumerate(items):
        boxed = box(f, item, keep)
        place = f.gep("i8", made, integer("i64", layout.TUPLE_ITEMS + 8 * index))
        f.store(boxed, place)
        _branch_if_null(f, boxed, failed)
    edges.append((made, f.br(done)))
    if f.start(failed, cold=True):
        f.call_external("void", "Py_DecRef", (made,))
        edges.append((NULL, f.br(done)))
    return _join(f, done, edges)


def _branch_if_null(f: FunctionBuilder, pointer: Ref, target: BlockRef) -> BlockRef | None:
    """Go to the cold `target` if the pointer is null, else on; gives the block left."""
    following = f.new_block("made")
    left = f.condbr(f.icmp("eq", pointer, NULL), target, following, unlikely=True)
    f.start(following)
    return left


def _join(
    f: FunctionBuilder, block: BlockRef, edges: Sequence[tuple[Ref, BlockRef | None]]
) -> Ref:
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
        f.store(pointer, f.gep("ptr", array, integer("i64", index)))
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
    for index, (member, block) in enumerate(zip(type_.members, blocks, strict=True)):
        f.start(block)
        start, stop = member_parts(type_, index)
        boxed = box(f, Native(member, value.parts[start:stop]), keep)
        edges.append((boxed, f.br(done)))
    return _join(f, done, edges)


# -- boxing arrays -------------------------------------------------------------------------------------


def _box_array(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """The array's object if there is one, else a new view of its owner."""
    parts = array_parts(value)
    if parts.object.text == parts.owner.text:
        return _new_reference(f, parts.object)
    if parts.object.constant == 0:
        return _new_view(f, value, keep)
    have, make, done = f.new_block("have"), f.new_block("view"), f.new_block("boxed")
    f.condbr(f.icmp("ne", parts.object, NULL), have, make)
    f.start(have)
    incref(f, parts.object)
    edges = [(parts.object, f.br(done))]
    f.start(make)
    edges.append((_new_view(f, value, keep), f.br(done)))
    return _join(f, done, edges)


def _new_view(f: FunctionBuilder, value: Native, keep: Keep) -> Ref:
    """``PyArray_NewFromDescr`` on the memory of the owner, which becomes the view's base."""
    type_, parts = value.type, array_parts(value)
    assert isinstance(type_, ArrayType)
    strides = parts.strides or _contiguous_strides(f, type_.dtype.itemsize, parts.sizes)
    words = f.alloca("i64", 2 * max(type_.ndim, 1))
    for index, ref in enumerate((*parts.sizes, *strides)):
        f.store(ref, f.gep("i64", words, integer("i64", index)))
    descriptor = keep(type_.dtype)
    incref(f, descriptor)  # stolen
    flags = layout.FLAG_WRITEABLE if type_.writeable else 0
    made = f.call_external(
        "ptr",
        "PyArray_NewFromDescr",
        (
            keep(np.ndarray),
            descriptor,
            integer("i32", type_.ndim),
            words,
            f.gep("i64", words, integer("i64", type_.ndim)),
            parts.data,
            integer("i32", flags),
            NULL,
        ),
    )
    done = f.new_block("boxed")
    edges = [(NULL, _branch_if_null(f, made, done))]
    incref(f, parts.owner)  # stolen, also on failure
    status = f.call_external("i32", "PyArray_SetBaseObject", (made, parts.owner))
    failed, good = f.new_block("failed"), f.new_block("based")
    f.condbr(f.icmp("slt", status, integer("i32", 0)), failed, good, unlikely=True)
    f.start(good)
    edges.append((made, f.br(done)))
    if f.start(failed, cold=True):
        f.call_external("void", "Py_DecRef", (made,))
        edges.append((NULL, f.br(done)))
    return _join(f, done, edges)


def _contiguous_strides(
    f: FunctionBuilder, itemsize: int, sizes: Sequence[Ref]
) -> Sequence[Ref]:
    strides: list[Ref] = []
    stride = integer("i64", itemsize)
    for size in reversed(sizes):
        strides.append(stride)
        stride = f.mul(stride, size)
    return strides[::-1]


# -- unboxing ------------------------------------------------------------------------------------------


def unbox(f: FunctionBuilder, pointer: Ref, type_: Type, fail: BlockRef) -> Native:
    """Read an object as a value of the type; branch to `fail` if it is not one."""
    if type_ == ANY:
        return Native(ANY, (pointer,))
    if type_ in _UNBOXERS:
        return Native(type_, _UNBOXERS[type_](f, pointer, fail))
    if type_ in (NONE, UNBOUND):
        wanted = address(id(None if type_ == NONE else UNBOUND_VALUE))
        _require(f, f.icmp("eq", pointer, wanted), fail)
        return Native(type_, ())
    match type_:
        case ObjectType():
            _require_class(f, pointer, type_.cls, fail)
            return Native(type_, (pointer,))
        case ListType():
            _require_class(f, pointer, list, fail)
            return Native(type_, (pointer,))
        case ScalarType():
            return Native(type_, _unbox_scalar(f, pointer, type_.dtype, fail))
        case ArrayType():
            return Native(type_, _unbox_array(f, pointer, type_, fail))
        case TupleType() | ViewType() | RangeType() | SliceType():
            return Native(type_, _unbox_items(f, pointer, type_, fail))
        case UnionType():
            return unbox_union(f, pointer, type_, fail)
    message = f"a value of type {type_} cannot come from an object"
    raise CodegenError(message)


def _require(f: FunctionBuilder, condition: Ref, fail: BlockRef) -> None:
    """Go to `fail` unless the condition holds."""
    following = f.new_block("ok")
    f.condbr(f.bool_not(condition), fail, following, unlikely=True)
    f.start(following)


def _require_class(f: FunctionBuilder, pointer: Ref, cls: type, fail: BlockRef) -> None:
    found = _field(f, "ptr", pointer, layout.OB_TYPE)
    _require(f, f.icmp("eq", found, address(id(cls))), fail)


def _unbox_bool(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    is_true = f.icmp("eq", pointer, address(id(True)))
    is_false = f.icmp("eq", pointer, address(id(False)))
    _require(f, f.binary("or", is_true, is_false), fail)
    return (is_true,)


def _unbox_int(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    """Read an int of one digit in place, others by CPython; those that do not fit in int64 fail."""
    _require_class(f, pointer, int, fail)
    tag = _field(f, "i64", pointer, layout.LONG_TAG)
    if layout.LONG_TAG_IS_SIZE:
        shifted = f.binary("add", tag, integer("i64", 1))
        is_big, sign = f.icmp("ugt", shifted, integer("i64", 2)), tag
    else:
        is_big = f.icmp("uge", tag, integer("i64", 16))
        sign = f.binary("sub", integer("i64", 1), f.binary("and", tag, integer("i64", 3)))
    big, small, done = f.new_block("big"), f.new_block("small"), f.new_block("int")
    f.condbr(is_big, big, small, unlikely=True)
    f.start(small)
    digit = f.convert("zext", _field(f, "i32", pointer, layout.LONG_DIGIT), "i64")
    compact = f.binary("mul", digit, sign)
    from_small = f.br(done)
    f.start(big)
    overflow = f.alloca("i32")
    slow = f.call_external("i64", "PyLong_AsLongLongAndOverflow", (pointer, overflow))
    _require(f, f.icmp("eq", f.load("i32", overflow), integer("i32", 0)), fail)
    from_big = f.br(done)
    f.start(done)
    result = f.phi("i64")
    result.add(compact, from_small)
    result.add(slow, from_big)
    return (result,)


def _unbox_float(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    _require_class(f, pointer, float, fail)
    return (_field(f, "double", pointer, layout.FLOAT_VALUE),)


def _unbox_complex(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    _require_class(f, pointer, complex, fail)
    real = _field(f, "double", pointer, layout.COMPLEX_REAL)
    return (real, _field(f, "double", pointer, layout.COMPLEX_IMAG))


def _unbox_str(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    _require_class(f, pointer, str, fail)
    return (pointer,)


_UNBOXERS: dict[Type, Callable[[FunctionBuilder, Ref, BlockRef], Sequence[Ref]]] = {
    BOOL: _unbox_bool,
    INT: _unbox_int,
    FLOAT: _unbox_float,
    COMPLEX: _unbox_complex,
    STR: _unbox_str,
}


def _unbox_scalar(
    f: FunctionBuilder, pointer: Ref, dtype: np.dtype, fail: BlockRef
) -> Sequence[Ref]:
    _require_class(f, pointer, dtype.type, fail)
    llvm = memory_type(dtype)
    if dtype.kind == "b":
        loaded = _field(f, llvm, pointer, layout.SCALAR_VALUE)
        return (f.icmp("ne", loaded, integer("i8", 0)),)
    first = _field(f, llvm, pointer, layout.SCALAR_VALUE)
    if dtype.kind != "c":
        return (first,)
    return (first, _field(f, llvm, pointer, layout.SCALAR_VALUE + dtype.itemsize // 2))


def _unbox_items(
    f: FunctionBuilder, pointer: Ref, type_: Type, fail: BlockRef
) -> Sequence[Ref]:
    """Tuples, views, ranges and slices: check the class (and size), then each item."""
    items = items_of(type_)
    if isinstance(type_, TupleType | ViewType):
        cls = VIEW_CLASSES[type_.kind] if isinstance(type_, ViewType) else tuple
        _require_class(f, pointer, cls, fail)
        size = _field(f, "i64", pointer, layout.VAR_SIZE)
        _require(f, f.icmp("eq", size, integer("i64", len(items))), fail)
        first = layout.TUPLE_ITEMS
    else:
        is_range = isinstance(type_, RangeType)
        _require_class(f, pointer, range if is_range else slice, fail)
        first = layout.RANGE_START if is_range else layout.SLICE_START
    parts: list[Ref] = []
    for index, item in enumerate(items):
        inner = _field(f, "ptr", pointer, first + 8 * index)
        parts += unbox(f, inner, item, fail).parts
    return parts


def unbox_union(f: FunctionBuilder, pointer: Ref, type_: UnionType, fail: BlockRef) -> Native:
    """Try one member after the other; the tag says which one it was."""
    done = f.new_block("unboxed")
    llvm_types = components(type_)
    edges: list[tuple[list[Ref], BlockRef | None]] = []
    for index, member in enumerate(type_.members):
        is_last = index == len(type_.members) - 1
        other = fail if is_last else f.new_block("member")
        start, stop = member_parts(type_, index)
        parts = [undef(part) for part in llvm_types]
        parts[0] = integer("i8", index)
        parts[start:stop] = unbox(f, pointer, member, other).parts
        edges.append((parts, f.br(done)))
        if not is_last:
            f.start(other)
    f.start(done)
    phis = [f.phi(part) for part in llvm_types]
    for parts, left in edges:
        for phi, part in zip(phis, parts, strict=True):
            phi.add(part, left)
    return Native(type_, phis)


# -- unboxing arrays -----------------------------------------------------------------------------------


def _unbox_array(
    f: FunctionBuilder, pointer: Ref, type_: ArrayType, fail: BlockRef
) -> Sequence[Ref]:
    _require_class(f, pointer, np.ndarray, fail)
    _require_dtype(f, pointer, type_.dtype, fail)
    needed = layout.FLAG_ALIGNED
    needed |= layout.FLAG_WRITEABLE if type_.writeable else 0
    needed |= layout.FLAG_C_CONTIGUOUS if type_.layout == "C" else 0
    flags = f.binary("and", _field(f, "i32", pointer, layout.ARRAY_FLAGS), integer("i32", needed))
    wrong = f.binary("xor", flags, integer("i32", needed))
    ndim = _field(f, "i32", pointer, layout.ARRAY_NDIM)
    wrong = f.binary("or", wrong, f.binary("xor", ndim, integer("i32", type_.ndim)))
    _require(f, f.icmp("eq", wrong, integer("i32", 0)), fail)
    parts = [pointer, pointer, _field(f, "ptr", pointer, layout.ARRAY_DATA)]
    parts += _sizes(f, pointer, type_, fail)
    if type_.layout != "C" and type_.ndim:
        parts += _words(f, _field(f, "ptr", pointer, layout.ARRAY_STRIDES), type_.ndim)
    return parts


def _require_dtype(f: FunctionBuilder, array: Ref, dtype: np.dtype, fail: BlockRef) -> None:
    """The usual descriptor, or another one of the same number in native byte order."""
    descriptor = _field(f, "ptr", array, layout.ARRAY_DESCR)
    usual = address(id(np.dtype(dtype.type)))
    other, good = f.new_block("descr"), f.new_block("dtype")
    f.condbr(f.icmp("ne", descriptor, usual), other, good, unlikely=True)
    if f.start(other, cold=True):
        number = _field(f, "i32", descriptor, layout.DESCR_TYPE_NUM)
        order = _field(f, "i8", descriptor, layout.DESCR_BYTEORDER)
        is_number = f.icmp("eq", number, integer("i32", dtype.num))
        is_native = f.icmp("ne", order, integer("i8", layout.SWAPPED_BYTEORDER))
        f.condbr(f.binary("and", is_number, is_native), good, fail)
    f.start(good)


def _words(f: FunctionBuilder, pointer: Ref, count: int, suffix: str = "") -> list[Ref]:
    places = (f.gep("i8", pointer, integer("i64", 8 * index)) for index in range(count))
    return [f.load("i64", place, suffix=suffix) for place in places]


def _sizes(f: FunctionBuilder, array: Ref, type_: ArrayType, fail: BlockRef) -> list[Ref]:
    """Read the sizes that the type does not know, check the others."""
    if not type_.ndim:
        return []
    not_negative = f", !range {f.module.metadata('!{i64 0, i64 9223372036854775807}')}"
    pointer = _field(f, "ptr", array, layout.ARRAY_DIMENSIONS)
    sizes = _words(f, pointer, type_.ndim, not_negative)
    unknown: list[Ref] = []
    wrong = FALSE
    for size, known in zip(sizes, type_.shape, strict=True):
        if known is None:
            unknown.append(size)
        else:
            wrong = f.binary("or", wrong, f.icmp("ne", size, integer("i64", known)))
    if wrong is not FALSE:
        _require(f, f.bool_not(wrong), fail)
    return unknown

"""Python objects to machine forms: `unbox` checks the class of an object and reads it.

Classes are checked exactly, so that a subclass never passes for its base. What is read is borrowed: the
object must outlive the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ljit.codegen.functions.support import support
from ljit.codegen.layouts import layout
from ljit.codegen.layouts.machine_arrays import ARRAY_DESCRIPTOR, descriptor_of
from ljit.codegen.llvm.builder import (
    FALSE,
    NULL,
    TRUE,
    BlockRef,
    FunctionBuilder,
    Ref,
    address,
    integer,
)
from ljit.codegen.llvm.forms import Native, components, items_of, memory_type, undef_of
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.references.characters import IS_LONGER, only_character
from ljit.codegen.references.record_arrays import require_multiples, require_records
from ljit.codegen.references.requirements import field, require, require_class, require_form
from ljit.codegen.scalars.unions import as_union
from ljit.errors import CodegenError
from ljit.module_types import KnownModule
from ljit.ops.containers.iteration_views import VIEW_CLASSES
from ljit.ops.names import UNBOUND_VALUE
from ljit.packed_types import PackedType
from ljit.record_layouts import kept_alignment
from ljit.record_types import RecordType, UnalignedType
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    UINT,
    UNBOUND,
    ArrayType,
    ItemsType,
    ListType,
    ObjectType,
    RangeType,
    ScalarType,
    SliceType,
    Type,
    UnionType,
    ViewType,
)

__all__ = ["unbox", "unbox_int_by_call", "unbox_union"]

_READS = "nounwind willreturn memory(read)"


def unbox(
    f: FunctionBuilder, pointer: Ref, type_: Type, fail: BlockRef, *, by_call: bool = False
) -> Native:
    """Read an object as a value of the type; branch to `fail` if it is not one.

    `by_call`: a function that all share checks arrays: slower by a call, a few lines instead of thirty.
    """
    if type_ == ANY:
        return Native(ANY, (pointer,))
    if type_ in _UNBOXERS:
        return Native(type_, _UNBOXERS[type_](f, pointer, fail))
    if type_ in (NONE, UNBOUND) or isinstance(type_, KnownModule):
        require(f, f.icmp("eq", pointer, address(id(_only_value(type_)))), fail)
        return Native(type_, (pointer,) if type_.is_boxed else ())
    match type_:
        case ObjectType() | ListType():
            require_class(f, pointer, list if isinstance(type_, ListType) else type_.cls, fail)
            if isinstance(type_, PackedType):
                found = field(f, "ptr", pointer, ARRAY_DESCRIPTOR)
                require(f, f.icmp("eq", found, address(descriptor_of(type_.typecode))), fail)
            return Native(type_, (pointer,))
        case ScalarType():
            return Native(type_, _unbox_scalar(f, pointer, type_.dtype, fail))
        case ArrayType():
            return Native(type_, _unbox_array(f, pointer, type_, fail, by_call=by_call))
        case ItemsType() | ViewType() | RangeType() | SliceType():
            return Native(type_, _unbox_items(f, pointer, type_, fail, by_call=by_call))
        case UnionType():
            return unbox_union(f, pointer, type_, fail, by_call=by_call)
    message = f"a value of type {type_} cannot come from an object"
    raise CodegenError(message)


def _only_value(t: Type) -> object:
    """The object of a type that has no other."""
    if isinstance(t, KnownModule):
        return t.module
    return None if t == NONE else UNBOUND_VALUE


def _unbox_bool(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    is_true = f.icmp("eq", pointer, address(id(True)))
    is_false = f.icmp("eq", pointer, address(id(False)))
    require(f, f.binary("or", is_true, is_false), fail)
    return (is_true,)


def _unbox_int(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    """Read an int of one digit in place, others by CPython; those that do not fit in int64 fail."""
    require_class(f, pointer, int, fail)
    tag = field(f, "i64", pointer, layout.LONG_TAG)
    if layout.LONG_TAG_IS_SIZE:
        shifted = f.binary("add", tag, 1)
        is_big, sign = f.icmp("ugt", shifted, 2), tag
    else:
        is_big = f.icmp("uge", tag, 16)
        sign = f.binary("sub", integer("i64", 1), f.binary("and", tag, 3))
    big, small, done = f.new_block("big"), f.new_block("small"), f.new_block("int")
    f.condbr(is_big, big, small, unlikely=True)
    f.start(small)
    digit = f.convert("zext", field(f, "i32", pointer, layout.LONG_DIGIT), "i64")
    compact = f.binary("mul", digit, sign)
    from_small = f.br(done)
    f.start(big)
    overflow = f.alloca("i32")
    slow = f.call_external("i64", "PyLong_AsLongLongAndOverflow", (pointer, overflow))
    require(f, f.icmp("eq", f.load("i32", overflow), 0), fail)
    from_big = f.br(done)
    f.start(done)
    result = f.phi("i64")
    result.add(compact, from_small)
    result.add(slow, from_big)
    return (result,)


def unbox_int_by_call(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Native:
    """Like `unbox` of an int, in a function that all share: slower by a call, a third of the code."""
    name = "unbox.int"
    if name not in {function.name for function in f.module.functions}:
        inner = f.module.function(name, _INT_OR_NOT, ("ptr",), "internal")
        inner.attributes = f"nounwind noinline {QUICK}"
        failed = inner.new_block("failed")
        (number,) = _unbox_int(inner, inner.params[0], failed)
        _return_int(inner, number)
        if inner.start(failed):
            inner.ret(Ref(_INT_OR_NOT, "zeroinitializer"))
    result = f.call(_INT_OR_NOT, name, (pointer,))
    require(f, f.extract("i1", result, 1), fail)
    return Native(INT, (f.extract("i64", result, 0),))


_INT_OR_NOT = "{i64, i1}"


def _unbox_uint(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    """Read an int in [0, 2**64), in a function that all share."""
    name = "unbox.uint"
    if name not in {function.name for function in f.module.functions}:
        inner = f.module.function(name, _INT_OR_NOT, ("ptr",), "internal")
        inner.attributes = f"{_READS} noinline {QUICK}"
        _write_unbox_uint(inner)
    result = f.call(_INT_OR_NOT, name, (pointer,), _READS)
    require(f, f.extract("i1", result, 1), fail)
    return (f.extract("i64", result, 0),)


def _write_unbox_uint(f: FunctionBuilder) -> None:
    """Put the number together from up to three digits of 30 bits: there is no more memory than digits."""
    (pointer,) = f.params
    failed = f.new_block("failed")
    require_class(f, pointer, int, failed)
    count = field(f, "i64", pointer, layout.LONG_TAG)  # as a size, below 0 for negative ints
    if not layout.LONG_TAG_IS_SIZE:
        require(f, f.icmp("ne", f.binary("and", count, 3), 2), failed)
        count = f.binary("lshr", count, 3)
    require(f, f.icmp("ule", count, 3), failed)
    digit = f.convert("zext", field(f, "i32", pointer, layout.LONG_DIGIT), "i64")
    number = f.select(f.icmp("eq", count, 0), integer("i64", 0), digit)
    for index, shift in ((1, 30), (2, 60)):
        more, found = f.new_block("more"), f.new_block("found")
        f.condbr(f.icmp("ugt", count, index), more, found)
        f.start(found)
        _return_int(f, number)
        f.start(more)
        digit = field(f, "i32", pointer, layout.LONG_DIGIT + 4 * index)
        if shift + 30 > 64:
            require(f, f.icmp("ult", digit, 1 << (64 - shift)), failed)
        shifted = f.binary("shl", f.convert("zext", digit, "i64"), shift)
        number = f.binary("or", number, shifted)
    _return_int(f, number)
    if f.start(failed):
        f.ret(Ref(_INT_OR_NOT, "zeroinitializer"))


def _return_int(f: FunctionBuilder, number: Ref) -> None:
    f.ret(f.emit(_INT_OR_NOT, f"insertvalue {_INT_OR_NOT} {{i64 0, i1 true}}, i64 {number}, 0"))


def _unbox_float(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    require_class(f, pointer, float, fail)
    return (field(f, "double", pointer, layout.FLOAT_VALUE),)


def _unbox_complex(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    require_class(f, pointer, complex, fail)
    real = field(f, "double", pointer, layout.COMPLEX_REAL)
    return (real, field(f, "double", pointer, layout.COMPLEX_IMAG))


def _unbox_str(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    require_class(f, pointer, str, fail)
    return (pointer,)


def _unbox_character(f: FunctionBuilder, pointer: Ref, fail: BlockRef) -> Sequence[Ref]:
    require_class(f, pointer, str, fail)
    code = only_character(f, pointer)
    require(f, f.icmp("ne", code, IS_LONGER), fail)
    return (code,)


_UNBOXERS: dict[Type, Callable[[FunctionBuilder, Ref, BlockRef], Sequence[Ref]]] = {
    BOOL: _unbox_bool,
    INT: _unbox_int,
    UINT: _unbox_uint,
    FLOAT: _unbox_float,
    COMPLEX: _unbox_complex,
    STR: _unbox_str,
    CHARACTER: _unbox_character,
}


def _unbox_scalar(
    f: FunctionBuilder, pointer: Ref, dtype: np.dtype, fail: BlockRef
) -> Sequence[Ref]:
    require_class(f, pointer, dtype.type, fail)
    llvm = memory_type(dtype)
    if dtype.kind == "b":
        loaded = field(f, llvm, pointer, layout.SCALAR_VALUE)
        return (f.icmp("ne", loaded, 0),)
    first = field(f, llvm, pointer, layout.SCALAR_VALUE)
    if dtype.kind != "c":
        return (first,)
    return (first, field(f, llvm, pointer, layout.SCALAR_VALUE + dtype.itemsize // 2))


def _unbox_items(
    f: FunctionBuilder, pointer: Ref, type_: Type, fail: BlockRef, *, by_call: bool
) -> Sequence[Ref]:
    """Tuples, views, ranges and slices: check the class (and size), then each item."""
    items = items_of(type_)
    if isinstance(type_, ItemsType | ViewType):
        cls = VIEW_CLASSES[type_.kind] if isinstance(type_, ViewType) else type_.cls
        require_class(f, pointer, cls, fail)
        size = field(f, "i64", pointer, layout.VAR_SIZE)
        require(f, f.icmp("eq", size, len(items)), fail)
        first = layout.TUPLE_ITEMS
    else:
        is_range = isinstance(type_, RangeType)
        require_class(f, pointer, range if is_range else slice, fail)
        first = layout.RANGE_START if is_range else layout.SLICE_START
    parts: list[Ref] = []
    for index, item in enumerate(items):
        inner = field(f, "ptr", pointer, first + 8 * index)
        is_rare = item == INT and isinstance(type_, RangeType | SliceType)
        read = unbox_int_by_call if is_rare else partial(unbox, type_=item, by_call=by_call)
        parts += read(f, inner, fail=fail).parts
    return parts


def unbox_union(
    f: FunctionBuilder, pointer: Ref, type_: UnionType, fail: BlockRef, *, by_call: bool
) -> Native:
    """Try one member after the other; the tag says which one it was."""
    done = f.new_block("unboxed")
    llvm_types = components(type_)
    edges: list[tuple[Sequence[Ref], BlockRef | None]] = []
    for index, member in enumerate(type_.members):
        is_last = index == len(type_.members) - 1
        other = fail if is_last else f.new_block("member")
        found = as_union(f, unbox(f, pointer, member, other, by_call=by_call), type_)
        edges.append((found.parts, f.br(done)))
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
    f: FunctionBuilder, pointer: Ref, type_: ArrayType, fail: BlockRef, *, by_call: bool
) -> Sequence[Ref]:
    if isinstance(type_, RecordType | UnalignedType):  # what is an object is none
        require(f, FALSE, fail)
        return undef_of(type_).parts
    needed = layout.FLAG_ALIGNED
    needed |= layout.FLAG_WRITEABLE if type_.writeable else 0
    needed |= layout.FLAG_C_CONTIGUOUS if type_.layout == "C" else 0
    wanted = (
        address(id(type_.dtype if type_.has_fields else np.dtype(type_.dtype.type))),
        integer("i32", type_.dtype.num),
        integer("i32", needed),
        integer("i32", type_.ndim),
    )
    if type_.has_fields:
        require_records(f, pointer, type_, wanted, fail)
    elif by_call:
        require(f, f.call("i1", support("is_array"), (pointer, *wanted), _READS), fail)
    else:
        _require_array(f, pointer, wanted, fail)
    if type_.writeable and type_.layout != "C" and type_.ndim:
        item = integer("i64", type_.dtype.itemsize)
        is_distinct = f.call("i1", _distinct_places(type_.ndim), (pointer, item), _READS)
        require(f, is_distinct, fail)
    parts = [pointer, pointer, field(f, "ptr", pointer, layout.ARRAY_DATA)]
    parts += _sizes(f, pointer, type_, fail)
    strides: list[Ref] = []
    if type_.layout != "C" and type_.ndim:
        strides = _words(f, field(f, "ptr", pointer, layout.ARRAY_STRIDES), type_.ndim)
    if type_.has_fields:
        require_multiples(f, [parts[2], *strides], kept_alignment(type_.dtype), fail)
    return parts + strides


def _require_array(f: FunctionBuilder, array: Ref, wanted: Sequence[Ref], fail: BlockRef) -> None:
    """Check class, dtype (its usual descriptor and number), flags and rank."""
    descriptor, number, needed, ndim = wanted
    require_class(f, array, np.ndarray, fail)
    _require_dtype(f, array, descriptor, number, fail)
    require_form(f, array, needed, ndim, fail)


def _require_dtype(f: FunctionBuilder, array: Ref, usual: Ref, wanted: Ref, fail: BlockRef) -> None:
    """The usual descriptor, or another one of the same number in native byte order, without metadata."""
    descriptor = field(f, "ptr", array, layout.ARRAY_DESCR)
    other, good = f.new_block("descr"), f.new_block("dtype")
    f.condbr(f.icmp("ne", descriptor, usual), other, good, unlikely=True)
    if f.start(other, cold=True):
        number = field(f, "i32", descriptor, layout.DESCR_TYPE_NUM)
        order = field(f, "i8", descriptor, layout.DESCR_BYTEORDER)
        is_number = f.icmp("eq", number, wanted)
        is_native = f.icmp("ne", order, layout.SWAPPED_BYTEORDER)
        is_bare = f.icmp("eq", field(f, "ptr", descriptor, layout.DESCR_METADATA), NULL)
        is_same = f.binary("and", is_number, f.binary("and", is_native, is_bare))
        f.condbr(is_same, good, fail)
    f.start(good)


def _distinct_places(ndim: int) -> str:
    """The function that says whether no two elements of an array share memory; see `places.has_distinct_places`."""
    name = f"array.distinct.{ndim}"
    return shared_function(
        name,
        lambda module: _write_distinct_places(module.function(name, "i1", ("ptr", "i64")), ndim),
        straight=True,
    )


def _write_distinct_places(f: FunctionBuilder, ndim: int) -> None:
    """Each step goes over all that the axes with smaller steps reach."""
    array, item = f.params
    contiguous = layout.FLAG_C_CONTIGUOUS | layout.FLAG_F_CONTIGUOUS
    flags = f.binary("and", field(f, "i32", array, layout.ARRAY_FLAGS), contiguous)
    sizes = _words(f, field(f, "ptr", array, layout.ARRAY_DIMENSIONS), ndim)
    strides = _words(f, field(f, "ptr", array, layout.ARRAY_STRIDES), ndim)
    steps, reaches, is_long = [], [], []
    for size, stride in zip(sizes, strides, strict=True):
        back = f.binary("sub", integer("i64", 0), stride)
        steps.append(f.select(f.icmp("slt", stride, 0), back, stride))
        is_long.append(f.icmp("sgt", size, 1))
        reach = f.binary("mul", f.binary("sub", size, 1), steps[-1])
        reaches.append(f.select(is_long[-1], reach, 0))
    result, is_empty = TRUE, FALSE
    for axis, step in enumerate(steps):
        least = item
        for other, reach in enumerate(reaches):
            if other != axis:
                smaller = f.icmp("sle" if other < axis else "slt", steps[other], step)
                least = f.binary("add", least, f.select(smaller, reach, 0))
        fits = f.binary("or", f.icmp("sge", step, least), f.bool_not(is_long[axis]))
        result = f.binary("and", result, fits)
        is_empty = f.binary("or", is_empty, f.icmp("eq", sizes[axis], 0))
    is_usual = f.icmp("ne", flags, 0)
    f.ret(f.binary("or", f.binary("or", result, is_empty), is_usual))


def _words(f: FunctionBuilder, pointer: Ref, count: int, suffix: str = "") -> list[Ref]:
    places = (f.gep("i8", pointer, 8 * index) for index in range(count))
    return [f.load("i64", place, suffix=suffix) for place in places]


def _sizes(f: FunctionBuilder, array: Ref, type_: ArrayType, fail: BlockRef) -> list[Ref]:
    """Read the sizes that the type does not know, check the others."""
    if not type_.ndim:
        return []
    not_negative = f", !range {f.module.metadata('!{i64 0, i64 9223372036854775807}')}"
    pointer = field(f, "ptr", array, layout.ARRAY_DIMENSIONS)
    sizes = _words(f, pointer, type_.ndim, not_negative)
    unknown: list[Ref] = []
    wrong = FALSE
    for size, known in zip(sizes, type_.shape, strict=True):
        if known is None:
            unknown.append(size)
        else:
            wrong = f.binary("or", wrong, f.icmp("ne", size, known))
    if wrong is not FALSE:
        require(f, f.bool_not(wrong), fail)
    return unknown

"""Ops on objects in general: attributes, calls, text, exceptions.

They mean what CPython's bytecode means. Their lowerings are boxed calls; what makes a program fast is
that the specialiser turns a `py::call` of a known callable into the callable's own op.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, any_operands, any_result, declare
from ljit.ir.emitter import V
from ljit.ops.python.numbers import plain_effect
from ljit.ops.python.types import fixed_method, join_all
from ljit.ops.ranges.int_ranges import UNPACKED
from ljit.record_types import item_type
from ljit.types import (
    ANY,
    INT,
    NEVER,
    STR,
    ArrayType,
    ListType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
)

__all__ = ["object_op", "parts_unpacked"]


def object_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    """Declare an op of which nothing is known but what is stated: it may run any code, and give anything."""
    fields.setdefault("infer", any_result)
    fields.setdefault("effects", Effect.CALL)
    return declare(OpDef(name, Schema(schema), doc, **fields))


# -- attributes ------------------------------------------------------------------------------------


def _set_attribute(x: object, value: object, *, name: str) -> None:
    setattr(x, name, value)


def _delete_attribute(x: object, *, name: str) -> None:
    delattr(x, name)


def _lower_setattr(e: Emitter, x: V, value: V, *, name: str) -> tuple[()]:
    e.setattr(x, value, name)
    return ()


def _infer_form(x: Type, _value: Type, *, name: str) -> Type:
    """An array may be any other behind it."""
    return ANY if isinstance(x, ArrayType | UnionType) else x


def _set_form(x: object, value: object, *, name: str) -> object:
    setattr(x, name, value)
    return x


def _lower_form(e: Emitter, x: V, value: V, *, name: str) -> V:
    e.setattr(x, value, name)
    return x


def _get_attribute(x: object, *, name: str) -> object:
    return getattr(x, name)


def _infer_getattr(x: Type, *, name: str) -> Type:
    function = fixed_method(x, name)
    if function is None:
        return ANY
    is_c = isinstance(function, MethodDescriptorType)
    return ObjectType(BuiltinMethodType if is_c else MethodType)


def _effect_of_getattr(x: Type, *, name: str) -> Effect:
    return Effect.CALL if fixed_method(x, name) is None else Effect.ALLOC


GETATTR = object_op(
    "py::getattr",
    "(x, *, name)",
    "``x.name``",
    infer=_infer_getattr,
    effects=_effect_of_getattr,
    evaluate=_get_attribute,
    syntax="{0}.{name}",
    lower=lambda e, x, *, name: e.getattr(x, name),
    can_lower=any_operands,
    is_profiled=True,
)
SETATTR = object_op(
    "py::setattr",
    "(x!, value, *, name)",
    "``x.name = value``",
    statement="{0}.{name} = {1}",
    infer=lambda x, value, *, name: (),
    evaluate=_set_attribute,
    lower=_lower_setattr,
)
SET_FORM = object_op(
    "prim::set_form",
    "(x!, value, *, name)",
    "``x.name = value`` of an attribute that says what an array is; gives `x`.",
    statement="{0}.{name} = {1}",
    infer=_infer_form,
    evaluate=_set_form,
    lower=_lower_form,
    is_profiled=True,
)
DELATTR = object_op(
    "py::delattr",
    "(x!, *, name)",
    "``del x.name``",
    statement="del {0}.{name}",
    infer=lambda x, *, name: (),
    evaluate=_delete_attribute,
)
WHOLE = object_op(
    "prim::whole",
    "(x)",
    "The object that `x` is, made here if it was none: what asks which object it is gets this one.",
    evaluate=lambda x: x,
    effects=Effect.ALLOC,
    syntax="{0}",
    samples=((1,), ((1, 2.5),), (range(3),), ([],)),
)

# -- calls -----------------------------------------------------------------------------------------


def _call(f: Any, *args: object, kwnames: tuple[str, ...] = ()) -> object:
    if not kwnames:
        return f(*args)
    split = len(args) - len(kwnames)
    return f(*args[:split], **dict(zip(kwnames, args[split:], strict=True)))


def call_with(f: Any, args: Sequence[object], kwargs: Mapping[str, object] | None) -> object:
    return f(*args) if kwargs is None else f(*args, **kwargs)


def _call_method(x: object, *args: object, name: str, kwnames: tuple[str, ...] = ()) -> object:
    return _call(getattr(x, name), *args, kwnames=kwnames)


def _text_of_call(f: str, *args: str, kwnames: tuple[str, ...] = ()) -> str:
    split = len(args) - len(kwnames)
    keywords = [f"{name}={arg}" for name, arg in zip(kwnames, args[split:], strict=True)]
    return f"{f}({', '.join([*args[:split], *keywords])})"


def _text_of_method(x: str, *args: str, name: str, kwnames: tuple[str, ...] = ()) -> str:
    return _text_of_call(f"{x}.{name}", *args, kwnames=kwnames)


CALL = object_op(
    "py::call",
    "(f, *args, kwnames=())",
    "``f(*args)``; the last ``len(kwnames)`` operands are keyword arguments.",
    evaluate=_call,
    syntax=_text_of_call,
    lower=lambda e, f, *args, kwnames=(): e.call_object(f, args, kwnames),
    can_lower=any_operands,
    is_profiled=True,
)
CALL_EX = object_op(
    "py::call_ex",
    "(f, args, kwargs)",
    "``f(*args, **kwargs)`` with a tuple and a dict, or None for no keywords.",
    evaluate=call_with,
    syntax="({0}(*{1}) if {2} is None else {0}(*{1}, **{2}))",
    is_profiled=True,
)
CALL_METHOD = object_op(
    "py::call_method",
    "(x, *args, name, kwnames=())",
    "``x.name(*args)``; the last ``len(kwnames)`` operands are keyword arguments.",
    evaluate=_call_method,
    syntax=_text_of_method,
    lower=lambda e, x, *args, name, kwnames=(): e.call_method(name, x, args, kwnames),
    can_lower=any_operands,
    is_profiled=True,
)


def _lower_check_arrays(e: Emitter, *arrays: V) -> tuple[V, ...]:
    for array in arrays:
        e.array_check(array)
    return ()


CHECK_ARRAYS = object_op(
    "prim::check_arrays",
    "(*arrays)",
    "Leave native code if unknown code has resized, reshaped or retyped one of the arrays.",
    infer=lambda *arrays: (),
    takes_records=True,
    evaluate=lambda *arrays: None,
    lower=_lower_check_arrays,
    effects=Effect.READ | Effect.RAISE,
)

# -- text ------------------------------------------------------------------------------------------

_CONVERSIONS: dict[int, Callable[[object], object]] = {
    -1: lambda x: x,
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


def _format_value(x: object, spec: str, *, conversion: int = -1) -> str:
    return format(_CONVERSIONS[conversion](x), spec)


def _join_text(*parts: str) -> str:
    return "".join(parts)


def _bound_format(*, conversion: int = -1) -> Callable[..., str]:
    return format if conversion == -1 else functools.partial(_format_value, conversion=conversion)


def _lower_format_value(e: Emitter, x: V, spec: V, *, conversion: int = -1) -> V:
    return e.call_boxed(format, [e.call_function(_CONVERSIONS[conversion], [x]), spec])


_FORMATTED = (1, -7, 2.5, True, None, "text", 1j)

FORMAT_VALUE = object_op(
    "prim::format_value",
    "(x, spec, *, conversion=-1)",
    "One field of an f-string; `conversion` as in `ast.FormattedValue` (-1 or a character's code).",
    keeps_unions=True,
    infer=lambda x, spec, *, conversion=-1: STR,
    evaluate=_format_value,
    bind=_bound_format,
    lower=_lower_format_value,
    can_lower=lambda x, spec, *, conversion=-1: conversion != -1,
    effects=lambda x, spec, *, conversion=-1: plain_effect(x, spec) | Effect.RAISE,
    samples=tuple((x, spec) for x in _FORMATTED for spec in ("", "5", ".2f", "x", "?!")),
)


def _lower_join(e: Emitter, *parts: V) -> V:
    return e.str_join(parts, lambda: e.call_boxed("".join, [e.tuple_make(parts)]))


JOIN_STR = object_op(
    "prim::join_str",
    "(*parts)",
    "The parts of an f-string put together.",
    infer=lambda *parts: STR,
    evaluate=_join_text,
    lower=_lower_join,
    can_lower=lambda *parts: all(part == STR for part in parts),
    effects=Effect.PURE,
)

# -- unpacking -------------------------------------------------------------------------------------


_parts_unpacked: dict[object, tuple[int, int | None]] = {}


@functools.cache
def _unpacker(count: int, star: int | None = None) -> Callable[[object], object]:
    """Compile ``a0, *a1, a2 = x``: the interpreter's own unpacking, its messages included."""
    names = [f"a{i}" for i in range(count)]
    targets = ", ".join(f"*{name}" if i == star else name for i, name in enumerate(names))
    results = names[0] if count == 1 else f"({''.join(name + ', ' for name in names)})"
    text = f"def unpack(x):\n [{targets}] = x\n return {results}"
    namespace: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), namespace)
    made: Callable[[object], object] = namespace["unpack"]
    _parts_unpacked[made] = count, star
    return made


def parts_unpacked(function: object) -> tuple[int, int | None] | None:
    """Give count and star of what unpacks; None for any other function."""
    return _parts_unpacked.get(function) if isinstance(function, FunctionType) else None


def unpack(x: object, *, count: int, star: int | None = None) -> object:
    """Unpack `x` into a tuple of `count` objects (one: the object itself); `star` is a list of the rest."""
    return _unpacker(count, star)(x)


def _infer_unpack(x: Type, *, count: int, star: int | None = None) -> tuple[Type, ...]:
    unknown = (ANY,) * count
    if star is None:
        match x:
            case TupleType(items):
                return items if len(items) == count else unknown
            case ListType(item):
                return (ANY if item == NEVER else item,) * count
            case ArrayType() if x.ndim == 1 or (x.ndim and x.shape[0] in (None, count)):
                return (item_type(x),) * count
        return unknown
    if not isinstance(x, TupleType) or len(x.items) < count - 1:
        return unknown
    rest = len(x.items) - count + 1
    middle = ListType(join_all(x.items[star : star + rest]))
    return (*x.items[:star], middle, *x.items[star + rest :])


def _can_lower_unpack(x: Type, *, count: int, star: int | None = None) -> bool:
    if star is not None:
        return False
    if isinstance(x, TupleType):
        return len(x.items) == count
    return isinstance(x, ListType) or (
        isinstance(x, ArrayType) and x.shape[:1] in ((None,), (count,))
    )


def _effect_of_unpack(x: Type, *, count: int, star: int | None = None) -> Effect:
    made = Effect.PURE if star is None else Effect.ALLOC
    if isinstance(x, TupleType):
        return made if len(x.items) == count else made | Effect.RAISE
    if isinstance(x, ListType | ArrayType):
        return made | Effect.READ | Effect.RAISE
    return Effect.CALL


def _lower_unpack(e: Emitter, x: V, *, count: int, star: int | None = None) -> tuple[V, ...]:
    if isinstance(x.type, TupleType):
        return tuple(e.tuple_items(x))
    is_array = isinstance(x.type, ArrayType)
    size = e.array_sizes(x)[0] if is_array else e.list_size(x)
    e.bail_if(e.compare("ne", size, count), "wrong number of values to unpack")
    indices = [e.const(INT, i) for i in range(count)]
    if is_array:
        types_ = _infer_unpack(x.type, count=count)
        return tuple([_row(e, x, i, t) for i, t in zip(indices, types_, strict=True)])
    x = e.retype(x, ListType(ANY)) if x.type.item == NEVER else x
    return tuple([e.list_load(x, i) for i in indices])


def _row(e: Emitter, x: V, i: V, type_: Type) -> V:
    """Item `i` of an array that has it: an element, or a view."""
    if x.type.ndim == 1 and not x.type.has_fields:
        return e.array_load(x, [i])
    step, *strides = e.array_strides(x)
    return e.array_view(x, type_, e.mul(i, step), list(e.array_sizes(x)[1:]), strides)


def _unpack_elements(x: Any, *, count: int, star: int | None = None) -> Any:
    """`OpDef.symbolic`: the elements of a vector."""
    if star is not None or x.shape != (count,):
        raise TypeError("not a vector of that many elements")
    return tuple(x)


UNPACK = object_op(
    "prim::Unpack",
    "(x, *, count, star=None)",
    "``a, *b, c = x``: `count` outputs; `star` is the position of the starred target or None.",
    infer=_infer_unpack,
    takes_records=True,
    evaluate=unpack,
    bind=_unpacker,
    is_unpacking=True,
    lower=_lower_unpack,
    can_lower=_can_lower_unpack,
    effects=_effect_of_unpack,
    ranges=UNPACKED,
    is_profiled=True,
    symbolic=_unpack_elements,
)

"""Python's builtin functions on containers and classes: len, range, slice, tuple, list, isinstance."""

from __future__ import annotations

import builtins
import operator
import sys
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.characters import is_text
from ljit.ir import UNKNOWN, Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python.numbers import is_plain, plain_effect, to_type
from ljit.ops.python.samples import each
from ljit.ops.python.types import check_index, class_of, join_all, range_length
from ljit.ops.ranges.int_ranges import LENGTH, MADE_RANGE, part_of_range
from ljit.packed_types import is_packed, may_change
from ljit.types import (
    ANY,
    BOOL,
    BYTES,
    CHARACTER,
    INT,
    NONE,
    RANGE,
    STR,
    ArrayType,
    ListType,
    ObjectType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    scalar_type,
    slice_of,
)

__all__: list[str] = []


def _builtin(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    function = getattr(builtins, name)
    fields.setdefault("evaluate", function)
    fields.setdefault("callables", (function,))
    return declare(OpDef(f"py::{name}", Schema(schema), doc, **fields))


_NO_ITEMS = TupleType(())


def _is_int(t: Type) -> bool:
    return t in (BOOL, INT)


# -- len -------------------------------------------------------------------------------------------


def _can_lower_len(x: Type) -> bool:
    if isinstance(x, ArrayType):
        return x.ndim > 0
    return isinstance(x, TupleType | ListType) or x in (RANGE, STR, CHARACTER) or is_packed(x)


def _effect_of_len(x: Type) -> Effect:
    if isinstance(x, ListType) or may_change(x):
        return Effect.READ
    if isinstance(x, ArrayType):
        return Effect.PURE if x.ndim > 0 else Effect.RAISE
    if isinstance(x, TupleType) or x in (STR, CHARACTER, BYTES):
        return Effect.PURE
    return plain_effect(x)


def _lower_len(e: Emitter, x: V) -> V:
    match x.type:
        case TupleType(items):
            return e.const(INT, len(items))
        case ListType():
            return e.list_size(x)
        case ArrayType():
            return e.array_sizes(x)[0]
        case t if is_packed(t):
            return e.packed_size(x)
    if x.type == CHARACTER:
        return to_type(e, e.compare("ge", e.text_code(x), 0), INT)
    return e.str_size(x) if x.type == STR else range_length(e, x)


def _fold_len(types: Sequence[Type], constants: Sequence[object]) -> object:
    (x,) = types
    if isinstance(x, TupleType):
        return len(x.items)
    if isinstance(x, ArrayType) and x.ndim > 0 and x.shape[0] is not None:
        return x.shape[0]
    return UNKNOWN


_builtin(
    "len",
    "(x, /)",
    "``len(x)``",
    infer=lambda x: INT,
    takes_characters=is_text,
    lower=_lower_len,
    can_lower=_can_lower_len,
    effects=_effect_of_len,
    list_use=ListUse(),
    fold=_fold_len,
    ranges=LENGTH,
    reads_sizes=True,
    samples=(
        *each(
            (
                (),
                (1, 2.5),
                [],
                [1, None],
                "abc",
                b"abc",
                bytearray(3),
                array("b", [1]),
                {1: 2},
                5,
                None,
            )
        ),
        *((range(0, 9, 2),), (range(5, 1),), (range(9, -9, -4),), (range(-(2**63), 2**63 - 1),)),
        *((range(2**63 - 1),), (np.zeros((3, 0)),), (np.zeros(4)[::2],), (np.array(5),)),
    ),
)

# -- characters ------------------------------------------------------------------------------------


def _lower_ord(e: Emitter, c: V) -> V:
    code = e.text_code(c)
    e.bail_if(e.compare("lt", code, 0), "not one character")
    return code


def _lower_chr(e: Emitter, i: V) -> V:
    code = to_type(e, i, INT)
    check_index(e, code, e.const(INT, sys.maxunicode + 1))
    return e.str_char(code)


_builtin(
    "ord",
    "(c, /)",
    "``ord(c)``: the code point of a character.",
    infer=lambda c: INT if is_text(c) else ANY,
    lower=_lower_ord,
    can_lower=is_text,
    takes_characters=is_text,
    effects=plain_effect,
    samples=(("a",), ("ä",), ("\U0001f600",), ("",), ("ab",), (b"a",), (5,)),
)
_builtin(
    "chr",
    "(i, /)",
    "``chr(i)``: the character of a code point.",
    infer=lambda i: CHARACTER if _is_int(i) else ANY,
    lower=_lower_chr,
    can_lower=_is_int,
    effects=plain_effect,
    samples=((97,), (0,), (True,), (0xD800,), (0x10FFFF,), (0x110000,), (-1,), (2**40,), ("a",)),
)

# -- range and slice -------------------------------------------------------------------------------


def _is_index(t: Type) -> bool:
    """Whether a value of the type counts as an integer here; np.uint64 may be too large."""
    if isinstance(t, ScalarType):
        return t.dtype.kind in "iu" and np.can_cast(t.dtype, np.int64)
    return _is_int(t)


def _infer_range(start: Type, stop: Type = INT, step: Type = INT) -> Type:
    return RANGE if all(map(_is_index, (start, stop, step))) else ANY


def _to_index(e: Emitter, x: V) -> V:
    return e.cast(x, INT) if isinstance(x.type, ScalarType) else to_type(e, x, INT)


def _lower_range(e: Emitter, start: V, stop: V | None = None, step: V | None = None) -> V:
    one = e.const(INT, 1)
    if stop is None:
        return e.range_make(e.const(INT, 0), _to_index(e, start), one)
    if step is None:
        return e.range_make(_to_index(e, start), _to_index(e, stop), one)
    width = _to_index(e, step)
    e.bail_if(e.compare("eq", width, 0), "range step is zero")
    return e.range_make(_to_index(e, start), _to_index(e, stop), width)


_builtin(
    "range",
    "(start, stop=None, step=1, /)",
    "``range(stop)`` or ``range(start, stop, step)``: an integer without a stop is the stop.",
    infer=_infer_range,
    lower=_lower_range,
    ranges=MADE_RANGE,
    can_lower=lambda *args: _infer_range(*args) == RANGE,
    effects=lambda *args: (
        (Effect.PURE if len(args) < 3 else Effect.RAISE)
        if all(map(_is_index, args))
        else plain_effect(*args)
    ),
    samples=(
        *((5,), (0,), (-3,), (2, 9), (9, 2, -3), (1, 2, 0), (True, 5), (0, 2**63 - 1, 2**62)),
        *((2.5,), ("a",), (2**70,), (1, None), (-(2**63), 2**63 - 1, -1)),
        *((np.int64(3),), (np.int8(-3), np.uint32(9), np.int16(2)), (np.uint64(2**63 + 1),)),
    ),
)


def _slice_parts(args: Sequence[Any], nothing: Any) -> tuple[Any, ...]:
    """Order the arguments of ``slice(stop)`` or ``slice(start, stop, step)``."""
    if len(args) == 1:
        return (nothing, args[0], nothing)
    return (*args, nothing)[:3]


def _infer_slice(*args: Type) -> Type:
    made = slice_of(*_slice_parts(args, NONE))
    return made if isinstance(made, SliceType) else ANY


_builtin(
    "slice",
    "(start, stop=None, step=None, /)",
    "``slice(stop)`` or ``slice(start, stop, step)``",
    infer=_infer_slice,
    lower=lambda e, *args: e.slice_make(*_slice_parts(args, e.const(NONE, None))),
    effects=Effect.PURE,
    samples=((5,), (None,), (1, 2), (1, None, -1), (1.5,), (0, 2**63 - 1, True)),
)

# -- tuple and list --------------------------------------------------------------------------------


def _infer_list(iterable: Type = _NO_ITEMS) -> Type:
    match iterable:
        case TupleType(items):
            return ListType(join_all(items))
        case ListType():
            return iterable
        case ArrayType() if iterable.ndim == 1:
            return ListType(scalar_type(iterable.dtype))
    return ListType(INT) if iterable == RANGE else ListType(ANY)


def _effect_of_copy(*args: Type) -> Effect:
    if all(map(is_plain, args)):
        return Effect.ALLOC | Effect.RAISE
    known = isinstance(args[0], ListType | TupleType | ArrayType)
    return Effect.READ | Effect.ALLOC if known else Effect.CALL


_builtin(
    "tuple",
    "(iterable=(), /)",
    "``tuple(iterable)``",
    infer=lambda iterable=_NO_ITEMS: iterable if isinstance(iterable, TupleType) else ANY,
    lower=lambda e, iterable=None: e.tuple_make([]) if iterable is None else iterable,
    can_lower=lambda iterable=_NO_ITEMS: isinstance(iterable, TupleType),
    effects=lambda *args: (
        Effect.PURE if not args or isinstance(args[0], TupleType) else _effect_of_copy(*args)
    ),
    is_profiled=True,
    samples=((), ((1, 2.5),), ([1, 2],), ("ab",), (5,)),
)
_builtin(
    "list",
    "(iterable=(), /)",
    "``list(iterable)``",
    infer=_infer_list,
    lower=lambda e, iterable=None: e.list_make(
        [] if iterable is None else e.tuple_items(iterable), e.result_types[0]
    ),
    can_lower=lambda iterable=_NO_ITEMS: isinstance(iterable, TupleType),
    effects=_effect_of_copy,
    list_use=ListUse(copies="prim::private_section"),
    is_profiled=True,
    samples=((), ((1, 2.5),), ([1, 2],), (range(3),), (np.arange(3.0),), ("ab",), (5,)),
)

# -- enumerate and zip -----------------------------------------------------------------------------


def _effect_of_iterator(*types: Type) -> Effect:
    """Nothing is asked of sequences before the first item."""
    is_known = all(isinstance(t, ListType | TupleType) or t == RANGE for t in types)
    return Effect.ALLOC if is_known else Effect.CALL


def _iterator(name: str, schema: str, **fields: Any) -> None:
    """Declare an iterator that another iteration may go through: there, a view does as well."""
    type_ = ObjectType(getattr(builtins, name))
    _builtin(
        name,
        schema,
        f"``{name}{schema}`` as an object",
        infer=lambda *args: type_,
        iterated=f"prim::{name}_view",
        samples=(([1, 2],), ((1, 2.5),), (range(3),), (5,)),
        **fields,
    )


_iterator(
    "enumerate",
    "(iterable, start=0)",
    effects=lambda iterable, start=INT: (
        _effect_of_iterator(iterable) if _is_int(start) else Effect.CALL
    ),
    list_use=ListUse(gives_view=True, leading=1),
)
_iterator("zip", "(*iterables)", effects=_effect_of_iterator, list_use=ListUse(gives_view=True))

# -- classes ---------------------------------------------------------------------------------------


def _fold_isinstance(types: Sequence[Type], constants: Sequence[object]) -> object:
    """Decided by the class of `x` where `classinfo` is a known class or tuple of classes.

    Only classes without a metaclass of their own, whose ``__instancecheck__`` could do anything.
    """
    cls, wanted = class_of(types[0]), constants[1]
    classes = wanted if type(wanted) is tuple else (wanted,)
    if cls is None or not all(type(c) is type for c in classes):
        return UNKNOWN
    is_subclass = issubclass(cls, classes)
    if not is_subclass and isinstance(types[0], ObjectType):
        return UNKNOWN  # `x.__class__` may say something else
    return is_subclass


_builtin(
    "isinstance",
    "(x, classinfo, /)",
    "``isinstance(x, classinfo)``",
    infer=lambda x, classinfo: BOOL,
    effects=Effect.CALL,
    fold=_fold_isinstance,
    samples=(
        (1, int),
        (True, int),
        (1.5, (int, float)),
        (np.float64(1), float),
        ("a", 5),
        (None, str),
    ),
)


def _fold_type(types: Sequence[Type], constants: Sequence[object]) -> object:
    cls = class_of(types[0])
    return UNKNOWN if cls is None else cls


_builtin(
    "type",
    "(x, /)",
    "``type(x)``",
    infer=lambda x: ObjectType(type) if type(class_of(x)) is type else ANY,
    effects=Effect.PURE,
    fold=_fold_type,
    samples=((1,), (None,), ("a",), (np.float32(1),), ([],)),
)

# -- parts of ranges and slices --------------------------------------------------------------------


def _part_of(name: str, position: int) -> None:
    """Declare ``x.start``, ``x.stop`` or ``x.step`` of ranges and slices."""

    def infer(x: Type) -> Type:
        if isinstance(x, SliceType):
            return (x.start, x.stop, x.step)[position]
        return INT if x == RANGE else ANY

    def lower(e: Emitter, x: V) -> V:
        return (e.range_parts(x) if x.type == RANGE else e.slice_parts(x))[position]

    declare(
        OpDef(
            f"py::{name}",
            Schema("(x)"),
            f"``x.{name}`` of a range or slice",
            infer=infer,
            evaluate=operator.attrgetter(name),
            lower=lower,
            effects=lambda x: Effect.PURE if infer(x) != ANY else Effect.CALL,
            attributes=(f"range.{name}", f"slice.{name}"),
            ranges=part_of_range(position),
            samples=((range(1, 9, 2),), (slice(1, None, -1),), (slice(None, 4),), (5,)),
        )
    )


for _position, _name in enumerate(("start", "stop", "step")):
    _part_of(_name, _position)

# -- str and repr ----------------------------------------------------------------------------------


def _infer_text(x: Type) -> Type:
    return STR if is_plain(x) or isinstance(x, ScalarType) else ANY


def _text_effect(x: Type) -> Effect:
    return Effect.PURE if is_plain(x) else Effect.CALL


for _name in ("str", "repr"):
    _builtin(
        _name,
        "(x, /)",
        f"``{_name}(x)``",
        infer=_infer_text,
        effects=_text_effect,
        is_profiled=True,
        samples=((1,), (2.5,), (-0.0,), ("a'b",), (None,), ((1, "x"),), ([1, 2.5],), (True,)),
    )

"""Infer rules, folds and lowerings of comparisons, truth, identity and ``in``.

Ints and floats compare exactly, as in Python. Tuples compare item by item; where the identity of the
items would matter (a NaN is itself), native code bails out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.characters import is_text
from ljit.ir import Effect, Emitter, get_op
from ljit.ir.emitter import V
from ljit.ir.opdef import UNKNOWN
from ljit.ops.python.numbers import (
    EXACT_FLOAT,
    all_numbers,
    arithmetic_type,
    condition_and,
    condition_not,
    condition_or,
    is_plain,
    plain_effect,
    to_float,
    to_type,
)
from ljit.ops.python.private_items import number_code
from ljit.ops.python.types import UINT64, class_of, range_count
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    RANGE,
    STR,
    UINT,
    ListType,
    ObjectType,
    ScalarType,
    TupleType,
    Type,
    UnionType,
    is_number,
)

__all__ = [
    "are_characters",
    "are_texts",
    "are_texts_in",
    "can_lower_equal",
    "can_lower_in",
    "can_lower_is",
    "can_lower_order",
    "can_lower_truth",
    "compare_numbers",
    "compare_with_numpy",
    "effect_of_comparison",
    "effect_of_in",
    "effect_of_is",
    "effect_of_truth",
    "fold_is",
    "fold_is_not",
    "fold_not",
    "fold_truth",
    "infer_equal",
    "infer_order",
    "lower_equal",
    "lower_in",
    "lower_is",
    "lower_is_not",
    "lower_not",
    "lower_not_equal",
    "lower_not_in",
    "lower_order",
    "lower_truth",
]

_MAX_ORDERED = 8  # pairs of items


def are_texts(x: Type, y: Type) -> bool:
    """Whether both are strs, characters among them."""
    return is_text(x) and is_text(y)


def are_characters(x: Type, y: Type) -> bool:
    """Whether both are characters."""
    return x == y == CHARACTER


# -- == and < --------------------------------------------------------------------------------------


def infer_equal(x: Type, y: Type) -> Type:
    """Infer ``==`` and ``!=``: a bool for all types whose comparison is known."""
    return BOOL if _is_comparable(x) and _is_comparable(y) else ANY


def _is_comparable(t: Type) -> bool:
    return is_plain(t) or isinstance(t, TupleType | ListType)


def infer_order(x: Type, y: Type) -> Type:
    """Infer ``< <= > >=``."""
    if all_numbers(x, y) and COMPLEX not in (x, y):
        return BOOL
    both_tuples = isinstance(x, TupleType) and isinstance(y, TupleType)
    return BOOL if are_texts(x, y) or (both_tuples and is_plain(x) and is_plain(y)) else ANY


def effect_of_comparison(x: Type, y: Type) -> Effect:
    """Comparisons of numbers and strings are pure."""
    if all_numbers(x, y) and COMPLEX not in (x, y):
        return Effect.PURE
    if isinstance(x, ListType) and can_lower_equal(x, y):
        return Effect.READ
    return Effect.PURE if are_texts(x, y) else plain_effect(x, y)


def can_lower_order(x: Type, y: Type) -> bool:
    """Whether ``x < y`` has native code: real numbers, strs, and tuples of them."""
    if isinstance(x, TupleType) and isinstance(y, TupleType):
        pairs = list(zip(x.items, y.items, strict=False))
        return len(pairs) <= _MAX_ORDERED and all(can_lower_order(*pair) for pair in pairs)
    return are_texts(x, y) or (all_numbers(x, y) and COMPLEX not in (x, y))


def can_lower_equal(x: Type, y: Type) -> bool:
    """Whether ``x == y`` has native code: numbers, None, tuples of them, and private lists of ints."""
    if isinstance(x, ListType) and x.is_private:
        return x == y and number_code(x.item) in ("?", "q")  # NaN is the same object, or not
    if isinstance(x, TupleType) and isinstance(y, TupleType):
        return len(x.items) != len(y.items) or all(map(can_lower_equal, x.items, y.items))
    return _is_simple(x) and _is_simple(y)


def _is_simple(t: Type) -> bool:
    return is_number(t) or t == NONE or is_text(t)


def lower_order(predicate: str) -> Callable[[Emitter, V, V], V]:
    """Make the lowering of an order comparison."""

    def lower(e: Emitter, x: V, y: V) -> V:
        if isinstance(x.type, TupleType):
            return _order_of_tuples(e, predicate, e.tuple_items(x), e.tuple_items(y))
        if x.type == y.type == CHARACTER:
            return e.compare(predicate, e.text_code(x), e.text_code(y))
        if x.type == STR:
            return e.compare(predicate, e.str_compare(x, y), 0)
        return compare_numbers(e, predicate, x, y)

    return lower


def _order_of_tuples(e: Emitter, predicate: str, xs: Sequence[V], ys: Sequence[V]) -> V:
    """The first items that differ decide, then the lengths."""
    if not xs or not ys:
        lengths = e.const(INT, len(xs)), e.const(INT, len(ys))
        return e.compare(predicate, *lengths)
    return e.branch(
        _same_or_equal(e, xs[0], ys[0]),
        lambda: _order_of_tuples(e, predicate, xs[1:], ys[1:]),
        lambda: lower_order(predicate)(e, xs[0], ys[0]),
    )


def compare_numbers(e: Emitter, predicate: str, x: V, y: V) -> V:
    """Compare two numbers exactly; complex ones with ``eq`` and ``ne`` only."""
    type_ = arithmetic_type(x.type, y.type)
    if type_ == COMPLEX:
        return _compare_complex(e, predicate, x, y)
    if type_ == FLOAT and x.type != y.type:
        return _compare_mixed(e, predicate, x, y)
    if x.type == y.type == BOOL and predicate in ("eq", "ne"):
        return e.compare(predicate, x, y)
    return e.compare(predicate, to_type(e, x, type_), to_type(e, y, type_))


_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _compare_mixed(e: Emitter, predicate: str, x: V, y: V) -> V:
    """Compare an int with a float: as floats, or as ints where the int is no float exactly."""
    if x.type == FLOAT:
        return _compare_mixed(e, _MIRRORED[predicate], y, x)
    near, known = to_float(e, x), e.constant_of(x)
    if x.type == BOOL or (known is not None and abs(known) < EXACT_FLOAT):
        return e.compare(_MIRRORED[predicate], y, near)  # `y` may be a modulus: no root is taken
    size = e.intrinsic("fabs", near)
    is_exact = e.compare("lt", size, float(EXACT_FLOAT))
    return e.branch(
        is_exact,
        lambda: e.compare(predicate, near, y),
        lambda: _compare_rounded(e, predicate, x, near, y),
    )


def _compare_rounded(e: Emitter, predicate: str, x: V, near: V, y: V) -> V:
    """Compare int `x`, which rounds to `near`, with float `y`: only a tie needs the digits of `x`."""
    is_tie = e.compare("eq", near, y)
    beyond = e.compare("eq", y, 2.0**63)  # every int64 is below
    exact = e.compare(predicate, x, e.cast(e.select(beyond, 0.0, y), INT))
    below = e.const(BOOL, predicate in ("lt", "le", "ne"))
    return e.select(is_tie, e.select(beyond, below, exact), e.compare(predicate, near, y))


def _compare_complex(e: Emitter, predicate: str, x: V, y: V) -> V:
    parts = []
    for v in (x, y):
        is_complex = v.type == COMPLEX
        parts.append((e.real(v), e.imag(v)) if is_complex else (v, e.const(FLOAT, 0.0)))
    real = compare_numbers(e, "eq", parts[0][0], parts[1][0])
    both = e.bit_and(real, e.compare("eq", parts[0][1], parts[1][1]))
    return both if predicate == "eq" else condition_not(e, both)


def lower_equal(e: Emitter, x: V, y: V) -> V:
    """Lower ``x == y``."""
    if isinstance(x.type, TupleType):
        return _equal_tuples(e, e.tuple_items(x), e.tuple_items(y))
    if isinstance(x.type, ListType):
        return e.list_same(x, y)
    if is_number(x.type) and is_number(y.type):
        return compare_numbers(e, "eq", x, y)
    if x.type == y.type == STR:
        return e.str_equal(x, y)
    if are_texts(x.type, y.type):
        return e.compare("eq", e.text_code(x), e.text_code(y))
    return e.const(BOOL, x.type == y.type)


def _equal_tuples(e: Emitter, xs: Sequence[V], ys: Sequence[V]) -> V:
    if len(xs) != len(ys):
        return e.const(BOOL, False)
    result = e.const(BOOL, True)
    for x, y in zip(xs, ys, strict=True):
        result = e.bit_and(result, _same_or_equal(e, x, y))
    return result


def _same_or_equal(e: Emitter, x: V, y: V) -> V:
    """``x is y or x == y``: NaNs on both sides are compared by identity."""
    if isinstance(x.type, ScalarType) or isinstance(y.type, ScalarType):
        return compare_with_numpy(e, "np::equal", x, y)
    if x.type != y.type or x.type not in (FLOAT, COMPLEX):
        return lower_equal(e, x, y)
    nans = [condition_not(e, compare_numbers(e, "eq", v, v)) for v in (x, y)]
    return e.branch(
        e.bit_and(*nans), lambda: e.same_object(x, y), lambda: compare_numbers(e, "eq", x, y)
    )


def lower_not_equal(e: Emitter, x: V, y: V) -> V:
    """Lower ``x != y``."""
    if is_number(x.type) and is_number(y.type):
        return compare_numbers(e, "ne", x, y)
    return condition_not(e, lower_equal(e, x, y))


# -- truth -----------------------------------------------------------------------------------------


def fold_truth(types: Sequence[Type], constants: Sequence[object]) -> object:
    """The truth of None and of tuples is in their type."""
    (x,) = types
    if isinstance(x, TupleType):
        return bool(x.items)
    return False if x == NONE else UNKNOWN


def fold_not(types: Sequence[Type], constants: Sequence[object]) -> object:
    """As `fold_truth`."""
    truth = fold_truth(types, constants)
    return truth if truth is UNKNOWN else not truth


def can_lower_truth(x: Type) -> bool:
    """Whether ``bool(x)`` has native code."""
    return _is_simple(x) or isinstance(x, TupleType | ScalarType | ListType) or x == RANGE


def effect_of_truth(x: Type) -> Effect:
    """The truth of builtin values is pure; a list's can change."""
    if isinstance(x, ListType):
        return Effect.READ
    return Effect.PURE if can_lower_truth(x) else plain_effect(x)


def lower_truth(e: Emitter, x: V) -> V:
    """Lower ``bool(x)``."""
    match x.type:
        case TupleType(items):
            return e.const(BOOL, bool(items))
        case ListType():
            return e.compare("ne", e.list_size(x), 0)
        case t if t == NONE:
            return e.const(BOOL, False)
        case t if t == STR:
            return e.compare("ne", e.str_size(x), 0)
        case t if t == CHARACTER:
            return e.compare("ge", e.text_code(x), 0)
        case t if t == RANGE:
            return e.compare("ne", range_count(e, x), 0)
    return _nonzero(e, x)


def _nonzero(e: Emitter, x: V) -> V:
    if x.type == BOOL:
        return x
    kind = x.type.dtype.kind if isinstance(x.type, ScalarType) else ""
    if kind == "b":
        return e.retype(x, BOOL)
    if kind == "c" or x.type == COMPLEX:
        return e.bit_or(*(e.compare("ne", v, 0) for v in (e.real(x), e.imag(x))))
    return e.compare("ne", x, 0)


def lower_not(e: Emitter, x: V) -> V:
    """Lower ``not x``."""
    return condition_not(e, lower_truth(e, x))


# -- identity --------------------------------------------------------------------------------------


def fold_is(types: Sequence[Type], constants: Sequence[object]) -> object:
    """Values of different classes are different objects; None is one, constants are known."""
    x, y = types
    if x == y == NONE:
        return True
    if constants and isinstance(x, ObjectType) and isinstance(y, ObjectType):
        is_known = not any(c is UNKNOWN for c in constants)
        return constants[0] is constants[1] if is_known else UNKNOWN
    return False if _are_disjoint(x, y) else UNKNOWN


def fold_is_not(types: Sequence[Type], constants: Sequence[object]) -> object:
    """As `fold_is`."""
    same = fold_is(types, constants)
    return same if same is UNKNOWN else not same


def _are_disjoint(x: Type, y: Type) -> bool:
    """Whether the types belong to different classes."""
    first, second = class_of(x), class_of(y)
    return first is not None and second is not None and first is not second


def can_lower_is(x: Type, y: Type) -> bool:
    """Whether ``x is y`` has native code."""
    return not isinstance(x, UnionType) and not isinstance(y, UnionType)


def effect_of_is(x: Type, y: Type) -> Effect:
    """Of numbers, and of arrays that are no objects yet, only the interpreter may know whether they are one object."""
    is_known = fold_is((x, y), ()) is not UNKNOWN or not {NONE, BOOL}.isdisjoint((x, y))
    is_known = is_known or (x.is_boxed and y.is_boxed)
    return Effect.PURE if is_known or not can_lower_is(x, y) else Effect.RAISE


def lower_is(e: Emitter, x: V, y: V) -> V:
    """Lower ``x is y``; equal numbers that are not one value may or may not be one object."""
    known = fold_is((x.type, y.type), ())
    if known is not UNKNOWN:
        return e.const(BOOL, known)
    if x.type == y.type == BOOL:
        return e.compare("eq", x, y)
    if are_characters(x.type, y.type):
        return _same_character(e, x, y)
    if x.type != y.type or x.type not in (INT, UINT):
        return e.same_object(x, y)
    differ = e.compare("ne", x, y)
    return e.branch(differ, lambda: e.const(BOOL, False), lambda: e.same_object(x, y))


def _same_character(e: Emitter, x: V, y: V) -> V:
    """CPython has one object for each character of one byte."""
    code, other = e.text_code(x), e.text_code(y)
    differ = e.compare("ne", code, other)
    is_wide = e.bit_and(condition_not(e, differ), e.compare("gt", code, 255))
    return e.branch(is_wide, lambda: e.same_object(x, y), lambda: condition_not(e, differ))


def lower_is_not(e: Emitter, x: V, y: V) -> V:
    """Lower ``x is not y``."""
    return condition_not(e, lower_is(e, x, y))


# -- in --------------------------------------------------------------------------------------------


def compare_with_numpy(e: Emitter, op: str, x: V, y: V) -> V:
    """Give the comparison `op` of two numbers, at least one of them NumPy's, as a condition."""
    lower = get_op(op).lower
    assert lower is not None
    return e.retype(lower(e, x, y), BOOL)


def _can_lower_same_or_equal(x: Type, y: Type) -> bool:
    """NaNs of one type are compared by identity, which NumPy scalars have not in native code."""
    if not (isinstance(x, ScalarType) or isinstance(y, ScalarType)):
        return can_lower_equal(x, y)
    can_lower = get_op("np::equal").can_lower
    may_be_nan = isinstance(x, ScalarType) and x == y and x.dtype.kind in "fc"
    return can_lower is not None and can_lower(x, y) and not may_be_nan


def can_lower_in(item: Type, container: Type) -> bool:
    """Whether ``item in container`` has native code: tuples of numbers, ranges, and private lists of numbers."""
    if isinstance(container, ListType) and container.is_private:
        return number_code(item) == number_code(container.item) in ("q", "d")
    if isinstance(container, TupleType):
        return all(_can_lower_same_or_equal(item, t) for t in container.items)
    return container == RANGE and item in (BOOL, INT)


def effect_of_in(item: Type, container: Type) -> Effect:
    """Looking up plain values in plain containers may raise at most."""
    if isinstance(container, ListType) and container.is_private:
        return Effect.READ
    if not can_lower_in(item, container):
        return plain_effect(item, container)
    others = container.items if isinstance(container, TupleType) else ()
    may_be_nans = item in (FLOAT, COMPLEX) and item in others
    return Effect.RAISE if may_be_nans else Effect.PURE


def are_texts_in(item: Type, container: Type) -> bool:
    """Whether a str is looked for in another one, or among strs."""
    others = container.items if isinstance(container, TupleType) else (container,)
    return is_text(item) and all(map(is_text, others))


def lower_in(e: Emitter, item: V, container: V) -> V:
    """Lower ``item in container``."""
    if container.type == RANGE:
        return _in_range(e, to_type(e, item, INT), container)
    if isinstance(container.type, ListType):
        return e.compare("ge", e.list_find(container, item), 0)
    found = [_same_or_equal(e, item, other) for other in e.tuple_items(container)]
    return condition_or(e, *found) if found else e.const(BOOL, False)


def lower_not_in(e: Emitter, item: V, container: V) -> V:
    """Lower ``item not in container``."""
    return condition_not(e, lower_in(e, item, container))


def _in_range(e: Emitter, item: V, container: V) -> V:
    """Between the ends, and a whole number of steps from the start."""
    start, stop, step = e.range_parts(container)
    rising = e.compare("gt", step, 0)
    low = e.select(rising, e.compare("ge", item, start), e.compare("le", item, start))
    high = e.select(rising, e.compare("lt", item, stop), e.compare("gt", item, stop))
    # Invariant: wrapping 64-bit arithmetic; where the item is inside, the true distance fits in unsigned 64 bits
    distance = e.select(rising, e.sub(item, start), e.sub(start, item))
    width = e.select(rising, step, e.sub(0, step))
    rest = e.rem(e.cast(distance, UINT64), e.cast(width, UINT64))
    return condition_and(e, e.bit_and(low, high), e.compare("eq", rest, 0))

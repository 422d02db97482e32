"""``average``, ``select``, ``polyval`` and others: NumPy's formulas as ops that fuse."""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import VIEWS, declare_function
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.rules import dtype_of, is_scalar, kinds_of, result_dtype
from ljit.ops.arrays.versions import FIX_WARNS
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__ = ["clip_effects", "clip_of", "infer_clip"]

_FLOAT64, _INT64, _BOOL = np.dtype(np.float64), np.dtype(np.int64), np.dtype(bool)
_FLOATS = (np.dtype(np.float32), _FLOAT64)
_VECTOR, _MATRIX = np.arange(3.0), np.arange(6.0).reshape(2, 3)
_MOST_COEFFICIENTS = 16


# -- averages ----------------------------------------------------------------------------------------


def _infer_same_shape(a: Type, other: Type) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(other, ArrayType) or a.ndim != other.ndim:
        return ANY
    return ArrayType(a.dtype, a.shape, a.layout, a.writeable)


def _same_shape(a: np.ndarray, other: np.ndarray) -> np.ndarray:
    if a.shape != other.shape:
        raise ValueError("other sizes")
    return a[...]


def _lower_same_shape(e: Emitter, a: V, other: V) -> V:
    sizes = e.array_sizes(a)
    for own, size in zip(sizes, e.array_sizes(other), strict=True):
        e.bail_if(e.compare("ne", own, size), "arrays that should have the same sizes")
    type_ = _infer_same_shape(a.type, other.type)
    return e.array_view(a, type_, e.const(INT, 0), sizes, e.array_strides(a))


declare_function(
    "same_shape",
    "(a, other)",
    _infer_same_shape,
    _same_shape,
    doc="A view of the first array; native code is left if the second one has other sizes.",
    callables=(),
    lower=_lower_same_shape,
    effect=VIEWS,
    samples=((_VECTOR, _VECTOR),),
)


def _infer_weighted(a: Type, axis: Type = NONE, weights: Type = NONE) -> Type:
    if not isinstance(a, ArrayType) or a.dtype not in _FLOATS or axis != NONE:
        return ANY
    if weights == NONE:
        return get_op("np::mean").infer_types([a], {})[0]
    if not isinstance(weights, ArrayType) or (weights.dtype, weights.ndim) != (a.dtype, a.ndim):
        return ANY
    return ScalarType(a.dtype)


def _average_of(
    parts: Parts, a: Value, axis: Value | None = None, weights: Value | None = None
) -> Value | None:
    types = [x.type for x in (a, axis, weights) if x is not None]
    if _infer_weighted(*types) == ANY:
        return None
    if weights is None or weights.type == NONE:
        return parts.apply("np::mean", a)
    checked = parts.apply("np::same_shape", weights, a)
    total = parts.apply("np::sum", checked)
    zero = parts.apply("np::equal", total, parts.constant(0.0))
    parts.apply("np::unless", parts.constant(1.0), zero)
    products = parts.apply("np::sum", parts.apply("np::multiply", a, checked))
    return parts.apply("np::divide", products, total)


declare_function(
    "average",
    "(a, axis=None, weights=None)",
    _infer_weighted,
    np.average,
    decompose=_average_of,
    samples=((_VECTOR,), (_VECTOR, None, np.array([1.0, 2.0, 0.5]))),
)


# -- choices -----------------------------------------------------------------------------------------


def _infer_choice(conditions: Type, choices: Type, default: Type = INT) -> Type:
    tests = conditions.items if isinstance(conditions, TupleType) else ()
    values = choices.items if isinstance(choices, TupleType) else ()
    if not tests or len(tests) != len(values):
        return ANY
    for t in (*tests, *values, default):
        if isinstance(t, ArrayType) and (t.layout != "C" or not t.ndim):
            return ANY
    if not all(isinstance(t, ArrayType) and t.dtype == _BOOL for t in tests):
        return ANY
    kinds = kinds_of((*values, default))
    if kinds is None or any(t == ScalarType(_BOOL) for t in values):
        return ANY
    result: Type = default
    for test, value in zip(reversed(tests), reversed(values), strict=True):
        (result,) = get_op("np::where").infer_types([test, value, result], {})
    if not isinstance(result, ArrayType) or result.dtype != result_dtype(kinds):
        return ANY
    if result.dtype.kind == "u" and INT in values:
        return ANY  # NumPy stores it from an array of int64, which is an error
    return result if result.layout == "C" else ANY


def _choice_of(
    parts: Parts, conditions: Value, choices: Value, default: Value | None = None
) -> Value | None:
    result = parts.constant(0) if default is None else default
    if _infer_choice(conditions.type, choices.type, result.type) == ANY:
        return None
    assert isinstance(conditions.type, TupleType)
    for i in reversed(range(len(conditions.type.items))):
        test, value = (parts.apply("prim::TupleIndex", x, index=i) for x in (conditions, choices))
        result = parts.apply("np::where", test, value, result)
    return result


declare_function(
    "select_of_lists",
    "(condlist, choicelist, default=0)",
    _infer_choice,
    np.select,
    doc="``np.select``",
    decompose=_choice_of,
    reads_items=True,
    samples=((((_VECTOR > 1), (_VECTOR > 0)), (_VECTOR, _VECTOR * 2)),),
)


# -- polynomials -------------------------------------------------------------------------------------


def _coefficients(p: Type) -> int:
    """How many numbers there are, if that is known."""
    if isinstance(p, TupleType) and all(map(is_scalar, p.items)):
        return len(p.items)
    is_vector = isinstance(p, ArrayType) and p.ndim == 1 and p.dtype == _FLOAT64
    return p.shape[0] or 0 if is_vector else 0  # type: ignore[attr-defined]


def _infer_polyval(p: Type, x: Type) -> Type:
    if not 0 < _coefficients(p) <= _MOST_COEFFICIENTS:
        return ANY
    if dtype_of(x) != _FLOAT64 or (isinstance(x, ArrayType) and not x.ndim):
        return ANY
    if isinstance(p, TupleType):
        (array,) = get_op("np::array").infer_types([p], {})
        if not isinstance(array, ArrayType) or array.dtype not in (_FLOAT64, _INT64):
            return ANY
    return get_op("np::multiply").infer_types([x, x], {})[0]


def _polyval_of(parts: Parts, p: Value, x: Value) -> Value | None:
    """Horner's scheme, from nothing, as NumPy has it."""
    if _infer_polyval(p.type, x.type) == ANY:
        return None
    array = p if isinstance(p.type, ArrayType) else parts.apply("np::array", p)
    result: Value | None = None
    for i in range(_coefficients(p.type)):
        number = parts.apply("np::getitem", array, parts.constant(i))
        factor = parts.constant(0.0) if result is None else result
        result = parts.apply("np::add", parts.apply("np::multiply", factor, x), number)
    return result


declare_function(
    "polyval",
    "(p, x)",
    _infer_polyval,
    np.polyval,
    decompose=_polyval_of,
    reads_items=True,
    samples=(((1.0, -2.0, 3), _VECTOR), ((1, 2), 0.5)),
)


# -- others ------------------------------------------------------------------------------------------


def _infer_fix(x: Type) -> Type:
    is_plain = isinstance(x, ArrayType) and x.dtype in _FLOATS and x.ndim > 0 and not FIX_WARNS
    return get_op("np::trunc").infer_types([x], {})[0] if is_plain else ANY


declare_function(
    "fix",
    "(x)",
    _infer_fix,
    np.fix,
    decompose=lambda parts, x: None if _infer_fix(x.type) == ANY else parts.apply("np::trunc", x),
    samples=((np.array([-1.5, 0.25, -0.0]),),),
)


def _conjugates(a: Type) -> str | None:
    """The op of ``a.conj()``: an array of real numbers is given back as it is, and so is a number."""
    if not isinstance(a, ArrayType | ScalarType):
        return None
    return "np::conjugate" if a.dtype.kind == "c" else "np::real"


def _infer_conjugated(a: Type) -> Type:
    op = _conjugates(a)
    return ANY if op is None else get_op(op).infer_types([a], {})[0]


def _conjugated_of(parts: Parts, a: Value) -> Value | None:
    op = _conjugates(a.type)
    return None if op is None else parts.apply(op, a)


def _conjugated_effects(a: Type) -> Effect:
    if _conjugates(a) is None:
        return Effect.CALL
    if isinstance(a, ScalarType):
        return Effect.PURE
    return Effect.READ | VIEWS | Effect.ALLOC if a.dtype.kind == "c" else VIEWS  # type: ignore[attr-defined]


declare_function(
    "conjugated",
    "(a)",
    _infer_conjugated,
    lambda a: a.conj(),
    doc="``a.conj()``",
    callables=(),
    methods=("ndarray.conj", "ndarray.conjugate", "generic.conj", "generic.conjugate"),
    decompose=_conjugated_of,
    effects=_conjugated_effects,
    samples=((np.array([1 + 2j]),), (_VECTOR,), (np.complex64(1 + 2j),), (np.True_,)),
)


def _infer_fill(a: Type, value: Type) -> Type:
    is_known = isinstance(a, ArrayType) and a.writeable and is_scalar(value)
    return NONE if is_known and can_store(value, a.dtype) else ANY  # type: ignore[attr-defined]


def _lower_fill(e: Emitter, a: V, value: V) -> V:
    number = store_scalar(e, value, a.type.dtype)
    e.array_assign(a, number, lambda x: x, may_bail=False)
    return e.const(NONE, None)


declare_function(
    "fill",
    "(a!, value, /)",
    _infer_fill,
    np.ndarray.fill,
    callables=(),
    methods=("ndarray.fill",),
    lower=_lower_fill,
    can_lower=lambda a, value: _infer_fill(a, value) == NONE,
    effect=Effect.WRITE | Effect.RAISE | Effect.READ,
)


# -- one bound ---------------------------------------------------------------------------------------


def _bounded(low: Type, high: Type) -> tuple[str, int] | None:
    """The op of ``clip`` with one bound, and which of the operands that is."""
    if (low == NONE) == (high == NONE):
        return None
    return ("np::minimum", 2) if low == NONE else ("np::maximum", 1)


def infer_clip(a: Type, low: Type, high: Type) -> Type:
    """The type of ``np.clip`` where one bound is None."""
    found = _bounded(low, high)
    if found is None or not isinstance(a, ArrayType):
        return ANY
    return get_op(found[0]).infer_types([a, (a, low, high)[found[1]]], {})[0]


def clip_of(parts: Parts, a: Value, low: Value, high: Value) -> Value | None:
    """A maximum or a minimum."""
    found = _bounded(low.type, high.type)
    if found is None or infer_clip(a.type, low.type, high.type) == ANY:
        return None
    return parts.apply(found[0], a, (a, low, high)[found[1]])


def clip_effects(a: Type, low: Type, high: Type) -> Effect:
    """Those of the maximum or minimum."""
    found = _bounded(low, high)
    effects = get_op(found[0]).effects if found is not None else Effect.CALL
    if isinstance(effects, Effect):
        return effects
    return effects(a, (a, low, high)[found[1]])  # type: ignore[index]


def _infer_clip_method(a: Type, low: Type = NONE, high: Type = NONE) -> Type:
    return get_op("np::clip").infer_types([a, low, high], {})[0]


def _effects_of_clip_method(a: Type, low: Type = NONE, high: Type = NONE) -> Effect:
    effects = get_op("np::clip").effects
    return effects if isinstance(effects, Effect) else effects(a, low, high)


def _clip_method_of(
    parts: Parts, a: Value, low: Value | None = None, high: Value | None = None
) -> Value | None:
    bounds = [parts.constant(None) if bound is None else bound for bound in (low, high)]
    if _infer_clip_method(a.type, *(bound.type for bound in bounds)) == ANY:
        return None
    return parts.apply("np::clip", a, *bounds)


declare_function(
    "clip_method",
    "(a, min=None, max=None)",
    _infer_clip_method,
    lambda a, low=None, high=None: a.clip(low, high),
    doc="``a.clip(min, max)``",
    callables=(),
    methods=("ndarray.clip", "generic.clip"),
    decompose=_clip_method_of,
    effects=_effects_of_clip_method,
    samples=((_VECTOR, 0.5, 1.5), (_VECTOR, 0.5), (np.float64(2.0), 0.5, 1.5)),
)

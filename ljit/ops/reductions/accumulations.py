"""``np.add.at`` and the like, and `np.bincount`: elements of one array go to places that another one names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import REGISTRY, Effect, OpDef, Schema, Value, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import is_integer_scalar, is_scalar
from ljit.ops.indexing.index_arrays import inside
from ljit.ops.indexing.index_stores import check_apart
from ljit.ops.python.numbers import at_least
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_INT64, _FLOAT64 = (ScalarType(np.dtype(x)) for x in (np.int64, np.float64))
_PLACES = np.array([1, 3, 1])

# -- ufunc.at --------------------------------------------------------------------------------------


def _infer_at(ufunc: Type, a: Type, indices: Type, b: Type) -> Type:
    return (
        NONE if _is_vector(a) and _is_vector(indices) and (_is_vector(b) or is_scalar(b)) else ANY
    )


def _is_vector(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.ndim == 1


def _at_of(parts: Parts, ufunc: Value, a: Value, indices: Value, b: Value) -> Value | None:
    """The op of its own, if the ufunc is one that native code knows."""
    if not ufunc.is_constant or not isinstance(ufunc.constant, np.ufunc):
        return None
    op = f"np::{ufunc.constant.__name__}"
    if op not in REGISTRY or ufunc.constant not in REGISTRY[op].callables:
        return None
    if not _can_update(a.type, indices.type, b.type, by=op):
        return None
    return parts.apply("np::update_at", a, indices, b, by=op)


def _can_update(a: Type, indices: Type, b: Type, *, by: str) -> bool:
    """Whether the op gives elements of the array's dtype, and never leaves."""
    if _infer_at(NONE, a, indices, b) != NONE:
        return False
    assert isinstance(a, ArrayType)
    assert isinstance(indices, ArrayType)
    element = b.element if isinstance(b, ArrayType) else b
    step = get_op(by)
    if not a.writeable or indices.dtype.kind not in "iu" or step.infer is None:
        return False
    is_plain = element == a.element or not isinstance(element, ScalarType)
    if not is_plain or step.infer(a.element, element) != a.element:
        return False
    effects = step.effects
    found = effects if isinstance(effects, Effect) else effects(a.element, element)
    return step.has_lowering((a.element, element)) and found == Effect.PURE


def _update(a: np.ndarray, indices: Any, b: Any, *, by: str) -> None:
    function = next(f for f in get_op(by).callables if isinstance(f, np.ufunc))
    function.at(a, indices, b)


def _lower_update(e: Emitter, a: V, indices: V, b: V, *, by: str) -> V:
    step = get_op(by).lower
    assert step is not None
    check_apart(e, a, indices)
    (size,), (count,) = e.array_sizes(a), e.array_sizes(indices)
    if isinstance(b.type, ArrayType):
        e.bail_if(e.array_overlap(a, b), "values in the array itself")
        e.bail_if(e.compare("ne", e.array_sizes(b)[0], count), "another number of values")
    e.bail_if(e.bit_not(e.are_inside(a, indices)), "index out of bounds")

    def update(k: V) -> None:
        i = inside(e, e.array_load(indices, [k]), size, is_checked=True)
        x = e.array_load(b, [k]) if isinstance(b.type, ArrayType) else b
        e.array_store(a, [i], step(e, e.array_load(a, [i]), x))

    e.loop(count, update)
    return e.const(NONE, None)


declare(
    OpDef(
        "np::at",
        Schema("(ufunc, a!, indices, b, /)"),
        "``ufunc.at(a, indices, b)``.",
        infer=_infer_at,
        evaluate=lambda ufunc, a, indices, b: ufunc.at(a, indices, b),
        effects=Effect.CALL,
        library=("numpy.ufunc.at",),
        decompose=_at_of,
    )
)
declare(
    OpDef(
        "np::update_at",
        Schema("(a!, indices, b, *, by)"),
        "``by.at(a, indices, b)``, `by` the op of the ufunc: done to an element as often as it is named.",
        infer=lambda a, indices, b, *, by: NONE if _can_update(a, indices, b, by=by) else ANY,
        evaluate=_update,
        lower=_lower_update,
        can_lower=_can_update,
        effects=Effect.READ | Effect.WRITE | Effect.RAISE,
    )
)


# -- bincount --------------------------------------------------------------------------------------


def _infer_bincount(x: Type, weights: Type = NONE, minlength: Type = INT) -> Type:
    if not isinstance(x, ArrayType) or not _is_vector(x) or not is_integer_scalar(minlength):
        return ANY
    if x.dtype.kind not in "iu" or not np.can_cast(x.dtype, np.int64):
        return ANY
    if weights == NONE:
        return ArrayType(_INT64.dtype, (None,))
    if not isinstance(weights, ArrayType) or not _is_vector(weights):
        return ANY
    is_real = np.can_cast(weights.dtype, np.float64)
    return ArrayType(_FLOAT64.dtype, (None,)) if is_real else ANY


def _lower_bincount(e: Emitter, x: V, weights: V | None = None, minlength: V | None = None) -> V:
    """Count, or add weights in their order; of no elements NumPy does."""
    (count,) = e.array_sizes(x)
    e.bail_if(e.compare("eq", count, 0), "nothing to count")
    low, high = (
        e.cast(e.array_load(x, [e.array_place(x, greatest=greatest)]), INT)
        for greatest in (False, True)
    )
    e.bail_if(e.compare("lt", low, 0), "a negative number")
    size, added, element = e.add(high, 1), None, _INT64
    if minlength is not None:
        least = e.cast(minlength, INT)
        e.bail_if(e.compare("lt", least, 0), "a negative length")
        size = at_least(e, size, least)
    if weights is not None and weights.type != NONE:
        e.bail_if(e.compare("ne", e.array_sizes(weights)[0], count), "another number of weights")
        added, element = weights, _FLOAT64
    made = e.array_new(ArrayType(element.dtype, (None,)), [size], e.const(element, 0))

    def step(k: V) -> None:
        i = e.cast(e.array_load(x, [k]), INT)
        more = e.const(_INT64, 1) if added is None else e.cast(e.array_load(added, [k]), _FLOAT64)
        e.array_store(made, [i], e.add(e.array_load(made, [i]), more))

    e.loop(count, step)
    return made


declare_function(
    "bincount",
    "(x, /, weights=None, minlength=0)",
    _infer_bincount,
    np.bincount,
    lower=_lower_bincount,
    samples=((_PLACES,), (_PLACES, np.array([0.5, 2.0, 1.0])), (_PLACES, None, 6)),
)

"""``np.unique``: the elements in order, each once, and how often it is there."""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, OpDef, Schema, Value, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import COPIES, declare_function
from ljit.ops.arrays.flat import as_vector
from ljit.types import ANY, INT, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)
_COUNT = ScalarType(_INT64)
_DTYPES = frozenset(map(np.dtype, "?bBhHiIlLfd"))
_MIXED = np.array([[3.0, 1.0, 3.0], [np.nan, 1.0, np.nan]])


# -- of elements in order ------------------------------------------------------------------------------


def _infer_distinct(a: Type, *, counted: bool = False) -> Type:
    if not isinstance(a, ArrayType) or a.ndim != 1 or a.dtype not in _DTYPES:
        return ANY
    values = ArrayType(a.dtype, (None,))
    return TupleType((values, ArrayType(_INT64, (None,)))) if counted else values


def _distinct(a: np.ndarray, *, counted: bool = False) -> object:
    return np.unique(a, return_counts=True) if counted else np.unique(a)


def _differs(e: Emitter, x: V, before: V) -> V:
    """Whether an element is another one than that before it: NaN is one element."""
    differs = e.compare("ne", x, before)
    if x.type.dtype.kind != "f":
        return differs
    both_nan = e.bit_and(e.compare("ne", x, x), e.compare("ne", before, before))
    return e.bit_and(differs, e.bit_not(both_nan))


def _lower_distinct(e: Emitter, a: V, *, counted: bool = False) -> V:
    row, zero, one = as_vector(e, a), e.const(INT, 0), e.const(INT, 1)
    (size,) = e.array_sizes(row)
    is_empty = e.compare("eq", size, 0)
    more = e.select(is_empty, zero, e.sub(size, one))

    def place(k: V, so_far: V) -> V:
        """The place of element ``k + 1`` among the different ones, from that of the one before."""
        x, before = (e.array_load(row, [i]) for i in (e.add(k, one), k))
        return e.add(so_far, e.select(_differs(e, x, before), one, zero))

    count = e.add(e.fold(more, zero, place, 6), e.select(is_empty, zero, one))
    values = e.array_new(ArrayType(a.type.dtype, (None,)), [count], None)
    counts = None
    if counted:
        counts = e.array_new(ArrayType(_INT64, (None,)), [count], e.const(_COUNT, 0))

    def put(k: V, at: V) -> None:
        e.array_store(values, [at], e.array_load(row, [k]))
        if counts is not None:
            seen = e.array_load(counts, [at])
            e.array_store(counts, [at], e.add(seen, e.const(_COUNT, 1)))

    def step(k: V, so_far: V) -> V:
        at = place(k, so_far)
        put(e.add(k, one), at)
        return at

    e.loop(e.select(is_empty, zero, one), lambda k: put(k, k))
    e.fold(more, zero, step, 10)
    return values if counts is None else e.tuple_make([values, counts])


declare(
    OpDef(
        "np::distinct",
        Schema("(a, *, counted=False)"),
        "The elements of a vector in order, each once, and how often it is there.",
        infer=_infer_distinct,
        evaluate=_distinct,
        lower=_lower_distinct,
        can_lower=lambda a, *, counted=False: (
            _infer_distinct(a, counted=counted) != ANY and a.layout == "C"
        ),
        effects=lambda a, *, counted=False: (
            COPIES if _infer_distinct(a, counted=counted) != ANY else Effect.CALL
        ),
        samples=(
            (np.array([1, 1, 4, 7, 7]),),
            (np.array([0.5, np.nan, np.nan]),),
            (_MIXED[:0, 0],),
        ),
    )
)


# -- of others -----------------------------------------------------------------------------------------


def _infer_unique(ar: Type, *, return_counts: object = False) -> Type:
    if not isinstance(ar, ArrayType) or type(return_counts) is not bool:
        return ANY
    return _infer_distinct(ArrayType(ar.dtype, (None,)), counted=return_counts)


def _unique_of(parts: Parts, ar: Value, *, return_counts: bool = False) -> Value | None:
    if _infer_unique(ar.type, return_counts=return_counts) == ANY:
        return None
    assert isinstance(ar.type, ArrayType)
    row = ar
    if (
        ar.type.ndim != 1
    ):  # of arrays in other orders `ravel` gives nobody knows what, a view or a copy
        row = parts.apply("np::ravel" if ar.type.layout == "C" else "np::flatten", ar)
    return parts.apply("np::distinct", parts.apply("np::sort", row), counted=return_counts)


declare_function(
    "unique",
    "(ar, *, return_counts=False)",
    _infer_unique,
    np.unique,
    decompose=_unique_of,
    parameters=("ar", "return_index", "return_inverse", "return_counts", "axis"),
    samples=((np.array([3, 1, 3]),), (_MIXED,), (np.array([True, False, True]),)),
)

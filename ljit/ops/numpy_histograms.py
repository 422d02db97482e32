"""``np.histogram`` of float64, or of what such hold: in equal bins, natively.

As NumPy does it: each number's bin follows from its distance to the first edge, and is mended by the edges beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import OpDef, Schema, Value, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.numpy_boxed import COPIES, declare_function
from ljit.ops.numpy_flat import as_vector, product_of
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_DOUBLE = ScalarType(_FLOAT64)
_VECTOR = np.array([0.5, 1.0, 4.0, 2.5, -1.0])
_MOST_BINS = 2**40
_RESULT = TupleType((ArrayType(_INT64, (None,)), ArrayType(_FLOAT64, (None,))))


def _is_edge(t: Type) -> bool:
    return t in (FLOAT, INT, _DOUBLE)


def _infer_counts(a: Type, bins: Type, low: Type, high: Type) -> Type:
    is_known = isinstance(a, ArrayType) and a.dtype == _FLOAT64 and a.layout == "C" and a.ndim > 0
    is_known = is_known and bins == INT and _is_edge(low) and _is_edge(high)
    return _RESULT if is_known else ANY


def _lower_counts(e: Emitter, a: V, bins: V, low: V, high: V) -> V:
    """Numbers outside of the edges, and NaN, are in no bin."""
    one, zero = e.const(INT, 1), e.const(_DOUBLE, 0.0)
    first, last = (e.cast(x, _DOUBLE) for x in (low, high))
    distance = e.sub(last, first)
    is_good = e.bit_and(e.compare("gt", distance, zero), e.compare("lt", distance, _infinity(e)))
    e.bail_if(e.bit_not(is_good), "edges that do not rise, or are infinite")
    e.bail_if(e.compare("lt", bins, one), "no bins")
    e.bail_if(e.compare("gt", bins, e.const(INT, _MOST_BINS)), "very many bins")
    edges = _edges(e, first, last, bins)
    counts = e.array_new(ArrayType(_INT64, (None,)), [bins], e.const(ScalarType(_INT64), 0))
    total = product_of(e, e.array_sizes(a))
    numbers, factor = as_vector(e, a), e.cast(bins, _DOUBLE)

    def count(k: V) -> None:
        x = e.array_load(numbers, [k])
        is_inside = e.bit_and(e.compare("ge", x, first), e.compare("le", x, last))

        def count_inside() -> V:
            place = e.mul(e.div(e.sub(x, first), distance), factor)
            at = _mended(e, x, e.cast(place, INT, fits=True), edges, bins)
            found = e.array_load(counts, [at])
            e.array_store(counts, [at], e.add(found, e.const(found.type, 1)))
            return one

        e.branch(is_inside, count_inside, lambda: one)

    e.loop(total, count)
    return e.tuple_make([counts, edges])


def _infinity(e: Emitter) -> V:
    return e.const(_DOUBLE, float("inf"))


def _edges(e: Emitter, first: V, last: V, bins: V) -> V:
    """As ``np.linspace`` gives them; native code is left if they do not rise."""
    step = e.div(e.sub(last, first), e.cast(bins, _DOUBLE))
    edges = e.array_new(ArrayType(_FLOAT64, (None,)), [e.add(bins, e.const(INT, 1))], None)

    def edge(k: V) -> V:
        inner = e.add(e.mul(e.cast(k, _DOUBLE), step), first)
        return e.select(e.compare("eq", k, bins), last, inner)

    def store(k: V, rises: V) -> V:
        e.array_store(edges, [k], edge(k))
        return e.bit_and(rises, e.compare("lt", edge(k), edge(e.add(k, e.const(INT, 1)))))

    rises = e.fold(bins, e.const(BOOL, True), store, 8)
    e.bail_if(e.bit_not(rises), "too many bins")
    e.array_store(edges, [bins], last)
    return edges


def _mended(e: Emitter, x: V, at: V, edges: V, bins: V) -> V:
    """The bin, if the division was rounded across an edge; the last one has both of its edges."""
    one = e.const(INT, 1)
    final = e.sub(bins, one)
    at = e.select(e.compare("eq", at, bins), final, at)
    is_below = e.compare("lt", x, e.array_load(edges, [at]))
    at = e.select(is_below, e.sub(at, one), at)
    behind = e.add(at, one)
    is_above = e.compare("ge", x, e.array_load(edges, [behind]))
    return e.select(e.bit_and(is_above, e.compare("ne", at, final)), behind, at)


declare(
    OpDef(
        "np::equal_bins",
        Schema("(a, bins, low, high)"),
        "``np.histogram`` in equal bins between two edges.",
        infer=_infer_counts,
        evaluate=lambda a, bins, low, high: np.histogram(a, bins, (low, high)),
        lower=_lower_counts,
        effects=COPIES,
    )
)


# -- np.histogram ------------------------------------------------------------------------------------


def _is_exact(t: Type) -> bool:
    """Whether all elements are floats, or become such without rounding."""
    if not isinstance(t, ArrayType) or not t.ndim:
        return False
    return t.dtype == _FLOAT64 or (t.dtype.kind in "iu" and t.dtype.itemsize < 8)


def _infer_histogram(
    a: Type, bins: Type = INT, range: Type = NONE, *, density: object = None, weights: object = None
) -> Type:  # NumPy's names
    are_edges = isinstance(range, TupleType) and [*map(_is_edge, range.items)] == [True, True]
    is_plain = density in (None, False) and weights is None
    is_known = is_plain and _is_exact(a) and bins == INT and (are_edges or range == NONE)
    return _RESULT if is_known else ANY


def _histogram_of(
    parts: Parts,
    a: Value,
    bins: Value | None = None,
    range: Value | None = None,
    **attrs: Any,
) -> Value | None:  # NumPy's names
    types = [x.type for x in (a, bins, range) if x is not None]
    if _infer_histogram(*types, **attrs) == ANY:
        return None
    assert isinstance(a.type, ArrayType)
    if range is None or range.type == NONE:
        low, high = (parts.apply(op, a) for op in ("np::min", "np::max"))
        if a.type.dtype != _FLOAT64:
            low, high = (parts.apply("np::astype", x, dtype=_FLOAT64) for x in (low, high))
    else:
        low, high = (parts.apply("prim::TupleIndex", range, index=i) for i in (0, 1))
    number = parts.constant(10) if bins is None else bins
    if a.type.dtype != _FLOAT64 or a.type.layout != "C":
        a = parts.apply("np::astype", a, dtype=_FLOAT64, order="C")
    return parts.apply("np::equal_bins", a, number, low, high)


declare_function(
    "histogram",
    "(a, bins=10, range=None, *, density=None, weights=None)",
    _infer_histogram,
    np.histogram,
    decompose=_histogram_of,
    samples=((_VECTOR,), (_VECTOR, 4, (0, 3)), (np.arange(5, dtype=np.int16), 3)),
)

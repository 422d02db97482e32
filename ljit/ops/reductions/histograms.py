"""``np.histogram`` of float64, or of what such hold, natively: in equal bins, or between edges.

As NumPy does it: in equal bins each number's follows from its distance to the first edge, and is mended by the edges
beside it. Other edges are searched, where NumPy sorts the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir import OpDef, Schema, Value, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import COPIES, declare_function
from ljit.ops.arrays.flat import as_vector, product_of
from ljit.ops.indexing.search import as_vector_of, bail_unless_rising
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_DOUBLE = ScalarType(_FLOAT64)
_VECTOR = np.array([0.5, 1.0, 4.0, 2.5, -1.0])
_MOST_BINS = 2**40
_COUNTS, _EDGES = (ArrayType(dtype, (None,)) for dtype in (_INT64, _FLOAT64))


def _is_edge(t: Type) -> bool:
    return t in (FLOAT, INT, _DOUBLE)


def _is_plain(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.dtype == _FLOAT64 and t.layout == "C" and t.ndim > 0


def _infer_counts(a: Type, bins: Type, low: Type, high: Type, weights: Type = NONE) -> Type:
    is_known = _is_plain(a) and bins == INT and _is_edge(low) and _is_edge(high)
    if not is_known or not (weights == NONE or _is_plain(weights)):
        return ANY
    return TupleType((_COUNTS if weights == NONE else _EDGES, _EDGES))


def _lower_counts(e: Emitter, a: V, bins: V, low: V, high: V, weights: V | None = None) -> V:
    """Numbers outside of the edges, and NaN, are in no bin."""
    one = e.const(INT, 1)
    first, last = (e.cast(x, _DOUBLE) for x in (low, high))
    distance = e.sub(last, first)
    is_good = e.bit_and(e.compare("gt", distance, 0.0), e.compare("lt", distance, _infinity(e)))
    e.bail_if(e.bit_not(is_good), "edges that do not rise, or are infinite")
    e.bail_if(e.compare("lt", bins, one), "no bins")
    e.bail_if(e.compare("gt", bins, _MOST_BINS), "very many bins")
    edges = _edges(e, first, last, bins)
    is_weighted = weights is not None and weights.type != NONE
    number = _DOUBLE if is_weighted else ScalarType(_INT64)
    counts = e.array_new(ArrayType(number.dtype, (None,)), [bins], e.const(number, 0))
    total = product_of(e, e.array_sizes(a))
    numbers, factor = as_vector(e, a), e.cast(bins, _DOUBLE)
    parts = as_vector(e, weights) if is_weighted else None

    def count(k: V) -> None:
        x = e.array_load(numbers, [k])
        is_inside = e.bit_and(e.compare("ge", x, first), e.compare("le", x, last))

        def count_inside() -> V:
            place = e.mul(e.div(e.sub(x, first), distance), factor)
            at = _mended(e, x, e.cast(place, INT, fits=True), edges, bins)
            part = e.const(number, 1) if parts is None else e.array_load(parts, [k])
            e.array_store(counts, [at], e.add(e.array_load(counts, [at]), part))
            return one

        e.branch(is_inside, count_inside, lambda: one)

    e.loop(total, count)
    return e.tuple_make([counts, edges])


def _infinity(e: Emitter) -> V:
    return e.const(_DOUBLE, float("inf"))


def _edges(e: Emitter, first: V, last: V, bins: V) -> V:
    """As ``np.linspace`` gives them; native code is left if they do not rise."""
    step = e.div(e.sub(last, first), e.cast(bins, _DOUBLE))
    edges = e.array_new(ArrayType(_FLOAT64, (None,)), [e.add(bins, 1)], None)

    def edge(k: V) -> V:
        inner = e.add(e.mul(e.cast(k, _DOUBLE), step), first)
        return e.select(e.compare("eq", k, bins), last, inner)

    def store(k: V, rises: V) -> V:
        e.array_store(edges, [k], edge(k))
        return e.bit_and(rises, e.compare("lt", edge(k), edge(e.add(k, 1))))

    rises = e.fold(bins, e.const(BOOL, True), store, 8)
    e.bail_if(e.bit_not(rises), "too many bins")
    e.array_store(edges, [bins], last)
    return edges


def _mended(e: Emitter, x: V, at: V, edges: V, bins: V) -> V:
    """The bin, if the division was rounded across an edge; the last one has both of its edges."""
    final = e.sub(bins, 1)
    at = e.select(e.compare("eq", at, bins), final, at)
    is_below = e.compare("lt", x, e.array_load(edges, [at]))
    at = e.select(is_below, e.sub(at, 1), at)
    behind = e.add(at, 1)
    is_above = e.compare("ge", x, e.array_load(edges, [behind]))
    return e.select(e.bit_and(is_above, e.compare("ne", at, final)), behind, at)


declare(
    OpDef(
        "np::equal_bins",
        Schema("(a, bins, low, high, weights=None)"),
        "``np.histogram`` in equal bins between two edges.",
        infer=_infer_counts,
        evaluate=lambda a, bins, low, high, weights=None: np.histogram(
            a, bins, (low, high), weights=weights
        ),
        lower=_lower_counts,
        effects=COPIES,
    )
)


# -- other edges -------------------------------------------------------------------------------------


def _infer_between(a: Type, edges: Type) -> Type:
    is_known = isinstance(edges, ArrayType) and edges.dtype == _FLOAT64 and edges.ndim == 1
    return _COUNTS if is_known and edges.layout == "C" and _is_plain(a) else ANY  # type: ignore[attr-defined]


def _lower_between(e: Emitter, a: V, edges: V) -> V:
    """The last edge belongs to the bin in front of it."""
    one = e.const(INT, 1)
    (size,) = e.array_sizes(edges)
    bins = e.sub(size, one)
    e.bail_if(e.compare("lt", bins, one), "no bins")
    bail_unless_rising(e, edges)
    number = ScalarType(_INT64)
    counts = e.array_new(_COUNTS, [bins], e.const(number, 0))
    numbers = as_vector_of(e, a, _FLOAT64)
    places = e.array_new(_COUNTS, e.array_sizes(numbers), None)
    e.array_positions(edges, numbers, places, after=True)
    last = e.array_load(edges, [bins])

    def count(k: V) -> None:
        place = e.cast(e.array_load(places, [k]), INT)
        is_last = e.compare("eq", e.array_load(numbers, [k]), last)
        is_below = e.bit_or(e.compare("lt", place, size), is_last)
        is_inside = e.bit_and(e.compare("gt", place, 0), is_below)

        # no branch: whether numbers are outside is often in no order
        at = e.select(is_inside, e.sub(e.select(is_last, bins, place), one), e.const(INT, 0))
        found = e.array_load(counts, [at])
        e.array_store(counts, [at], e.add(found, e.cast(is_inside, number)))

    e.loop(e.array_sizes(numbers)[0], count)
    return counts


declare_function(
    "counts_between",
    "(a, edges)",
    _infer_between,
    lambda a, edges: np.histogram(a, edges)[0],
    doc="How many elements are between each edge and the next one: the counts of ``np.histogram``.",
    callables=(),
    lower=_lower_between,
    can_lower=lambda a, edges: _infer_between(a, edges) != ANY,
    samples=((_VECTOR, np.array([0.0, 1.0, 4.0])),),
)


# -- np.histogram ------------------------------------------------------------------------------------


def _is_exact(t: Type) -> bool:
    """Whether all elements are floats, or become such without rounding."""
    if not isinstance(t, ArrayType) or not t.ndim:
        return False
    return t.dtype == _FLOAT64 or (t.dtype.kind in "iu" and t.dtype.itemsize < 8)


def _infer_histogram(
    a: Type, bins: Type = INT, range: Type = NONE, weights: Type = NONE, *, density: object = None
) -> Type:  # NumPy's names
    if not _is_exact(a) or density not in (None, True, False):
        return ANY
    if isinstance(bins, ArrayType):
        is_known = (range, weights) == (NONE, NONE) and _infer_between(_EDGES, bins) != ANY
    else:
        are_edges = isinstance(range, TupleType) and [*map(_is_edge, range.items)] == [True, True]
        is_known = bins == INT and (are_edges or range == NONE)
    if weights != NONE:
        is_known = is_known and _is_plain(weights) and weights.ndim == a.ndim  # type: ignore[attr-defined]
    is_float = bool(density) or weights != NONE
    return TupleType((_EDGES if is_float else _COUNTS, _EDGES)) if is_known else ANY


def _histogram_of(
    parts: Parts,
    a: Value,
    bins: Value | None = None,
    range: Value | None = None,
    weights: Value | None = None,
    *,
    density: object = None,
) -> Value | None:  # NumPy's names
    given = {"bins": bins, "range": range, "weights": weights}
    types = {name: x.type for name, x in given.items() if x is not None}
    if _infer_histogram(a.type, **types, density=density) == ANY:  # type: ignore[arg-type]
        return None
    assert isinstance(a.type, ArrayType)
    bins = parts.constant(10) if bins is None else bins
    numbers = a
    if a.type.dtype != _FLOAT64 or a.type.layout != "C":
        numbers = parts.apply("np::astype", a, dtype=_FLOAT64, order="C")
    if isinstance(bins.type, ArrayType):
        counts, edges = parts.apply("np::counts_between", numbers, bins), bins
    else:
        ends = _ends(parts, a, range)
        operands = [numbers, bins, *ends]
        if weights is not None and weights.type != NONE:
            operands.append(parts.apply("np::same_shape", weights, a))
        both = parts.apply("np::equal_bins", *operands)
        counts, edges = (parts.apply("prim::TupleIndex", both, index=i) for i in (0, 1))
    if density:
        each = parts.apply("np::divide", counts, parts.apply("np::diff", edges))
        counts = parts.apply("np::divide", each, parts.apply("np::sum", counts))
    return parts.apply("prim::TupleConstruct", counts, edges)


def _ends(parts: Parts, a: Value, range: Value | None) -> Sequence[Value]:
    """The first edge and the last one."""
    if range is not None and range.type != NONE:
        return [parts.apply("prim::TupleIndex", range, index=i) for i in (0, 1)]
    ends = [parts.apply(op, a) for op in ("np::min", "np::max")]
    assert isinstance(a.type, ArrayType)
    if a.type.dtype == _FLOAT64:
        return ends
    return [parts.apply("np::astype", x, dtype=_FLOAT64) for x in ends]


declare_function(
    "histogram",
    "(a, bins=10, range=None, weights=None, *, density=None)",
    _infer_histogram,
    np.histogram,
    evaluate=lambda a, bins=10, range=None, weights=None, *, density=None: np.histogram(
        a, bins, range, density, weights
    ),
    decompose=_histogram_of,
    parameters=("a", "bins", "range", "density", "weights"),
    samples=(
        (_VECTOR,),
        (_VECTOR, 4, (0, 3)),
        (_VECTOR, 4, None, _VECTOR),
        (_VECTOR, np.array([0.0, 1.0, 4.0])),
        (np.arange(5, dtype=np.int16), 3),
    ),
)

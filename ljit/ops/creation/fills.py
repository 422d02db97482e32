"""Arrays of a pattern: ``eye``, ``diag``, ``tri`` and triangles, filled by plain loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.ir import Effect, Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import VIEWS, chosen_dtype, declare_function
from ljit.ops.arrays.flat import product_of, viewed
from ljit.ops.arrays.rules import array_of, is_integer_scalar
from ljit.ops.creation.create import if_small
from ljit.ops.python.numbers import at_least, at_most
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, Type

__all__ = ["fill_stretch", "number"]

_FLOAT64, _FRESH = np.dtype(np.float64), Effect.RAISE | Effect.ALLOC
_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)


def _clamped(e: Emitter, x: V, high: V) -> V:
    """The number, at least 0 and at most `high`."""
    return at_most(e, at_least(e, x, 0), high)


def number(e: Emitter, dtype: np.dtype, value: complex) -> V:
    return e.const(ScalarType(dtype), dtype.type(value).item())


def fill_stretch(e: Emitter, made: V, start: V, count: V, value: V) -> None:
    """Store a number to elements side by side of a vector."""
    e.loop(count, lambda k: e.array_store(made, [e.add(start, k)], value))


# -- ones on a diagonal ------------------------------------------------------------------------------


def _infer_eye(
    rows: Type, columns: Type = NONE, k: Type = INT, *, dtype: object = None, order: object = "C"
) -> Type:
    if not is_integer_scalar(rows) or not (columns == NONE or is_integer_scalar(columns)):
        return ANY
    if not is_integer_scalar(k) or order != "C":
        return ANY
    return array_of(chosen_dtype(dtype, _FLOAT64), (None, None))


def _can_lower(infer: Callable[..., Type]) -> Callable[..., bool]:
    """Whether the result is an array whose numbers native code can write as constants."""

    def can_lower(*types: Type, **attrs: object) -> bool:
        result = infer(*types, **attrs)
        return isinstance(result, ArrayType) and result.dtype != np.float16

    return can_lower


def _sizes(e: Emitter, rows: V, columns: V | None, k: V | None) -> tuple[V, V, V]:
    height = e.cast(rows, INT)
    width = height if columns is None or columns.type == NONE else e.cast(columns, INT)
    return height, width, e.const(INT, 0) if k is None else e.cast(k, INT)


def _lower_eye(
    e: Emitter, rows: V, columns: V | None = None, k: V | None = None, **attrs: object
) -> V:
    height, width, k = _sizes(e, rows, columns, k)
    dtype = chosen_dtype(attrs.get("dtype"), _FLOAT64)
    assert dtype is not None
    made = _zeros(e, dtype, height, width)
    _store_diagonal(e, made, k, lambda _: number(e, dtype, 1))
    return made


def _zeros(e: Emitter, dtype: np.dtype, height: V, width: V) -> V:
    """A matrix that is written at once: memory that the system clears page by page is slower."""
    made, size = (
        e.array_new(ArrayType(dtype, (None, None)), [height, width], None),
        e.mul(height, width),
    )
    fill_stretch(e, viewed(e, made, [size]), e.const(INT, 0), size, number(e, dtype, 0))
    return made


def _store_diagonal(e: Emitter, made: V, k: V, value: Callable[[V], V]) -> None:
    """Store to the elements ``made[i, i + k]``."""
    height, width = e.array_sizes(made)
    is_low = e.compare("lt", k, 0)
    down, right = e.select(is_low, e.neg(k), 0), e.select(is_low, 0, k)
    rows, columns = e.sub(height, down), e.sub(width, right)
    count = at_least(e, at_most(e, rows, columns), 0)
    e.loop(count, lambda i: e.array_store(made, [e.add(i, down), e.add(i, right)], value(i)))


declare_function(
    "eye",
    "(N, M=None, k=0, *, dtype=None, order='C')",
    _infer_eye,
    np.eye,
    effect=_FRESH,
    lower=_lower_eye,
    can_lower=_can_lower(_infer_eye),
    symbolic=if_small(np.eye),
    parameters=("N", "M", "k", "dtype", "order"),
    samples=((3,), (2, 3, 1), (4, None, -2), (2, 3, 7)),
)
declare_function(
    "identity",
    "(n, *, dtype=None)",
    lambda n, *, dtype=None: _infer_eye(n, dtype=dtype),
    np.identity,
    effect=_FRESH,
    lower=_lower_eye,
    can_lower=_can_lower(lambda n, *, dtype=None: _infer_eye(n, dtype=dtype)),
    symbolic=if_small(np.identity),
    parameters=("n", "dtype"),
    samples=((3,),),
)


def _infer_diagonal_matrix(v: Type, *, k: object = 0) -> Type:
    is_vector = isinstance(v, ArrayType) and v.ndim == 1 and type(k) is int and abs(k) < 2**31
    return ArrayType(v.dtype, (None, None)) if is_vector else ANY  # type: ignore[attr-defined]


def _lower_diagonal_matrix(e: Emitter, v: V, *, k: int = 0) -> V:
    size = e.add(e.array_sizes(v)[0], abs(k))
    made = _zeros(e, v.type.dtype, size, size)
    _store_diagonal(e, made, e.const(INT, k), lambda i: e.array_load(v, [i]))
    return made


declare_function(
    "diagonal_matrix",
    "(v, *, k=0)",
    _infer_diagonal_matrix,
    np.diag,
    doc="``np.diag`` of a vector.",
    callables=(),
    lower=_lower_diagonal_matrix,
    can_lower=_can_lower(_infer_diagonal_matrix),
    symbolic=True,
    samples=((_VECTOR,),),
)


def _diag_op(v: Type, k: object) -> tuple[str, dict[str, object]]:
    is_matrix = isinstance(v, ArrayType) and v.ndim == 2
    return ("np::diagonal", {"offset": k}) if is_matrix else ("np::diagonal_matrix", {"k": k})


def _infer_diag(v: Type, *, k: object = 0) -> Type:
    op, attrs = _diag_op(v, k)
    is_known = isinstance(v, ArrayType) and v.ndim in (1, 2)
    return get_op(op).infer_types([v], attrs)[0] if is_known else ANY


def _diag_of(parts: Parts, v: Value, *, k: object = 0) -> Value | None:
    op, attrs = _diag_op(v.type, k)
    return None if _infer_diag(v.type, k=k) == ANY else parts.apply(op, v, **attrs)


def _diag_effects(v: Type, *, k: object = 0) -> Effect:
    if _infer_diag(v, k=k) == ANY:
        return Effect.CALL
    return VIEWS if v.ndim == 2 else Effect.READ | _FRESH  # type: ignore[attr-defined]


declare_function(
    "diag",
    "(v, *, k=0)",
    _infer_diag,
    np.diag,
    decompose=_diag_of,
    effects=_diag_effects,
    symbolic=True,
    parameters=("v", "k"),
    samples=((_VECTOR,), (_MATRIX,)),
)


# -- triangles ---------------------------------------------------------------------------------------


def _is_wide(t: Type) -> bool:
    """Whether NumPy's own sums of such a number do not overflow, other than for the largest."""
    return t in (INT, ScalarType(np.dtype(np.int64)))


def _offset(e: Emitter, k: V | None) -> V:
    """The diagonal; where it lies so far away that sums overflow, NumPy says what happens."""
    if k is None:
        return e.const(INT, 0)
    k = e.cast(k, INT)
    for comparison, limit in (("lt", -(2**62)), ("gt", 2**62)):
        e.bail_if(e.compare(comparison, k, limit), "a diagonal far away")
    return k


def _infer_tri(rows: Type, columns: Type = NONE, k: Type = INT, *, dtype: object = None) -> Type:
    if not all(t == NONE or _is_wide(t) for t in (rows, columns, k)):
        return ANY
    return _infer_eye(rows, columns, k, dtype=dtype)


def _lower_tri(
    e: Emitter, rows: V, columns: V | None = None, k: V | None = None, *, dtype: object = None
) -> V:
    height, width, _ = _sizes(e, rows, columns, None)
    k = _offset(e, k)
    chosen = chosen_dtype(dtype, _FLOAT64)
    assert chosen is not None
    one, zero = (number(e, chosen, x) for x in (1, 0))
    made = e.array_new(ArrayType(chosen, (None, None)), [height, width], None)
    vector = viewed(e, made, [e.mul(height, width)])

    def row(i: V) -> None:
        start = e.mul(i, width)
        count = _clamped(e, e.add(e.add(i, k), 1), width)
        fill_stretch(e, vector, start, count, one)
        fill_stretch(e, vector, e.add(start, count), e.sub(width, count), zero)

    e.loop(height, row)
    return made


declare_function(
    "tri",
    "(N, M=None, k=0, *, dtype=None)",
    _infer_tri,
    np.tri,
    effect=_FRESH,
    lower=_lower_tri,
    can_lower=_can_lower(_infer_tri),
    symbolic=if_small(np.tri),
    parameters=("N", "M", "k", "dtype"),
    samples=((3,), (2, 3, 1), (3, 2, -1)),
)


def _infer_triangle(m: Type, k: Type = INT) -> Type:
    if not isinstance(m, ArrayType) or m.ndim < 2 or not _is_wide(k):
        return ANY
    return ArrayType(m.dtype, m.shape) if m.ndim == 2 or m.layout == "C" else ANY


def _lower_triangle(e: Emitter, m: V, k: V | None, *, is_upper: bool) -> V:
    sizes = list(e.array_sizes(m))
    made = e.array_new(_infer_triangle(m.type), sizes, None)
    zero = number(e, m.type.dtype, 0)
    k = _offset(e, k)
    height, width = sizes[-2:]
    source, target = m, made
    times = product_of(e, sizes[:-2])
    if len(sizes) > 2:
        source = viewed(e, m, [times, height, width])
        target = viewed(e, made, [times, height, width])

    def row(place: Sequence[V], i: V) -> None:
        first = e.add(i, k) if is_upper else e.add(e.add(i, k), 1)
        count = _clamped(e, first, width)  # of elements in front of the border
        rest = e.sub(width, count)

        def copy(j: V) -> None:
            e.array_store(target, [*place, i, j], e.array_load(source, [*place, i, j]))

        def clear(j: V) -> None:
            e.array_store(target, [*place, i, j], zero)

        before, behind = (clear, copy) if is_upper else (copy, clear)
        e.loop(count, before)
        e.loop(rest, lambda j: behind(e.add(count, j)))

    if len(sizes) == 2:
        e.loop(height, lambda i: row([], i))
    else:
        e.loop(times, lambda t: e.loop(height, lambda i: row([t], i)))
    return made


for _function, _is_upper in ((np.triu, True), (np.tril, False)):
    declare_function(
        _function.__name__,
        "(m, k=0)",
        _infer_triangle,
        _function,
        lower=lambda e, m, k=None, *, upper=_is_upper: _lower_triangle(e, m, k, is_upper=upper),
        can_lower=_can_lower(_infer_triangle),
        symbolic=True,
        samples=((_MATRIX,), (_MATRIX.T, 1), (np.arange(24.0).reshape(2, 3, 4), -1)),
    )

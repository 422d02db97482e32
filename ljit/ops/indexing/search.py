"""``np.searchsorted``, ``np.digitize`` and ``np.interp`` of a number or of an array of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.flat import as_vector
from ljit.ops.arrays.rules import array_of, dtype_of, is_scalar
from ljit.ops.python.numbers import at_least, at_most
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, ScalarType, Type

__all__ = ["as_vector_of", "bail_unless_rising"]

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_VECTOR = np.arange(3.0)
_DOUBLE = ScalarType(_FLOAT64)


def _is_vector(t: Type, dtype: np.dtype) -> bool:
    return isinstance(t, ArrayType) and t.ndim == 1 and t.dtype == dtype


# -- np.searchsorted ---------------------------------------------------------------------------------


def _infer_searchsorted(a: Type, v: Type, *, side: object = "left") -> Type:
    if not isinstance(a, ArrayType) or side not in ("left", "right"):
        return ANY
    if is_scalar(v):
        return ScalarType(_INT64)
    return array_of(_INT64, v.shape, "C") if isinstance(v, ArrayType) and v.ndim else ANY


def _can_search(a: Type, v: Type, *, side: object = "left") -> bool:
    if side not in ("left", "right"):
        return False
    if isinstance(v, ArrayType):
        return _are_searched(a, v)
    return isinstance(a, ArrayType) and a.ndim == 1 and _compared_as(a, v) is not None


def _compared_as(a: ArrayType, v: Type) -> np.dtype | None:
    """As what a number is compared with items, which no dtype does otherwise; None: as something else."""
    own = dtype_of(v) if is_scalar(v) else None
    if own is None or not all(_fits(dtype) for dtype in (a.dtype, own)):
        return None
    return _FLOAT64 if "f" in (a.dtype.kind, own.kind) else _INT64


def _fits(dtype: np.dtype) -> bool:
    """Whether its numbers are some of those of int64 or of float64."""
    is_known = dtype.isnative and dtype.kind in "iuf"
    return is_known and dtype not in (np.dtype(np.uint64), np.dtype(np.longdouble))


def _are_searched(a: Type, v: ArrayType) -> bool:
    """Whether NumPy compares the numbers as those of the dtype of the array."""
    is_known = _is_vector(a, _INT64) or _is_vector(a, _FLOAT64)
    is_known = is_known and a.layout == "C"  # type: ignore[attr-defined]
    return is_known and v.ndim > 0 and _is_of_dtype(v, a.dtype)  # type: ignore[attr-defined]


def _is_of_dtype(v: ArrayType, dtype: np.dtype) -> bool:
    return v.dtype.kind in "iuf" and np.result_type(v.dtype, dtype) == dtype


def as_vector_of(e: Emitter, x: V, dtype: np.dtype) -> V:
    """The elements of an array in C order, as numbers of a dtype."""
    sizes = e.array_sizes(x)
    if x.type.dtype != dtype or (x.type.ndim > 1 and x.type.layout != "C"):
        made = e.array_new(ArrayType(dtype, x.type.shape), sizes, None)
        e.array_assign(made, x, lambda y: e.cast(y, ScalarType(dtype)), may_bail=False)
        x = made
    return as_vector(e, x)


def _lower_searchsorted(e: Emitter, a: V, v: V, *, side: str = "left") -> V:
    assert isinstance(a.type, ArrayType)
    if isinstance(v.type, ArrayType):
        made = e.array_new(_infer_searchsorted(a.type, v.type, side=side), e.array_sizes(v), None)
        keys = as_vector_of(e, v, a.type.dtype)
        e.array_positions(a, keys, as_vector_of(e, made, _INT64), after=side == "right")
        return made
    compared = _compared_as(a.type, v.type)
    assert compared is not None
    key = e.cast(v, ScalarType(compared))
    return e.cast(e.array_position(a, key, after=side == "right"), ScalarType(_INT64))


declare_function(
    "searchsorted",
    "(a, v, *, side='left')",
    _infer_searchsorted,
    np.searchsorted,
    lower=_lower_searchsorted,
    can_lower=_can_search,
    methods=("ndarray.searchsorted",),
    takes_lists=True,
    samples=((_VECTOR, 1.5), (_VECTOR, _VECTOR), (np.arange(4), 2)),
)

# -- np.digitize -------------------------------------------------------------------------------------


def _infer_digitize(x: Type, bins: Type, *, right: object = False) -> Type:
    return _infer_searchsorted(bins, x) if type(right) is bool else ANY


def _can_digitize(x: Type, bins: Type, *, right: object = False) -> bool:
    return _infer_digitize(x, bins, right=right) != ANY and _can_search(bins, x)


def bail_unless_rising(e: Emitter, a: V) -> None:
    """Leave if an element is higher than the next one, or one of them is NaN."""
    (size,) = e.array_sizes(a)

    def rises(k: V, so_far: V) -> V:
        pair = (e.array_load(a, [i]) for i in (k, e.add(k, 1)))
        return e.bit_and(so_far, e.compare("le", *pair))

    rise = e.fold(e.sub(size, 1), e.const(BOOL, True), rises, 4)
    e.bail_if(e.bit_not(rise), "bins that do not rise")


def _lower_digitize(e: Emitter, x: V, bins: V, *, right: bool = False) -> V:
    """Bins that fall, or that NumPy refuses, are left to it."""
    (size,) = e.array_sizes(bins)
    e.bail_if(e.compare("eq", size, 0), "no bins")
    if not isinstance(x.type, ArrayType):
        bail_unless_rising(e, bins)
        return _lower_searchsorted(e, bins, x, side="left" if right else "right")
    if bins.type.dtype.kind == "f":
        last = e.array_load(bins, [e.sub(size, 1)])
        e.bail_if(_is_nan(e, last), "a bin that is NaN")
    made = e.array_new(_infer_digitize(x.type, bins.type), e.array_sizes(x), None)
    keys, into = as_vector_of(e, x, bins.type.dtype), as_vector_of(e, made, _INT64)
    is_sorted = e.array_positions(bins, keys, into, after=not right)
    e.bail_if(e.bit_not(is_sorted), "bins that do not rise, or very many")
    return made


declare_function(
    "digitize",
    "(x, bins, *, right=False)",
    _infer_digitize,
    np.digitize,
    lower=_lower_digitize,
    can_lower=_can_digitize,
    parameters=("x", "bins", "right"),
    takes_lists=True,
    samples=((_VECTOR, _VECTOR), (np.arange(4), np.array([1, 2])), (1.5, _VECTOR)),
)

# -- np.interp ---------------------------------------------------------------------------------------


def _infer_interp(x: Type, xp: Type, fp: Type, left: Type = NONE, right: Type = NONE) -> Type:
    if not isinstance(xp, ArrayType) or not isinstance(fp, ArrayType) or dtype_of(x) is None:
        return ANY
    if fp.dtype.kind == "c" or (dtype_of(x) or xp.dtype).kind == "c":
        return ANY
    if not all(t == NONE or _is_real(t) for t in (left, right)):
        return ANY
    if is_scalar(x):
        return _DOUBLE
    return array_of(_FLOAT64, x.shape) if isinstance(x, ArrayType) and x.ndim else ANY


def _is_real(t: Type) -> bool:
    return t in (FLOAT, INT, _DOUBLE, ScalarType(_INT64))


def _can_interpolate(x: Type, xp: Type, fp: Type, *ends: Type) -> bool:
    is_known = _infer_interp(x, xp, fp, *ends) != ANY and _is_vector(xp, _FLOAT64) and not _FUSES
    if not isinstance(x, ArrayType):
        return is_known and _is_vector(fp, _FLOAT64) and _is_real(x)
    is_plain = is_known and xp.layout == "C" and x.dtype.kind in "iuf"  # type: ignore[attr-defined]
    return is_plain and fp.ndim == 1 and fp.dtype.kind in "iuf"  # type: ignore[attr-defined]


def _fuses() -> bool:
    """Whether NumPy was compiled with fused multiply-add: it would round once less."""
    x = 0.1
    return float(np.interp(x, [0.0, 1.0], [x, x + x])) != x * x + x


_FUSES = _fuses()


def _lower_interp(
    e: Emitter, x: V, xp: V, fp: V, left: V | None = None, right: V | None = None
) -> V:
    """Between two points; at one of them, or beyond all, its value. NumPy's formula, and its ways around NaN."""
    (size,), (values,) = e.array_sizes(xp), e.array_sizes(fp)
    e.bail_if(e.compare("eq", size, 0), "no points")
    e.bail_if(e.compare("ne", size, values), "other numbers of points and values")
    bounds = [
        None if end is None or end.type == NONE else e.cast(end, _DOUBLE) for end in (left, right)
    ]
    if isinstance(x.type, ArrayType):
        return _interpolate_many(e, x, xp, as_vector_of(e, fp, _FLOAT64), bounds)
    x = e.cast(x, _DOUBLE)
    found = _between(e, x, e.array_interval(xp, x), partial(_slope, e, xp, fp), xp, fp)
    return _bounded(e, found, x, xp, bounds)


def _bounded(e: Emitter, found: V, x: V, xp: V, bounds: Sequence[V | None]) -> V:
    """The value, or what is to stand for numbers below all points and above them."""
    (size,) = e.array_sizes(xp)
    places = (("lt", e.const(INT, 0)), ("gt", e.sub(size, 1)))
    for bound, (beyond, at) in zip(bounds, places, strict=True):
        if bound is not None:
            found = e.select(e.compare(beyond, x, e.array_load(xp, (at,))), bound, found)
    return found


def _interpolate_many(e: Emitter, x: V, xp: V, fp: V, bounds: Sequence[V | None]) -> V:
    """Points that are not sorted are left to NumPy: what it finds among these depends on the number before."""
    sizes = e.array_sizes(x)
    made = e.array_new(_infer_interp(x.type, xp.type, fp.type), sizes, None)
    x, into = as_vector_of(e, x, _FLOAT64), as_vector_of(e, made, _FLOAT64)
    counts = e.array_sizes(x)
    places = e.array_new(ArrayType(_INT64, (None,)), counts, None)
    is_sorted = e.array_positions(xp, x, places, after=True)
    e.bail_if(e.bit_not(is_sorted), "points that are not sorted, or very many")
    (size,) = e.array_sizes(xp)
    e.bail_if(_is_nan(e, e.array_load(xp, [e.sub(size, 1)])), "a point that is NaN")

    has_slopes = e.compare("le", size, counts[0])  # then each is computed once
    slopes = e.array_new(ArrayType(_FLOAT64, (None,)), [size], None)

    def fill(k: V) -> None:
        e.array_store(slopes, [k], _slope(e, xp, fp, k, e.add(k, 1)))

    def slope_behind(i: V, j: V) -> V:
        return e.branch(
            has_slopes, lambda: e.array_load(slopes, [i]), lambda: _slope(e, xp, fp, i, j)
        )

    e.loop(e.select(has_slopes, e.sub(size, 1), 0), fill)

    def step(k: V) -> None:
        found = e.sub(e.cast(e.array_load(places, [k]), INT), 1)
        number = e.array_load(x, [k])
        value = _between(e, number, found, slope_behind, xp, fp)
        e.array_store(into, [k], _bounded(e, value, number, xp, bounds))

    e.loop(counts[0], step)
    return made


def _slope(e: Emitter, xp: V, fp: V, i: V, j: V) -> V:
    """Between two points."""
    x0, x1, y0, y1 = (e.array_load(a, (k,)) for a in (xp, fp) for k in (i, j))
    return e.div(e.sub(y1, y0), e.sub(x1, x0))


def _between(e: Emitter, x: V, found: V, slope: Callable[[V, V], V], xp: V, fp: V) -> V:
    """The value at a number behind the point that was found."""
    (size,) = e.array_sizes(xp)
    last = e.sub(size, 1)
    is_outside = e.bit_or(e.compare("lt", found, 0), e.compare("ge", found, last))
    first = at_most(e, at_least(e, found, 0), last)
    second = e.select(e.compare("lt", first, last), e.add(first, 1), last)
    x0, y0 = (e.array_load(a, (first,)) for a in (xp, fp))
    rise = slope(first, second)
    result = e.add(e.mul(rise, e.sub(x, x0)), y0)

    def from_the_other_point() -> V:
        x1, y1 = (e.array_load(a, (second,)) for a in (xp, fp))
        other = e.add(e.mul(rise, e.sub(x, x1)), y1)
        is_flat = e.bit_and(_is_nan(e, other), e.compare("eq", y0, y1))
        return e.select(is_flat, y0, other)

    result = e.branch(_is_nan(e, result), from_the_other_point, lambda: result)
    result = e.select(e.bit_or(is_outside, e.compare("eq", x0, x)), y0, result)
    is_nan = e.bit_and(_is_nan(e, x), e.compare("gt", size, 1))  # one point has one value
    return e.select(is_nan, x, result)


def _is_nan(e: Emitter, x: V) -> V:
    return e.compare("ne", x, x)


declare_function(
    "interp",
    "(x, xp, fp, left=None, right=None)",
    _infer_interp,
    np.interp,
    lower=_lower_interp,
    can_lower=_can_interpolate,
    takes_lists=True,
    samples=(
        (1.5, _VECTOR, _VECTOR),
        (np.float64(-1), _VECTOR, _VECTOR),
        (_VECTOR, _VECTOR, _VECTOR),
        (_VECTOR, np.array([0.5, 1.5]), _VECTOR[:2], -1.0, 3),
    ),
)

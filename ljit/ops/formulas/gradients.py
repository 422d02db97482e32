"""``np.gradient`` of arrays in C order: differences of neighbours, along one axis or several.

The distance of neighbours is a number, or follows from a vector of places; of evenly spaced ones NumPy takes the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.ir import Effect, OpDef, Schema, Value, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.flat import product_of, viewed
from ljit.records import Record
from ljit.types import ANY, BOOL, FLOAT, INT, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_FLOAT64 = np.dtype(np.float64)
_DOUBLE = ScalarType(_FLOAT64)
_FLOATS = (np.dtype(np.float32), _FLOAT64)
_VECTOR, _MATRIX = np.arange(3.0), np.arange(6.0).reshape(2, 3)


def _infer_along(f: Type, step: Type, *, axis: object) -> Type:
    is_plain = isinstance(f, ArrayType) and f.layout == "C" and f.dtype in _FLOATS
    if not is_plain or not isinstance(axis, int):
        return ANY
    assert isinstance(f, ArrayType)
    is_number = step in (FLOAT, INT) or (step == _DOUBLE and f.dtype == _FLOAT64)
    is_known = is_number or (_are_places(step) and f.dtype == _FLOAT64)
    return ArrayType(f.dtype, f.shape) if is_known and 0 <= axis < f.ndim else ANY


def _are_places(step: Type) -> bool:
    return isinstance(step, ArrayType) and step.ndim == 1 and step.dtype == _FLOAT64


class _Rows(Record):
    """An array and its gradient as they lie in memory: `count` rows of `inner` elements each, `times` times."""

    source: V
    target: V
    times: V
    count: V
    inner: V

    def load(self, e: Emitter, at: V, rows: int) -> V:
        """The element as many rows behind one, or in front of it."""
        move = e.mul(rows, self.inner)
        return e.array_load(self.source, [e.add(at, move)])

    def fill(self, e: Emitter, first: V, count: V, value: Callable[[V], V]) -> None:
        """Compute so many elements of the gradient from one on."""

        def step(k: V) -> None:
            at = e.add(first, k)
            e.array_store(self.target, [at], value(at))

        e.loop(count, step)

    def fill_all(self, e: Emitter, ends: tuple[V, V], between: Callable[[V], None]) -> None:
        """Divide at the ends by the distances there; `between` computes the rows between them, from an element on."""
        last = e.mul(e.sub(self.count, 1), self.inner)

        def fill_row(first: V, before: int, distance: V) -> None:
            def difference(at: V) -> V:
                values = [self.load(e, at, row) for row in (before + 1, before)]
                return e.div(e.sub(*values), distance)

            self.fill(e, first, self.inner, difference)

        def stretch(t: V) -> None:
            start = e.mul(t, e.mul(self.count, self.inner))
            fill_row(start, 0, ends[0])
            fill_row(e.add(start, last), -1, ends[1])
            between(e.add(start, self.inner))

        e.loop(self.times, stretch)


def _lower_along(e: Emitter, f: V, step: V, *, axis: int) -> V:
    """Differences of neighbours: of both in the middle, of one at the ends."""
    sizes, element = list(e.array_sizes(f)), f.type.element
    e.bail_if(e.compare("lt", sizes[axis], 2), "too few elements for a gradient")
    made = e.array_new(_infer_along(f.type, step.type, axis=axis), sizes, None)
    times, inner = product_of(e, sizes[:axis]), product_of(e, sizes[axis + 1 :])
    shape = [e.mul(e.mul(times, sizes[axis]), inner)]
    rows = _Rows(viewed(e, f, shape), viewed(e, made, shape), times, sizes[axis], inner)
    if isinstance(step.type, ArrayType):
        _fill_by_places(e, rows, step, axis)
    else:
        _fill_by_step(e, rows, e.cast(step, _DOUBLE), element)
    return made


def _fill_by_step(e: Emitter, rows: _Rows, step: V, element: Type) -> None:
    once, twice = (e.cast(x, element) for x in (step, e.mul(2.0, step)))
    between = e.mul(e.sub(rows.count, 2), rows.inner)

    def difference(at: V) -> V:
        return e.div(e.sub(rows.load(e, at, 1), rows.load(e, at, -1)), twice)

    rows.fill_all(e, (once, once), lambda start: rows.fill(e, start, between, difference))


# -- by places ---------------------------------------------------------------------------------------


def _fill_by_places(e: Emitter, rows: _Rows, places: V, axis: int) -> None:
    (size,), one = e.array_sizes(places), e.const(INT, 1)
    e.bail_if(e.compare("ne", size, rows.count), "other numbers of places and elements")

    def distance(k: V) -> V:
        return e.sub(e.array_load(places, [e.add(k, one)]), e.array_load(places, [k]))

    first, last = distance(e.const(INT, 0)), distance(e.sub(size, 2))

    def is_as_the_first(k: V, so_far: V) -> V:
        return e.bit_and(so_far, e.compare("eq", distance(k), first))

    def evenly() -> V:
        _fill_by_step(e, rows, first, _DOUBLE)
        return one

    def unevenly() -> V:
        between = _between_places(e, rows, distance, is_outer=axis == 0)
        rows.fill_all(e, (first, last), between)
        return one

    is_even = e.fold(e.sub(size, one), e.const(BOOL, True), is_as_the_first, 4)
    e.branch(is_even, evenly, unevenly)


def _between_places(
    e: Emitter, rows: _Rows, distance: Callable[[V], V], *, is_outer: bool
) -> Callable[[V], None]:
    """What computes all rows but the first and the last; weights that are needed more than once are computed once."""
    count = e.sub(rows.count, 2)

    def weights(row: V) -> tuple[V, V, V]:
        before, behind = distance(row), distance(e.add(row, 1))
        both = e.add(before, behind)
        return (
            e.div(e.neg(behind), e.mul(before, both)),
            e.div(e.sub(behind, before), e.mul(before, behind)),
            e.div(before, e.mul(behind, both)),
        )

    weights_of = weights if is_outer else _kept(e, weights, count)

    def between(start: V) -> None:
        def fill_row(row: V) -> None:
            factors = weights_of(row)

            def combined(at: V) -> V:
                x, y, z = (e.mul(w, rows.load(e, at, i - 1)) for i, w in enumerate(factors))
                return e.add(e.add(x, y), z)

            rows.fill(e, e.add(start, e.mul(row, rows.inner)), rows.inner, combined)

        e.loop(count, fill_row)

    return between


def _kept(
    e: Emitter, numbers: Callable[[V], tuple[V, V, V]], count: V
) -> Callable[[V], tuple[V, V, V]]:
    """The same function of an index below `count`, out of arrays."""
    arrays = [e.array_new(ArrayType(_FLOAT64, (None,)), [count], None) for _ in range(3)]

    def keep(k: V) -> None:
        for array, number in zip(arrays, numbers(k), strict=True):
            e.array_store(array, [k], number)

    e.loop(count, keep)
    return lambda k: tuple(e.array_load(array, [k]) for array in arrays)  # type: ignore[return-value]


declare(
    OpDef(
        "np::gradient_along",
        Schema("(f, step, *, axis)"),
        "``np.gradient`` along one axis.",
        infer=_infer_along,
        evaluate=lambda f, step, *, axis: np.gradient(f, step, axis=axis),
        lower=_lower_along,
        effects=Effect.READ | Effect.RAISE | Effect.ALLOC,
    )
)


def _gradient_plan(f: Type, steps: Sequence[Type], axis: object) -> list[tuple[int, int]] | None:
    """The axes, and which step is whose (-1: none was given)."""
    axes = (
        axes_of(axis, f.ndim) if isinstance(f, ArrayType) and not isinstance(axis, bool) else None
    )
    if not axes or len(steps) not in (0, 1, len(axes)):
        return None
    if len(steps) < len(axes) and any(isinstance(step, ArrayType) for step in steps):
        return None
    if not steps:
        return [(a, -1) for a in axes]
    return [(a, i if len(steps) > 1 else 0) for i, a in enumerate(axes)]


def _as_floats(f: Type) -> Type:
    if isinstance(f, ArrayType) and f.dtype.kind in "iu":
        return ArrayType(_FLOAT64, f.shape, f.layout)
    return f


def _infer_gradient(f: Type, *steps: Type, axis: object = None) -> Type:
    plan = _gradient_plan(f, steps, axis)
    if plan is None:
        return ANY
    given = [*map(_as_floats, steps), FLOAT]
    types = [_infer_along(_as_floats(f), given[i], axis=a) for a, i in plan]
    if ANY in types:
        return ANY
    return types[0] if len(types) == 1 else TupleType(tuple(types))


def _gradient_of(parts: Parts, f: Value, *steps: Value, axis: object = None) -> Value | None:
    plan = _gradient_plan(f.type, [x.type for x in steps], axis)
    if plan is None or _infer_gradient(f.type, *(x.type for x in steps), axis=axis) == ANY:
        return None
    f, *given = (
        x if x.type == _as_floats(x.type) else parts.apply("np::astype", x, dtype=_FLOAT64)
        for x in (f, *steps, parts.constant(1.0))
    )
    made = [parts.apply("np::gradient_along", f, given[i], axis=a) for a, i in plan]
    return made[0] if len(made) == 1 else parts.apply("prim::TupleConstruct", *made)


declare_function(
    "gradient",
    "(f, *varargs, axis=None)",
    _infer_gradient,
    np.gradient,
    decompose=_gradient_of,
    samples=(*((_VECTOR,), (_MATRIX,), (_VECTOR, 0.5), (_MATRIX, 2, 0.25)), (_VECTOR, _VECTOR**2)),
)

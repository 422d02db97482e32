"""`cumsum`, `cumprod` and ``np.maximum.accumulate``: native loops; boxed where not in C order.

An addition waits for the one before it, four times as long as it takes. So floats along the last axis are added up in
runs of four, to which what was before is added: only these additions wait. The order differs from NumPy's, but sums
of elements that are not negative still never fall, as one who looks for places in them counts on. Integers, other
axes and products, whose parts could overflow, are done one by one, with NumPy's bits; extrema in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import accumulate
from typing import Any

import numpy as np

from ljit.ir import OpDef, Scan, Schema, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops import numpy_arithmetic  # noqa: F401  # declares the ufuncs
from ljit.ops.numpy_boxed import axes_of, chosen_dtype, declare_function, known_effects
from ljit.ops.numpy_reduce import accumulated
from ljit.ops.numpy_rules import array_of, dtype_of, layout_like
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_RUN = 4
_MATRIX = np.arange(6.0).reshape(2, 3)
Step = Callable[[Emitter, V, V], V]


def _extreme(*, greatest: bool) -> Callable[[np.dtype], Any]:
    """The least or greatest number of a dtype."""

    def extreme(dtype: np.dtype) -> Any:
        if dtype.kind == "f":
            return dtype.type(np.inf if greatest else -np.inf)
        return dtype.type(np.iinfo(dtype).max if greatest else np.iinfo(dtype).min)

    return extreme


_SCANS = {
    scan.combine: scan
    for scan in (
        Scan("np::add", lambda dtype: dtype.type(-0.0)),
        Scan("np::multiply", lambda dtype: dtype.type(1)),
        Scan("np::maximum", _extreme(greatest=False)),
        Scan("np::minimum", _extreme(greatest=True)),
    )
}
_ONE_BY_ONE = "np::multiply"  # parts of a product could overflow


def _infer_scan(
    a: Type, *, axis: object = None, dtype: object = None, keeps_dtype: bool = False
) -> Type:
    own = dtype_of(a) if isinstance(a, ArrayType) else None
    if own is None or not isinstance(a, ArrayType) or not a.ndim:
        return ANY
    chosen = chosen_dtype(dtype, own if keeps_dtype else accumulated(own))
    if axis is None:
        return array_of(chosen, (None,))
    if not isinstance(axis, int) or axes_of(axis, a.ndim) is None:
        return ANY
    return array_of(chosen, a.shape, layout_like((a,), a.ndim))


def _can_lower(a: Type, **attrs: Any) -> bool:
    """Whether all is in C order and real, and the elements fit the result as they are."""
    result, axis = _infer_scan(a, **attrs), attrs.get("axis")
    if not isinstance(a, ArrayType) or not isinstance(result, ArrayType):
        return False
    is_plain = result.layout == "C" and (axis is not None or a.ndim == 1 or a.layout == "C")
    is_real = a.dtype.kind in "biuf" and result.dtype.kind in "iuf" and result.dtype.itemsize > 2
    return is_plain and is_real and np.can_cast(a.dtype, result.dtype)


def _lower_scan(
    e: Emitter, a: V, by: str, *, axis: int | None, before: V | None = None, **attrs: Any
) -> V:
    """Emit a scan; of a vector, `before` may be combined with the first element."""
    type_ = _infer_scan(a.type, axis=axis, **attrs)
    assert isinstance(type_, ArrayType)
    step: Any = get_op(by).lower
    zero, one = e.const(INT, 0), e.const(INT, 1)
    source, place = a, 0 if axis is None else axis % a.type.ndim
    if axis is None and a.type.ndim > 1:
        flat = ArrayType(a.type.dtype, (None,), "C")
        total = reduce(e.mul, e.array_sizes(a), one)
        source = e.array_view(a, flat, zero, [total], [e.const(INT, a.type.dtype.itemsize)])
    sizes = list(e.array_sizes(source))
    made = e.array_new(type_, sizes, None)
    element = type_.element

    def start(at: Sequence[V]) -> None:
        first = e.cast(e.array_load(source, at), element)
        e.array_store(made, at, first if before is None else step(e, before, first))

    def go_on(before: Sequence[V]) -> None:
        at = [e.add(k, one) if i == place else k for i, k in enumerate(before)]
        value = e.cast(e.array_load(source, at), element)
        e.array_store(made, at, step(e, e.array_load(made, before), value))

    def run(at: Sequence[V], k: V, before: V) -> V:
        """Some elements, one after the other along the last axis."""
        first = e.mul(k, e.const(INT, _RUN))
        places = [[*at, e.add(first, e.const(INT, i + 1))] for i in range(_RUN)]
        values = [e.cast(e.array_load(source, place), element) for place in places]
        whole = [step(e, before, part) for part in accumulate(values, partial(step, e))]
        for place, value in zip(places, whole, strict=True):
            e.array_store(made, place, value)
        return whole[-1]

    def nest(at: list[V]) -> None:
        """Loops over the other axes around and within those along the axis."""
        rank = len(at)
        if rank < place:
            e.loop(sizes[rank], lambda k: nest([*at, k]))
            return
        is_empty = e.compare("eq", sizes[place], zero)
        e.loop(e.select(is_empty, zero, one), lambda _k: along([*at]))

    def along(at: list[V]) -> None:
        """The elements along the axis, of which there are some."""
        _inner(e, sizes, [*at, zero], start)
        rest, done = e.sub(sizes[place], one), zero
        if (
            by != _ONE_BY_ONE
            and element.dtype.kind == "f"
            and place == len(sizes) - 1
            and not e.is_quick
        ):
            count = e.shr(rest, e.const(INT, _RUN.bit_length() - 1))
            done = e.mul(count, e.const(INT, _RUN))
            e.fold(count, e.array_load(made, [*at, zero]), partial(run, at), 2 * _RUN)
        e.loop(e.sub(rest, done), lambda k: _inner(e, sizes, [*at, e.add(done, k)], go_on))

    nest([])
    return made


def _inner(
    e: Emitter, sizes: Sequence[V], at: list[V], body: Callable[[Sequence[V]], None]
) -> None:
    """Loops over the axes behind."""
    if len(at) < len(sizes):
        e.loop(sizes[len(at)], lambda k: _inner(e, sizes, [*at, k], body))
    else:
        body(at)


def _declare(name: str, by: str) -> None:
    def lower(e: Emitter, a: V, *, axis: Any = None, dtype: object = None) -> V:
        return _lower_scan(e, a, by, axis=axis, dtype=dtype)

    declare_function(
        name,
        "(a, *, axis=None, dtype=None)",
        _infer_scan,
        getattr(np, name),
        lower=lower,
        can_lower=_can_lower,
        scan=_SCANS[by],
        methods=(f"ndarray.{name}",),
        samples=((_MATRIX,), (np.arange(4),)),
    )


_declare("cumsum", "np::add")
_declare("cumprod", "np::multiply")


# -- ufunc.accumulate ------------------------------------------------------------------------------


def _declare_accumulate(ufunc: np.ufunc, *, keeps_dtype: bool) -> None:
    by = f"np::{ufunc.__name__}"
    infer = partial(_infer_scan, keeps_dtype=keeps_dtype)

    def can_lower(_ufunc: Type, array: Type, **attrs: Any) -> bool:
        given = {"axis": 0, **attrs}
        is_plain = not keeps_dtype or given.get("dtype") is None
        return is_plain and _can_lower(array, **given, keeps_dtype=keeps_dtype)

    def lower(e: Emitter, _ufunc: V, array: V, *, axis: Any = 0, dtype: object = None) -> V:
        attrs = {"dtype": dtype, "keeps_dtype": keeps_dtype}
        return _lower_scan(e, array, by, axis=axis, **attrs)

    declare_function(
        f"{ufunc.__name__}_accumulate",
        "(ufunc, array, *, axis=0, dtype=None)",
        lambda _ufunc, array, *, axis=0, **attrs: infer(array, axis=axis, **attrs),
        ufunc.accumulate,
        evaluate=lambda ufunc, array, **attrs: ufunc.accumulate(array, **attrs),
        doc=f"``np.{ufunc.__name__}.accumulate(array)``",
        lower=lower,
        can_lower=can_lower,
        scan=_SCANS[by],
        callables=(),
        library=(f"numpy.{ufunc.__name__}.accumulate",),
        samples=((ufunc, _MATRIX), (ufunc, np.arange(4))),
    )


_declare_accumulate(np.add, keeps_dtype=False)
_declare_accumulate(np.multiply, keeps_dtype=False)
_declare_accumulate(np.maximum, keeps_dtype=True)
_declare_accumulate(np.minimum, keeps_dtype=True)


# -- scans of blocks -------------------------------------------------------------------------------


def _infer_next(a: Type, before: Type, *, by: str) -> Type:
    if not isinstance(a, ArrayType) or a.ndim != 1 or not isinstance(before, ScalarType):
        return ANY
    return array_of(before.dtype, a.shape)


def _lower_next(e: Emitter, a: V, before: V, *, by: str) -> V:
    return _lower_scan(e, a, by, axis=0, before=before, dtype=before.type.dtype)


def _next_block(a: np.ndarray, before: Any, *, by: str) -> np.ndarray:
    ufunc = next(f for f in get_op(by).callables if isinstance(f, np.ufunc))
    return ufunc.accumulate(np.concatenate(((before,), a)), dtype=np.asarray(before).dtype)[1:]


declare(
    OpDef(
        "np::scan",
        Schema("(a, before, *, by)"),
        "A scan of a vector that goes on behind `before`, in its dtype; `by` is the op that combines.",
        infer=_infer_next,
        evaluate=_next_block,
        lower=_lower_next,
        can_lower=lambda a, before, *, by: _can_lower(
            a, axis=0, dtype=getattr(before, "dtype", None)
        ),
        effects=known_effects(_infer_next),
        keeps_shape=True,
        samples=(),
    )
)

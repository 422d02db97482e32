"""`cumsum`, `cumprod` and ``np.maximum.accumulate``: native loops; boxed where not in C order.

An addition waits for the one before it, four times as long as it takes. So floats along the last axis are added up in
runs of four, to which what was before is added: only these additions wait. The order differs from NumPy's, but sums
of elements that are not negative still never fall, as one who looks for places in them counts on. Integers, other
axes and products, whose parts could overflow, are done one by one, with NumPy's bits; extrema in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ljit.ir import OpDef, Scan, Schema, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import axes_of, chosen_dtype, declare_function, known_effects
from ljit.ops.arrays.flat import as_vector
from ljit.ops.arrays.rules import array_of, dtype_of, layout_like
from ljit.ops.reductions.reduce import accumulated
from ljit.ops.ufuncs import arithmetic  # noqa: F401  # declares the ufuncs
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_RUN = 4
_MATRIX = np.arange(6.0).reshape(2, 3)


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
        Scan("np::multiply", lambda dtype: dtype.type(1), has_parts=False),  # they could overflow
        Scan("np::maximum", _extreme(greatest=False)),
        Scan("np::minimum", _extreme(greatest=True)),
    )
}


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
    e: Emitter, a: V, scan: Scan, *, axis: int | None, before: V | None = None, **attrs: Any
) -> V:
    """Emit a scan; of a vector, `before` may be combined with the first element."""
    type_ = _infer_scan(a.type, axis=axis, **attrs)
    assert isinstance(type_, ArrayType)
    source = as_vector(e, a) if axis is None else a
    place = 0 if axis is None else axis % a.type.ndim
    made = e.array_new(type_, list(e.array_sizes(source)), None)
    _ScanLoops(e, source, made, place, scan, before).over([])
    return made


class _ScanLoops:
    """The loops of a scan along the axis `place`: over the axes in front of it, the axis itself, and those behind."""

    def __init__(
        self, e: Emitter, source: V, made: V, place: int, scan: Scan, before: V | None
    ) -> None:
        self.e = e
        self.source = source
        self.made = made
        self.place = place
        self.sizes = list(e.array_sizes(source))
        self.step: Any = get_op(scan.combine).lower
        self.before = before
        is_float = made.type.dtype.kind == "f"
        is_inner = place == len(self.sizes) - 1
        self.has_runs = scan.has_parts and is_float and is_inner and not e.is_quick

    def over(self, at: list[V]) -> None:
        """Loop over the axes in front, from the one on that `at` leads to."""
        e, rank = self.e, len(at)
        if rank < self.place:
            e.loop(self.sizes[rank], lambda k: self.over([*at, k]))
            return
        one = e.const(INT, 1)
        is_empty = e.compare("eq", self.sizes[rank], 0)
        e.loop(e.select(is_empty, 0, one), lambda _k: self._along(at))

    def _along(self, at: list[V]) -> None:
        """Scan the elements along the axis, of which there are some."""
        e, zero = self.e, self.e.const(INT, 0)
        self._behind([*at, zero], self._start)
        rest, done = e.sub(self.sizes[self.place], 1), zero
        if self.has_runs:
            count = e.shr(rest, _RUN.bit_length() - 1)
            done = e.mul(count, _RUN)
            e.fold(count, e.array_load(self.made, [*at, zero]), partial(self._run, at), 2 * _RUN)
        e.loop(e.sub(rest, done), lambda k: self._behind([*at, e.add(done, k)], self._go_on))

    def _behind(self, at: list[V], body: Callable[[Sequence[V]], None]) -> None:
        """Loop over the axes behind."""
        if len(at) < len(self.sizes):
            self.e.loop(self.sizes[len(at)], lambda k: self._behind([*at, k], body))
        else:
            body(at)

    def _load(self, at: Sequence[V]) -> V:
        return self.e.cast(self.e.array_load(self.source, at), self.made.type.element)

    def _start(self, at: Sequence[V]) -> None:
        first = self._load(at)
        if self.before is not None:
            first = self.step(self.e, self.before, first)
        self.e.array_store(self.made, at, first)

    def _go_on(self, before: Sequence[V]) -> None:
        e = self.e
        at = [e.add(k, 1) if i == self.place else k for i, k in enumerate(before)]
        value = self._load(at)
        e.array_store(self.made, at, self.step(e, e.array_load(self.made, before), value))

    def _run(self, at: Sequence[V], k: V, before: V) -> V:
        """Some elements, one after the other along the last axis."""
        e = self.e
        first = e.mul(k, _RUN)
        places = [[*at, e.add(first, i + 1)] for i in range(_RUN)]
        values = list(map(self._load, places))
        parts = accumulate(values, partial(self.step, e))
        whole = [self.step(e, before, part) for part in parts]
        for place, value in zip(places, whole, strict=True):
            e.array_store(self.made, place, value)
        return whole[-1]


def _declare(name: str, by: str) -> None:
    def lower(e: Emitter, a: V, *, axis: Any = None, dtype: object = None) -> V:
        return _lower_scan(e, a, _SCANS[by], axis=axis, dtype=dtype)

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

    def infer(_ufunc: Type, array: Type, *, axis: object = 0, dtype: object = None) -> Type:
        if axis is None:  # not all axes, as for `cumsum`: NumPy refuses
            return ANY
        return _infer_scan(array, axis=axis, dtype=dtype, keeps_dtype=keeps_dtype)

    def can_lower(_ufunc: Type, array: Type, **attrs: Any) -> bool:
        given = {"axis": 0, **attrs}
        is_plain = not keeps_dtype or given.get("dtype") is None
        return is_plain and _can_lower(array, **given, keeps_dtype=keeps_dtype)

    def lower(e: Emitter, _ufunc: V, array: V, *, axis: Any = 0, dtype: object = None) -> V:
        attrs = {"dtype": dtype, "keeps_dtype": keeps_dtype}
        return _lower_scan(e, array, _SCANS[by], axis=axis, **attrs)

    declare_function(
        f"{ufunc.__name__}_accumulate",
        "(ufunc, array, *, axis=0, dtype=None)",
        infer,
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
    return _lower_scan(e, a, _SCANS[by], axis=0, before=before, dtype=before.type.dtype)


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

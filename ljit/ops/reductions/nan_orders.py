"""``nanmedian``, ``nanpercentile`` and ``nanquantile`` of all elements: those of the elements that are numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.types import ANY, ArrayType, Type

__all__: list[str] = []

_HOLES = np.array([[3.0, np.nan, 2.0, 8.0], [0.5, 7.0, np.nan, 4.0]])


def _declare(function: Callable[..., object], op: str, schema: str, **fields: object) -> None:
    """Declare a function of arrays as the op of vectors without NaN."""

    def infer(a: Type, *q: Type, axis: object = None) -> Type:
        if not isinstance(a, ArrayType) or not a.ndim or axis is not None:
            return ANY
        if a.dtype.kind != "f":
            return get_op(op).infer_types([a, *q], {})[0] if a.dtype.kind in "iu" else ANY
        return get_op(op).infer_types([ArrayType(a.dtype, (None,)), *q], {})[0]

    def decompose(parts: Parts, a: Value, *q: Value, axis: object = None) -> Value | None:
        if infer(a.type, *(x.type for x in q), axis=axis) == ANY:
            return None
        assert isinstance(a.type, ArrayType)
        if a.type.dtype.kind != "f":
            return parts.apply(op, a, *q)
        is_number = parts.apply("np::logical_not", parts.apply("np::isnan", a))
        return parts.apply(op, parts.apply("np::getitem", a, is_number), *q)

    declare_function(
        function.__name__, schema, infer, function, decompose=decompose, reads_items=True, **fields
    )


_declare(
    np.nanmedian,
    "np::median",
    "(a, *, axis=None)",
    parameters=("a", "axis"),
    samples=((_HOLES,), (_HOLES[0],), (np.arange(4),)),
)
for _function, _op, _q in (
    (np.nanpercentile, "np::percentile", 30),
    (np.nanquantile, "np::quantile", 0.3),
):
    _declare(
        _function,
        _op,
        "(a, q, *, axis=None)",
        parameters=("a", "q", "axis"),
        samples=((_HOLES, _q), (_HOLES[0], np.float64(1.0))),
    )

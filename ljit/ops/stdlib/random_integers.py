"""Integers drawn from NumPy's random streams, numbers and arrays: `Generator.integers` and `RandomState.randint`.

Arrays are filled by the functions that fill NumPy's own.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.arrays.rules import to_dtype
from ljit.ops.python.numbers import condition_not
from ljit.ops.ranges.random_ranges import INTEGERS
from ljit.ops.stdlib.random_arrays import drawn_array, new_array
from ljit.ops.stdlib.random_numpy import DRAWS, is_stream, method_of_stream
from ljit.types import ANY, BOOL, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)


def _is_bound(t: Type) -> bool:
    """Whether all values of the type fit in int64."""
    if isinstance(t, ScalarType):
        return t.dtype.kind == "i" or (t.dtype.kind == "u" and t.dtype.itemsize < 8)
    return t == INT


def _result(dtype: object, default: Type) -> Type:
    """The type of a number of a ``dtype=`` argument: that of Python's int for ``int``."""
    if dtype is None:
        return default
    if dtype is int:
        return INT
    known = to_dtype(dtype)
    return ScalarType(known) if known is not None and known.kind in "iu" else ANY


def _declare(cls: str, name: str, default: Type, *, is_masked: bool) -> None:
    has_endpoint = not is_masked

    def infer(
        rng: Type, low: Type, high: Type = NONE, size: Type = NONE, *,
        dtype: object = None, endpoint: object = False,
    ) -> Type:  # fmt: skip
        is_known = _is_bound(low) and (high == NONE or _is_bound(high))
        is_known = is_known and type(endpoint) is bool and is_stream(rng, cls)
        number = _result(dtype, default) if is_known else ANY
        return number if size == NONE or number == ANY else drawn_array(_dtype(number), size)

    def effects(*types: Type, **attrs: object) -> Effect:
        result = infer(*types, **attrs)  # type: ignore[arg-type]
        made = Effect.ALLOC if isinstance(result, ArrayType) else Effect.PURE
        return Effect.CALL if result == ANY else DRAWS | made

    def lower(
        e: Emitter, rng: V, low: V, high: V | None = None, size: V | None = None, *,
        dtype: object = None, endpoint: object = False,
    ) -> V:  # fmt: skip
        if high is None or high.type == NONE:
            low, high = e.const(INT, 0), low
        bounds, number = (e.cast(low, INT), e.cast(high, INT)), _result(dtype, default)
        made = None
        if size is not None and size.type != NONE:
            made, count = new_array(e, drawn_array(_dtype(number), size.type), size)
        low, span = _checked(e, bounds, _dtype(number), is_closed=bool(endpoint))
        masks = e.const(BOOL, is_masked)
        if made is None:
            return e.draw(rng, "bounded", (low, span, masks), number)
        fill = f"random_bounded_{low.type.dtype}_fill"  # type: ignore[attr-defined]
        e.draw_all(rng, fill, ((low, span), (masks,)), made, count)
        return made

    schema = "(rng!, low, high=None, size=None, *, dtype=None"
    declare(
        OpDef(
            f"{cls}::{name}",
            Schema(f"{schema}, endpoint=False)" if has_endpoint else f"{schema})"),
            f"An integer of [low, high) from a `numpy.random.{cls}`, or an array of them.",
            infer=infer,
            evaluate=method_of_stream(name),
            lower=lower,
            effects=effects,
            methods=(f"{cls}.{name}",),
            ranges=INTEGERS,
        )
    )


def _dtype(number: Type) -> np.dtype:
    return number.dtype if isinstance(number, ScalarType) else _INT64


def _checked(e: Emitter, bounds: tuple[V, V], dtype: np.dtype, *, is_closed: bool) -> tuple[V, V]:
    """Give the least number of [low, high], or of [low, high) if that is not closed, and how far the others go.

    Both without a sign; an empty range bails out.
    """
    low, high = bounds
    e.bail_if(e.compare("gt" if is_closed else "ge", low, high), "low >= high")
    last = high if is_closed else e.sub(high, 1, fits=True)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if least > -(2**63):
        e.bail_if(e.compare("lt", low, least), "low is out of bounds")
    if most < 2**63 - 1:
        e.bail_if(condition_not(e, e.compare("le", last, most)), "high is too large")
    bits = ScalarType(np.dtype(f"uint{8 * dtype.itemsize}"))
    return e.cast(low, bits), e.cast(e.sub(last, low), bits)


_declare("Generator", "integers", ScalarType(_INT64), is_masked=False)
_declare("RandomState", "randint", INT, is_masked=True)

"""Integers drawn one at a time from NumPy's random streams: `Generator.integers` and `RandomState.randint`."""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.arrays.rules import to_dtype
from ljit.ops.python.numbers import condition_not
from ljit.ops.ranges.random_ranges import INTEGERS
from ljit.ops.stdlib.random_numpy import DRAWS, is_stream, method_of_stream
from ljit.types import ANY, BOOL, INT, NONE, ScalarType, Type

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
        is_known = _is_bound(low) and (high == NONE or _is_bound(high)) and size == NONE
        is_known = is_known and type(endpoint) is bool and is_stream(rng, cls)
        return _result(dtype, default) if is_known else ANY

    def effects(*types: Type, **attrs: object) -> Effect:
        return Effect.CALL if infer(*types, **attrs) == ANY else DRAWS  # type: ignore[arg-type]

    def lower(
        e: Emitter, rng: V, low: V, high: V | None = None, _size: V | None = None, *,
        dtype: object = None, endpoint: object = False,
    ) -> V:  # fmt: skip
        if high is None or high.type == NONE:
            low, high = e.const(INT, 0), low
        return _draw(
            e, rng, (e.cast(low, INT), e.cast(high, INT)), _result(dtype, default),
            is_closed=bool(endpoint), is_masked=is_masked,
        )  # fmt: skip

    schema = "(rng!, low, high=None, size=None, *, dtype=None"
    declare(
        OpDef(
            f"{cls}::{name}",
            Schema(f"{schema}, endpoint=False)" if has_endpoint else f"{schema})"),
            f"An integer of [low, high) from a `numpy.random.{cls}`.",
            infer=infer,
            evaluate=method_of_stream(name),
            lower=lower,
            effects=effects,
            methods=(f"{cls}.{name}",),
            ranges=INTEGERS,
        )
    )


def _draw(
    e: Emitter, rng: V, bounds: tuple[V, V], type_: Type, *, is_closed: bool, is_masked: bool
) -> V:
    """Draw from [low, high], or from [low, high) if that is not closed; an empty one bails out."""
    low, high = bounds
    dtype = type_.dtype if isinstance(type_, ScalarType) else _INT64
    e.bail_if(e.compare("gt" if is_closed else "ge", low, high), "low >= high")
    last = high if is_closed else e.sub(high, 1, fits=True)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if least > -(2**63):
        e.bail_if(e.compare("lt", low, least), "low is out of bounds")
    if most < 2**63 - 1:
        e.bail_if(condition_not(e, e.compare("le", last, most)), "high is too large")
    bits = ScalarType(np.dtype(f"uint{8 * dtype.itemsize}"))
    args = e.cast(low, bits), e.cast(e.sub(last, low), bits), e.const(BOOL, is_masked)
    return e.draw(rng, "bounded", args, type_)


_declare("Generator", "integers", ScalarType(_INT64), is_masked=False)
_declare("RandomState", "randint", INT, is_masked=True)

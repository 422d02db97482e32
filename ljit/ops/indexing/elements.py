"""Single elements of small arrays of known sizes, at places that are known: what `scalarize_arrays` makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.convert import can_store, store_can_bail, store_convert, store_scalar
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__: list[str] = []


def _places(e: Emitter, at: Sequence[int]) -> list[V]:
    return [e.const(INT, i) for i in at]


def _infer_element(a: Type, **_attrs: object) -> Type:
    return a.element if isinstance(a, ArrayType) else ANY


def _put(a: np.ndarray, value: object, *, at: tuple[int, ...]) -> None:
    a[at] = value


declare(
    OpDef(
        "np::element",
        Schema("(a, *, at)"),
        "``a[at]`` of an array that is known to have that element.",
        infer=_infer_element,
        evaluate=lambda a, *, at: a[at],
        lower=lambda e, a, *, at: e.array_load(a, _places(e, at)),
        can_lower=lambda a, **_attrs: isinstance(a, ArrayType),
        effects=Effect.READ,
    )
)
declare(
    OpDef(
        "np::put_element",
        Schema("(a!, value, *, at)"),
        "``a[at] = value`` of an array that has that element; the value is of its dtype.",
        infer=lambda _a, _value, **_attrs: (),
        evaluate=_put,
        lower=lambda e, a, value, *, at: e.array_store(a, _places(e, at), value),
        can_lower=lambda a, value, **_attrs: isinstance(a, ArrayType) and value == a.element,
        effects=Effect.WRITE,
    )
)


def _as_element(x: Any, *, dtype: np.dtype, wraps: bool) -> Any:
    if wraps:
        return np.asarray(x).astype(dtype)[()]
    made = np.empty((), dtype)
    made[()] = x
    return made[()]


def _lower_as_element(e: Emitter, x: V, *, dtype: np.dtype, wraps: bool) -> V:
    return store_convert(e, x, dtype) if wraps else store_scalar(e, x, dtype)


def _as_element_effects(x: Type, *, dtype: np.dtype, wraps: bool) -> Effect:
    if not can_store(x, dtype):
        return Effect.CALL
    is_same_kind = isinstance(x, ScalarType) and (wraps or np.can_cast(x.dtype, dtype))
    never_fails = not store_can_bail(x, dtype) and (is_same_kind or dtype.kind in "fc")
    return Effect.PURE if never_fails else Effect.RAISE


declare(
    OpDef(
        "np::as_element",
        Schema("(x, *, dtype, wraps)"),
        "A number as an element of an array of `dtype`; `wraps`: as ``astype`` converts it.",
        infer=lambda x, *, dtype, wraps: ScalarType(dtype) if can_store(x, dtype) else ANY,
        evaluate=_as_element,
        lower=_lower_as_element,
        can_lower=lambda x, *, dtype, wraps: can_store(x, dtype),
        effects=_as_element_effects,
        checks_can_wait=True,
    )
)

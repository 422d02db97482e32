"""Whether the elements of an array are within limits: what passes test in front of loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.types import ANY, BOOL, FLOAT, INT, ArrayType, Type

__all__: list[str] = []

_MOST = 256  # elements: looking at these takes less time than what a loop does with them
_INSTRUCTIONS = 4
_DTYPES = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.uint32)))


def _are_within(a: np.ndarray, limit: float) -> bool:
    return a.size <= _MOST and bool((np.abs(a.astype(np.float64)) <= limit).all())


def _can_lower(a: Type, limit: Type) -> bool:
    return isinstance(a, ArrayType) and a.dtype in _DTYPES and limit == FLOAT


def _lower(e: Emitter, a: V, limit: V) -> V:
    sizes = e.array_sizes(a)
    are_few, count = e.const(BOOL, True), e.const(INT, 1)
    for size in sizes:
        is_small = e.bit_and(e.compare("le", size, _MOST), e.compare("le", count, _MOST))
        are_few = e.bit_and(are_few, is_small)  # so the product does not wrap before that is false
        count = e.mul(count, size)
    are_few = e.bit_and(are_few, e.compare("le", count, _MOST))

    return _look(e, a, limit, [e.select(are_few, size, 0) for size in sizes], are_few)


def _lower_all(e: Emitter, a: V, limit: V) -> V:
    return _look(e, a, limit, e.array_sizes(a), e.const(BOOL, True), has_vectors=True)


def _look(
    e: Emitter, a: V, limit: V, sizes: Sequence[V], start: V, *, has_vectors: bool = False
) -> V:
    def look(at: list[V], so_far: V) -> V:
        if len(at) == len(sizes):
            x = e.intrinsic("fabs", e.cast(e.array_load(a, at), FLOAT))
            return e.bit_and(so_far, e.compare("le", x, limit))
        is_inner = len(at) == len(sizes) - 1
        return e.fold(
            sizes[len(at)],
            so_far,
            lambda k, x: look([*at, k], x),
            _INSTRUCTIONS,
            has_vectors=has_vectors and is_inner,
        )

    return look([], start)


_SAMPLES = (
    (np.array([1.5, -2.0]), 2.0),
    (np.array([[1.5, -2.5], [0.0, 1.0]]), 2.0),
    (np.array([np.nan, 1.0]), 2.0),
    (np.array([np.inf, 1.0], np.float32), 1e75),
    (np.arange(300.0), 1e75),
    (np.array([[3, -5], [0, 4]]), 4.0),
    (np.array([3, -4, -(2**63)]), 2.0**62),
    (np.array([3, 2**31], np.uint32), 2.0**31),
    (np.zeros(0), 2.0),
)
declare(
    OpDef(
        "np::are_within",
        Schema("(a, limit)"),
        "Whether an array has few elements, and all are numbers between -limit and limit.",
        infer=lambda a, limit: BOOL if _can_lower(a, limit) else ANY,
        evaluate=_are_within,
        lower=_lower,
        can_lower=_can_lower,
        effects=lambda a, limit: Effect.READ if _can_lower(a, limit) else Effect.CALL,
        samples=_SAMPLES,
    )
)
declare(
    OpDef(
        "np::are_all_within",
        Schema("(a, limit)"),
        "Whether all elements of an array, of any size, are numbers between -limit and limit.",
        infer=lambda a, limit: BOOL if _can_lower(a, limit) else ANY,
        evaluate=lambda a, limit: bool((np.abs(a.astype(np.float64)) <= limit).all()),
        lower=_lower_all,
        can_lower=_can_lower,
        effects=lambda a, limit: Effect.READ if _can_lower(a, limit) else Effect.CALL,
        samples=_SAMPLES,
    )
)

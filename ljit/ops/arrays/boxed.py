"""The frame of ops that run NumPy's own function, boxed, with a result type that is known here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, Node, OpDef, Schema, declare
from ljit.ops.arrays.rules import is_integer_scalar, is_scalar, to_dtype
from ljit.types import ANY, ArrayType, TupleType, Type

__all__ = [
    "VIEWS",
    "axes_of",
    "chosen_dtype",
    "declare_function",
    "is_flag",
    "known_effects",
    "reduced_axes",
    "scanned_axis",
    "shape_rank",
    "sharing_effects",
]

VIEWS = Effect.RAISE
COPIES = Effect.READ | Effect.RAISE | Effect.ALLOC
Infer = Callable[..., Type]


def known_effects(infer: Infer, effect: Effect = COPIES) -> Callable[..., Effect]:
    """Effects of an op: `effect` where its result type is known, else anything."""

    def effects(*types: Type, **attrs: object) -> Effect:
        result = infer(*types, **attrs)
        if result == ANY:
            return Effect.CALL
        return effect.without(Effect.ALLOC) if is_scalar(result) else effect

    return effects


def sharing_effects(infer: Infer, shares: Callable[..., bool | None]) -> Callable[..., Effect]:
    """Effects of an op that gives a view or a copy, as `shares` says; None: NumPy decides.

    Then the result is neither fresh nor the same each time, which only CALL says.
    """
    known = {True: VIEWS, False: COPIES, None: Effect.CALL}

    def effects(*types: Type, **attrs: object) -> Effect:
        if infer(*types, **attrs) == ANY:
            return Effect.CALL
        return known[shares(*types, **attrs)]

    return effects


def declare_function(
    name: str, schema: str, infer: Infer, function: Callable[..., Any], **fields: Any
) -> OpDef:
    """Declare a NumPy function; `infer` gives `Any` where it does not know the result."""
    effect = fields.pop("effect", COPIES)
    callables = fields.pop("callables", (function,))
    return declare(
        OpDef(
            f"np::{name}",
            Schema(schema),
            fields.pop("doc", f"``np.{name}``"),
            infer=infer,
            evaluate=fields.pop("evaluate", function),
            effects=fields.pop("effects", known_effects(infer, effect)),
            callables=callables,
            **fields,
        )
    )


# -- constant attributes ---------------------------------------------------------------------------


def chosen_dtype(dtype: object, default: np.dtype | None) -> np.dtype | None:
    """Give the dtype that a ``dtype=`` attribute chooses; None if native code does not know it."""
    return default if dtype is None else to_dtype(dtype)


def is_flag(value: object) -> bool:
    """Whether a constant is a plain bool, as ``keepdims=`` should be."""
    return type(value) is bool


def axes_of(axis: object, ndim: int) -> tuple[int, ...] | None:
    """Give the axes that a constant ``axis=`` names, all for None; None if they do not exist, or are bools."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    numbers = tuple(a for a in axes if type(a) is int and -ndim <= a < ndim)
    positions = tuple(a % ndim for a in numbers)
    return positions if len(set(positions)) == len(axes) else None


def reduced_axes(node: Node) -> tuple[int, ...]:
    """Give the axes that a reduction of an array goes along, in order; none if they do not exist."""
    source = node.inputs[0].type
    assert isinstance(source, ArrayType)
    return tuple(sorted(axes_of(node.attrs.get("axis"), source.ndim) or ()))


def scanned_axis(node: Node) -> int | None:
    """Give the axis that a scan goes along; None if it goes through all elements of several axes."""
    source = node.inputs[-1].type
    assert isinstance(source, ArrayType)
    axis = node.attrs.get("axis", node.op.schema.defaults.get("axis"))
    axes = axes_of(axis, source.ndim) or ()
    return axes[0] if len(axes) == 1 else None


def shape_rank(shape: Type) -> int | None:
    """Give the rank that a ``shape`` operand asks for: an int or a tuple of ints; else None."""
    if is_integer_scalar(shape):
        return 1
    if isinstance(shape, TupleType) and all(map(is_integer_scalar, shape.items)):
        return len(shape.items)
    return None

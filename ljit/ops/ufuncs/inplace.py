"""In-place operators: ``a += b`` writes into an array `a`, and is ``a + b`` for a NumPy scalar.

The body of the loop nest is that of the plain ufunc (`OpDef.element_op`); its result is cast to the
array's dtype when it is stored. NumPy allows that cast within the same kind; anything else raises, as does
a read-only target or an operand that is larger than the target.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ljit.ir import REGISTRY, Effect, OddLayout, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.rules import broadcast_shapes, element_of
from ljit.ops.ufuncs import logic  # noqa: F401  # it fills UFUNCS
from ljit.ops.ufuncs.arithmetic import IN_PLACE
from ljit.ops.ufuncs.powers import power_in_place_of
from ljit.ops.ufuncs.ufuncs import UFUNCS
from ljit.types import ANY, ArrayType, Type

__all__ = ["is_left_to_numpy"]


class _InPlace:
    """The rules of one in-place operator."""

    def __init__(self, body: OpDef) -> None:
        self.rule = UFUNCS[body.name]
        self.body = body

    def infer(self, target: Type, value: Type) -> Type:
        if not isinstance(target, ArrayType):
            return self.rule.infer(target, value)
        loop = self.rule.loop((target, value))
        if loop is None or not np.can_cast(loop[-1], target.dtype, "same_kind"):
            return ANY
        return target if target.writeable and _fits(target, value) else ANY

    def effects(self, target: Type, value: Type) -> Effect:
        if self.infer(target, value) == ANY:
            return Effect.CALL
        effect = self.rule.effects(target, value)
        if isinstance(target, ArrayType):
            effect = effect.without(Effect.ALLOC) | Effect.READ | Effect.WRITE | Effect.RAISE
        return effect

    def can_lower(self, target: Type, value: Type) -> bool:
        if self.infer(target, value) == ANY:
            return False
        if isinstance(target, ArrayType) and self.rule.raising:
            return False  # it could bail after the first elements are written
        if isinstance(target, ArrayType) and is_left_to_numpy(self.body, target, target, value):
            return False
        return self.rule.can_lower(element_of(target), element_of(value))

    def lower(self, e: Emitter, target: V, value: V) -> V:
        return self.rule.lower(e, target, value)


def is_left_to_numpy(body: OpDef, target: ArrayType, *operands: Type) -> bool:
    """Whether NumPy rounds the only element of the array that takes the result otherwise than nests of `body` do."""
    if prod(-1 if size is None else size for size in target.shape) != 1:
        return False
    return OddLayout.ONE_ELEMENT in body.odd_layouts(*map(element_of, operands))


def _fits(target: ArrayType, value: Type) -> bool:
    """Whether `value` broadcasts to the target's shape, as far as sizes are known."""
    if not isinstance(value, ArrayType):
        return True
    if value.ndim > target.ndim:
        return False
    shape = broadcast_shapes((target.shape, value.shape))
    if shape is None:
        return False
    return all(old is None or old == new for old, new in zip(target.shape, shape, strict=True))


def _declare(
    name: str, plain: str, function: Callable[[object, object], object], **fields: Any
) -> None:
    body = REGISTRY[IN_PLACE.get(plain, plain)]
    rules = _InPlace(body)
    declare(
        OpDef(
            f"np::{name}",
            Schema("(a!, b)"),
            f"``{plain}`` into the first operand, if that is an array.",
            infer=rules.infer,
            evaluate=function,
            lower=rules.lower,
            can_lower=rules.can_lower,
            effects=rules.effects,
            elementwise=True,
            element_op=body.name,
            plain_op=plain,
            **fields,
        )
    )


_PLAIN = {
    "iadd": ("np::add", operator.iadd),
    "isub": ("np::subtract", operator.isub),
    "imul": ("np::multiply", operator.imul),
    "itruediv": ("np::divide", operator.itruediv),
    "ifloordiv": ("np::floor_divide", operator.ifloordiv),
    "imod": ("np::remainder", operator.imod),
    "ipow_by_scalar": ("np::power_by_scalar", operator.ipow),  # of arrays of floats
    "ipow_of_array": ("np::power_of_array", operator.ipow),
    "ilshift": ("np::left_shift", operator.ilshift),
    "irshift": ("np::right_shift", operator.irshift),
    "iand": ("np::bitwise_and", operator.iand),
    "ior": ("np::bitwise_or", operator.ior),
    "ixor": ("np::bitwise_xor", operator.ixor),
}
for _name, (_plain, _function) in _PLAIN.items():
    _declare(_name, _plain, _function)
_declare("ipow", "np::power_operator", operator.ipow, decompose=power_in_place_of)

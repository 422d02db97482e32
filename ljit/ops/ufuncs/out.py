"""Ufuncs that write into a given array: ``np.add(a, b, out=c)``, ``np.sqrt(x, c)``.

As in-place operators, but the array only takes the results: they are cast to its dtype when they are stored, within
the same kind. Operands broadcast to its shape. With ``where``, a mask, it keeps its other elements.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ljit.ir import REGISTRY, Effect, OpDef, Schema, Value, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.rules import broadcast_shapes, dtype_of, element_of
from ljit.ops.ufuncs import (
    elementary,  # noqa: F401  # they fill UFUNCS
    logic,  # noqa: F401  # they fill UFUNCS
    splits,  # noqa: F401  # they fill UFUNCS
)
from ljit.ops.ufuncs.arithmetic import IN_PLACE
from ljit.ops.ufuncs.inplace import is_left_to_numpy
from ljit.ops.ufuncs.ufuncs import UFUNCS, UfuncRule
from ljit.types import ANY, ArrayType, Type

__all__: list[str] = []

#: NumPy 2.4 and later warn of `out` by position, as it may be meant for a third operand
_BY_KEYWORD: dict[object, tuple[str, ...]] = {np.maximum: ("*",), np.minimum: ("*",)}


def _fit_into(out: ArrayType, *xs: Type) -> bool:
    """Whether operands broadcast to the array's shape, as far as sizes are known."""
    whole = broadcast_shapes((out.shape, *[x.shape for x in xs if isinstance(x, ArrayType)]))
    if whole is None or len(whole) > out.ndim:
        return False
    return all(own is None or own == new for own, new in zip(out.shape, whole, strict=True))


class _Into:
    """The rules of one ufunc with an array for its results."""

    def __init__(self, body: OpDef) -> None:
        self.rule = UFUNCS[body.name]
        self.body = body

    def infer(self, out: Type, *xs: Type) -> Type:
        loop = self.rule.loop(xs)
        if not isinstance(out, ArrayType) or not out.writeable or not out.ndim or loop is None:
            return ANY
        if not _fit_into(out, *xs) or len(loop) != len(xs) + 1:
            return ANY
        return out if np.can_cast(loop[-1], out.dtype, "same_kind") else ANY

    def effects(self, out: Type, *xs: Type) -> Effect:
        if self.infer(out, *xs) == ANY:
            return Effect.CALL
        effect = self.rule.effects(*xs)
        return effect.without(Effect.ALLOC) | Effect.READ | Effect.WRITE | Effect.RAISE

    def can_lower(self, out: Type, *xs: Type) -> bool:
        if self.infer(out, *xs) == ANY or self.rule.raising:
            return False  # what raises could bail after the first elements are written
        assert isinstance(out, ArrayType)
        return not is_left_to_numpy(self.body, out, *xs) and self.rule.can_lower(
            *map(element_of, xs)
        )

    def lower(self, e: Emitter, _out: V, *xs: V) -> V:
        return self.rule.lower(e, *xs)


def _body_of(plain: OpDef) -> OpDef:
    """The op on elements, of which the array may be an operand."""
    return REGISTRY[IN_PLACE.get(plain.name, plain.element_op or plain.name)]


def _samples(plain: OpDef, function: np.ufunc) -> tuple[tuple[object, ...], ...]:
    """The operands of the plain op that give arrays, each with an array for them."""
    with np.errstate(all="ignore"):
        made = [(function(*xs), *xs) for xs in plain.operand_samples()]
    return tuple((np.zeros_like(out), *xs) for out, *xs in made if isinstance(out, np.ndarray))


def _declare(plain: OpDef, rule: UfuncRule) -> None:
    function = rule.function
    names = plain.schema.positional
    body = _body_of(plain)
    rules = _Into(body)

    def evaluate(out: Any, *xs: Any) -> Any:
        return function(*xs, out=out)

    declare(
        OpDef(
            f"{plain.name}_into",
            Schema(f"(out!, {', '.join(names)})"),
            f"``np.{function.__name__}`` with ``out``, an array that takes the results.",
            infer=rules.infer,
            evaluate=evaluate,
            lower=rules.lower,
            can_lower=rules.can_lower,
            effects=rules.effects,
            callables=plain.callables,
            parameters=(*names, "/", *_BY_KEYWORD.get(function, ()), "out"),
            elementwise=True,
            element_op=body.name,
            overwrites=True,
            samples=partial(_samples, plain, function),
        )
    )


class _Where:
    """The rules of one ufunc with an array for its results, and a mask that says which."""

    def __init__(self, plain: OpDef, rule: UfuncRule) -> None:
        self.plain = plain.name
        self.rule = rule
        self.into = _Into(_body_of(plain))

    def infer(self, out: Type, where: Type, *xs: Type) -> Type:
        loop, is_mask = self.rule.loop(xs), isinstance(where, ArrayType)
        if self.into.infer(out, *xs) == ANY or loop is None or not is_mask:
            return ANY
        assert isinstance(out, ArrayType)
        is_plain = dtype_of(where) == np.bool and loop[-1] == out.dtype
        is_known = is_plain and out.dtype.kind in "iufc" and _fit_into(out, where)
        return out if is_known else ANY

    def effects(self, out: Type, where: Type, *xs: Type) -> Effect:
        return Effect.CALL | Effect.WRITE

    def decompose(self, parts: Parts, out: Value, where: Value, *xs: Value) -> Value | None:
        """Compute all results, choose, and store all."""
        types = [x.type for x in xs]
        if self.infer(out.type, where.type, *types) == ANY:
            return None
        if not self.into.can_lower(out.type, *types):
            return None
        chosen = parts.apply("np::where", where, parts.apply(self.plain, *xs), out)
        return parts.apply("np::positive_into", out, chosen)


def _samples_of_where(plain: OpDef, function: np.ufunc) -> tuple[tuple[object, ...], ...]:
    """The same with masks, of every second result and of all."""
    made: list[tuple[object, ...]] = []
    for out, *xs in _samples(plain, function):
        assert isinstance(out, np.ndarray)
        every_second = np.arange(out.size).reshape(out.shape) % 2 == 0
        made += [(out, mask, *xs) for mask in (every_second, np.array(True))]
    return tuple(made)


def _declare_where(plain: OpDef, rule: UfuncRule) -> None:
    function, names, rules = rule.function, plain.schema.positional, _Where(plain, rule)
    declare(
        OpDef(
            f"{plain.name}_where",
            Schema(f"(out!, where, {', '.join(names)})"),
            f"``np.{function.__name__}`` with ``out``, and ``where`` for those results that it takes.",
            infer=rules.infer,
            evaluate=lambda out, where, *xs: function(*xs, out=out, where=where),
            effects=rules.effects,
            callables=plain.callables,
            parameters=(*names, "/", "out", "*", "where"),
            decompose=rules.decompose,
            samples=partial(_samples_of_where, plain, function),
        )
    )


for _name, _rule in sorted(UFUNCS.items()):  # whichever module was loaded first
    _plain = REGISTRY[_name]
    if _rule.body is not None and _rule.function in _plain.callables and _rule.function.nout == 1:
        _declare(_plain, _rule)
        _declare_where(_plain, _rule)

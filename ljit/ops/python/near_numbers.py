"""Floats that are taken to be near 0, so that what is computed of them fits (`passes/loops/near_numbers.py`)."""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Effect, Node, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.linear import Linear
from ljit.ir.range_rules import FloatBounds, RangeRules, Symbolic
from ljit.ops.control import OUT_OF_RANGE
from ljit.ops.ranges.float_bounds import is_float, met
from ljit.ops.ranges.int_ranges import INSIDE
from ljit.types import ANY, FLOAT, Type

__all__ = ["NEAR"]


def _most(node: Node) -> int:
    most = node.attrs["most"]
    assert isinstance(most, int)
    return most


def _floats(s: Symbolic, node: Node) -> FloatBounds:
    most = float(_most(node))
    return met(s.floats(node.inputs[0]), (-most, most, False))


def _checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    low, high, may_be_nan = s.floats(node.inputs[0])
    if not may_be_nan and max(-low, high) <= _most(node):
        yield INSIDE, s.constant(0)


def _lower(e: Emitter, x: V, *, most: int) -> V:
    if not e.is_proven(INSIDE):
        size = e.intrinsic("fabs", e.cast(x, FLOAT))  # `most` may be no number of fewer bits
        is_near = e.compare("le", size, float(most))
        e.bail_if(e.bit_not(is_near), OUT_OF_RANGE)
    return x


def _evaluate(x: float, *, most: int) -> float:
    return x


def _infer(x: Type, *, most: int) -> Type:
    return x if is_float(x) else ANY


NEAR = declare(
    OpDef(
        "prim::near",
        Schema("(x, *, most)"),
        "A float that is at most `most` away from 0; native code leaves with others.",
        infer=_infer,
        evaluate=_evaluate,
        lower=_lower,
        effects=Effect.RAISE,
        ranges=RangeRules(
            bounds=lambda _s, node: (-_most(node), _most(node)),
            floats=_floats,
            checks=_checks,
            is_complete=lambda node: INSIDE in node.proven,
        ),
        checks_can_wait=True,
    )
)

"""The methods of Python's ints that count bits: bit_length, bit_count."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.graph import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, RangeRules, Symbolic
from ljit.ops.python.int_divisors import magnitude
from ljit.ops.python.numbers import to_type
from ljit.ops.python.samples import INTS, each
from ljit.types import ANY, BOOL, INT, UINT, Type

__all__: list[str] = []

_BITS = 64


def _bounds(_s: Symbolic, _node: Node) -> Bounds:
    return 0, _BITS


def _facts(s: Symbolic, node: Node) -> Iterable[Linear]:
    if node.output.type == INT:
        yield s.value(node.output)
        yield _BITS - s.value(node.output)


def _infer(x: Type) -> Type:
    return INT if x in (BOOL, INT, UINT) else ANY


def _effects(x: Type) -> Effect:
    return Effect.PURE if _infer(x) == INT else Effect.CALL


def _length(e: Emitter, size: V) -> V:
    return e.sub(_BITS, e.retype(e.intrinsic("ctlz", size), INT))


def _count(e: Emitter, size: V) -> V:
    return e.retype(e.intrinsic("ctpop", size), INT)


def _declare(name: str, doc: str, lower: Callable[[Emitter, V], V]) -> None:
    """Declare an op on the absolute value: of int64s, and of ints in [0, 2**64)."""

    def lower_any(e: Emitter, x: V) -> V:
        is_plain = x.type == UINT
        return lower(e, x if is_plain else magnitude(e, to_type(e, x, INT)))

    declare(
        OpDef(
            f"py::{name}",
            Schema("(x, /)"),
            doc,
            infer=_infer,
            evaluate=operator.methodcaller(name),
            lower=lower_any,
            can_lower=lambda x: _infer(x) == INT,
            effects=_effects,
            wide=f"py::{name}",
            ranges=RangeRules(bounds=_bounds, facts=_facts),
            methods=(f"bool.{name}", f"int.{name}"),
            samples=each(INTS),
        )
    )


_declare("bit_length", "``x.bit_length()``", _length)
_declare("bit_count", "``x.bit_count()``", _count)

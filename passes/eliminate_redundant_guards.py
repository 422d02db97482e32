"""Drop guards that earlier facts imply.

A guard is redundant where the operand's own type is at least as narrow, or where a dominating guard has
checked the same value for the same type. Of arrays the latter is forgotten where unknown code runs, which may
resize them. Cost: linear, with one scope of facts a block.
"""

from __future__ import annotations

from ljit.analysis.alias import holds_array
from ljit.ir import Block, Effect, Graph, Value
from ljit.ops.control import GUARD, LOOP
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import Type, join

__all__ = ["eliminate_redundant_guards"]

_NAME = "eliminate_redundant_guards"
_Facts = dict[tuple[Value, Type], Value]


@graph_pass(_NAME)
def eliminate_redundant_guards(graph: Graph) -> bool:
    """Replace each redundant `prim::guard` by the value that is known to have the type."""
    return _visit(graph.block, {})


def _visit(block: Block, outer: _Facts) -> bool:
    changed = False
    facts = dict(outer)
    for node in block:
        calls = bool(facts) and bool(node.effects & Effect.CALL)
        if calls and node.op is LOOP:  # the call comes before the next trip
            _forget_arrays(facts)
        for inner in node.blocks:
            changed |= _visit(inner, facts)
        if calls:
            _forget_arrays(facts)
        if node.op is not GUARD:
            continue
        (value,) = node.inputs
        type_ = node.output.type
        known = value if _implies(value.type, type_) else facts.get((value, type_))
        if known is None:
            facts[value, type_] = node.output
        elif is_allowed(_NAME, node):
            node.replace_with([known])
            changed = True
    return changed


def _forget_arrays(facts: _Facts) -> None:
    for value, type_ in list(facts):
        if holds_array(type_):
            del facts[value, type_]


def _implies(known: Type, wanted: Type) -> bool:
    """Whether every value of type `known` has the type `wanted` in the same machine form."""
    return known == wanted or (known.is_boxed == wanted.is_boxed and join(known, wanted) == wanted)

"""Local rewrites that need a look at a node and its operands only.

Contract: every rule is exact for all values of the types that it is valid for, result type
included; the tests hold each against `evaluate`. Rules about operators are fields of their declarations
(`OpDef.neutral`, `keeps`, `undoes_itself`). ``x + 0.0`` is not among them (``-0.0 + 0.0`` is ``0.0``).
"""

from __future__ import annotations

from ljit.ir import Graph, Neutral, Node, Value
from ljit.ops.control import IF, LOOP, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import collect_exits, replace_value
from ljit.types import FLOAT, INT, ScalarType, Type

__all__ = ["peephole_optimize"]

NAME = "peephole_optimize"


@graph_pass(NAME)
def peephole_optimize(graph: Graph) -> bool:
    """Apply the rules to each node once, structures last and from the inside; whether any applied."""
    changed = False
    structures = []
    for node in list(graph.walk()):
        if node.op is IF or node.op is LOOP:
            structures.append(node)
            continue
        value = _simpler(node)
        if value is not None and is_allowed(NAME, node):
            replace_value(node.output, value)
            node.erase()
            changed = True
    exits = collect_exits(graph) if structures else {}
    for node in reversed(structures):
        is_simpler = _simplify_if(node) if node.op is IF else _simplify_loop(node, exits)
        changed |= is_simpler
    return changed


def _simpler(node: Node) -> Value | None:
    """Give the operand that the node's value is, if a rule says so."""
    op = node.op
    if op.neutral is not None:
        return _without_neutral(node, op.neutral)
    if op.keeps and op.is_identity([v.type for v in node.inputs], node.attrs):
        return node.inputs[0]
    if op.undoes_itself:
        inner = node.inputs[0].node
        if inner is not None and inner.op is op and inner.inputs[0].type in op.undoes_itself:
            return inner.inputs[0]
    return None


def _without_neutral(node: Node, neutral: Neutral) -> Value | None:
    kept, right = node.inputs
    if not right.is_constant or not _is_number_equal(right.constant, neutral.value):
        return None
    if not _is_valid(kept.type, neutral) or node.op.result_types(node) != (kept.type,):
        return None
    return kept


def _is_number_equal(value: object, wanted: int) -> bool:
    return isinstance(value, int | float) and value == wanted and str(value)[0] == str(wanted)[0]


def _is_valid(type_: Type, neutral: Neutral) -> bool:
    """Whether the rule holds for a type; NumPy takes no negative int beside a number without a sign."""
    if isinstance(type_, ScalarType):
        if type_.dtype.kind == "u" and neutral.value < 0:
            return False
        return type_.dtype.kind in ("iuf" if neutral.holds_for_floats else "iu")
    return type_ == INT or (neutral.holds_for_floats and type_ == FLOAT)


def _simplify_if(node: Node) -> bool:
    """Replace outputs that are the same value on both sides, or the condition itself."""
    ends = [block.terminator for block in node.blocks]
    if any(end.op is not YIELD for end in ends):
        return False
    changed = False
    for out, then, otherwise in zip(node.outputs, ends[0].inputs, ends[1].inputs, strict=True):
        if not out.uses:
            continue
        value = None
        if then is otherwise:
            value = then
        elif _is_constant_bool(then, wanted=True) and _is_constant_bool(otherwise, wanted=False):
            value = node.inputs[0]
        if value is not None and is_allowed(NAME, node):
            replace_value(out, value)
            changed = True
    return changed


def _simplify_loop(loop: Node, exits: dict[Node, list[Node]]) -> bool:
    """Replace carried values that no trip changes: views that operators write into."""
    ends = [block.terminator for block in loop.blocks if block.terminator.op is YIELD]
    ends += exits.get(loop, [])
    changed = False
    for index, out in enumerate(loop.outputs):
        first = loop.inputs[2 + index]
        own = [block.params[index - len(loop.outputs)] for block in loop.blocks]
        same = (first, *own)
        is_kept = all(any(end.inputs[index] is value for value in same) for end in ends)
        if not is_kept or any(value.type != first.type for value in (*own, out)):
            continue
        used = [value for value in (*own, out) if value.uses]
        if used and is_allowed(NAME, loop):
            changed = True
            for value in used:
                replace_value(value, first)
    return changed


def _is_constant_bool(value: Value, *, wanted: bool) -> bool:
    return value.is_constant and value.constant is wanted

"""What may be computed although it need not be."""

from __future__ import annotations

from ljit.analysis.branch_histories import may_become_choice, only_decides
from ljit.analysis.ranges import Ranges
from ljit.codegen.llvm.forms import is_scalar
from ljit.ir import Effect, Node, Value
from ljit.ops.control import IF, SNAPSHOT, YIELD
from ljit.types import BOOL, FLOAT, INT, Type, UnionType

__all__ = ["is_choice", "is_select", "is_worth_noting", "may_be_in_front_of_checks"]

_FEW = 4  # nodes of both sides, as many instructions as LLVM does in place of a branch; values of a number
_NUMBERS = (BOOL, INT, FLOAT)


def is_select(node: Node) -> bool:
    """Whether an If only chooses between numbers, and is not better off as a branch that is foretold."""
    return (
        node.attrs.get("usual") is None
        and all(block.first is block.last for block in node.blocks)
        and _gives_numbers(node)
    )


def is_choice(node: Node) -> bool:
    """Whether an If chooses between numbers, of which both sides make so little that both are computed.

    LLVM does that by itself, but for checks: these are branches to it. A branch that the processor foretells is faster
    than a choice that waits for the condition. So this is for conditions that go either way.
    """
    inner = [n for block in node.blocks for n in block if n is not block.last]
    return (
        node.attrs.get("usual") is None
        and len(inner) <= _FEW
        and _gives_numbers(node)
        and all(map(_is_quick, inner))
        and any(n.op.can_leave(n) for n in inner)
        # last: it asks for ranges, a twentieth of a quick compile
        and (bool(node.attrs.get("is_erratic")) or _is_erratic(node.inputs[0]))
    )


def is_worth_noting(node: Node) -> bool:
    """Whether an If in a loop may be a choice between numbers once it is rewritten: then it matters how it goes."""
    inner = (n for block in node.blocks for n in block if n is not block.last)
    return (
        may_become_choice(node)
        and all(map(_is_number, (out.type for out in node.outputs)))
        and not only_decides(node)
        and not any(n.op.effects_of(n) & Effect.CALL for n in inner)
    )


def _is_erratic(condition: Value) -> bool:
    """Whether a condition is one of a number of few values that is no count: whether it is odd, say."""
    node = condition.node
    if node is None or node.op.ranges is None or node.op.ranges.implies is None:
        return False
    bounds = Ranges().bounds
    for value in node.inputs:
        if value.type == INT and not value.is_constant:
            low, high = bounds(value)
            if high - low < _FEW and _is_carried(value):
                return True
    return False


def _is_carried(value: Value) -> bool:
    """Whether a number is computed of variables that loops carry, or of what is read."""
    seen: set[Value] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        node, owner = value.node, value.block.owner
        if node is not None and not node.effects & Effect.READ:
            todo += node.inputs
        elif node is not None or (owner is not None and value is not owner.blocks[0].params[0]):
            return True
    return False


def _is_quick(node: Node) -> bool:
    """Whether a node without blocks is an instruction or two, and may be done in vain."""
    if node.blocks or not node.op.can_be_speculated(node):
        return False
    of_numbers = all(v.type in _NUMBERS for v in (*node.inputs, *node.outputs))
    gives_ints = all(out.type != FLOAT for out in node.outputs)
    return of_numbers and (gives_ints or node.op.is_speculatable)


def _gives_numbers(node: Node) -> bool:
    return all(
        block.terminator.op is YIELD
        and all(
            v.type == out.type and is_scalar(v.type)
            for v, out in zip(block.terminator.inputs, node.outputs, strict=True)
        )
        for block in node.blocks
    )


def _is_number(type_: Type) -> bool:
    return all(map(is_scalar, type_.members if isinstance(type_, UnionType) else (type_,)))


def may_be_in_front_of_checks(node: Node) -> bool:
    """Whether it does no harm to do the node although a late check has failed."""
    if node.op is IF:
        return is_select(node) or is_choice(node)
    if node.blocks or node.op.is_terminator or node.op is SNAPSHOT:
        return False
    return node.op.can_be_speculated(node)

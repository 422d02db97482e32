"""Let ints wrap around where only their low bits are asked for.

    x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF       # products of 83 bits, of which 48 are kept

Sums and products modulo 2**64 are those of the operands modulo 2**64 (`OpDef.is_modular`), so what a mask or a
remainder of them gives (`OpDef.asks_low_bits`) does not depend on what is beyond int64: they become NumPy's ops on
int64, which wrap and check nothing. Contract: changes no value; only numbers that nothing else reads, Snapshots
among it, are rewritten. Cost: linear.
"""

from __future__ import annotations

from ljit.ir import Graph, Node, Value, get_op
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import INT

__all__ = ["drop_high_bits"]

NAME = "drop_high_bits"


@graph_pass(NAME)
def drop_high_bits(graph: Graph) -> bool:
    """Rewrite what masks and remainders are taken of; whether there was any."""
    changed = False
    for node in list(graph.walk()):
        if node.op.asks_low_bits is None or [v.type for v in node.inputs] != [INT, INT]:
            continue
        for index, other in ((0, 1), (1, 0)) if node.op.is_commutative else ((0, 1),):
            if not _is_asking(node, other) or not _is_modular(node.inputs[index]):
                continue
            if is_allowed(NAME, node):
                whole = node.inputs[index]
                wrapped = _wrapped(whole, node)
                node.set_input(index, _made("py::int", node, wrapped))
                _erase(whole)
                changed = True
    return changed


def _is_asking(node: Node, other: int) -> bool:
    value = node.inputs[other]
    assert node.op.asks_low_bits is not None
    return (
        value.is_constant
        and isinstance(value.constant, int)
        and node.op.asks_low_bits(value.constant)
    )


def _is_modular(value: Value) -> bool:
    """Whether a number is a sum or product of ints that one node alone reads."""
    node = value.node
    return (
        node is not None
        and node.op.is_modular
        and value.type == INT
        and len(value.uses) == 1
        and all(v.type == INT for v in node.inputs)
    )


def _wrapped(value: Value, before: Node) -> Value:
    """The number modulo 2**64, as an int64."""
    if not _is_modular(value):
        return _made("np::int64", before, value)
    node = value.node
    assert node is not None and node.op.numpy is not None
    operands = [_wrapped(operand, before) for operand in node.inputs]
    return _made(node.op.numpy, node, *operands, before=before)


def _made(name: str, like: Node, *operands: Value, before: Node | None = None) -> Value:
    node = like.graph.create(get_op(name), operands, like=like)
    return node.insert_before(before if before is not None else like).output


def _erase(value: Value) -> None:
    """Remove what computed a number that nobody reads any more."""
    node = value.node
    if node is None or not node.op.is_modular or value.uses:
        return
    operands = node.inputs
    node.erase()
    for operand in dict.fromkeys(operands):
        _erase(operand)

"""Compute at compile time what depends on constants only.

Contract: a node without memory effects whose operands are constants is replaced by the result of
`evaluate` if that does not raise and has exactly the inferred type, which must be immutable;
likewise by `OpDef.fold`, which may decide without all operands. Floats are computed by the very
functions that would run. Results that could be huge are left alone. An If on a constant becomes the
block that runs, a Loop without trips its `else` block or its carried values, one that leaves what is around it
in its first trip that trip, a Region with one exit at its end its content.
"""

from __future__ import annotations

from ljit.characters import constant_type
from ljit.ir import UNKNOWN, Block, Graph, Node, Value
from ljit.ops.control import BREAK, CONSTANT, IF, LOOP, REGION, YIELD
from ljit.passes.folding import fold
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import dissolve, replace_value, replace_with_constant
from ljit.types import join

__all__ = ["constant_propagation"]

NAME = "constant_propagation"


@graph_pass(NAME)
def constant_propagation(graph: Graph) -> bool:
    """Fold constants and decided control flow; whether there was anything to do."""
    before = graph.version
    _fold_block(graph.block)
    return graph.version != before


def _fold_block(block: Block) -> None:
    node = block.first
    while node is not None:
        before, following = node.prev, node.next
        if node.blocks:
            for inner in node.blocks:
                _fold_block(inner)
            # Invariant: what is put in front of `following` was folded as part of `node`, or is folded again.
            if _fold_structure(node):
                following = block.first if before is None else before.next
            following = following if following is None or following.block is block else None
        elif node.outputs and node.op is not CONSTANT:
            _fold_node(node)
        node = following


def _fold_node(node: Node) -> None:
    if len(node.outputs) != 1 or node.op.infer is None:
        return
    result = _folded(node)
    if result is UNKNOWN or not is_allowed(NAME, node):
        return
    replace_with_constant(node, result)


def _folded(node: Node) -> object:
    """Give the value of the only output, or UNKNOWN."""
    constants = [v.constant if v.is_constant else UNKNOWN for v in node.inputs]
    (inferred,) = node.op.result_types(node)
    result = fold(node.op, [v.type for v in node.inputs], constants, node.attrs, inferred)
    type_ = node.output.type
    if result is UNKNOWN or join(type_, constant_type(result)) != type_:
        return UNKNOWN
    return result


def _fold_structure(node: Node) -> bool:
    """Fold decided control flow; whether numbers in what is left of it are known only now."""
    if node.op is IF and node.inputs[0].is_constant:
        if is_allowed(NAME, node):
            dissolve(node, node.blocks[not node.inputs[0].constant], ())
    elif node.op is LOOP and _never_runs(node):
        if is_allowed(NAME, node):
            _drop_loop(node)
    elif node.op is LOOP and _leaves_in_first_trip(node):
        if is_allowed(NAME, node):
            dissolve(node, node.blocks[0], [node.inputs[0], *node.inputs[2:]])
            return True
    elif node.op is REGION and _has_one_exit(node) and is_allowed(NAME, node):
        _end_with_yield(node)
        dissolve(node, node.blocks[0], ())
    return False


def _never_runs(loop: Node) -> bool:
    start, stop = loop.inputs[:2]
    if not (start.is_constant and stop.is_constant):
        return False
    assert isinstance(start.constant, int)
    assert isinstance(stop.constant, int)
    return start.constant >= stop.constant


def _leaves_in_first_trip(loop: Node) -> bool:
    """Whether a loop surely has a first trip, and what stands around the loop is left at its end."""
    start, stop = loop.inputs[:2]
    if not (start.is_constant and stop.is_constant) or _never_runs(loop):
        return False
    body = loop.blocks[0]
    return body.terminator.op is not YIELD and all(n.target is not loop for n in body.walk())


def _drop_loop(loop: Node) -> None:
    carried: list[Value] = loop.inputs[2:]
    if len(loop.blocks) == 2:
        dissolve(loop, loop.blocks[1], carried)
        return
    for out, value in zip(loop.outputs, carried, strict=True):
        replace_value(out, value)
    loop.erase()


def _has_one_exit(region: Node) -> bool:
    body = region.blocks[0]
    last = body.terminator
    is_end = last.op is YIELD or (last.op is BREAK and last.target is region)
    breaks = [n for n in body.walk() if n.op is BREAK and n.target is region]
    return is_end and all(n is last for n in breaks)


def _end_with_yield(region: Node) -> None:
    last = region.blocks[0].terminator
    if last.op is BREAK:
        last.create_before(YIELD, list(last.inputs), like=last)
        last.erase()

"""Where values that nobody has seen yet are shown: in blocks that end in Return, which run at most once.

A pass that keeps the parts of a value in variables makes the value itself there, of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ljit.analysis.dominance import holder_in
from ljit.ir import Block, Node, Value
from ljit.ops.control import RETURN

__all__ = ["end_around", "find_ends"]


def find_ends(value: Value, needs_it: Callable[[Node, int], bool]) -> list[Node]:
    """Give the first node of each last block whose uses, or those in it, need the value; outer blocks first."""
    firsts: dict[Block, Node] = {}
    for node, index in value.uses:
        top = _in_last_block(node, value.block) if needs_it(node, index) else None
        if top is not None:
            assert top.block is not None
            first = firsts.get(top.block)
            if first is None or top.is_before(first):
                firsts[top.block] = top
    return sorted(firsts.values(), key=lambda node: len(list(node.blocks_around())))


def end_around(node: Node, ends: Iterable[Node]) -> Node | None:
    """Give the first of `ends` that a node is at, in or behind: what an outer block showed is not made again."""
    return next((end for end in ends if _is_at_or_behind(node, end)), None)


def _in_last_block(node: Node, scope: Block) -> Node | None:
    """Give the node around `node` (or itself) in the innermost block in `scope` that ends in Return."""
    around: Node | None = node
    while around is not None and around.is_inside(scope):
        assert around.block is not None
        if around.block.terminator.op is RETURN:
            return around
        around = around.block.owner
    return None


def _is_at_or_behind(node: Node, end: Node) -> bool:
    """Whether `node` is, or lies in, the node `end` or one behind it in its block."""
    around = holder_in(node, end.block)
    return around is not None and (around is end or end.is_before(around))

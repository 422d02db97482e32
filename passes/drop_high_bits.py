"""Let ints wrap around where only their low bits are asked for.

    x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF       # products of 83 bits, of which 48 are kept
    x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF               # of 77 bits, of which 64 are kept

Sums and products modulo 2**64 are those of the operands modulo 2**64 (`OpDef.is_modular`), so what a mask or a
remainder of them gives (`OpDef.asks_low_bits`) does not depend on what is beyond int64: they become NumPy's ops on
int64, which wrap and check nothing. Ops on ints in [0, 2**64) say themselves that they wrap. Contract: changes no
value; only numbers that nothing else reads, Snapshots among it, are rewritten. Cost: linear.
"""

from __future__ import annotations

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.ranges.int_ranges import BITS_AND
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import INT, UINT

__all__ = ["drop_high_bits"]

NAME = "drop_high_bits"


@graph_pass(NAME)
def drop_high_bits(graph: Graph) -> bool:
    """Rewrite what masks and remainders are taken of; whether there was any."""
    nodes = list(graph.walk())
    changed = _WideInts().rewrite(nodes)
    for node in nodes:
        for index in _asked(node):
            whole = node.inputs[index]
            parts = _parts(whole)
            if any(map(_has_check, parts)) and is_allowed(NAME, node):
                node.set_input(index, _made("py::int", node, _wrapped(parts, node)))
                for part in parts:
                    _node(part).erase()
                changed = True
    return changed


# -- of int64s -------------------------------------------------------------------------------------


def _asked(node: Node) -> list[int]:
    """Of which operands, int64s, a node asks for the low bits alone."""
    if node.attrs.get("wraps") and node.inputs[0].type == INT:
        return [0]
    if node.op.asks_low_bits is None or [v.type for v in node.inputs] != [INT, INT]:
        return []
    pairs = ((0, 1), (1, 0)) if node.op.is_commutative else ((0, 1),)
    return [index for index, other in pairs if _is_asking(node, other)]


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


def _node(part: Value) -> Node:
    assert part.node is not None
    return part.node


def _parts(whole: Value) -> list[Value]:
    """The sums and products that make a number, each before its operands: a chain may be as long as the function."""
    parts = [whole] if _is_modular(whole) else []
    for part in parts:
        parts += filter(_is_modular, _node(part).inputs)
    return parts


def _has_check(part: Value) -> bool:
    """Whether it may be beyond int64."""
    ranges = _node(part).op.ranges
    return ranges is not None and ranges.checks is not None


def _wrapped(parts: list[Value], before: Node) -> Value:
    """The first of the parts modulo 2**64, as an int64."""
    wrapped: dict[Value, Value] = {}
    for part in reversed(parts):
        node = _node(part)
        assert node.op.numpy is not None
        operands = [wrapped.get(v) or _made("np::int64", before, v) for v in node.inputs]
        wrapped[part] = _made(node.op.numpy, node, *operands, before=before)
    return wrapped[parts[0]]


def _made(name: str, like: Node, *operands: Value, before: Node | None = None) -> Value:
    node = like.graph.create(get_op(name), operands, like=like)
    return node.insert_before(before if before is not None else like).output


# -- of ints in [0, 2**64) -------------------------------------------------------------------------


def _may_leave(node: Node) -> bool:
    """Whether an op checks what it gives, and could wrap instead."""
    is_known = all(v.is_constant for v in node.inputs)
    return "wraps" in node.op.schema.keyword_only and not node.attrs.get("wraps") and not is_known


class _WideInts:
    """Finds those of which only the low 64 bits are asked for: users first.

    `loose`: they need not be in [0, 2**64). `exact`: something relies on it that they are.
    """

    def __init__(self) -> None:
        self.loose: set[Value] = set()
        self.exact: set[Value] = set()

    def rewrite(self, nodes: list[Node]) -> bool:
        """Let ops wrap whose results are loose; whether there were any."""
        changed = False
        for node in reversed(nodes):
            if not (node.op.is_modular and node.outputs and node.output.type == UINT):
                continue
            if self._is_loose(node.output) and is_allowed(NAME, node):
                self.loose.add(node.output)
                if _may_leave(node):
                    node.attrs["wraps"] = changed = True
        return changed

    def _is_loose(self, value: Value) -> bool:
        if value in self.exact or not value.uses:
            return False
        relied_on = [self._relied_on(user, index) for user, index in value.uses]
        if None in relied_on:
            return False
        self.exact.update(*relied_on)  # type: ignore[arg-type]  # as it has no None
        return True

    def _relied_on(self, user: Node, index: int) -> list[Value] | None:
        """Give what must be exact for a use to ask for no more than the low bits; None: it asks for more."""
        if user.attrs.get("wraps") and user.output.type == INT:
            return []
        if not user.op.is_modular or user.inputs[index].type != UINT:
            return None
        if user.output in self.loose:
            return []
        other = user.inputs[1 - index] if user.op.ranges is BITS_AND else None
        if other is None or other is user.inputs[index] or other in self.loose:
            return None
        return [other]

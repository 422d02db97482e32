"""Loops whose trips wait for each other's floats: LLVM need not write several of their trips one behind the other.

    for k in range(n):
        s += a[k] * b[k]        # 4 cycles a trip, in which the machine counts and compares as well

Floats are added in the order of the program, so that trips neither overlap nor become vectors. Unrolled code, with
what comes before it for the trips that are left over, takes as long, and a fifth more time to compile. A float that is
chosen (`if a[k] < best: best = a[k]`) makes no such chain: the machine goes on with the one that it thinks is next.

In a loop around it in which the chain begins anew (`w = a[i, j]`, then `w -= ...`) the end of one chain and the begin
of the next one overlap: the fewer instructions a trip has, the further the machine sees ahead. Unrolled code takes
0.8 to 0.95 of the time there.
"""

from __future__ import annotations

from ljit.ir import Node, Value
from ljit.ops.control import IF, LOOP, YIELD
from ljit.types import COMPLEX, FLOAT, ScalarType, Type, UnionType

__all__ = ["chained", "is_float_chain", "is_overlapped"]


def is_float_chain(loop: Node) -> bool:
    """Whether the loop carries a float that each trip, or a loop in it, computes of the one before."""
    return bool(chained(loop))


def is_overlapped(chain: Node) -> bool:
    """Whether the chains of a loop, in a loop around it, all begin anew in each of the latter's trips."""
    owners = (block.owner for block in chain.blocks_around())
    outer = next((node for node in owners if node is not None and node.op is LOOP), None)
    if outer is None:
        return False
    starts = [chain.inputs[2 + index] for index in chained(chain)]
    carried = outer.blocks[0].params[1:]
    return not any(_is_of(start, param, outer) for start in starts for param in carried)


def chained(loop: Node) -> list[int]:
    """Which of the values that a loop carries are such floats."""
    body = loop.blocks[0]
    if body.terminator.op is not YIELD:
        return []
    carried = zip(body.params[1:], body.terminator.inputs, strict=True)
    return [
        index
        for index, (param, new) in enumerate(carried)
        if _is_inexact(param.type) and new is not param and _is_computed_of(new, param, loop)
    ]


def _is_of(value: Value, param: Value, loop: Node) -> bool:
    return value is param or _is_computed_of(value, param, loop)


def _is_inexact(type_: Type) -> bool:
    if isinstance(type_, UnionType):
        return any(map(_is_inexact, type_.members))
    if isinstance(type_, ScalarType):
        return type_.dtype.kind in "fc"
    return type_ in (FLOAT, COMPLEX)


def _is_computed_of(value: Value, param: Value, loop: Node) -> bool:
    """Whether a value in a loop is computed of a parameter of its body, in order, and not just chosen."""
    seen: set[Node | tuple[Value, bool]] = set()
    todo = [(value, False)]
    while todo:
        value, is_computed = todo.pop()
        if value is param and is_computed:
            return True
        node = value.node
        if node is None:
            continue
        key = (value, is_computed) if node.op is IF else node
        if key in seen or not node.is_inside(loop):
            continue
        seen.add(key)
        if node.op is IF:
            ends = [b.last for b in node.blocks if b.last is not None and b.last.op is YIELD]
            todo += [(end.inputs[value.index], is_computed) for end in ends]
        elif not node.is_fast:
            inner = (n for block in node.blocks for n in block.walk())
            todo += [(operand, True) for n in (node, *inner) for operand in n.inputs]
    return False

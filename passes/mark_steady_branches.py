"""Mark branches that nearly always go one way, where a choice would wait long for floats of the trip before.

    for k in range(n):
        r = g[k] / (y[k] - h[k] / x[k])      # two divisions
        if r > 1.0:
            r = 1.0
        x[k + 1] = (w[k] + v[k] * r) * x[k]

As a choice between numbers, `r` is known when the divisions are done, and the next trip begins then. As a branch that
is foretold it is 1.0 at once, and the divisions of several trips overlap: the loop takes a third of the time. The
interpreter and quick code have noted how branches went (`ljit/analysis/branch_histories.py`).

Contract: changes no node but for the mark, `If[usual]`. It is for an If whose condition is computed, by more than
cheap ops, of a float that the loop carries from trip to trip or reads of an array to which it writes, and whose usual
side gives a number that is not. Such loops have no vectors. If the program changes its mind, a wrong guess costs
about what the wait has cost before. Cost: linear in such loops for each If.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.analysis.dependence import indices
from ljit.analysis.float_chains import chained
from ljit.ir import Effect, Graph, Node, Value
from ljit.ops.control import IF, LOOP, YIELD
from ljit.passes.loops.private_elements import OwnElements
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import ArrayType

__all__ = ["mark_steady_branches"]

NAME = "mark_steady_branches"
_NONE: Mapping[int, bool] = {}


@graph_pass(NAME, is_idempotent=True)
def mark_steady_branches(graph: Graph, steady: Mapping[int, bool] = _NONE) -> bool:
    """Mark the Ifs for which it pays, of those whose origins are `steady`; whether there were any."""
    changed = False
    for node in graph.walk() if steady else ():
        usual = steady.get(node.origin) if node.op is IF else None
        if usual is None or node.attrs.get("usual") is not None or not node.outputs:
            continue
        if _ends_a_wait(node, usual=usual) and is_allowed(NAME, node):
            node.attrs["usual"] = usual
            changed = True
    return changed


def _ends_a_wait(choice: Node, *, usual: bool) -> bool:
    """Whether the condition waits for the trip before, and a number of the usual side does not."""
    loop = next((owner for owner in choice.owners() if owner.op is LOOP), None)
    end = choice.blocks[0 if usual else 1].last
    if loop is None or end is None or end.op is not YIELD:
        return False
    wait = _Wait(loop)
    return wait.is_long(choice.inputs[0]) and not all(map(wait.is_any, end.inputs))


class _Wait:
    """What a trip of a loop computes of floats of the trip before."""

    def __init__(self, loop: Node) -> None:
        self.loop = loop
        self._carried = loop.blocks[0].params[1:]
        self._chained = [self._carried[index] for index in chained(loop)]
        body = [node for node in loop.blocks[0].walk() if not node.op.is_terminator]
        own = OwnElements(loop, body)
        stores = (n.inputs[0] for n in body if n.op.writes_part)
        arrays = [a for a in dict.fromkeys(stores) if isinstance(a.type, ArrayType)]
        self._arrays = {a for a in arrays if not own.are_disjoint(a, lambda value: value)}

    def is_any(self, value: Value) -> bool:
        """Whether a value is one of the trip before, or computed of one."""
        return self._waits(value, self._carried, is_long=True)

    def is_long(self, value: Value) -> bool:
        """Whether a value waits for floats that trips compute of each other, and takes more than cheap ops of them."""
        return self._waits(value, self._chained, is_long=False)

    def _waits(self, value: Value, carried: Sequence[Value], *, is_long: bool) -> bool:
        seen: set[tuple[Value, bool]] = set()
        todo = [(value, is_long)]
        while todo:
            state = value, is_long = todo.pop()
            node = value.node
            if state in seen:
                continue
            seen.add(state)
            if value in carried or (node is not None and self._reads(node)):
                if is_long:
                    return True
            elif node is not None and node.is_inside(self.loop):
                is_long = is_long or (node.op.elementwise and not node.op.is_cheap)
                todo += [(operand, is_long) for operand in _sources(value, node)]
        return False

    def _reads(self, node: Node) -> bool:
        is_read = node.op.reads_part and bool(node.effects & Effect.READ)
        return is_read and node.inputs[0] in self._arrays and bool(indices(node))


def _sources(value: Value, node: Node) -> list[Value]:
    """What a node's output is computed of, or chosen from."""
    ends = [block.last for block in node.blocks] if node.op is IF else []
    chosen = [e.inputs[value.index] for e in ends if e is not None and e.op is YIELD]
    return [*node.inputs, *chosen]

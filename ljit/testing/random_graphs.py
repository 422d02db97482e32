"""Random graphs for property tests: structured SSA that verifies, over ops on ints and bools.

`random_graph(choose)` takes its decisions from ``choose(n)``, a number in ``[0, n)``: a seeded
generator or a drawn integer of a property test. Graphs end: their loops count to small numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.ir import Block, Graph, Node, OpDef, Value, get_op
from ljit.ops.control import BREAK, CONSTANT, CONTINUE, IF, LOOP, REGION, RETURN, YIELD
from ljit.source import Source, SourceRange
from ljit.types import INT, Type
from ljit.value_types import type_of

__all__ = ["random_graph"]

Choose = Callable[[int], int]

_ARITHMETIC = ("py::add", "py::sub", "py::mul", "py::and", "py::or", "py::xor")
_COMPARISONS = ("py::lt", "py::le", "py::eq", "py::ne")
_NAMES = ("", "x", "y", "x.1", "s")
_INTS = (0, 1, -1, 2, 3, 7)
MAX_DEPTH = 3


def random_graph(choose: Choose, size: int = 12) -> Graph:
    """Make a graph with int parameters that returns an int."""
    return _Maker(choose, size).graph()


class _Maker:
    def __init__(self, choose: Choose, size: int) -> None:
        self.choose = choose
        self.budget = size
        self.graph_ = Graph("random")
        self.targets: list[Node] = []
        self.source = Source("random.py", (), "random")

    def graph(self) -> Graph:
        block = self.graph_.block
        scope = [block.add_param(self._name(), INT) for _ in range(1 + self.choose(3))]
        self._fill(block, scope, 0)
        result = self._int(block, scope)
        self._add(block, RETURN, [result], outputs=())
        return self.graph_

    def _name(self) -> str:
        return _NAMES[self.choose(len(_NAMES))]

    def _add(
        self,
        block: Block,
        op: OpDef,
        inputs: Sequence[Value] = (),
        attrs: dict[str, object] | None = None,
        outputs: Sequence[Type] | None = None,
    ) -> Node:
        line = 1 + self.choose(9)
        place = SourceRange(self.source, line, 0, line, 1) if self.choose(2) else None
        node = self.graph_.create(op, inputs, attrs, outputs=outputs, range=place)
        for out in node.outputs:
            out.name = self._name()
        return block.append(node)

    def _constant(self, block: Block, value: object) -> Value:
        node = self._add(block, CONSTANT, attrs={"value": value}, outputs=[type_of(value)])
        return node.output

    def _int(self, block: Block, scope: Sequence[Value]) -> Value:
        ints = [v for v in scope if v.type == INT]
        if not ints or self.choose(5) == 0:
            return self._constant(block, _INTS[self.choose(len(_INTS))])
        return ints[self.choose(len(ints))]

    def _bool(self, block: Block, scope: Sequence[Value]) -> Value:
        op = get_op(_COMPARISONS[self.choose(len(_COMPARISONS))])
        return self._add(block, op, [self._int(block, scope), self._int(block, scope)]).output

    def _fill(self, block: Block, scope: list[Value], depth: int) -> None:
        """Append nodes; the values that they define join `scope`."""
        for _ in range(1 + self.choose(4)):
            if self.budget <= 0:
                return
            self.budget -= 1
            kinds = (self._operator, self._operator, self._if, self._loop, self._region)
            kinds[self.choose(2 if depth >= MAX_DEPTH else len(kinds))](block, scope, depth)

    def _operator(self, block: Block, scope: list[Value], _depth: int) -> None:
        op = get_op(_ARITHMETIC[self.choose(len(_ARITHMETIC))])
        node = self._add(block, op, [self._int(block, scope), self._int(block, scope)])
        scope.append(node.output)

    def _if(self, block: Block, scope: list[Value], depth: int) -> None:
        count = self.choose(3)
        node = self._add(block, IF, [self._bool(block, scope)], outputs=[INT] * count)
        for side in range(2):
            inner = node.add_block()
            inside = list(scope)
            self._fill(inner, inside, depth + 1)
            # Only one side may leave: what stands behind the If stays reachable.
            if side == 1 or not self._leave(inner, inside):
                self._give(inner, YIELD, inside, count)
        scope += node.outputs

    def _leave(self, block: Block, scope: Sequence[Value]) -> bool:
        """Perhaps end the block by leaving for somewhere further out; whether it did."""
        choice = self.choose(4)
        if choice == 0:
            self._add(block, RETURN, [self._int(block, scope)], outputs=())
            return True
        if choice > 2 or not self.targets:
            return False
        target = self.targets[self.choose(len(self.targets))]
        op = CONTINUE if choice == 1 and target.op is LOOP else BREAK
        self._give(block, op, scope, len(target.outputs)).target = target
        return True

    def _give(self, block: Block, op: OpDef, scope: Sequence[Value], count: int) -> Node:
        values = [self._int(block, scope) for _ in range(count)]
        return self._add(block, op, values, outputs=())

    def _loop(self, block: Block, scope: list[Value], depth: int) -> None:
        carried = [self._int(block, scope) for _ in range(self.choose(3))]
        start = self._constant(block, 0)
        stop = self._constant(block, self.choose(4))
        types = [INT] * len(carried)
        node = self._add(block, LOOP, [start, stop, *carried], outputs=types)
        body = node.add_block([("k", INT), *((self._name(), INT) for _ in carried)])
        inside = [*scope, *body.params]
        self.targets.append(node)
        self._fill(body, inside, depth + 1)
        self.targets.pop()
        self._give(body, YIELD, inside, len(carried))
        if self.choose(2):
            after = node.add_block((self._name(), INT) for _ in carried)
            self._give(after, YIELD, [*scope, *after.params], len(carried))
        scope += node.outputs

    def _region(self, block: Block, scope: list[Value], depth: int) -> None:
        count = self.choose(3)
        node = self._add(block, REGION, outputs=[INT] * count)
        body = node.add_block()
        inside = list(scope)
        self.targets.append(node)
        self._fill(body, inside, depth + 1)
        self.targets.pop()
        end = self._give(body, BREAK if self.choose(2) else YIELD, inside, count)
        end.target = node if end.op is BREAK else None
        scope += node.outputs

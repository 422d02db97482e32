"""The body of a nest in stages: functions that NumPy's loops do, or that others wait for, and what is around them.

A processor looks some hundred instructions ahead. Those of a chain of functions are few elements, which all wait: a
loop for each function has more of them at work.

Contract: NumPy's loops run as soon as their operands are known, functions that others wait for as early, all else as
late as can be, so that little is kept between stages. Bodies are taken apart if what they keep are NumPy's numbers,
and what may leave is in the last stage.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ljit.codegen.llvm.forms import Native
from ljit.codegen.nests.mapnest import length_of
from ljit.codegen.nests.nest_elements import Kernel, RowCall, Stage, Staged
from ljit.codegen.nests.nest_stages import LONG_BODY
from ljit.codegen.nests.ufunc_loops import RowLoop
from ljit.ir import Block, Effect, Node, OpDef, Value
from ljit.types import ScalarType, Type

__all__ = ["Emit", "in_stages"]

_Loop = tuple[RowLoop, Sequence[tuple[float, float]]]
_MOST = 8  # values that are kept: their blocks stay in the cache next to the processor

#: emits nodes where some values are the elements that are given; gives the results
Emit = Callable[
    [Sequence[Value], Sequence[Native], Sequence[Node], Sequence[Value]], Sequence[Native]
]


def in_stages(block: Block, emit: Emit) -> Staged | None:
    """Take the body of a Map apart; None: nothing in it is better done by NumPy's loops."""
    nodes = [node for node in block if not node.op.is_terminator]
    if any(node.blocks or node.effects not in (Effect.PURE, Effect.RAISE) for node in nodes):
        return None
    calls = {node: loop for node in nodes if (loop := _loop_of(node)) is not None}
    long = {node for node in nodes if length_of([_typed(node)]) >= LONG_BODY}
    body = _Body(block, nodes, calls, _followed(nodes, long))
    return body.staged(emit) if body.last else None


def _typed(node: Node) -> tuple[OpDef, Sequence[Type]]:
    return node.op, [v.type for v in node.inputs]


def _followed(nodes: Sequence[Node], long: Collection[Node]) -> set[Node]:
    """Those of long nodes that other ones wait for, directly or not."""
    awaited = set[Node]()
    for node in reversed(nodes):
        if node in long or node in awaited:
            awaited |= {v.node for v in node.inputs if v.node is not None}
    return awaited.intersection(long)


def _loop_of(node: Node) -> _Loop | None:
    if node.op.block_loop is None:
        return None
    loop: _Loop | None = node.op.block_loop(*(v.type for v in node.inputs))
    return loop


class _Body:
    """The nodes of a body, and in which stage they are."""

    def __init__(
        self,
        block: Block,
        nodes: Sequence[Node],
        calls: Mapping[Node, _Loop],
        followed: Collection[Node],
    ) -> None:
        self.block = block
        self.nodes = nodes
        self.calls = calls
        self.ends = {*calls, *followed}  # of stages
        early = self._earliest()
        self.last = max((1 + early[node] for node in self.ends), default=0)
        self.stages = self._latest(early)

    def _earliest(self) -> dict[Node, int]:
        """How many ends of stages each node waits for, one after the other."""
        found: dict[Node, int] = {}
        for node in self.nodes:
            before = [v.node for v in node.inputs if v.node in found]
            found[node] = max((found[x] + (x in self.ends) for x in before), default=0)
        return found

    def _latest(self, early: Mapping[Node, int]) -> dict[Node, int]:
        """In which stage each node is: ends in the first one that they can be in, all else in the last one."""
        found: dict[Node, int] = {}
        for node in reversed(self.nodes):
            users = [found.get(user, self.last) for user, _ in node.output.uses]
            found[node] = early[node] if node in self.ends else min(users, default=self.last)
        return found

    def staged(self, emit: Emit) -> Staged | None:
        """Give the stages; None if too much has to be kept, or other stages than the last one may leave."""
        if any(x.op.can_leave(x) and self.stages[x] < self.last for x in self.nodes):
            return None
        known, stages, size = [*self.block.params], list[Stage](), 0
        for number in range(self.last):
            calls = [node for node in self.calls if self.stages[node] == number]
            wanted = self._wanted(number, calls, known)
            types_ = [v.type for v in wanted if isinstance(v.type, ScalarType)]
            size += len(wanted) + len(calls)
            if len(types_) < len(wanted) or size > _MOST:
                return None
            kernel = self._kernel(number, known, wanted, emit)
            known = [*known, *wanted]
            places = {v: i for i, v in enumerate(known)}
            stages.append(Stage(kernel, types_, [self._row_call(x, places) for x in calls]))
            known = [*known, *(x.output for x in calls)]
        last = self._kernel(self.last, known, self.block.terminator.inputs, emit)
        return Staged(stages, last, size)

    def _row_call(self, node: Node, places: Mapping[Value, int]) -> RowCall:
        loop, limits = self.calls[node]
        return RowCall(loop, tuple(places[v] for v in node.inputs), limits)

    def _wanted(self, stage: int, calls: Sequence[Node], kept: Sequence[Value]) -> list[Value]:
        """What a stage's loop keeps: what later stages need of it, and what its calls are of."""
        own = [node.output for node in self.nodes if self.stages[node] == stage]
        found = [v for v in own if v.node not in self.calls and self._is_late(v, stage)]
        operands = dict.fromkeys(v for call in calls for v in call.inputs)
        return found + [v for v in operands if v not in found and v not in kept]

    def _is_late(self, value: Value, stage: int) -> bool:
        """Whether a later stage needs a value; constants are there in each."""
        users = (self.stages.get(user, self.last) for user, _ in value.uses)
        return not value.is_constant and any(user > stage for user in users)

    def _kernel(
        self, stage: int, known: Sequence[Value], results: Sequence[Value], emit: Emit
    ) -> Kernel:
        """What a stage computes of what is known by then."""

        def is_own(node: Node) -> bool:
            return self.stages[node] == stage and node not in self.calls

        nodes = [node for node in self.nodes if is_own(node) or node.op.is_constant]
        own = [(node.op, [v.type for v in node.inputs]) for node in nodes if is_own(node)]
        return Kernel(
            lambda elements: emit(known, elements, nodes, results),
            may_leave=any(node.op.can_leave(node) for node in nodes),
            length=max(1, length_of(own)),
        )

"""The body of a nest in stages: what is computed in front of the functions that NumPy's loops do, and behind them.

Contract: NumPy's loops run as soon as their operands are known, all else is computed as late as can be, so that little
is kept between stages. Only pure bodies are taken apart, if what they keep are NumPy's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ljit.codegen.llvm.forms import Native
from ljit.codegen.nests.mapnest import length_of
from ljit.codegen.nests.nest_elements import Kernel, RowCall, Stage, Staged
from ljit.codegen.nests.ufunc_loops import RowLoop
from ljit.ir import Block, Effect, Node, Value
from ljit.types import ScalarType

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
    calls = {node: loop for node in nodes if (loop := _loop_of(node)) is not None}
    if not calls or any(node.blocks or node.effects != Effect.PURE for node in nodes):
        return None
    return _Body(block, nodes, calls).staged(emit)


def _loop_of(node: Node) -> _Loop | None:
    if node.op.block_loop is None:
        return None
    loop: _Loop | None = node.op.block_loop(*(v.type for v in node.inputs))
    return loop


class _Body:
    """The nodes of a body, and in which stage they are."""

    def __init__(self, block: Block, nodes: Sequence[Node], calls: Mapping[Node, _Loop]) -> None:
        self.block = block
        self.nodes = nodes
        self.calls = calls
        early = self._earliest()
        self.last = 1 + max(early[call] for call in calls)
        self.stages = self._latest(early)

    def _earliest(self) -> dict[Node, int]:
        """How many calls each node waits for, one after the other."""
        found: dict[Node, int] = {}
        for node in self.nodes:
            before = [v.node for v in node.inputs if v.node in found]
            found[node] = max((found[x] + (x in self.calls) for x in before), default=0)
        return found

    def _latest(self, early: Mapping[Node, int]) -> dict[Node, int]:
        """In which stage each node is: calls in the first one that they can be in, all else in the last one."""
        found: dict[Node, int] = {}
        for node in reversed(self.nodes):
            users = [found.get(user, self.last) for user, _ in node.output.uses]
            found[node] = early[node] if node in self.calls else min(users, default=self.last)
        return found

    def staged(self, emit: Emit) -> Staged | None:
        """Give the stages; None if too much has to be kept."""
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
        length = max(1, length_of(own))
        return Kernel(lambda elements: emit(known, elements, nodes, results), length=length)

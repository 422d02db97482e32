"""Calls of a function by itself, without objects in between: `prim::call_native`.

The function's native code gives back what its returns have in common; that type is needed where it calls itself.
It is found by a fixpoint: specialise with what was observed (or with nothing: then a call of itself does not
come back), look at the returns, and begin again with their type if they do not have the expected one. Likewise
for the question whether unknown code runs in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from ljit.analysis.assumptions import python_function
from ljit.analysis.signatures import Signature, native_result
from ljit.ir import Effect, Graph, Node, Value
from ljit.ops.control import CALL_NATIVE, NOT_RUN, PROFILE, RETURN
from ljit.passes.graph_writer import GraphWriter
from ljit.passes.insert_guards import Observations
from ljit.types import NEVER, NONE, Type, join

__all__ = ["MAX_WALKS", "SelfCalls"]

MAX_WALKS = 5  # specialisations of one function until its result type must be settled


class SelfCalls:
    """What is taken for granted about the function's own native code while it is specialised."""

    def __init__(self, function: FunctionType | None, params: Sequence[Type]) -> None:
        self.function = function  # None: it does not call itself natively
        self.params = tuple(params)
        self.result: Type | None = None  # not known yet
        self.is_clean = True
        self.is_used = False
        self.is_learnt = False  # the result type is that of returns

    def call(
        self, out: GraphWriter, node: Node, operands: Sequence[Value], seen: Observations
    ) -> tuple[bool, list[Value] | None]:
        """Emit a `py::call` as a native call; whether that was possible, and the results (None: no return)."""
        callee, *args = operands
        if self.function is None or node.attrs.get("kwnames") or not callee.is_constant:
            return False, None
        if python_function(callee.constant) is not self.function:
            return False, None
        if self.result is None:
            self.result = native_result(_observed(node, seen))
        if not Signature(self.params, self.result).takes(tuple(v.type for v in args)):
            return False, None
        self.is_used = True
        if self.result == NEVER:
            out.deoptimize(NOT_RUN, node)
            return True, None
        # Of an object nobody can tell whether the callee has left native code.
        is_clean = self.is_clean and not self.result.is_boxed
        attrs = {"callee": None, "result": self.result, "is_clean": is_clean}
        return True, list(out.append(CALL_NATIVE, args, attrs, like=node).outputs)

    def are_right(self, graph: Graph) -> bool:
        """Whether the finished graph is as was taken for granted; else learn from it."""
        if not self.is_used:
            return True
        assert self.result is not None
        found = result_of(graph)
        is_clean = not any(n.op.effects_of(n) & Effect.CALL for n in graph.walk())
        wanted = native_result(join(self.result, found))
        if wanted == NEVER:  # no call of it comes back
            self.give_up()
            return False
        if wanted == self.result and is_clean >= self.is_clean:
            return True
        self.result = wanted if self.is_learnt else native_result(found)
        self.is_learnt, self.is_clean, self.is_used = True, self.is_clean and is_clean, False
        return False

    def give_up(self) -> None:
        """Specialise without native calls of itself."""
        self.function, self.is_used = None, False


def result_of(graph: Graph) -> Type:
    """The join of the types that a graph returns; Never if no return was reached so far."""
    result: Type = NEVER
    for node in graph.walk():
        if node.op is RETURN:
            result = join(result, node.inputs[0].type)
    return result


def _observed(call: Node, seen: Observations) -> Type:
    """The type of the call's result in profiled runs, Never if there was none; a guess if it is not used."""
    for user, _ in call.output.uses:
        if user.op is PROFILE:
            return seen.observed(user.id) or NEVER
    return NONE  # nobody wants it

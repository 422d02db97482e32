"""What loops and unpacking go through: a view in the place of an iterator that nothing else sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ljit.ir import Effect, Node, OpDef, Value, get_op
from ljit.ops.control import PROFILE
from ljit.ops.objects import UNPACK
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.requests import Request
from ljit.types import Type, ViewType

__all__ = ["Iterations"]


class _NamedTuples(Protocol):
    def iterated(self, node: Node, value: Value) -> Value:
        """What an iteration goes through in the place of a named tuple."""


class Walk(Protocol):
    """The walk that iterations are part of."""

    out: GraphWriter
    values: dict[Value, Value]

    def resolved(self, request: Request, node: Node) -> Request:
        """Give the op that an operation stands for, with its operands."""

    def result_types(self, request: Request, node: Node) -> tuple[Type, ...]:
        """Give the types of the results of an operation."""

    def apply(self, request: Request, node: Node) -> list[Value] | None:
        """Emit an operation in the place of a node; None if it never comes to an end."""

    def finish(self, node: Node, results: Sequence[Value]) -> None:
        """Note what a node became."""


class Iterations:
    """The part of a walk that handles nodes which go through what they are given; `handlers` are by op."""

    def __init__(self, walk: Walk, named: _NamedTuples) -> None:
        self.walk = walk
        self.named = named
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            get_op("prim::iter"): self.visit_iter,
            get_op("prim::iter_call"): self.visit_iter_call,
            UNPACK: self.visit_unpack,
        }

    def visit_iter(self, node: Node) -> bool:
        """``iter(x)``: of what the items of `x` can be read of natively."""
        self.walk.out.effects = Effect.PURE
        operand = self.named.iterated(node, self._iterated(node.inputs[0], node))
        if isinstance(operand.type, ViewType):
            return self._finish(node, [operand])
        return self._finish(node, self.walk.apply(Request(node.op, (operand,), node.attrs), node))

    def visit_iter_call(self, node: Node) -> bool:
        """``iter(f(...))``: an iteration view if `f` makes one, else the call and then its iteration."""
        self.walk.out.effects = Effect.PURE
        request = Request(node.op, tuple(self.walk.values[v] for v in node.inputs), node.attrs)
        known = self.walk.resolved(request, node)
        if known is not request:
            return self._finish(node, self.walk.apply(self._view_of_views(known, node), node))
        called = self.walk.apply(Request(get_op("py::call"), request.inputs, {}), node)
        if called is None:
            return False
        request = Request(get_op("prim::iter"), tuple(called), {})
        return self._finish(node, self.walk.apply(request, node))

    def visit_unpack(self, node: Node) -> bool:
        """``a, b = x``."""
        self.walk.out.effects = Effect.PURE
        value = self.walk.out.narrow(self.walk.values[node.inputs[0]], node)
        request = Request(node.op, (self.named.iterated(node, value),), node.attrs)
        return self._finish(node, self.walk.apply(request, node))

    def _finish(self, node: Node, results: Sequence[Value] | None) -> bool:
        if results is not None:
            self.walk.finish(node, results)
        return results is not None

    def _iterated(self, value: Value, node: Node) -> Value:
        """What an iteration goes through in the place of an iterator that nothing else sees."""
        request = self._view_instead(value, node)
        results = self.walk.apply(request, node) if request is not None else None
        if results is None:
            return self.walk.values[value]
        made = self.walk.values[value].node
        if made is not None and not made.output.uses:  # the view refuses what the call refuses
            made.erase()
        return results[0]

    def _view_instead(self, value: Value, node: Node) -> Request | None:
        """The view that can stand for such an iterator."""
        made = self.walk.values[value].node
        if made is None or not made.op.iterated or not _is_used_here(value, node):
            return None
        request = Request(get_op(made.op.iterated), tuple(made.inputs), {})
        return request if request.op.has_lowering([v.type for v in made.inputs]) else None

    def _view_of_views(self, known: Request, node: Node) -> Request:
        """The request with views for iterators among its operands, where there is a view of such views."""
        values, result_types = self.walk.values, self.walk.result_types
        instead = {values[v]: self._view_instead(v, node) for v in node.inputs}
        types = [
            v.type if (view := instead.get(v)) is None else result_types(view, node)[0]
            for v in known.inputs
        ]
        if not known.op.has_lowering(types, known.attrs):
            return known
        parts = {values[v]: self._iterated(v, node) for v in node.inputs}
        return Request(known.op, tuple(parts.get(v, v) for v in known.inputs), known.attrs)


def _is_used_here(value: Value, node: Node) -> bool:
    """Whether a baseline value is made in the node's block for the node alone."""
    while value.node is not None and value.node.op is PROFILE and len(value.uses) == 1:
        value = value.node.inputs[0]
    return value.node is not None and value.node.block is node.block and len(value.uses) == 1

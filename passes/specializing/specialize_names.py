"""The specialiser's walk over names: variables, imports and defaults, which are constants under assumptions.

An assumption that was seen to fail is not made again: then the name is looked up in each run.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Protocol

from ljit.analysis.assumptions import (
    Assumption,
    assumptions_of_closure,
    assumptions_of_defaults,
    assumptions_of_global,
    assumptions_of_import,
)
from ljit.ir import Graph, Node, OpDef, Value, get_op
from ljit.ops.control import RAISES
from ljit.passes.specializing.graph_writer import GraphWriter

__all__ = ["Changes", "Names"]


class Changes(Protocol):
    """What earlier runs have shown about names."""

    def is_unstable(self, name: str) -> bool:
        """Whether the global or closure variable `name` was seen to change."""


class Walk(Protocol):
    """The walk that names are part of."""

    out: GraphWriter
    values: dict[Value, Value]

    @property
    def feedback(self) -> Changes:
        """What earlier runs have shown."""

    def visit_operation(self, node: Node) -> bool:
        """Walk a node as any other; False if control does not go on behind it."""


class Names:
    """The part of a walk that handles nodes which look a name up; `handlers` are by op."""

    def __init__(self, walk: Walk, baseline: Graph) -> None:
        self.walk = walk
        self.rebound = _rebound_in(baseline)
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            get_op("prim::load_global"): self.visit_global,
            get_op("prim::load_closure"): self.visit_closure,
            get_op("prim::import_module"): self.visit_import,
            get_op("prim::has_defaults"): self.visit_defaults,
        }

    def visit_global(self, node: Node) -> bool:
        return self.visit_variable(node, assumptions_of_global)

    def visit_closure(self, node: Node) -> bool:
        return self.visit_variable(node, assumptions_of_closure)

    def visit_variable(
        self, node: Node, assumptions_of: Callable[[Node], list[Assumption]]
    ) -> bool:
        """A global or closure variable: a constant under an assumption unless it was seen to change."""
        name = node.attrs["name"]
        assert isinstance(name, str)
        if name in self.rebound or self.walk.feedback.is_unstable(name):
            self.walk.values[node.output] = self.walk.out.append(
                node.op, (), node.attrs, like=node
            ).output
            return True
        assumptions = assumptions_of(node)
        if not assumptions:  # the name is not bound now
            return self.walk.out.deoptimize(RAISES, node)
        return self._take_for_granted(assumptions, node)

    def visit_import(self, node: Node) -> bool:
        """An import: the module as a constant if it is loaded, under assumptions unless one was seen to fail."""
        assumptions = assumptions_of_import(node)
        if not assumptions or any(self.walk.feedback.is_unstable(a.key) for a in assumptions):
            return self.walk.visit_operation(node)
        return self._take_for_granted(assumptions, node)

    def _take_for_granted(self, assumptions: Sequence[Assumption], node: Node) -> bool:
        """Let the node be the object that the last assumption is about."""
        for assumption in assumptions:
            self.walk.out.assume(assumption, node)
        self.walk.values[node.output] = self.walk.out.constant_object(assumptions[-1].value)
        return True

    def visit_defaults(self, node: Node) -> bool:
        """A check of a function's defaults: True under an assumption unless any were seen to change."""
        function, defaults = node.attrs["function"], node.attrs["defaults"]
        assert isinstance(function, types.FunctionType) and isinstance(defaults, tuple)
        assert node.op.evaluate is not None
        if not node.op.evaluate(**node.attrs):
            return self.walk.visit_operation(node)
        names = [name for name, _ in defaults]
        assumptions = assumptions_of_defaults(function, names)
        if any(self.walk.feedback.is_unstable(a.key) for a in assumptions):
            return self.walk.visit_operation(node)
        for assumption in assumptions:
            self.walk.out.assume(assumption, node)
        self.walk.values[node.output] = self.walk.out.constant(True)
        return True

    def module_attribute(self, module: types.ModuleType, name: str, node: Node) -> Value | None:
        """The attribute as a constant under an assumption; None if it is not there or changes."""
        if name not in vars(module) or self.walk.feedback.is_unstable(name):
            return None
        value = vars(module)[name]
        self.walk.out.assume(Assumption(vars(module), name, value), node)
        return self.walk.out.constant_object(value)


def _rebound_in(baseline: Graph) -> frozenset[object]:
    """The names of global and closure variables that the function binds itself."""
    stores = (get_op("prim::store_global"), get_op("prim::store_closure"))
    return frozenset(node.attrs["name"] for node in baseline.walk() if node.op in stores)

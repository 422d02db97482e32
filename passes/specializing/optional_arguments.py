"""Calls of native functions with arguments that may be None, as the children of a tree's node: a branch for None.

    size(node.left)          size(None) if node.left is None else size(node.left as a Node)

An argument that was seen as None and as something else is an object of which nothing is known: no native code is made
for it. In each of the branches its type is known. Two such arguments of a call make four branches.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.analysis.signatures import as_parameter
from ljit.ir import Node, Value, get_op
from ljit.ops.control import GUARD, IF, PROFILE
from ljit.passes.specializing.call_writer import Walk
from ljit.types import ANY, Type

__all__ = ["call_by_none"]

_MOST = 2  # arguments of a call


def call_by_none(walk: Walk, node: Node, visit: Callable[[Node], bool], most: int = _MOST) -> bool:
    """Visit a call in each branch for its arguments that may be None; whether control goes on behind it."""
    found = _optional(walk, node) if most and not walk.feedback.is_widened(node.id) else None
    if found is None:
        return visit(node)
    argument, type_ = found
    out, held = walk.out, walk.values[argument]

    def call_with(value: Value) -> list[Value] | None:
        walk.values[argument] = value
        goes_on = call_by_none(walk, node, visit, most - 1)
        walk.values[argument] = held
        return [walk.values[node.output]] if goes_on else None

    def guarded() -> Value:
        return out.append(GUARD, (held,), {"type": type_}, like=node).output

    test = out.append(get_op("py::is"), (held, out.constant(None)), like=node).output
    branch, was_dirty = out.append(IF, (test,), like=node), out.dirty
    of_none = out.in_branch(branch, lambda: call_with(out.constant(None)))
    is_dirty, out.dirty = out.dirty, was_dirty
    of_other = out.in_branch(branch, lambda: call_with(guarded()))
    out.dirty |= is_dirty
    results = out.merge(branch, [of_none, of_other], node)
    if results is None:
        return False
    walk.values[node.output] = results[0]
    walk.snapshot(f"after:{node.id}", walk.liveness.live_after(node))
    return True


def _optional(walk: Walk, node: Node) -> tuple[Value, Type] | None:
    """The first argument that may be None, and the type that it had else."""
    for argument in node.inputs[1:]:
        if walk.values[argument].type != ANY or argument.node is None:
            continue
        seen = walk.feedback.observation(argument.node.id) if argument.node.op is PROFILE else None
        if seen is not None and seen.saw_none and as_parameter(seen.beside_none) is not None:
            return argument, seen.beside_none
    return None

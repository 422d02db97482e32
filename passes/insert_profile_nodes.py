"""Put a `prim::profile` behind each value whose type only a run can tell.

Contract: these are the graph's parameters, the outputs of ops with `OpDef.is_profiled` (calls,
items of containers, attributes) and constants that are arrays. All users of the value use the
profile node's output instead, so that a specialised graph can put a guard in its place. A variable of another block
that is called has one more in front of the call: where native code leaves for another function, that tells of it.
Running the pass again adds nothing.
"""

from __future__ import annotations

from ljit.analysis.assumptions import is_stable_constant
from ljit.ir import Graph, Node, Value
from ljit.ops.control import CONSTANT, PROFILE
from ljit.ops.members import IS_KIND
from ljit.ops.names import LOAD_CLOSURE, LOAD_GLOBAL
from ljit.ops.objects import CALL, CALL_EX
from ljit.passes.manager import graph_pass
from ljit.passes.observations import is_precise

__all__ = ["insert_profile_nodes", "profile"]


@graph_pass("insert_profile_nodes")
def insert_profile_nodes(graph: Graph) -> bool:
    """Instrument the graph; whether anything was added."""
    before = graph.version
    for node in list(graph.walk()):
        if node.op.is_profiled or _is_changeable(node):
            for out in node.outputs:
                profile(out, node.next)
    for param in reversed(graph.params):
        profile(param, graph.block.first)
    for node in [node for node in graph.walk() if node.op in (CALL, CALL_EX, IS_KIND)]:
        _profile_callee(node)
    return graph.version != before


def _is_changeable(node: Node) -> bool:
    """Whether the node is a constant with arrays in it (a default argument): an array can change its type."""
    return (
        node.op is CONSTANT
        and not is_precise(node.output.type)
        and not is_stable_constant(node.attrs["value"])
    )


def _profile_callee(call: Node) -> None:
    """Put one in front of a call, or a look at what is called, if the callee was bound in another block."""
    callee = call.inputs[0]
    made = callee.node
    if made is not None and (made.block is call.block or _is_name(callee)):
        return
    node = call.create_before(PROFILE, [callee], range=call.range)
    node.output.name = callee.name
    call.set_input(0, node.output)


def _is_name(value: Value) -> bool:
    profiled = value.made_by(PROFILE)
    looked_up = value if profiled is None else profiled.inputs[0]
    made = looked_up.node
    return made is not None and made.op in (CONSTANT, LOAD_GLOBAL, LOAD_CLOSURE)


def profile(value: Value, place: Node | None) -> None:
    """Put a `prim::profile` of the value in front of a node, if it is used and has none."""
    users = list(value.uses)
    if not users or any(user.op is PROFILE for user, _ in users):
        return
    assert place is not None
    node = place.create_before(PROFILE, [value], range=place.range)
    node.output.name = value.name
    for user, index in users:
        user.set_input(index, node.output)

"""What was observed at a `prim::profile` becomes a guarded type.

`guarded_type` is the rule (`passes/observations.py`). The specialiser applies it node by node, since it needs each
refined type at once to type what follows; this pass applies it to a whole graph at hand.
"""

from __future__ import annotations

from ljit.ir import Graph
from ljit.ops.control import GUARD, PROFILE
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.observations import Observations, guarded_type
from ljit.passes.rewriting import retype_users

__all__ = ["insert_guards"]


@graph_pass("insert_guards")
def insert_guards(graph: Graph, *, observations: Observations | None = None) -> bool:
    """Replace each `prim::profile` by a `prim::guard` on the observed type, or by its operand.

    Nodes that never ran are taken out too: the value keeps the type that it has. The graph needs Snapshots
    in front of the guards.
    """
    changed = False
    for node in list(graph.walk()):
        if node.op is not PROFILE or not is_allowed("insert_guards", node):
            continue
        (value,) = node.inputs
        seen = observations.observed(node.id) if observations is not None else None
        type_ = guarded_type(value, seen)
        if type_ is not None:
            guard = node.create_before(GUARD, (value,), {"type": type_}, like=node)
            value = guard.output
        node.replace_with([value])
        if not retype_users(value) and type_ is not None:  # an op would always raise
            guard.replace_with(guard.inputs)
        changed = True
    return changed

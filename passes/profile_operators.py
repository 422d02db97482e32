"""Put a `prim::profile` behind each operator for which users' classes may have methods.

Contract: what operators give follows from the types of their operands, but for objects of users' classes. So this is
for functions that were seen to have such operands (`Specialization.lacks_profiles`): they are translated anew, with it.
"""

from __future__ import annotations

from ljit.ir import Graph
from ljit.passes.insert_profile_nodes import profile
from ljit.passes.manager import graph_pass

__all__ = ["profile_operators"]


@graph_pass("profile_operators")
def profile_operators(graph: Graph) -> bool:
    """Instrument the graph; whether anything was added."""
    before = graph.version
    for node in list(graph.walk()):
        if node.op.special is not None and node.op.special.result is None:
            profile(node.output, node.next)
    return graph.version != before

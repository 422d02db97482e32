"""Remove every `prim::profile`, so that a graph can be instrumented afresh.

Contract: a profile node gives its operand, which takes its place; nothing else changes.
"""

from __future__ import annotations

from ljit.ir import Graph
from ljit.ops.control import PROFILE
from ljit.passes.manager import graph_pass

__all__ = ["clear_profiling_information"]


@graph_pass("clear_profiling_information")
def clear_profiling_information(graph: Graph) -> bool:
    """Remove the profile nodes; whether there were any."""
    found = [node for node in graph.walk() if node.op is PROFILE]
    for node in found:
        node.replace_with(node.inputs)
    return bool(found)

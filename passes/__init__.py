"""Rewrites of graphs, one file a pass, and the manager that runs pipelines of them."""

if __name__ != "ljit.passes":  # a second import under another name would copy every registry
    raise ImportError(f"import ljit.passes instead of {__name__}", name=__name__)

from ljit.passes import (
    clear_profiling_information,
    constant_pooling,
    constant_propagation,
    convert_to_ssa,
    eliminate_common_subexpression,
    eliminate_dead_code,
    insert_profile_nodes,
)
from ljit.passes.manager import PASSES, PassManager, PassRun, graph_pass, run_passes

#: the modules whose import registers their pass
MODULES = (
    clear_profiling_information,
    constant_pooling,
    constant_propagation,
    convert_to_ssa,
    eliminate_common_subexpression,
    eliminate_dead_code,
    insert_profile_nodes,
)

__all__ = ["MODULES", "PASSES", "PassManager", "PassRun", "graph_pass", "run_passes"]

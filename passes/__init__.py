"""Rewrites of graphs, one file a pass, and the manager that runs pipelines of them."""

if __name__ != "ljit.passes":  # a second import under another name would copy every registry
    raise ImportError(f"import ljit.passes instead of {__name__}", name=__name__)

from ljit.passes import (
    canonicalize_modified_loops,
    canonicalize_ops,
    check_inplace,
    clear_profiling_information,
    constant_pooling,
    constant_propagation,
    convert_to_ssa,
    decompose_ops,
    eliminate_common_subexpression,
    eliminate_dead_code,
    eliminate_redundant_guards,
    fuse,
    inline,
    insert_guards,
    insert_profile_nodes,
    lower_simple_tuples,
    normalize_ops,
    peephole_optimize,
)
from ljit.passes.manager import PASSES, PassManager, PassRun, graph_pass, run_passes

#: the modules whose import registers their pass
MODULES = (
    canonicalize_modified_loops,
    canonicalize_ops,
    check_inplace,
    clear_profiling_information,
    constant_pooling,
    constant_propagation,
    convert_to_ssa,
    decompose_ops,
    eliminate_common_subexpression,
    eliminate_dead_code,
    eliminate_redundant_guards,
    fuse,
    inline,
    insert_guards,
    insert_profile_nodes,
    lower_simple_tuples,
    normalize_ops,
    peephole_optimize,
)

__all__ = ["MODULES", "PASSES", "PassManager", "PassRun", "graph_pass", "run_passes"]

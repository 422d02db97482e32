"""Rewrites of graphs, one file a pass, and the manager that runs pipelines of them."""

if __name__ != "ljit.passes":  # a second import under another name would copy every registry
    raise ImportError(f"import ljit.passes instead of {__name__}", name=__name__)

import ljit.ops  # noqa: F401  # declares what graphs are made of
from ljit.passes.manager import PASSES, PassManager, PassRun, graph_pass, run_passes

__all__ = ["PASSES", "PassManager", "PassRun", "graph_pass", "run_passes"]

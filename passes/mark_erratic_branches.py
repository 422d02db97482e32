"""Mark branches that the processor cannot foretell: these are better choices between numbers.

    if a[middle] < x:        # either way, half of the time
        low = middle + 1
    else:
        high = middle

The interpreter and quick code have noted how branches went (`ljit/analysis/branch_histories.py`). Those that only
decide where others go (`x and y` of a `while`) stay what they are: a branch there cannot be foretold either. Contract:
changes no node but for the mark. Cost: linear.
"""

from __future__ import annotations

from collections.abc import Collection

from ljit.analysis.branch_histories import only_decides
from ljit.ir import Graph
from ljit.ops.control import IF
from ljit.passes.manager import graph_pass, is_allowed

__all__ = ["mark_erratic_branches"]

NAME = "mark_erratic_branches"


@graph_pass(NAME, is_idempotent=True)
def mark_erratic_branches(graph: Graph, erratic: Collection[int] = ()) -> bool:
    """Mark the Ifs whose origins are `erratic`; whether there were any."""
    changed = False
    for node in graph.walk() if erratic else ():
        is_new = node.op is IF and node.origin in erratic and not node.attrs.get("is_erratic")
        if is_new and not only_decides(node) and is_allowed(NAME, node):
            node.attrs["is_erratic"] = changed = True
    return changed

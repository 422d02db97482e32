"""Compute elementwise ops on arrays in as few loop nests as can be, without arrays in between.

Contract: elementwise ops of one block that may be computed side by side become one `prim::Map`
(`fusion/fuse_groups.py` says which). What the rest of the program sees of them are its results. An in-place operator,
or an assignment to a slice, takes the ops that make its value along and writes straight to its array, if nothing in
the body can leave in the middle. No read moves across a write. Overlap of the array that is written with one that is
read is the loop nest's own business.

What has fewer elements than the nest is computed in front of it, unless it is cheap: there loops can have vectors. If
only a run can tell whether shapes are equal, the Map checks it (`covers`), and if they are not, the next compile does
without (`failed`).
"""

from __future__ import annotations

from collections.abc import Collection

from ljit.ir import Graph
from ljit.ops.control import MAP
from ljit.passes.fusion.fuse_nodes import has_nests
from ljit.passes.manager import graph_pass
from ljit.passes.rewriting import all_blocks

__all__ = ["fuse"]


@graph_pass("fuse")
def fuse(graph: Graph, failed: Collection[int] = ()) -> bool:
    """Fuse the elementwise ops of each block; whether there was anything to fuse."""
    if not has_nests(graph):
        return False
    from ljit.passes.fusion.fuse_blocks import fuse_block  # and ten modules that only arrays need

    changed = False
    for block in list(all_blocks(graph)):
        if block.owner is None or block.owner.op is not MAP:
            changed |= fuse_block(block, failed)
    return changed

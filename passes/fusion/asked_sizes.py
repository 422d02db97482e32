"""Sizes of what a nest computes are asked of what it computes with: then nobody needs the array in memory.

    d = a - b                        # no array of differences: a nest sums up, and the number of elements
    return (d * d).sum() / len(d)    # is that of a view of `a` with the sizes that `a` and `b` broadcast to

`fuse_rows` does this before it makes loops, `fuse` before it makes nests.
"""

from __future__ import annotations

from ljit.ir import Block, Node, Value, get_op
from ljit.ops.indexing.gathers import can_gather
from ljit.passes.fusion.equal_shapes import Leaves, leaves_of
from ljit.passes.fusion.fuse_nodes import is_elementwise
from ljit.passes.manager import is_allowed
from ljit.types import RANGE, ArrayType

__all__ = ["ask_sources"]

NAME = "fuse"


def ask_sources(block: Block) -> bool:
    """Ask for sizes of sources in the place of what is computed of them; whether there was anything."""
    changed = False
    known: dict[Value, Leaves] = {}
    for node in list(block):
        if not node.op.reads_sizes:
            continue
        value = node.inputs[0]
        source = _source_of_sizes(value, node, known)
        if source is not value and is_allowed(NAME, node):
            node.set_input(0, source)
            changed = True
    return changed


def _source_of_sizes(value: Value, asking: Node, known: dict[Value, Leaves]) -> Value:
    """An array that surely has the shape of the value, and is not computed element by element, if there is one."""
    sources = _sources_of(value, known)
    if len(sources) == 1 and _rank(sources[0]) == _rank(value):
        return sources[0]
    if not sources or value in sources:
        return value
    view = value.node.graph.create(get_op("np::broadcast_view"), sources, like=asking)  # type: ignore[union-attr]
    return view.insert_before(asking).output


def _sources_of(value: Value, known: dict[Value, Leaves]) -> list[Value]:
    """Arrays whose broadcast shape is that of the value: itself if nothing else is known to have it."""
    node = value.node
    if node is None or not isinstance(value.type, ArrayType) or node.op.schema.written:
        return [value]
    if node.op.reads_part and _is_gather_of_vector(node):
        return _sources_of(node.inputs[1], known)
    if not is_elementwise(node) or any(x.type == RANGE for x in node.inputs):
        return [value]
    arrays = [x for x in node.inputs if _rank(x)]
    whole = leaves_of(value, known)
    for x in arrays:
        if _rank(x) == _rank(value) and leaves_of(x, known) == whole:
            return _sources_of(x, known)
    found = [source for x in arrays for source in _sources_of(x, known)]
    return list({leaves_of(source, known): source for source in found}.values())


def _is_gather_of_vector(node: Node) -> bool:
    vector, index = node.inputs
    return _rank(vector) == 1 and _rank(index) > 0 and can_gather(vector.type, index.type)


def _rank(value: Value) -> int:
    return value.type.ndim if isinstance(value.type, ArrayType) else 0

"""Find writes that no right graph has: a check, not a rewrite.

Contract: raises InternalError if a node that writes without a way to raise or bail out writes to a
number, a string or a tuple, or if a `prim::Map` with `into` writes to what is not a writeable
array. Never changes the graph.
"""

from __future__ import annotations

from ljit.analysis.alias import is_immutable, written_operands
from ljit.errors import InternalError
from ljit.ir import Effect, Graph, Node, format_node
from ljit.ops.control import MAP
from ljit.passes.manager import graph_pass
from ljit.types import ArrayType

__all__ = ["check_inplace"]


@graph_pass("check_inplace")
def check_inplace(graph: Graph) -> bool:
    """Raise InternalError at the first bad write; never changes anything."""
    for node in graph.walk():
        what = _bad_map(node) if node.op is MAP else _bad_write(node)
        if what is not None:
            raise InternalError(f"{what}: {format_node(node)}")
    return False


def _bad_write(node: Node) -> str | None:
    if not node.op.schema.written:
        return None
    effects = node.op.effects_of(node)
    if not effects & Effect.WRITE or effects & (Effect.RAISE | Effect.CALL):
        return None
    if any(is_immutable(v.type) for v in written_operands(node)):
        return "a write to an immutable value"
    return None


def _bad_map(node: Node) -> str | None:
    into = node.attrs.get("into", 0)
    assert isinstance(into, int)
    for target in node.inputs[:into]:
        if not isinstance(target.type, ArrayType):
            return "a Map writes to what is not an array"
        if not target.type.writeable:
            return "a Map writes to a read-only array"
    return None

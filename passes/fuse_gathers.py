"""``a[index]`` whose elements a nest needs is taken element by element, places being checked in front.

    (a[index] * w).sum()            check(index, a); one nest: the sum of a[index[k]] * w[k]
    np.log(m[rows, columns])        check(rows, m), check(columns, m); one nest

`fuse` does this before it makes nests: there is no array of the elements in between. The check leaves native code, and
the interpreter raises IndexError. A nest that writes takes none of an array that could be what it writes to.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Node, Value, get_op
from ljit.ops.numpy_gathers import can_gather
from ljit.passes.fuse_nodes import is_elementwise, is_reduction
from ljit.passes.manager import is_allowed
from ljit.types import ArrayType

__all__ = ["check_places"]

NAME = "fuse"


def check_places(block: Block) -> bool:
    """Rewrite what one block takes at places; whether there was anything."""
    changed = False
    for node in [node for node in block if node.op.reads_part]:
        a, index = node.inputs
        if can_gather(a.type, index.type) and _is_for_nests(node) and is_allowed(NAME, node):
            places = _places_of(index)
            changed |= places is not None
            if places is not None:
                _take_one_by_one(node, a, places)
    return changed


def _places_of(index: Value) -> Sequence[Value] | None:
    """The index of each axis."""
    if isinstance(index.type, ArrayType):
        return [index]
    made = index.node
    return made.inputs if made is not None and made.op is get_op("prim::TupleConstruct") else None


def _take_one_by_one(node: Node, a: Value, places: Sequence[Value]) -> None:
    graph, check = node.graph, get_op("np::checked_places")
    checked = [
        graph.create(check, [index, a], {"axis": axis}, like=node).insert_before(node).output
        for axis, index in enumerate(places)
    ]
    types = [out.type for out in node.outputs]
    new = graph.create(get_op("np::elements_at"), [a, *checked], outputs=types, like=node)
    node.replace_with([new.insert_before(node).output])


def _is_for_nests(node: Node) -> bool:
    """Whether nothing but nests needs the result."""
    users = [user for user, _ in node.output.uses]
    return bool(users) and all(
        user.block is node.block and (is_reduction(user) or _is_plain(user)) for user in users
    )


def _is_plain(user: Node) -> bool:
    return is_elementwise(user) and not user.op.schema.written

"""``a[index]`` whose elements a nest needs is taken element by element, places being checked in front.

    (a[index] * w).sum()            check(index, a); one nest: the sum of a[index[k]] * w[k]

`fuse` does this before it makes nests: there is no array of the elements in between. The check leaves native code, and
the interpreter raises IndexError. A nest that writes takes none of an array that could be what it writes to.
"""

from __future__ import annotations

from ljit.ir import Block, Node, get_op
from ljit.ops.numpy_gathers import can_gather
from ljit.passes.fuse_nodes import is_elementwise, is_reduction
from ljit.passes.manager import is_allowed

__all__ = ["check_places"]

NAME = "fuse"


def check_places(block: Block) -> bool:
    """Rewrite what one block takes at places; whether there was anything."""
    changed = False
    for node in [node for node in block if node.op.reads_part]:
        a, index = node.inputs
        if can_gather(a.type, index.type) and _is_for_nests(node) and is_allowed(NAME, node):
            graph = node.graph
            checked = graph.create(get_op("np::checked_places"), [index, a], like=node)
            checked.insert_before(node)
            op = get_op("np::elements_at")
            types = [out.type for out in node.outputs]
            new = graph.create(op, [a, checked.output], outputs=types, like=node)
            node.replace_with([new.insert_before(node).output])
            changed = True
    return changed


def _is_for_nests(node: Node) -> bool:
    """Whether nothing but nests needs the result."""
    users = [user for user, _ in node.output.uses]
    return bool(users) and all(
        user.block is node.block and (is_reduction(user) or _is_plain(user)) for user in users
    )


def _is_plain(user: Node) -> bool:
    return is_elementwise(user) and not user.op.schema.written

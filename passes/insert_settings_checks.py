"""Look at NumPy's settings once more where unknown code may have changed them.

    with changes:          # its `__enter__` is called: it may be an `np.errstate(all="raise")`
        return a / b

Native code does nothing about a float that overflows or is divided by zero. It is entered only while NumPy does no more
than warn (`codegen/functions/float_settings.py`); behind a call of unknown code a check leaves for the interpreter,
whose operations are NumPy's, if that has changed. Contract: adds nodes behind Snapshots, only where an operation on
NumPy's arrays or numbers can follow before the next such call. Cost: linear in the depth of loops times the nodes.
"""

from __future__ import annotations

from ljit.ir import Block, Effect, Graph, Node
from ljit.ops.arrays.float_settings import is_numpys
from ljit.ops.control import CHECK_SETTINGS, GUARD, LOOP, SNAPSHOT, TRY, YIELD
from ljit.passes.manager import graph_pass

__all__ = ["insert_settings_checks"]


@graph_pass("insert_settings_checks")
def insert_settings_checks(graph: Graph) -> bool:
    """Add the checks; whether there were any to add."""
    if not any(map(_is_unknown_code, graph.walk())):
        return False
    walk = _Walk()
    walk.through(graph.block, None, is_followed=False, at_exits=False)
    return walk.has_added


class _Walk:
    """One walk, backwards."""

    has_added = False

    def through(
        self, block: Block, snapshot: Node | None, *, is_followed: bool, at_exits: bool
    ) -> bool:
        """Give whether an operation of NumPy's comes before any check where the block starts.

        `is_followed`: the same behind the block; `at_exits`: where its terminator leads if it is no Yield. `snapshot`
        is the next one behind the block.
        """
        if block.terminator.op is not YIELD:
            is_followed, snapshot = at_exits, None
        for node in reversed(list(block)):
            if node.op is SNAPSHOT:
                snapshot = node
            if node.blocks:
                is_followed = self._through_blocks(node, snapshot, is_followed, at_exits)
                continue
            if is_followed and _is_unknown_code(node):
                assert snapshot is not None, f"no Snapshot behind {node!r}"
                self._check_behind(snapshot)
                is_followed = False
            is_followed |= _is_numpys(node)
        return is_followed

    def _through_blocks(
        self, node: Node, snapshot: Node | None, is_followed: bool, at_exits: bool
    ) -> bool:
        if node.op in (LOOP, TRY):  # what comes first in it may come behind all else in it
            is_followed |= any(map(_is_numpys, node.walk()))
        at_exits |= is_followed
        starts = [
            self.through(block, snapshot, is_followed=is_followed, at_exits=at_exits)
            for block in node.blocks
        ]
        return any(starts) or (node.op is LOOP and is_followed)  # it may have no trips

    def _check_behind(self, snapshot: Node) -> None:
        following = snapshot.next
        assert following is not None
        if following.op is not CHECK_SETTINGS:
            following.create_before(CHECK_SETTINGS, like=snapshot)
            self.has_added = True


def _is_unknown_code(node: Node) -> bool:
    """Whether it runs any, or is where a handler goes on."""
    if node.op is SNAPSHOT:
        return str(node.attrs["at"]).startswith("handler:")
    return not node.blocks and bool(node.op.effects_of(node) & Effect.CALL)


def _is_numpys(node: Node) -> bool:
    """Whether native code computes with arrays or numbers of NumPy's there."""
    passes_on = node.op in (GUARD, SNAPSHOT) or node.op.is_terminator or node.blocks
    return not passes_on and is_numpys(node)

"""Let equal nodes be computed once.

Contract: two nodes are equal if they have the same op, operands, attributes (see `constant_key`)
and result types, and the first dominates the second. Nodes that allocate, write, call or exit are
never merged. What may raise is: the first one raised or did not. A node that reads memory is equal
to an earlier one only if nothing between them on any path may write memory that it reads.

One walk with a table a scope; a write or a call forgets the reads, at a loop's start when its body
has one, and at a Try's. Cost: for each write the reads that are known, or the uses of what is written.
"""

from __future__ import annotations

from ljit.analysis.alias import AliasInfo, written_operands
from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.control import GUARD, LOOP, PROFILE, SNAPSHOT, TRY
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import replace_value
from ljit.passes.values import node_key

__all__ = ["eliminate_common_subexpression"]

NAME = "eliminate_common_subexpression"
_NEVER_MERGED = Effect.ALLOC | Effect.WRITE | Effect.CALL | Effect.EXIT
_CLOBBERS = Effect.WRITE | Effect.CALL


@graph_pass(NAME)
def eliminate_common_subexpression(graph: Graph) -> bool:
    """Merge equal nodes; whether there were any."""
    merger = _Merger(AliasInfo(graph))
    merger.block(graph.block, _Table({}, {}))
    return merger.changed


class _Table:
    """Nodes whose values are current: those that depend on operands only, and those that read."""

    __slots__ = ("pure", "reads")

    def __init__(self, pure: dict[object, Node], reads: dict[object, Node]) -> None:
        self.pure = pure
        self.reads = reads

    def copy(self) -> _Table:
        return _Table(dict(self.pure), dict(self.reads))


class _Merger:
    def __init__(self, aliases: AliasInfo) -> None:
        self.aliases = aliases
        self.changed = False
        self._effects: dict[Node, Effect] = {}  # of nodes without blocks; merging changes none
        self._writers_in: dict[Node, list[tuple[Node, Effect]]] = {}

    def block(self, block: Block, table: _Table) -> None:
        """Merge in `block`; `table` holds the nodes whose values are known to be current."""
        for node in block:
            if node.blocks:
                self._structure(node, table)
                continue
            effects = self._effects_of(node)
            if effects & _CLOBBERS:
                self._forget(node, effects, table)
            elif _can_merge(node, effects):
                self._merge(node, table.reads if effects & Effect.READ else table.pure)

    def _structure(self, node: Node, table: _Table) -> None:
        writers = self._writers(node)
        if node.op is LOOP or node.op is TRY:  # its handler begins anywhere in the body
            for writer, effect in writers:
                self._forget(writer, effect, table)
        for block in node.blocks:
            self.block(block, table.copy())
        for writer, effect in writers:
            self._forget(writer, effect, table)

    def _writers(self, structure: Node) -> list[tuple[Node, Effect]]:
        """The nodes in the blocks of a node that may change memory, and their effects."""
        found = self._writers_in.get(structure)
        if found is None:
            found = self._writers_in[structure] = []
            for node in (inner for block in structure.blocks for inner in block):
                if node.blocks:
                    found += self._writers(node)
                elif (effects := self._effects_of(node)) & _CLOBBERS:
                    found.append((node, effects))
        return found

    def _effects_of(self, node: Node) -> Effect:
        found = self._effects.get(node)
        if found is None:
            found = self._effects[node] = node.op.effects_of(node)
        return found

    def _merge(self, node: Node, known_nodes: dict[object, Node]) -> None:
        known = known_nodes.setdefault(node_key(node), node)
        if known is not node and is_allowed(NAME, node):
            for old, new in zip(node.outputs, known.outputs, strict=True):
                replace_value(old, new)
            node.erase()
            self.changed = True

    def _forget(self, writer: Node, effects: Effect, table: _Table) -> None:
        """Drop the reads that `writer` may change the result of."""
        if not table.reads:
            return
        written = [] if effects & Effect.CALL else written_operands(writer)
        if not written:  # unknown memory
            table.reads.clear()
            return
        for value in written:
            self._forget_reads_of(value, table.reads)

    def _forget_reads_of(self, written: Value, reads: dict[object, Node]) -> None:
        """Drop what may read the memory of a value; of memory without another name only its users do."""
        if len(written.uses) < len(reads) and self.aliases.is_private(written):
            for user, _ in written.uses:
                reads.pop(node_key(user), None)
            return
        for key, node in list(reads.items()):
            if any(self.aliases.may_alias(written, v) for v in node.inputs):
                del reads[key]


def _can_merge(node: Node, effects: Effect) -> bool:
    if node.op in (GUARD, PROFILE, SNAPSHOT) or node.op.is_terminator or not node.outputs:
        return False
    return not effects & _NEVER_MERGED

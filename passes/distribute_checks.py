"""Make the checks of a loop in a loop of their own in front of it, so that both can have vectors.

    for i in range(n):                        for block in range(0, n, 4096):
        a[i] = math.sqrt(b[i])                    for i in range(block, min(block + 4096, n)):
                                                      failed |= b[i] < 0.0      # asked behind the loop
                                                  for i in range(block, min(block + 4096, n)):
                                                      a[i] = sqrt(b[i])

A check in each trip is a way out of the loop, of which LLVM makes no vectors. Those of ops that say so
(`OpDef.may_be_checked_late`) are made for a block of trips in front of them; what they need is computed twice. If one
fails, the code leaves in front of the block: the interpreter goes on, and raises in the right trip if there is an
exception. The next compile keeps such a loop as it is (`failed`).

Legal if the first loop sees what the second one will: it reads no array that is written to, or only each trip's own
elements (`loops/private_elements.py`) before they are written. Arrays that could overlap are tested; if they do, the
code leaves. It pays if the checks are all that keeps the loop from vectors: it carries no values, has no other way out
and no loop in it, and each trip writes to elements of its own.

Reference: Allen, Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.4 (loop distribution).
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ljit.analysis.alias import AliasInfo, is_immutable, written_operands
from ljit.ir import Effect, Graph, Node, Value, copy_node, get_op
from ljit.ops.control import CHECKED_IN_FRONT, IF, LOOP, OTHER_ORDER, SNAPSHOT, YIELD
from ljit.passes.loops.private_elements import OwnElements
from ljit.passes.loops.trip_blocks import has_few_trips, is_long, put_into_blocks
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import leave_in_front
from ljit.types import INT, ArrayType, ScalarType, is_number

__all__ = ["distribute_checks"]

NAME = "distribute_checks"
_MAX_HAZARDS = 4


@graph_pass(NAME)
def distribute_checks(graph: Graph, failed: Container[int] = ()) -> bool:
    """Rewrite the loops for which it is legal and pays; whether there were any.

    `failed`: origins of nodes whose checks failed in front of a loop, and of loops whose arrays overlap.
    """
    loops = [node for node in graph.walk() if node.op is LOOP]
    aliases = AliasInfo(graph)
    found = [split for loop in loops if (split := _Split.of(loop, aliases)) is not None]
    changed = False
    for split in found:
        if any(node.origin in failed for node in (split.loop, *split.checks)):
            continue
        if is_allowed(NAME, split.loop):
            split.run()
            changed = True
    return changed


class _Split:
    """A loop, its checks, and the arrays that must not overlap."""

    def __init__(self, loop: Node) -> None:
        self.loop = loop
        self.header = next(iter(loop.blocks[0]))  # the Snapshot of a trip's start
        self.body = [node for node in loop.blocks[0] if node.op is not SNAPSHOT]
        self.checks = [node for node in self.body if node.op.can_leave(node)]
        self.needed = self._needed()
        self.hazards: list[tuple[Value, Value]] = []

    @staticmethod
    def of(loop: Node, aliases: AliasInfo) -> _Split | None:
        if len(loop.inputs) != 2 or len(loop.blocks) != 1 or has_few_trips(loop):
            return None
        split = _Split(loop)
        is_legal = (
            split.checks
            and split.header.op is SNAPSHOT
            and all(map(_may_wait, split.checks))
            and all(map(split.is_known, loop.blocks[0].walk()))
            and split.find_hazards(aliases)
        )
        return split if is_legal else None

    def _needed(self) -> list[Node]:
        """The checks and what they are computed of, in program order."""
        found: set[Node] = set()
        todo = list(self.checks)
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                values = [v for inner in node.walk() for v in inner.inputs]
                todo += [v.node for v in values if v.node is not None and v.node in self.body]
        return [node for node in self.body if node in found]

    def is_known(self, node: Node) -> bool:
        """Whether a node is arithmetic or accesses elements of an array from outside, and is no way out but a check."""
        if node.op in (SNAPSHOT, YIELD, IF):
            return True
        if node.blocks or node.op.is_terminator:
            return False
        if node.op.can_leave(node):
            return node in self.checks
        effects = node.op.effects_of(node)
        if effects & ~(Effect.READ | Effect.WRITE) != Effect.PURE or is_long(node.op):
            return False
        holders = [v for v in node.inputs if not is_immutable(v.type)]
        if effects & Effect.WRITE and written_operands(node) != node.inputs[:1]:
            return False
        return all(is_immutable(out.type) for out in node.outputs) and all(
            v is node.inputs[0] and isinstance(v.type, ArrayType) and not v.is_inside(self.loop)
            for v in holders
        )

    def find_hazards(self, aliases: AliasInfo) -> bool:
        """Collect the arrays to test; False if the checks would not see what they see in the loop."""
        elements = OwnElements(self.loop, self.loop.blocks[0].walk())
        written = dict.fromkeys(_arrays(self.body, Effect.WRITE))
        if not written or not all(elements.are_disjoint(a, lambda value: value) for a in written):
            return False
        if _arrays(self.needed, Effect.WRITE):
            return False
        for array in dict.fromkeys(_arrays(self.needed, Effect.READ)):
            if array in written and not self._is_read_first(array):
                return False
            others = (a for a in written if a is not array and aliases.may_alias(a, array))
            self.hazards += [(a, array) for a in others]
        return len(self.hazards) <= _MAX_HAZARDS

    def _is_read_first(self, array: Value) -> bool:
        """Whether what the checks need of an array is read before a trip writes to it."""
        accesses = [node for node in self.body if array in _arrays([node], Effect.WRITE)]
        reads = [node for node in self.needed if array in _arrays([node], Effect.READ)]
        return all(read.is_before(accesses[0]) for read in reads)

    def run(self) -> None:
        """Put the loop into one over blocks of its trips, behind a loop of the checks of the block."""
        loop = self.loop
        for pair in self.hazards:
            self._leave_if_overlapping(*pair)
        blocks = put_into_blocks(loop)
        self._checks(blocks.first, blocks.end).insert_before(loop)
        loop.attrs["checks"] = "in front"
        blocks.body.create(YIELD, (blocks.end,), like=loop)
        for node in self.checks:
            node.proven = (*node.proven, CHECKED_IN_FRONT)

    def _checks(self, start: Value, stop: Value) -> Node:
        """The loop of the checks."""
        loop, graph = self.loop, self.loop.graph
        made = graph.create(LOOP, (start, stop), {"checks": "made"}, outputs=(), like=loop)
        trip = loop.blocks[0].params[0]
        block = made.add_block([(trip.name, INT)])
        values = {trip: block.params[0]}
        for node in self.needed:
            block.append(copy_node(node, graph, values, {}))
        block.create(YIELD, like=loop)
        return made

    def _leave_if_overlapping(self, written: Value, read: Value) -> None:
        loop, operands = self.loop, (written, read)
        overlap = loop.create_before(get_op("np::may_share_memory"), operands, like=loop)
        leave_in_front(loop, overlap.output, OTHER_ORDER)


def _may_wait(node: Node) -> bool:
    """Whether the checks of a node on numbers may be looked at after its result was used."""
    is_plain = node.op.effects_of(node) & ~Effect.RAISE == Effect.PURE
    return is_plain and node.op.may_be_checked_late and all(map(_is_number, node.inputs))


def _is_number(value: Value) -> bool:
    return is_number(value.type) or isinstance(value.type, ScalarType)


def _arrays(nodes: Iterable[Node], effect: Effect) -> list[Value]:
    """The arrays that the nodes read, or write to."""
    inner = (n for node in nodes for n in node.walk() if n.op is not SNAPSHOT)
    return [
        n.inputs[0]
        for n in inner
        if not n.blocks and not n.op.is_terminator and n.op.effects_of(n) & effect
    ]

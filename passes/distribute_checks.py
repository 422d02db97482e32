"""Make the checks of a loop in a loop of their own in front of it, so that both can have vectors.

    for i in range(n):                        for block in range(0, n - 31, 32):
        a[i] = math.sqrt(b[i])                    for i in range(block, block + 32):
                                                      failed |= b[i] < 0.0      # asked behind the loop
                                                  for i in range(block, block + 32):
                                                      a[i] = sqrt(b[i])
                                              ...                               # the same for the last n % 32 trips

A check in each trip is a way out of the loop, of which LLVM makes no vectors. Those of ops that say so
(`OpDef.may_be_checked_late`), and of stores of numbers that may not fit (`OpDef.checked_by`), are made for a block of
trips in front of them, under the conditions that the program asks. Each of the two loops is one vector for LLVM
(`codegen/loops/loop_hints.py`), so what both need is computed once, and stays in registers meanwhile. If a check fails,
the code leaves in front of the block: the interpreter goes on, and raises in the right trip if there is an exception.
The next compile keeps such a loop as it is (`failed`). A guard of a number of a Union, where a condition has told the
type, is no check: it becomes `np::member`.

Legal if the first loop sees what the second one will: it reads no array that is written to, or only each trip's own
elements (`loops/private_elements.py`) before they are written, and none at a place that one of the checks is about.
Arrays that could overlap are tested; if they do, the code leaves. It pays if the checks are all that keeps the loop
from vectors: it carries no values, has no other way out and no loop in it, and each trip writes to elements of its own.
Machines without vectors of 64 bytes lack instructions for some of it, and have half of the registers: blocks are
shorter, and ints that are made of floats are checked to have 32 bits.

Reference: Allen, Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.4 (loop distribution).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import cached_property

from ljit.analysis.alias import AliasInfo, is_immutable, written_operands
from ljit.ir import Block, Effect, Graph, Node, Value, copy_nodes, get_op
from ljit.ops.control import CHECKED_IN_FRONT, GUARD, IF, LOOP, OTHER_ORDER, SNAPSHOT, YIELD
from ljit.ops.python.near_numbers import NEAR
from ljit.ops.python.numbers import is_real_scalar
from ljit.ops.ranges.int_products import MUL
from ljit.ops.ranges.int_ranges import FITS, IN_32_BITS
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.passes.loops.check_slices import CheckSlice, conversion_of, made_of, may_wait
from ljit.passes.loops.private_elements import OwnElements
from ljit.passes.loops.trip_blocks import has_few_trips, is_long, put_whole_blocks_in_front
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import leave_in_front
from ljit.passes.specializing.narrowing import is_told
from ljit.types import INT, ArrayType, UnionType

__all__ = ["distribute_checks"]

NAME = "distribute_checks"
_MAX_HAZARDS = 4
_WIDE = 64  # bytes of vectors
_BLOCK, _NARROW_BLOCK = 32, 16  # trips: a few vectors, which stay in registers
_LEAST_CHOSEN = 4  # bytes of elements that narrower vectors load and store with a mask


@graph_pass(NAME)
def distribute_checks(graph: Graph, failed: Container[int] = (), vector_bytes: int = _WIDE) -> bool:
    """Rewrite the loops for which it is legal and pays; whether there were any.

    `vector_bytes`: how long the machine's vectors are.
    `failed`: origins of nodes whose checks failed in front of a loop, and of loops whose arrays overlap, or for which
    stores failed: another pass may have tested one of these itself, in another way.
    """
    loops = [node for node in graph.walk() if node.op is LOOP]
    aliases = AliasInfo(graph)
    block = _BLOCK if vector_bytes >= _WIDE else _NARROW_BLOCK
    found = [split for loop in loops if (split := _Split.of(loop, aliases, block)) is not None]
    changed = False
    for split in found:
        if any(node.origin in failed for node in split.blamed):
            continue
        if is_allowed(NAME, split.loop):
            split.run()
            changed = True
    return changed


class _Split:
    """A loop, its checks, and the arrays that must not overlap."""

    def __init__(self, loop: Node, block: int) -> None:
        self.loop, self.block = loop, block
        self.header = next(iter(loop.blocks[0]))  # the Snapshot of a trip's start
        self.body = [node for node in loop.blocks[0].walk() if node.op is not SNAPSHOT]
        leaves = [node for node in self.body if not (node.blocks or node.op.is_terminator)]
        self.members = {node for node in leaves if _is_member(node)}
        self.checks = [n for n in leaves if n.op.can_leave(n) and n not in self.members]
        self.hazards: list[tuple[Value, Value]] = []
        self.is_apart = False  # whether it is tested that no two of its arrays overlap of which it writes to one

    @property
    def blamed(self) -> list[Node]:
        """The nodes of which one is blamed if a check fails."""
        return [self.loop, *filter(may_wait, self.checks)]

    @cached_property
    def slice(self) -> CheckSlice:
        return CheckSlice(list(self.loop.blocks[0]), self.checks)

    @staticmethod
    def of(loop: Node, aliases: AliasInfo, block: int) -> _Split | None:
        if len(loop.inputs) != 2 or len(loop.blocks) != 1 or has_few_trips(loop, block):
            return None
        split = _Split(loop, block)
        is_legal = (
            split.checks
            and split.header.op is SNAPSHOT
            and all(may_wait(node) or conversion_of(node) is not None for node in split.checks)
            and all(map(split.is_known, split.body))
            and (block == _BLOCK or not split.is_taken_apart)
            and split.find_hazards(aliases)
        )
        return split if is_legal else None

    def is_known(self, node: Node) -> bool:
        """Whether a node is arithmetic or accesses elements of an array from outside, and is no way out but a check."""
        if node.op in (YIELD, IF) or node in self.members:
            return True
        if node.blocks or node.op.is_terminator:
            return False
        if node.op.can_leave(node):
            if node not in self.checks:
                return False
            if may_wait(node):
                return True
        effects = node.op.effects_of(node) & ~Effect.RAISE
        if effects & ~(Effect.READ | Effect.WRITE) != Effect.PURE or is_long(node.op):
            return False
        holders = [v for v in node.inputs if not is_immutable(v.type)]
        if effects & Effect.WRITE and written_operands(node) != node.inputs[:1]:
            return False
        return all(is_immutable(out.type) for out in node.outputs) and all(
            v is node.inputs[0] and isinstance(v.type, ArrayType) and not v.is_inside(self.loop)
            for v in holders
        )

    @property
    def is_taken_apart(self) -> bool:
        """Whether narrow vectors would be put together and taken apart, number by number."""
        reads = [node for node in self.body if node.op.reads_part]
        read, _ = made_of((v for node in reads for v in node.outputs), self.body)
        is_looked_up = any(not read.isdisjoint(node.inputs[1:]) for node in reads)
        return is_looked_up or any(map(self.lacks_instructions, self.body))

    def lacks_instructions(self, node: Node) -> bool:
        """Whether narrow vectors are taken apart for a node: a short element that some trips access, a product."""
        if node in self.checks and node.op.ranges is MUL:
            return not any(v.is_constant for v in node.inputs)
        if not (node.op.reads_part or node.op.writes_part) or node.block is self.loop.blocks[0]:
            return False
        array = node.inputs[0]
        is_short = isinstance(array.type, ArrayType) and array.type.dtype.itemsize < _LEAST_CHOSEN
        return is_short and not _is_stored_either_way(node, array)

    def find_hazards(self, aliases: AliasInfo) -> bool:
        """Collect the arrays to test; False if the checks would not see what they see in the loop."""
        elements = OwnElements(self.loop, self.body)
        written = dict.fromkeys(_arrays(self.body, Effect.WRITE))
        if not written or not all(elements.are_disjoint(a, lambda value: value) for a in written):
            return False
        if not all(_lie_side_by_side(elements, node) for node in self.body if _writes(node)):
            return False  # there would be no vectors
        needed = self.slice.nodes
        if _arrays(needed, Effect.WRITE) or not self.slice.is_safe:
            return False
        checked = dict.fromkeys(_arrays(needed, Effect.READ))
        if not all(map(self._is_read_first, written.keys() & checked.keys())):
            return False
        self.hazards = _overlapping(written, checked, aliases)
        accessed = written | dict.fromkeys(_arrays(self.body, Effect.READ))
        if len(written) == 1:  # several may be columns side by side: the test would find an overlap
            self.hazards = _overlapping(written, accessed, aliases)
        self.is_apart = self.hazards == _overlapping(written, accessed, aliases)
        return len(self.hazards) <= _MAX_HAZARDS

    def _is_read_first(self, array: Value) -> bool:
        """Whether what the checks need of an array is read before a trip writes to it."""
        accesses = [self._step(node) for node in self.body if _touches(node, array, Effect.WRITE)]
        nodes = self.slice.nodes
        reads = [self._step(node) for node in nodes if _touches(node, array, Effect.READ)]
        return all(read.is_before(accesses[0]) for read in reads)

    def _step(self, node: Node) -> Node:
        """The node of the loop's body in which a node lies."""
        while node.block is not self.loop.blocks[0]:
            assert node.block is not None and node.block.owner is not None
            node = node.block.owner
        return node

    def run(self) -> None:
        """Put the loop into one over blocks of its trips, behind a loop of the checks of the block."""
        loop = self.loop
        for node in self.members:
            node.op = get_op("np::member")
        if self.block != _BLOCK:
            self._keep_ints_short()
        for pair in self.hazards:
            self._leave_if_overlapping(*pair)
        blocks, write = put_whole_blocks_in_front(loop, self.block), BoundWriter(loop)
        zero, size = (BoundWriter(blocks.loop).constant(number) for number in (0, self.block))
        write.within = blocks.body
        self._write_block(write, (zero, size), blocks.first)
        blocks.body.create(YIELD, (blocks.end,), like=loop)
        write.within = None
        self._write_block(write, (zero, blocks.rest), blocks.last)
        loop.erase()

    def _keep_ints_short(self) -> None:
        """Check that ints of floats have 32 bits, where vectors have no instructions that make others."""
        self.checks = [_short_int(node) if _is_of_float(node) else node for node in self.checks]
        self.slice = CheckSlice(list(self.loop.blocks[0]), self.checks)

    def _write_block(self, write: BoundWriter, limits: tuple[Value, Value], first: Value) -> None:
        """Write the loop that makes the checks of some trips, and the one that does the rest."""
        old = self.loop.blocks[0].params[0]
        into, trip = self._add_loop(write, limits, first, {"checks": "made"})
        self.slice.copy(into, {old: trip}, self.loop.origin)
        into.create(YIELD, like=self.loop)
        apart = {"reordered": True} if self.is_apart else {}
        into, trip = self._add_loop(write, limits, first, {"checks": "in front", **apart})
        copies: dict[Node, Node] = {}
        copy_nodes(self.loop.blocks[0], into, {old: trip}, copies)
        for node in self.checks:
            copies[node].proven = (*node.proven, CHECKED_IN_FRONT)

    def _add_loop(
        self,
        write: BoundWriter,
        limits: tuple[Value, Value],
        first: Value,
        attrs: Mapping[str, object],
    ) -> tuple[Block, Value]:
        """Add a loop over the trips of a block, with the number of a trip."""
        most = self.block if limits[1].is_constant else self.block - 1
        added = write.add(LOOP, limits, {**attrs, "most_trips": most})
        within, write.within = write.within, added.add_block([("", INT)])
        into = write.within
        trip = write.op("py::add", first, into.params[0])
        write.within = within
        return into, trip

    def _leave_if_overlapping(self, written: Value, read: Value) -> None:
        loop, operands = self.loop, (written, read)
        overlap = loop.create_before(get_op("np::may_share_memory"), operands, like=loop)
        leave_in_front(loop, overlap.output, OTHER_ORDER)


def _is_of_float(node: Node) -> bool:
    rules = node.op.ranges
    return rules is not None and IN_32_BITS in rules.float_checks and IN_32_BITS not in node.proven


def _short_int(node: Node) -> Node:
    """What checks in the place of a conversion of a float that this is an int of 32 bits."""
    near = node.create_before(NEAR, node.inputs[:1], {"most": 2**31 - 2}, like=node)
    node.set_input(0, near.output)
    node.proven = (*node.proven, FITS, IN_32_BITS)
    return near


def _is_stored_either_way(node: Node, array: Value) -> bool:
    """Whether both blocks of an If store to an array, of which one is that of the node."""
    choice = node.block.owner if node.block is not None else None
    blocks = choice.blocks if choice is not None and choice.op is IF else []
    stores = [any(_touches(n, array, Effect.WRITE) for n in block.walk()) for block in blocks]
    return node.op.writes_part and all(stores)


def _overlapping(
    written: Iterable[Value], others: Iterable[Value], aliases: AliasInfo
) -> list[tuple[Value, Value]]:
    """The pairs of arrays that may overlap, each once."""
    pairs = {frozenset((a, b)): (a, b) for b in others for a in written if a is not b}
    return [pair for pair in pairs.values() if aliases.may_alias(*pair)]


def _lie_side_by_side(elements: OwnElements, store: Node) -> bool:
    """Whether the trips store elements that lie side by side."""
    array = store.inputs[0].type
    return isinstance(array, ArrayType) and array.ndim - 1 in elements.axes(store)


def _is_member(node: Node) -> bool:
    """Whether a node takes a number out of a Union where a condition has told of which type it is."""
    if node.op is not GUARD or not isinstance(node.inputs[0].type, UnionType):
        return False
    return all(map(is_real_scalar, node.inputs[0].type.members)) and is_told(node)


def _writes(node: Node) -> bool:
    return bool(node.inputs) and _touches(node, node.inputs[0], Effect.WRITE)


def _arrays(nodes: Iterable[Node], effect: Effect) -> list[Value]:
    """The arrays that the nodes, without what lies in them, read, or write to."""
    return [n.inputs[0] for n in nodes if n.inputs and _touches(n, n.inputs[0], effect)]


def _touches(node: Node, array: Value, effect: Effect) -> bool:
    """Whether a node reads the array, or writes to it."""
    if node.blocks or node.op.is_terminator or not node.inputs or node.inputs[0] is not array:
        return False
    return bool(node.op.effects_of(node) & effect)

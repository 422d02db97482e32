"""Leave out blocks of trips in which nothing happens, in loops that look for something.

    for i in range(n):                   for block in range(0, n, 32):
        if x[i] > best:                      some = False
            best = x[i]                      for i in range(block, block + 32):
            place = i                            some |= x[i] > best
                                             if some:
                                                 for i in range(block, block + 32):
                                                     if x[i] > best:
                                                         best = x[i]
                                                         place = i

A trip needs what the trip before has made of `best`, so LLVM makes no vectors of the loop; of the question whether any
of some trips does anything, it does. A trip that does nothing leaves what the loop carries as it is. So if the
condition is false in all trips of a block for what the block begins with, none of them does anything. Else the block
runs as the program says, which computes a few conditions twice. So do the first block, in which most happens, and what
is no whole block.

Legal if all that a trip does stands under conditions, in one another or side by side, which can be computed at any
time: they only read, and cannot leave native code. A condition is asked where those in front of it say that nothing
happens: what it reads may not be there otherwise. It pays if something happens rarely: if that leaves the loop, or is a
record. A record is what the loop carries, or something made of it, as an element at a place, and becomes what it was
compared with. All elements that the conditions read lie side by side, or are the same in all trips. Least and greatest
ints without a place are left to LLVM, which has vectors for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

from ljit.analysis.dependence import Subscripts
from ljit.analysis.loop_bounds import loop_bounds
from ljit.analysis.ranges import Ranges, is_integer
from ljit.ir import Block, Effect, Graph, Node, Value, copy_node, get_op
from ljit.ops.containers.iteration import NEXT
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.ranges.int_quotients import FLOORDIV, MOD
from ljit.ops.ranges.int_ranges import FITS, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from ljit.passes.loops.trip_blocks import TripBlocks, has_few_trips, is_long, put_into_blocks
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import BOOL, INT, ArrayType

__all__ = ["skip_trips"]

NAME = "skip_trips"
_BLOCK = 32  # trips: a few vectors
_ORDERS = (LESS, LESS_EQUAL, GREATER, GREATER_EQUAL)


@graph_pass(NAME)
def skip_trips(graph: Graph) -> bool:
    """Rewrite the loops for which it is legal and pays; whether there were any."""
    ranges = Ranges()
    found = [
        search
        for loop in [node for node in graph.walk() if node.op is LOOP]
        if _is_plain(loop) and (search := _Search(loop, ranges)).is_legal and search.pays
    ]
    changed = False
    for search in found:
        if is_allowed(NAME, search.loop):
            search.run()
            changed = True
    return changed


def _is_plain(loop: Node) -> bool:
    """Whether it is an innermost counted loop of which nothing special is known."""
    if len(loop.blocks) != 1 or loop.attrs or loop.inputs[1].is_endless or has_few_trips(loop):
        return False
    body = loop.blocks[0]
    is_begun = body.first is not None and body.first.op is SNAPSHOT
    return (
        is_begun
        and body.terminator.op is YIELD
        and all(node.op is IF for node in body.walk() if node.blocks)
    )


class _Search:
    """A loop, and the Ifs in which all that a trip does stands, each of which may have others in it: the *choices*.

    Their blocks are *loud*, those in which something happens, or leave all as it is but for choices in them.
    """

    def __init__(self, loop: Node, ranges: Ranges) -> None:
        self.loop = loop
        self.ranges = ranges
        self.body = loop.blocks[0]
        #: what choices give, with what the loop carries: they are the same where nothing happens
        self.kept: dict[Value, Value] = {}
        self.choices: set[Node] = set()
        self.loud: list[Block] = []
        #: Ifs that go on to the next trip where there is nothing to ask
        self.skips = {node: end for node in self.body if (end := self._end_of_skip(node))}
        self.is_legal = self._is_quiet(self.body, self.carried, [self.body]) and self._look(
            [self.body]
        )

    def _end_of_skip(self, node: Node) -> Node | None:
        """The Continue of ``if not x[i]: continue``."""
        ends = [block.terminator for block in node.blocks]
        is_short = all(n.op is SNAPSHOT or n in ends for block in node.blocks for n in block)
        if node.outputs or not is_short or [end.op for end in ends] != [CONTINUE, YIELD]:
            return None
        return ends[0] if ends[0].target is self.loop else None

    @property
    def carried(self) -> list[tuple[Value, Value]]:
        """What a trip begins with, and the next one."""
        return list(zip(self.body.params[1:], self.body.terminator.inputs, strict=True))

    def _look(self, around: list[Block]) -> bool:
        """Sort the nodes of the last of some blocks within each other; whether the loop can be rewritten."""
        for node in reversed(list(around[-1])):
            if node.op in (SNAPSHOT, YIELD):
                continue
            if node in self.skips:
                params = self.body.params[1:]
                pairs = list(zip(params, self.skips[node].inputs, strict=True))
                if not self._keep(pairs, around):
                    return False
                continue
            is_kept = any(out in self.kept for out in node.outputs)
            if node.op is not IF or not (is_kept or not _can_all_be_asked(node)):
                if not _can_all_be_asked(node):
                    return False
            elif not self._look_at_choice(node, around):
                return False
        return True

    def _look_at_choice(self, choice: Node, around: list[Block]) -> bool:
        if any(out.uses and out not in self.kept for out in choice.outputs):
            return False
        self.choices.add(choice)
        for block in choice.blocks:
            given = zip(choice.outputs, block.terminator.inputs, strict=False)
            pairs = [(self.kept[out], value) for out, value in given if out in self.kept]
            inner = [*around, block]
            if not self._is_quiet(block, pairs, inner):
                self.loud.append(block)
            elif not self._look(inner):
                return False
        return not all(block in self.loud for block in choice.blocks)

    def _is_quiet(
        self, block: Block, pairs: list[tuple[Value, Value]], around: list[Block]
    ) -> bool:
        """Whether a block only computes, and gives what the loop carries, or what choices give in its place."""
        is_plain = all(n.op in (SNAPSHOT, YIELD, IF) or _can_be_asked(n) for n in block)
        return is_plain and self._keep(pairs, around)

    def _keep(self, pairs: list[tuple[Value, Value]], around: list[Block]) -> bool:
        """Whether values are what the loop carries if nothing happens; notes which choices give them."""
        found: dict[Value, Value] = {}
        for param, value in pairs:
            if value is param or self.kept.get(value) is param:
                continue
            node = value.node
            is_choice = node is not None and node.op is IF and node.block in around
            if not is_choice or found.get(value, param) is not param or value in self.kept:
                return False
            found[value] = param
        self.kept.update(found)
        return True

    @cached_property
    def asked(self) -> list[Node]:
        """What computes the conditions, each node behind those in its blocks."""
        return [*self._asked_in(self.body)]

    def _asked_in(self, block: Block) -> Iterator[Node]:
        for node in block:
            if node in self.skips:
                continue
            if node in self.choices:
                for inner in node.blocks:
                    if inner not in self.loud:
                        yield from self._asked_in(inner)
            elif node.op not in (SNAPSHOT, YIELD):
                yield from _walk(node)

    # -- whether it pays ---------------------------------------------------------------------------

    @property
    def pays(self) -> bool:
        """Whether the conditions have vectors, and rarely hold."""
        return (
            bool(self.loud)
            and all(map(self._has_vectors, self.asked))
            and all(map(self._is_rare, self.loud))
            and not self._has_instructions()
            and not any(n.op is CONTINUE and n not in self.skips.values() for n in self.body.walk())
        )

    def _has_vectors(self, node: Node) -> bool:
        if is_long(node.op) or node.op.ranges in (MOD, FLOORDIV):
            return False
        if node.blocks or not node.effects & Effect.READ:
            return True
        if self._moving.isdisjoint(node.inputs):
            return node in self._first_nodes  # others may be loaded in some lanes only
        array = node.inputs[0].type
        if not isinstance(array, ArrayType) or array.layout != "C":
            return False
        if node.op is NEXT:
            return array.ndim == 1
        if self._subscripts is None or not node.op.reads_part:
            return False
        *others, last = self._subscripts.access(node, is_write=False).subscripts
        return last.factors in ((1,), (-1,)) and all(index.factors == (0,) for index in others)

    @cached_property
    def _first_nodes(self) -> set[Node]:
        """What each trip computes."""
        conditional = {*self.choices, *self.skips}
        return set(takewhile(lambda node: node not in conditional, self.body))

    @cached_property
    def _moving(self) -> set[Value]:
        """What differs from trip to trip as long as nothing happens."""
        moving = {self.body.params[0]}
        for node in self.asked:
            given = [v for block in node.blocks for v in block.terminator.inputs]
            if not moving.isdisjoint((*node.inputs, *given)):
                moving.update(node.outputs)
        return moving

    @cached_property
    def _subscripts(self) -> Subscripts | None:
        bounds = loop_bounds([self.loop], (), self.ranges)
        return None if bounds is None else Subscripts([self.loop], bounds, self.ranges)

    def _changes(self, block: Block) -> list[tuple[Value, Value]]:
        """What a loud block makes of what the loop carries."""
        choice, end = block.owner, block.terminator
        assert choice is not None
        if end.op is not YIELD:
            return []
        given = zip(choice.outputs, end.inputs, strict=True)
        pairs = [(self.kept[out], value) for out, value in given if out in self.kept]
        return [(param, v) for param, v in pairs if v is not param]

    def _is_rare(self, block: Block) -> bool:
        """Whether a loud block runs once, or for records.

        A loop in others that ends where something happens has few trips, most often.
        """
        if block.terminator.op is not YIELD:
            return not any(owner.op is LOOP for owner in self.loop.owners())
        return any(
            _becomes(*pair, change) for pair in self._compared() for change in self._changes(block)
        )

    def _compared(self) -> Iterator[tuple[Value, Value]]:
        for node in self.asked:
            if node.op.ranges in _ORDERS:
                x, y = node.inputs
                yield from ((x, y), (y, x))

    def _has_instructions(self) -> bool:
        """Whether the loop only finds the least or greatest ints, for which LLVM has vectors."""
        changes = [self._changes(block) for block in self.loud]
        compared = {x for x, _ in self._compared()}
        return all(
            len(found) == 1 and is_integer(found[0][0].type) and found[0][0] in compared
            for found in changes
        )

    # -- the rewrite -------------------------------------------------------------------------------

    def run(self) -> None:
        """Put the loop into one over blocks, behind the question of each."""
        loop, start = self.loop, self.loop.inputs[0]
        size = insert_constant(_BLOCK, loop)
        self._no, self._yes = insert_constant(False, loop), insert_constant(True, loop)
        blocks = put_into_blocks(loop, _BLOCK)
        loop.unlink()
        loop.attrs["most_trips"] = _BLOCK
        self._break_both(blocks.loop)
        body = blocks.body
        end = body.create(get_op("py::add"), (blocks.first, size), like=loop)
        end.proven = (FITS,)
        is_whole = body.create(get_op("py::le"), (end.output, blocks.end), like=loop)
        is_later = body.create(get_op("py::lt"), (start, blocks.first), like=loop)
        both = body.create(get_op("py::and"), (is_whole.output, is_later.output), like=loop)
        # with the end of the block as a number of which LLVM does not know how it was computed: so it unrolls the loop
        answer = body.create(IF, (both.output,), outputs=(BOOL, INT), like=loop)
        self._ask(answer.add_block(), blocks, end.output)
        answer.add_block().create(YIELD, (self._yes, blocks.end), like=loop)
        loop.set_input(1, answer.outputs[1])
        types = [out.type for out in loop.outputs]
        choice = body.create(IF, answer.outputs[:1], outputs=types, like=loop)
        runs = choice.add_block()
        runs.append(loop)
        runs.create(YIELD, loop.outputs, like=loop)
        choice.add_block().create(YIELD, blocks.carried, like=loop)
        body.create(YIELD, (blocks.end, *choice.outputs), like=loop)

    def _break_both(self, outer: Node) -> None:
        """Let what leaves the loop leave the one over blocks; what is left gives what it carries."""
        for node in self.body.walk():
            if node.op is BREAK and node.target is self.loop:
                node.target = outer
                node.set_inputs((insert_constant(0, outer), *node.inputs))
        for out, param in zip(self.loop.outputs, self.body.params[1:], strict=True):
            out.type = param.type

    def _ask(self, block: Block, blocks: TripBlocks, end: Value) -> None:
        """Write the loop that asks whether anything happens in some trips."""
        loop, trip = self.loop, self.body.params[0]
        operands, attrs = (blocks.first, end, self._no), {"checks": "asked", "most_trips": _BLOCK}
        made = block.create(LOOP, operands, attrs, outputs=(BOOL,), like=loop)
        into = made.add_block([(trip.name, trip.type), ("", BOOL)])
        begin = [into.params[0], *blocks.carried]
        values = dict(zip(self.body.params, begin, strict=True))
        one = self._ask_in(self.body, into, values)
        found = into.create(get_op("py::or"), (into.params[1], one), like=loop).output
        into.create(YIELD, (found,), like=loop)
        block.create(YIELD, (made.output, end), like=loop)

    def _ask_in(self, block: Block, into: Block, values: dict[Value, Value]) -> Value:
        """Write what a block asks; gives whether something happens in it.

        Where something happens nothing behind is asked: elements may be there only if it does not.
        """
        ends: list[tuple[Block, Node]] = []
        for node in block:
            if node in self.skips or node in self.choices:
                one, answer = values.get(node.inputs[0], node.inputs[0]), self._no
                if node in self.choices:
                    one, answer = self._ask_choice(node, into, values), self._yes
                choice = into.create(IF, (one,), outputs=(BOOL,), like=node)
                choice.add_block().create(YIELD, (answer,), like=node)
                ends.append((into, choice))
                into = choice.add_block()
                kept = [out for out in node.outputs if out in self.kept]
                values.update({out: values[self.kept[out]] for out in kept})
            elif node.op not in (SNAPSHOT, YIELD):
                into.append(copy_node(node, into.graph, values, {}))
        answer = self._no
        while ends:
            outer, choice = ends.pop()
            into.create(YIELD, (answer,), like=choice)
            into, answer = outer, choice.output
        return answer

    def _ask_choice(self, choice: Node, into: Block, values: dict[Value, Value]) -> Value:
        condition = values.get(choice.inputs[0], choice.inputs[0])
        is_plain = not any(node in self.choices for b in choice.blocks for node in b)
        if is_plain and choice.blocks[0] in self.loud:
            return condition
        if is_plain:
            return into.create(get_op("py::not"), (condition,), like=choice).output
        made = into.create(IF, (condition,), outputs=(BOOL,), like=choice)
        for block in choice.blocks:
            inner, is_loud = made.add_block(), block in self.loud
            answer = self._yes if is_loud else self._ask_in(block, inner, values)
            inner.create(YIELD, (answer,), like=choice)
        return made.output


def _walk(node: Node) -> Iterator[Node]:
    """Iterate over a node and those in its blocks, which come first."""
    for block in node.blocks:
        for inner in block:
            if inner.op is not YIELD:
                yield from _walk(inner)
    yield node


def _can_all_be_asked(node: Node) -> bool:
    return all(map(_can_be_asked, _walk(node)))


def _can_be_asked(node: Node) -> bool:
    """Whether a node only computes, and cannot leave."""
    if node.op is IF:
        return all(block.terminator.op is YIELD for block in node.blocks)
    is_repeatable = not node.op.effects_of(node) & ~(Effect.READ | Effect.RAISE)
    return is_repeatable and not (node.op.is_terminator or node.op.can_leave(node))


def _becomes(x: Value, y: Value, change: tuple[Value, Value]) -> bool:
    """Whether `y` is what `x` will be when a value changes; neither may be computed behind a write of the trip."""
    if x is change[0]:
        return y is change[1] or _becomes(y, change[1], change)
    if x is y:
        return True
    a, b = x.node, y.node
    if a is None or b is None or a.op is not b.op or a.attrs != b.attrs or a.blocks:
        return False
    is_alike = len(a.inputs) == len(b.inputs) and x.index == y.index
    return is_alike and all(
        _becomes(*pair, change) for pair in zip(a.inputs, b.inputs, strict=True)
    )

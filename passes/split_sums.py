"""Add ints up in two parts in loops, so that sums need no check in each trip and have vectors.

    for i in range(n):                 for block in range(0, n, 4096):
        s += i ^ (i >> 1)                  low = high = 0
                                           for i in range(block, min(block + 4096, n)):
                                               low += (i ^ (i >> 1)) & 0xFFFFFFFF
                                               high += (i ^ (i >> 1)) >> 32
                                           s += high * 2**32 + low      # checked

A check in each trip is a way out of the loop, of which LLVM makes no vectors. The lower and the upper halves of 4096
terms have sums that fit whatever the terms are; so have small terms themselves. What the parts give together is checked
behind the block; if it is no int64, the code leaves in front of the block, and the interpreter goes on with ints of any
size. (A sum that is none only in between need not leave.) So it does if one of the checks of the terms has failed
(`OpDef.may_be_checked_late`), which are looked at behind the block, too. For these a loop is put into blocks also where
it adds up NumPy's integers, which wrap, or ints of which the sums are proven to fit.

Legal if nobody sees the sum within the loop, and the loop has no effects, so that a block may be done again. It pays if
such checks are all that keeps the loop from vectors: it has no other way out and no loop in it, and carries nothing but
sums.
"""

from __future__ import annotations

from collections.abc import Container

from ljit.analysis.alias import is_immutable
from ljit.analysis.ranges import INT_MAX, Ranges
from ljit.ir import Block, Effect, Graph, Node, Value, get_op
from ljit.ops.control import IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.ranges.int_quotients import FLOORDIV, MOD
from ljit.ops.ranges.int_ranges import (
    ADD,
    FITS,
    NONNEGATIVE,
    SUB,
    WRAPPING_ADD,
    WRAPPING_SUB,
    is_int,
)
from ljit.passes.loops.check_slices import may_wait, reads_behind
from ljit.passes.loops.trip_blocks import BLOCK, has_few_trips, is_long, put_into_blocks
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import INT, ScalarType

__all__ = ["split_sums"]

NAME = "split_sums"
Use = tuple[Node, int]  # a node, and the place of an operand
_HALF = 32  # bits of a part: sums of BLOCK of them fit
assert BLOCK.bit_length() + _HALF < 63


@graph_pass(NAME)
def split_sums(graph: Graph, failed: Container[int] = ()) -> bool:
    """Rewrite the loops for which it is legal and pays; whether there were any.

    `failed`: origins of nodes whose checks failed behind a block.
    """
    changed = False
    for loop in [node for node in graph.walk() if node.op is LOOP]:
        sums = _sums_of(loop, failed)
        if sums is not None and is_allowed(NAME, loop):
            _run(loop, sums)
            changed = True
    return changed


class _Sum(Record):
    """A carried int, and the uses of it by which it becomes that of the next trip."""

    index: int
    links: list[Use]

    @property
    def terms(self) -> list[tuple[Node, int]]:
        """The additions and subtractions, each with the place of the sum among the operands."""
        return [(user, place) for user, place in self.links if user.op.ranges in (ADD, SUB)]

    @property
    def unproven(self) -> list[Node]:
        return [node for node, _ in self.terms if FITS not in node.proven]

    def fits_in_block(self) -> bool:
        """Whether a block of trips that begins at 0 makes an int64, as the terms are small."""
        bounds = Ranges().bounds
        sizes = [max(map(abs, bounds(node.inputs[1 - place]))) for node, place in self.terms]
        return sum(sizes) * BLOCK <= INT_MAX


def _sums_of(loop: Node, failed: Container[int]) -> list[_Sum] | None:
    """Find the sums to split, there may be none; None if a loop over blocks is not legal or does not pay."""
    body = loop.blocks[0]
    if len(loop.blocks) != 1 or len(loop.inputs) == 2 or has_few_trips(loop) or loop.attrs:
        return None
    if next(iter(body)).op is not SNAPSHOT or body.terminator.op is not YIELD:
        return None
    found = [_sum_of(body, index) for index in range(len(loop.inputs) - 2)]
    sums = [s for s in found if s is not None]
    checked = {node for s in sums for node in s.unproven}
    late = [node for node in _checks_in(body) if node not in checked]
    is_legal = (
        len(sums) == len(found)
        and all(may_wait(node) and node.origin not in failed for node in late)
        and all(map(_is_plain, body.walk()))
        and not reads_behind(late, set(body.walk()))
        and Ranges().bounds(loop.inputs[0])[0] >= 0  # there are no more trips than an int64 counts
    )
    return [s for s in sums if s.unproven] if is_legal and (checked or late) else None


def _checks_in(body: Block) -> list[Node]:
    """The nodes of a body that may leave."""
    leaves = (n for n in body.walk() if not (n.blocks or n.op.is_terminator or n.op is SNAPSHOT))
    return [node for node in leaves if node.op.can_leave(node)]


def _is_plain(node: Node) -> bool:
    """Whether a node, but for its checks, may be done again, and LLVM makes vectors of it."""
    if node.op in (SNAPSHOT, YIELD, IF):
        return True
    if node.blocks or node.op.is_terminator or is_long(node.op):
        return False
    if node.op.ranges in (MOD, FLOORDIV) and not _is_power_of_2(node.inputs[1]):
        return False  # there are no vectors of quotients of 64 bits
    is_repeatable = node.op.effects_of(node) & ~(Effect.READ | Effect.RAISE) == Effect.PURE
    return is_repeatable and all(is_immutable(out.type) for out in node.outputs)


def _is_power_of_2(value: Value) -> bool:
    number = value.constant if value.is_constant else 0
    return isinstance(number, int) and number > 0 and number & (number - 1) == 0


def _sum_of(body: Block, index: int) -> _Sum | None:
    """A carried value, if it is an int, or one of NumPy's, that sums alone change, and that nothing else reads."""
    param, end = body.params[1 + index], body.terminator
    links: list[Use] = []
    # what it becomes; each once, as many Ifs in a row give one number
    chain = {param: _is_number(param)}
    todo = [param]
    for value in todo:
        for user, place in value.uses:
            if user.op is SNAPSHOT:
                continue
            links.append((user, place))
            if user is end and place == index:
                continue
            following = _following(user, place)
            if following is None or (following in chain and user.op is not YIELD):
                return None
            if following not in chain:
                chain[following] = _is_number(following)
                todo.append(following)
    is_sum = (end, index) in links and all(chain.values())
    return _Sum(index, links[::-1]) if is_sum and all(_is_of(v, chain) for v in chain) else None


def _following(user: Node, place: int) -> Value | None:
    """What a sum, or an If, makes of an operand."""
    owner = user.block.owner if user.block is not None and user.op is YIELD else None
    if owner is not None and owner.op is IF:
        return owner.outputs[place]
    is_sum = user.op.ranges in (ADD, WRAPPING_ADD)
    is_sum = is_sum or (user.op.ranges in (SUB, WRAPPING_SUB) and place == 0)
    return user.output if is_sum and all(v.type == user.output.type for v in user.inputs) else None


def _is_number(value: Value) -> bool:
    """Whether it is an int, or one of NumPy's, whose sums wrap."""
    return value.type == INT or (isinstance(value.type, ScalarType) and is_int(value.type))


def _is_of(value: Value, chain: Container[Value]) -> bool:
    """Whether an If, if it gives the value, gives one of the chain in each case; a branch that leaves gives nothing."""
    node = value.node
    if node is None or node.op is not IF:
        return True
    ends = [block.terminator for block in node.blocks]
    return all(end.op is YIELD and end.inputs[value.index] in chain for end in ends)


def _run(loop: Node, sums: list[_Sum]) -> None:
    """Let blocks of trips make two sums of each, which are put together behind them."""
    graph, body = loop.graph, loop.blocks[0]
    small = [s for s in sums if s.fits_in_block()]
    blocks = put_into_blocks(loop)
    next(iter(body)).erase()
    ends = list(loop.outputs)
    zero = insert_constant(0, blocks.loop)
    size = insert_constant(1 << _HALF, blocks.loop)
    for s in sums:
        term, whole = s.unproven[0], ends[s.index]
        loop.set_input(2 + s.index, zero)
        steps = [("py::add", blocks.carried[s.index])]
        if s in small:
            for node in s.unproven:
                node.proven = (FITS,)
        else:
            _add_up_apart(s, body)
            loop.add_input(zero)
            steps = [("py::mul", size), ("py::add", whole), *steps]
            whole = loop.add_output(INT)
        for name, part in steps:
            node = graph.create(get_op(name), (part, whole), like=term)
            whole = blocks.body.append(node).output
        ends[s.index] = whole
    blocks.body.create(YIELD, (blocks.end, *ends), like=loop)
    if _checks_in(body):
        loop.attrs["checks"] = "made"


def _add_up_apart(s: _Sum, body: Block) -> None:
    """Let a loop add the lower halves of the terms to what it carries, and the higher ones to one more value."""
    param, end = body.params[1 + s.index], body.terminator
    made = {param: body.add_param(param.name, INT)}
    end.add_input(_high(end.inputs[s.index], dict(s.terms), made))


def _high(value: Value, places: dict[Node, int], made: dict[Value, Value]) -> Value:
    """The sum of the higher halves where `value` is that of the lower ones."""
    if value not in made:
        node = value.node
        assert node is not None
        made[value] = _chosen(value, places, made) if node.op is IF else _split(node, places, made)
    return made[value]


def _chosen(value: Value, places: dict[Node, int], made: dict[Value, Value]) -> Value:
    node = value.node
    assert node is not None
    for block in node.blocks:
        end = block.terminator
        end.add_input(_high(end.inputs[value.index], places, made))
    return node.add_output(INT, value.name)


def _split(node: Node, places: dict[Node, int], made: dict[Value, Value]) -> Value:
    """Let an addition take the lower half of a term, and another one the higher."""
    place = places[node]
    term, rest = node.inputs[1 - place], _high(node.inputs[place], places, made)
    mask, half = insert_constant((1 << _HALF) - 1, node), insert_constant(_HALF, node)
    low = node.create_before(get_op("py::and"), (term, mask), like=node)
    high = node.create_before(get_op("py::rshift"), (term, half), like=node)
    high.proven = (NONNEGATIVE,)
    node.set_input(1 - place, low.output)
    operands = (rest, high.output) if place == 0 else (high.output, rest)
    upper = node.create_before(node.op, operands, like=node)
    node.proven = upper.proven = (FITS,)
    return upper.output

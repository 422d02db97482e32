"""Loops that carry nothing but sums of numbers which nobody sees within: `passes/split_sums`, `near_numbers.py`.

    for i in range(n):
        if a[i] > 0:
            s += int(a[i]) * w
        t -= i

They have no effects, no other way out, no loop in them but those of a few trips, which LLVM writes out, and LLVM makes
vectors of what they compute.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ljit.analysis.alias import is_immutable
from ljit.ir import Block, Effect, Node, Value
from ljit.ir.linear import Linear
from ljit.ops.control import IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.ranges.int_products import MUL
from ljit.ops.ranges.int_quotients import FLOORDIV, MOD
from ljit.ops.ranges.int_ranges import ADD, SUB, WRAPPING_ADD, WRAPPING_SUB, is_int
from ljit.passes.loops.trip_blocks import BLOCK, has_few_trips, is_long
from ljit.passes.loops.written_out import known_trips
from ljit.records import Record
from ljit.types import INT, INT_MAX, ScalarType

__all__ = ["SHORT", "CarriedSum", "carried_sums", "with_room_for_sums"]

SHORT = 16  # trips of loops within

Use = tuple[Node, int]  # a node, and the place of an operand


class CarriedSum(Record):
    """A carried int, and the uses of it by which it becomes that of the next trip."""

    index: int
    links: list[Use]

    @property
    def terms(self) -> list[Use]:
        """The additions and subtractions, each with the place of the sum among the operands."""
        return [(user, place) for user, place in self.links if user.op.ranges in (ADD, SUB)]


def carried_sums(loop: Node) -> list[CarriedSum] | None:
    """The sums that a loop carries; None if it is not such a loop."""
    body = loop.blocks[0]
    if len(loop.blocks) != 1 or len(loop.inputs) == 2 or has_few_trips(loop) or loop.attrs:
        return None
    if next(iter(body)).op is not SNAPSHOT or body.terminator.op is not YIELD:
        return None
    found = [_sum_of(body, index) for index in range(len(loop.inputs) - 2)]
    sums = [s for s in found if s is not None]
    return sums if len(sums) == len(found) and all(map(_is_plain, body.walk())) else None


def _is_plain(node: Node) -> bool:
    """Whether a node, but for its checks, may be done again, and LLVM makes vectors of it."""
    if node.op in (SNAPSHOT, YIELD, IF):
        return True
    if node.op is LOOP:
        return known_trips(node, SHORT) > 0
    if node.blocks or node.op.is_terminator or is_long(node.op):
        return False
    if node.op.ranges in (MOD, FLOORDIV) and not _is_power_of_2(node.inputs[1]):
        return False  # there are no vectors of quotients of 64 bits
    is_repeatable = node.op.effects_of(node) & ~(Effect.READ | Effect.RAISE) == Effect.PURE
    return is_repeatable and all(is_immutable(out.type) for out in node.outputs)


def _is_power_of_2(value: Value) -> bool:
    number = value.constant if value.is_constant else 0
    return isinstance(number, int) and number > 0 and number & (number - 1) == 0


def with_room_for_sums(node: Node, parts: Sequence[Linear]) -> list[Linear]:
    """What shows of a product that a loop adds up that a block of such is an int64, where `parts` show that it fits."""
    is_term = node.op.ranges is MUL and any(
        user.op.ranges in (ADD, SUB) and any(v.node is None for v in user.inputs)
        for user, _ in node.output.uses
    )
    return [part - (INT_MAX - INT_MAX // BLOCK) for part in parts] if is_term else []


def _sum_of(body: Block, index: int) -> CarriedSum | None:
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
    return (
        CarriedSum(index, links[::-1]) if is_sum and all(_is_of(v, chain) for v in chain) else None
    )


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

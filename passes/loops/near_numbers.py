"""Floats that loops make ints of are taken to be near 0, if then all that is computed of these ints surely fits.

    for x in range(1, w - 1):
        gx = int(a[y, x + 1]) - int(a[y, x - 1])        # each of the two is at most 2**24 away from 0, by a check
        out[y, x] = math.sqrt(gx * gx)                  # so neither difference nor product is checked

One comparison a float, or a look at the whole array in front of the loop (`near_arrays.py`), takes the place of the
checks of all sums and products. The ints are such of 32 bits, which most machines have vectors of (with AVX-512 those
of 64); a check may wait (`passes/distribute_checks`). If a float is further away, the interpreter goes on,
and the next compile looks at sums and products again (`failed`).

It pays where all checks of what is made of such an int become needless, as far as that can be followed: else the
number is left as it was. Sums over many trips need none where `passes/split_sums` puts them into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Protocol, TypeVar

from ljit.ir import Graph, Node, Value
from ljit.ops.control import IF, LOOP, REGION, YIELD
from ljit.ops.python.near_numbers import NEAR
from ljit.ops.ranges.float_bounds import is_float
from ljit.ops.ranges.int_products import MUL
from ljit.ops.ranges.int_ranges import FITS, IN_32_BITS, REFUSED
from ljit.passes.loops.carried_sums import carried_sums
from ljit.passes.loops.written_out import known_trips
from ljit.records import Record
from ljit.types import INT

__all__ = ["NearNumber", "inserted", "near_numbers"]

_MOST = 2**30  # which sums are made of
_MOST_OF_FACTORS = (
    2**24
)  # squares of sums of some are still small, colours and samples of sound smaller yet
_MAX_USERS = 100
_FEW_TRIPS = 8

_Proven = Mapping[Node, Sequence[str]]


class NearNumber(Record):
    """A conversion of a float to an int in a loop, with the nodes whose checks a smaller one does not need."""

    conversion: Node
    checked: Sequence[Node]
    most: int

    @property
    def is_inserted(self) -> bool:
        return self.conversion.inputs[0].made_by(NEAR) is not None

    def insert(self) -> None:
        """Have the float checked."""
        node = self.conversion
        near = node.create_before(NEAR, node.inputs[:1], {"most": self.most}, like=node)
        node.set_input(0, near.output)

    def remove(self) -> None:
        """Take the check back."""
        near = self.conversion.inputs[0].made_by(NEAR)
        assert near is not None
        self.conversion.set_input(0, near.inputs[0])
        near.erase()

    def pays(self, unfit: Container[Node]) -> bool:
        """Whether nothing of what the int becomes is checked any more."""
        return not any(node in unfit for node in self.checked)


class _Walk(Protocol):
    """What is known of the checks of a graph; see `near_numbers`."""

    unfit: set[Node]


_W = TypeVar("_W", bound=_Walk)


def inserted(numbers: Sequence[NearNumber], walk: Callable[[], _W]) -> _W:
    """Have floats checked to be near 0 where it pays, and look at all checks then, by `walk`."""
    for number in numbers:
        number.insert()
    walked = walk()
    needless = [number for number in numbers if not number.pays(walked.unfit)]
    for number in needless:
        number.remove()
    return walk() if needless else walked


def near_numbers(
    graph: Graph, proven: _Proven, unfit: Container[Node], failed: Container[int]
) -> list[NearNumber]:
    """Find those of which it may pay to take them to be near 0.

    `proven`: checks that cannot fail as it is; `unfit`: nodes that have to check that their result fits.
    """
    far: set[Node] = set()  # loops with one that was not near
    found: list[tuple[Node, NearNumber]] = []
    for node in graph.walk():
        loop = _loop_around(node) if _is_conversion(node) else None
        if loop is None or not {FITS, IN_32_BITS, REFUSED}.isdisjoint(proven.get(node, ())):
            continue
        if node.origin in failed:
            far.add(loop)
        users, made = _users(node.output)
        is_sum = not known_trips(loop, _FEW_TRIPS) and not made.isdisjoint(loop.blocks[0].params)
        sums = carried_sums(loop) if is_sum else []
        late = {addition for s in sums or () for addition, _ in s.terms}
        checked = [user for user in users - late if user in unfit and sums is not None]
        if checked and len(users) < _MAX_USERS:
            most = _MOST_OF_FACTORS if any(map(_multiplies, users)) else _MOST
            found.append((loop, NearNumber(node, checked, most)))
    return [number for loop, number in found if loop not in far]


def _is_conversion(node: Node) -> bool:
    rules = node.op.ranges
    is_whole = rules is not None and IN_32_BITS in rules.float_checks
    return is_whole and len(node.inputs) == 1 and is_float(node.inputs[0].type)


def _loop_around(node: Node) -> Node | None:
    """The innermost loop that a node is in."""
    while node.block is not None and node.block.owner is not None:
        node = node.block.owner
        if node.op is LOOP:
            return node
    return None


def _users(value: Value) -> tuple[set[Node], set[Value]]:
    """What is computed of an int, as far as it gives ints, and these."""
    seen, todo = {value}, [value]
    nodes: set[Node] = set()
    while todo and len(nodes) < _MAX_USERS:
        for user, index in todo.pop().uses:
            if not user.op.is_terminator:
                nodes.add(user)
            following = [v for v in _made(user, index) if v.type == INT and v not in seen]
            seen.update(following)
            todo += following
    return nodes, seen


def _made(user: Node, index: int) -> Sequence[Value]:
    """What a use of an int makes, or hands it on as."""
    owner = user.block.owner if user.block is not None else None
    if user.op is YIELD and owner is not None and owner.op in (IF, REGION):
        return owner.outputs[index : index + 1]
    if user.op is YIELD and owner is not None and owner.op is LOOP:
        return owner.outputs[index], owner.blocks[0].params[1 + index]
    if user.op is LOOP:
        return user.outputs[index - 2], user.blocks[0].params[index - 1]
    return () if user.blocks else user.outputs


def _multiplies(node: Node) -> bool:
    return node.op.ranges is MUL and not any(v.is_constant for v in node.inputs)

"""Quick code: compiled without optimising, it counts what it has run, and is left when optimising would have paid.

The count goes down in a cell that the unit owns, by about one for each node of the graph that is run: at the entry, in
each trip of a loop, and by rows of loop nests. The entry takes no calls when all is used up. A loop is left in the
midst of it, where native code polls, only when several times as much is: code for the rest of it is of no use later.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, address, integer
from ljit.ir import Node
from ljit.ops.control import LOOP

if TYPE_CHECKING:
    from ljit.codegen.functions.context import Context

__all__ = [
    "WorkCell",
    "count_elements",
    "count_work",
    "is_used_up",
    "nodes_of_trip",
    "overdraft_in",
    "work_left",
]

#: of a loop, in amounts that the cell had at first
_OVERDRAFT = 3
_OVERDRAFT_INSIDE = 12  # of one in another: the interpreter runs the rest of it
_ENDLESS = 2**62
_NODES_OF_ELEMENT = 2  # an operation of a nest on one element, and its share of the loop
# Optimised code takes two thirds of the time of vectors in quick code, a third to a tenth of that of numbers: so
# vectors may run four times as long (as a shift).
_LANES_LOSE = 2


class WorkCell:
    """One word: how much quick code may still run."""

    __slots__ = ("_word", "amount")

    def __init__(self, amount: int) -> None:
        self.amount = amount  # at first
        self._word = ctypes.c_int64(amount)

    @property
    def address(self) -> int:
        """Where the word is: it must stay alive as long as code that counts there."""
        return ctypes.addressof(self._word)

    @property
    def names(self) -> dict[int, str]:
        """What the word is, by its address."""
        return {self.address: "work left"}

    @property
    def is_used_up(self) -> bool:
        return self._word.value < 0

    def go_on(self, times: float) -> None:
        """Let the code run so many times as much as at first."""
        self._word.value = int(self.amount * times)

    def make_endless(self) -> None:
        """Let the code run for ever."""
        self._word.value = _ENDLESS


def work_left(context: Context, f: FunctionBuilder) -> Ref:
    """How much quick code may still run."""
    assert context.work is not None
    return f.load("i64", address(context.work.address))


def count_work(
    context: Context, f: FunctionBuilder, nodes: Ref | int, left: Ref | None = None
) -> Ref | None:
    """Count nodes that are run; nothing in optimised code. `left` was so far, gives what is left now."""
    if context.work is None or not f.is_reachable:
        return None
    amount = integer("i64", nodes) if isinstance(nodes, int) else nodes
    rest = f.binary("sub", work_left(context, f) if left is None else left, amount)
    f.store(rest, address(context.work.address))
    return rest


def count_elements(
    context: Context, f: FunctionBuilder, trips: Ref, length: int, lanes: int
) -> None:
    """Count a row of a loop nest whose body is about `length` operations, on so many elements at once."""
    if context.work is not None:
        per_trip = _NODES_OF_ELEMENT * max(length, 1)
        nodes = f.binary("mul", trips, per_trip)
        if lanes > 1:
            nodes = f.binary("lshr", nodes, lanes.bit_length() - 1 + _LANES_LOSE)
        count_work(context, f, nodes)


def is_used_up(context: Context, f: FunctionBuilder, left: Ref, *, overdraft: int = 0) -> Ref:
    """Whether quick code of which so much is left has run as much as it may."""
    assert context.work is not None
    return f.icmp("slt", left, -overdraft * context.work.amount)


def overdraft_in(loop: Node | None) -> int:
    """How many times as much as it may quick code runs before a loop is left."""
    is_inside = loop is not None and any(owner.op is LOOP for owner in loop.owners())
    return _OVERDRAFT_INSIDE if is_inside else _OVERDRAFT


def nodes_of_trip(node: Node) -> int:
    """How many nodes one trip of the loop runs, without those of loops in it."""
    count, todo = 0, list(node.blocks)
    while todo:
        for inner in todo.pop():
            count += 1
            todo += [] if inner.op is LOOP else inner.blocks
    return count

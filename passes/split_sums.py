"""Add ints up in two parts in loops, so that sums need no check in each trip and have vectors.

    for i in range(n):                 for block in range(0, n, 4096):
        s += i ^ (i >> 1)                  whole = high = 0
                                           for i in range(block, min(block + 4096, n)):
                                               whole += i ^ (i >> 1)    # modulo 2**64
                                               high += (i ^ (i >> 1)) >> 32
                                           low = whole - high * 2**32   # modulo 2**64
                                           s += high * 2**32 + low      # checked

A check in each trip is a way out of the loop, of which LLVM makes no vectors. The lower and the upper halves of 4096
terms have sums that fit whatever the terms are; so have small terms themselves. The sum of the lower halves is what the
terms give modulo 2**64, less what their upper halves give. What the parts give together is checked behind the block; if
it is no int64, the code leaves in front of the block, and the interpreter goes on with ints of any size. (A sum that is
none only in between need not leave.) So it does if one of the checks of the terms has failed
(`OpDef.may_be_checked_late`), which are looked at behind the block, too. For these a loop is put into blocks also where
it adds up NumPy's integers, which wrap, or ints of which the sums are proven to fit.

Legal if nobody sees the sum within the loop, and the loop has no effects, so that a block may be done again. It pays if
such checks are all that keeps the loop from vectors (`loops/carried_sums.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container
from functools import partial

import numpy as np

from ljit.analysis.ranges import INT_MAX, Ranges
from ljit.ir import Block, Graph, Node, Value, get_op
from ljit.ops.control import IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.ranges.int_ranges import FITS, NONNEGATIVE
from ljit.passes.loops.carried_sums import SHORT, CarriedSum, carried_sums
from ljit.passes.loops.check_slices import may_wait, reads_behind
from ljit.passes.loops.predicates import assume_predicates
from ljit.passes.loops.trip_blocks import BLOCK, put_into_blocks
from ljit.passes.loops.written_out import known_trips
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import ScalarType

__all__ = ["split_sums"]

NAME = "split_sums"
_INT64 = ScalarType(np.dtype(np.int64))
_MOST_WRITTEN_OUT = 16  # checks that LLVM surely writes out of loops within
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


def _sums_of(loop: Node, failed: Container[int]) -> list[CarriedSum] | None:
    """Find the sums to split, there may be none; None if a loop over blocks is not legal or does not pay."""
    sums = carried_sums(loop)
    if sums is None:
        return None
    body, checked = loop.blocks[0], {node for s in sums for node in _unproven(s)}
    late = [node for node in _checks_in(body) if node not in checked]
    is_legal = (
        all(may_wait(node) and node.origin not in failed for node in late)
        and all(_trips_within(body, node) <= _MOST_WRITTEN_OUT for node in late)
        and not reads_behind(late, set(body.walk()))
        and Ranges().bounds(loop.inputs[0])[0] >= 0  # there are no more trips than an int64 counts
    )
    return [s for s in sums if _unproven(s)] if is_legal and (checked or late) else None


def _trips_within(body: Block, node: Node) -> int:
    """How often a node runs in a trip of the loop."""
    around = itertools.takewhile(lambda owner: owner is not body.owner, node.owners())
    return math.prod(known_trips(owner, SHORT) for owner in around if owner.op is LOOP)


def _unproven(s: CarriedSum) -> list[Node]:
    return [node for node, _ in s.terms if FITS not in node.proven]


def _fits_in_block(s: CarriedSum, known: Ranges) -> bool:
    """Whether a block of trips that begins at 0 makes an int64, as the terms are small."""
    terms = (node.inputs[1 - place] for node, place in s.terms)
    return sum(_most(known, term) for term in terms) * BLOCK <= INT_MAX


def _most(known: Ranges, term: Value) -> int:
    """How far away from 0 it is at most."""
    bounds = known.bounds(term), known.value(term).bounds()
    return min(max(map(abs, ends)) for ends in bounds)


def _checks_in(body: Block) -> list[Node]:
    """The nodes of a body that may leave."""
    leaves = (n for n in body.walk() if not (n.blocks or n.op.is_terminator or n.op is SNAPSHOT))
    return [node for node in leaves if node.op.can_leave(node)]


def _run(loop: Node, sums: list[CarriedSum]) -> None:
    """Let blocks of trips make two sums of each, which are put together behind them."""
    body = loop.blocks[0]
    known = Ranges()
    assume_predicates(known, loop)
    small = [s for s in sums if _fits_in_block(s, known)]
    blocks = put_into_blocks(loop)
    for node in [node for node in body.walk() if node.op is SNAPSHOT]:
        node.erase()
    ends = list(loop.outputs)
    zero = insert_constant(0, blocks.loop)
    for s in sums:
        write = partial(_write, blocks.body, _unproven(s)[0])
        loop.set_input(2 + s.index, zero)
        whole = ends[s.index]
        if s in small:
            for node in _unproven(s):
                node.proven = (FITS,)
        else:
            _add_up_upper_halves(s, body)
            loop.add_input(insert_constant(np.int64(0), blocks.loop, _INT64))
            high = write("py::mul", insert_constant(1 << _HALF, blocks.loop), whole)
            low = write("np::subtract", loop.add_output(_INT64), write("np::int64", high))
            whole = write("py::add", write("py::int", low), high)
        ends[s.index] = write("py::add", blocks.carried[s.index], whole)
    blocks.body.create(YIELD, (blocks.end, *ends), like=loop)
    if _checks_in(body):
        loop.attrs["checks"] = "made"


def _write(block: Block, like: Node, name: str, *operands: Value) -> Value:
    return block.append(like.graph.create(get_op(name), operands, like=like)).output


def _add_up_upper_halves(s: CarriedSum, body: Block) -> None:
    """Let a loop add up the upper halves of the terms, and the terms, modulo 2**64, in one more value."""
    param, end = body.params[1 + s.index], body.terminator
    made = {param: body.add_param(param.name, _INT64)}
    end.add_input(_wrapped(end.inputs[s.index], dict(s.terms), made))


def _wrapped(value: Value, places: dict[Node, int], made: dict[Value, Value]) -> Value:
    """The sum of the terms where `value` becomes that of the upper halves."""
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
        end.add_input(_wrapped(end.inputs[value.index], places, made))
    return node.add_output(_INT64, value.name)


def _split(node: Node, places: dict[Node, int], made: dict[Value, Value]) -> Value:
    """Let an addition take the upper half of a term, and another one, which wraps, the whole."""
    place = places[node]
    term, rest = node.inputs[1 - place], _wrapped(node.inputs[place], places, made)
    high = node.create_before(get_op("py::rshift"), (term, insert_constant(_HALF, node)), like=node)
    high.proven = (NONNEGATIVE,)
    node.set_input(1 - place, high.output)
    node.proven = (FITS,)
    whole = node.create_before(get_op("np::int64"), (term,), like=node).output
    operands = (rest, whole) if place == 0 else (whole, rest)
    assert node.op.numpy is not None
    return node.create_before(get_op(node.op.numpy), operands, like=node).output

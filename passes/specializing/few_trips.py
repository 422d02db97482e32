"""Loops of a few trips that are written out while they are specialised, as trips have types or constants of their own.

    sum(np.roll(u, step, axis) for axis in (0, 1) for step in (-1, 1))

What is summed is an int in front of the first trip and an array behind it, and each trip's `axis` is a constant, which
says what the op is. A loop would carry an object and call NumPy. Written out, it is one expression (`fuse`).

`passes/unroll_updates` writes loops out later, of which all trips are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.ir import Node, Value, get_op
from ljit.ops.containers.iteration import NEXT
from ljit.ops.control import BREAK, CONTINUE, REGION, YIELD
from ljit.passes.rewriting import drop_repeated_snapshot
from ljit.passes.specializing.graph_writer import erase
from ljit.types import ANY, NEVER, ArrayType, ScalarType, Type, UnionType, is_number

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow
    from ljit.passes.specializing.specialize_loops import Exits

__all__ = ["MOST_TRIPS", "is_better_written_out", "write_out"]

MOST_TRIPS = 9
_MOST_COPIES, _MOST_NODES = 16, 600


def is_better_written_out(
    loop: Node, carried: Sequence[Value], after_trip: Sequence[Type], trips: int, around: int
) -> bool:
    """Whether numbers of a walked loop become arrays, or NumPy's functions are called with items that it goes through.

    `after_trip`: the types of what it carries at the end of its first trip. `around`: how often the loop is written, as
    those around it are written out.
    """
    nodes, pairs = [*loop.walk()], zip(carried, after_trip, strict=True)
    copies = trips * around
    if copies > _MOST_COPIES or copies * len(nodes) > _MOST_NODES:
        return False
    if around > 1:
        return True
    has_arrays = any(isinstance(v.type, ArrayType) for node in nodes for v in node.outputs)
    if has_arrays and any(_is_scalar(v.type) and _may_be_array(t) for v, t in pairs):
        return True
    return any(_waits_for_item(node, loop) for node in nodes)


def _is_scalar(type_: Type) -> bool:
    return is_number(type_) or isinstance(type_, ScalarType)


def _may_be_array(type_: Type) -> bool:
    members = type_.members if isinstance(type_, UnionType) else (type_,)
    return any(t == ANY or isinstance(t, ArrayType) for t in members)


def _waits_for_item(node: Node, loop: Node) -> bool:
    """Whether it calls a function of NumPy's with an item of the loop, as an axis, that no op takes as it is."""
    if node.op is not get_op("py::call") or not node.inputs[0].is_constant:
        return False
    items = [v.made_by(NEXT) for v in node.inputs[1:]]
    is_item = any(made is not None and made.block is loop.blocks[0] for made in items)
    return is_item and getattr(node.inputs[0].constant, "__module__", None) == np.__name__


def write_out(control: ControlFlow, node: Node, carried: Sequence[Value], trips: int) -> bool:
    """Write the trips of a loop one behind the other; False if nothing leaves them.

    Those that are left at their end only have no block of their own. A Snapshot stays only where the one before it
    would not do.
    """
    out, params = control.out, node.blocks[0].params
    whole = out.append(REGION, like=node)
    exits = control.enter(node, whole)
    with out.inside(whole):
        for k in range(trips + 1):  # the last one only finds that there is no more
            control.values.update(zip(params, (out.constant(k), *carried), strict=True))
            if k:
                control.snapshot(f"header:{node.id}", control.liveness.live_at_header(node))
            given = _trip(control, node, exits, is_last=k == trips)
            if given is None:
                break
            carried = given
    for written in whole.blocks[0]:
        drop_repeated_snapshot(written)
    return _end(control, node, whole, exits)


def _trip(control: ControlFlow, node: Node, exits: Exits, *, is_last: bool) -> list[Value] | None:
    """Write one trip; gives what the next one begins with, None if there is none."""
    body, out = node.blocks[0], control.out
    if is_last or all(n.op is not CONTINUE or n.target is not node for n in body.walk()):
        return control.block_results(body)
    region = out.append(REGION, like=node)
    exits.trip = trip = exits.with_changes(target=region, out=[NEVER] * len(node.outputs))
    end = out.in_branch(region, lambda: control.block_results(body))
    exits.trip = None
    if end is not None:
        trip.add_outputs(end)
    goes_on = _end(control, node, region, trip)
    return [control.values[v] for v in node.outputs] if goes_on else None


def _end(control: ControlFlow, node: Node, region: Node, exits: Exits) -> bool:
    """Give the values that leave a Region to a node; the Region is dropped if its end is the only way out."""
    (block,) = region.blocks
    last = block.terminator
    leaves = [n for n in block.walk() if n.target is region]
    if leaves != ([last] if last.op is BREAK else []) or last.op not in (BREAK, YIELD):
        return control.finish_exits(node, region, exits)
    control.values.update(zip(node.outputs, last.inputs, strict=True))
    for inner in block:
        if inner is not last:
            inner.move_before(region)
    erase(region)
    return True

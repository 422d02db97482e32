"""The loops of a graph: a header that each trip begins with, one latch, and polls between chunks of trips.

`control.py` walks over what is in them; `polling.py` knows where polls belong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.arrays.small_arrays import is_late
from ljit.codegen.joins import Join
from ljit.codegen.llvm.builder import FALSE, BlockRef, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.alias_scopes import alias_scopes
from ljit.codegen.loops.loop_hints import hint_of
from ljit.codegen.loops.watches import Watch, is_jammed
from ljit.ir import ENDLESS, Node
from ljit.ops.control import BREAK, BUILD, SNAPSHOT

if TYPE_CHECKING:
    from ljit.codegen.control import GraphEmitter

__all__ = ["GraphLoop"]


class GraphLoop:
    """One loop while it is written."""

    def __init__(self, walk: GraphEmitter, node: Node) -> None:
        self.walk, self.node, self.body = walk, node, node.blocks[0]
        self.e, self.f = walk.e, walk.e.f
        self.start, self.stop, *self.carried = walk.operands(node)
        self._headers: Sequence[BlockRef] = ()  # with that of its chunks
        self._failed: Ref | None = None  # where a loop of checks notes that one has failed
        self._at_header = self.e.bailout.current  # the Snapshot that each trip begins with

    def write(self) -> None:
        if self.node.attrs.get("checks") == "made":
            self._write_checks()
        else:
            self._write()

    def _write_checks(self) -> None:
        """A loop that notes in memory, which LLVM makes a register of, whether a check has failed."""
        self._failed = self.f.alloca("i1")
        self.f.store(FALSE, self._failed)
        self._write()
        self.e.bailout.leave_if_gathered(self._failed, self.node)

    def _write(self) -> None:
        e, f, node = self.e, self.f, self.node
        before, is_chunked = e.bailout.current, e.polling.watch_of(node) is Watch.CHUNKS
        e.polling.check_inner_loops(node, self.walk.in_front)
        e.polling.begin_loop(node, self.start.ref, self.stop.ref)
        after = Join(e, [out.type for out in node.outputs], "after", values=node.outputs)
        chunk = self._join("chunk") if is_chunked else None
        header = self._join("loop")
        self._headers = [join.block for join in (chunk, header) if join is not None]
        inside, exhausted = f.new_block("trip"), f.new_block("exhausted")
        (chunk or header).jump((self.start, *self.carried))
        self.walk.breaks[node] = after.jump
        with e.ownership.in_loop():
            if chunk is None:
                values = self._trips(header, self.stop.ref, inside, exhausted)
            else:
                values = self._chunks(chunk, header, inside, exhausted)
        is_reachable = f.start(exhausted)
        e.polling.end_loop(node)
        if is_reachable:
            self._exhausted(values[1:], after)
        has_breaks = any(n.op is BREAK and n.target is node for n in self.body.walk())
        if has_breaks or e.bailout.current is not self._at_header:
            e.bailout.current = before if node.effects.is_repeatable else None
        self.walk.define(node, after.start())

    def _join(self, name: str) -> Join:
        params = self.body.params
        return Join(self.e, [param.type for param in params], name, values=params)

    def _chunks(
        self, chunk: Join, header: Join, inside: BlockRef, exhausted: BlockRef
    ) -> list[Native]:
        """Write chunks of trips, with a poll between two of them."""
        f, polling, stop = self.f, self.e.polling, self.stop.ref
        values = chunk.start_loop()
        end, following = polling.end_of_chunk(self.node, values[0].ref, stop)
        ended = f.new_block("ended")
        header.jump(values)
        values = self._trips(header, end, inside, ended)
        if f.start(ended):
            if stop.constant != ENDLESS:
                more = f.new_block("more")
                f.condbr(f.icmp("slt", values[0].ref, stop), more, exhausted)
                f.start(more)
            polling.poll(self.node)
            chunk.jump(_starting_at(following, values))
        return values

    def _trips(self, header: Join, end: Ref, inside: BlockRef, ended: BlockRef) -> list[Native]:
        """Write a header that goes to `ended` at `end`, and the body; gives what holds at the header."""
        e, f, node = self.e, self.f, self.node
        values = header.start_loop()
        self.walk.env.update(zip(self.body.params, values, strict=True))
        self._header_snapshot()
        self._at_header = e.bailout.current
        if end.constant == ENDLESS:
            f.br(inside)
        else:
            f.condbr(f.icmp("slt", values[0].ref, end), inside, ended)
        f.start(inside)
        e.polling.begin_trip(node)
        saved, e.bailout.late = e.bailout.late, [] if is_jammed(node) else None
        self._trip(values[0].ref, header)
        e.bailout.late = saved
        e.bailout.current, e.bailout.node = self._at_header, node
        return values

    def _header_snapshot(self) -> None:
        """The Snapshot of a trip's start holds on the way out of the loop too: there k is stop."""
        first = self.body.first
        while first is not None and first.op is BUILD and is_late(first):
            self.walk.emit_node(first)
            first = first.next
        if first is not None and first.op is SNAPSHOT:
            self.walk.emit_node(first)

    def _trip(self, k: Ref, header: Join) -> None:
        """Emit the body of a loop; all ways to the next trip meet in one latch."""
        e, f, node = self.e, self.f, self.node
        carried = self.body.params[1:]
        latch = Join(e, [p.type for p in carried], "latch", owned=False, values=carried)
        self.walk.continues[node] = latch.jump
        first_division = len(f.divisions)
        around = e.bailout.gathered, f.has_vectors
        if "checks" in node.attrs:
            e.bailout.gathered, f.has_vectors = self._failed, True
        with alias_scopes(e, node, self.walk.env):
            self.walk.run(self.body, latch.jump)
        e.bailout.gathered, f.has_vectors = around
        values = latch.start()
        following = f.binary("add", k, 1, "nsw")
        hint = None if e.is_quick else hint_of(f, node, f.divisions[first_division:])
        if hint is not None and hint.is_scalar:
            for block in self._headers:
                block.has_vectors = False
        suffix = "" if hint is None else hint.suffix
        header.jump((Native(self.body.params[0].type, (following,)), *values), suffix)

    def _exhausted(self, carried: Sequence[Native], after: Join) -> None:
        if len(self.node.blocks) == 1:
            after.jump(carried)
            return
        block = self.node.blocks[1]
        self.walk.env.update(zip(block.params, carried, strict=True))
        self.walk.run(block, after.jump)


def _starting_at(trip: Ref | None, values: Sequence[Native]) -> Sequence[Native]:
    """What a loop carries, with another name for the number of the trip, if there is one."""
    return values if trip is None else (Native(values[0].type, (trip,)), *values[1:])

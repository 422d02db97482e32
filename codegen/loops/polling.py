"""Polls: where native code looks whether something waits for it; and which loops run without the GIL (`gil.py`).

- A loop around other loops polls in each trip.
- An innermost loop, if it is in no other loop or a `while` loop that ends by what it counts, runs in chunks of trips,
  with a poll between two of them: LLVM vectorises a chunk as it would the loop. Others poll in each trip.
- A loop of few trips, by known numbers or because something halves in each of them, does not poll, and counts for none.
- An innermost counted loop in another one does not poll, nor do the two innermost of four. If they have very many
  trips, the code is left in front of them, or in front of a loop around them if the number is known there. The
  interpreter goes on and compiles the inner loop by itself; then it is the outermost one.
- A function that calls others natively polls at its entry, every 16 frames: recursion less deep than that is short,
  but where loops of few trips call. There each frame polls, but for the copies that are put in the place of calls.

A poll is a load and a branch; if the flag is set, a shared function (`attend`) says whether to go on, to leave at the
current Snapshot or with an error.

A loop runs without the GIL if nothing that was emitted for it calls a function but the C library's mathematics,
and no value in it is a Python object other than an array: then no reference is counted and nothing is allocated. Exits
take the GIL back, so do all ways out of the loop. The GIL is given up in front of the loop if it has many trips,
else when another thread waits for it. The arrays are held by the caller's frame or by slots of this one. What is read
of lists is not read again as long as no unknown code runs; so a function with lists keeps the GIL, and so
does a body (`bodies.py`), whose callers may have lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from ljit.codegen.functions.bodies import in_each_frame
from ljit.codegen.functions.gil import ERROR, GO_ON, THREAD_FLAG, flags
from ljit.codegen.functions.support import support
from ljit.codegen.functions.work import (
    count_work,
    is_used_up,
    nodes_of_trip,
    overdraft_in,
    work_left,
)
from ljit.codegen.llvm.builder import NULL, BlockRef, ModuleBuilder, Ref, integer
from ljit.codegen.llvm.forms import items_of, owned_positions
from ljit.codegen.llvm.instructions import callee_of
from ljit.codegen.llvm.refs import FALSE, TRUE
from ljit.codegen.llvm.shared_code import HAZARD, PACKING, is_shared
from ljit.codegen.loops.nest_functions import is_nest
from ljit.codegen.loops.watches import (
    Watch,
    height_of,
    inner_loops,
    place_of_check,
    trips_inside,
    watch_of,
    work_of,
)
from ljit.cpython.locks import computed_once
from ljit.ir import Effect, Graph, Node, Value
from ljit.ops.control import CALL_NATIVE, CONTINUE, HOT, INTERRUPTED, LONG_LOOP, LOOP, SNAPSHOT
from ljit.records import Record
from ljit.types import ArrayType, ListType, Type
from ljit.unique import forgets_classes

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["Polling", "Watch"]

_CHUNK = 2**17  # trips
_QUICK_CHUNK = 2**12  # of quick code, which is slower and may have to be left
_MANY = 2**27  # nodes run by an inner loop without polls: some hundredths of a second
_MANY_EACH = 2**13  # trips of each of two loops without polls
#: nodes run by a loop, by and large, that are worth giving up the GIL: some tenths of a millisecond
_LONG = 2**19
_COLD = "nounwind willreturn cold"
#: none that LLVM knows
_NO_MEMORY = f"{_COLD} memory(argmem: readwrite, inaccessiblemem: readwrite)"
# LLVM makes no copies of a loop with such a call: for what is invariant in it, as the numbers of trips of inner loops.
_ATTEND = f"{_NO_MEMORY} noduplicate"


# -- objects ---------------------------------------------------------------------------------------------


@forgets_classes
@lru_cache(maxsize=1024)
def _is_object(type_: Type) -> bool:
    if isinstance(type_, ArrayType) or not owned_positions(type_):
        return False
    return type_.is_boxed or any(map(_is_object, items_of(type_)))


def _touches_objects(loop: Node) -> bool:
    """Whether a value in the loop is an object, or unknown code is called."""
    for node in loop.blocks[0].walk():
        if node.op is SNAPSHOT:
            continue
        if node.op is CALL_NATIVE:
            return True
        values = (*node.inputs, *node.outputs, *(p for block in node.blocks for p in block.params))
        if node.op.effects_of(node) & Effect.CALL or any(_is_object(v.type) for v in values):
            return True
    return any(_is_object(param.type) for param in loop.blocks[0].params)


def _has_lists(graph: Graph) -> bool:
    """Whether there is a list: native code keeps what it has read of it as long as no unknown code runs."""
    values = (v for n in graph.walk() for v in (*n.inputs, *n.outputs))
    return any(map(_holds_list, {value.type for value in values}))


def _holds_list(type_: Type) -> bool:
    return isinstance(type_, ListType) or any(map(_holds_list, items_of(type_)))


# -- the GIL ---------------------------------------------------------------------------------------------

_MATHEMATICS = re.compile(
    r"@(shared\.\w+\.\w+|llvm\.[\w.]+|(steady\.)?(c?a?(sin|cos|tan)h?|atan2|exp2?|expm1|log(2|10|1p)?|pow|fmod|hypot|cbrt)f?)"
)


def _is_harmless(module: ModuleBuilder, line: str) -> bool:
    """Whether a line of IR calls nothing but mathematics, or a function of `gil.py`."""
    callee = callee_of(line)
    if callee is None or _MATHEMATICS.fullmatch(callee):
        return True
    if is_nest(callee):
        nest = module.sources[callee.removeprefix("@")]
        return all(_is_harmless(module, inner) for inner in nest.splitlines())
    if callee in map(support, ("attend", "regain_gil")):
        return True
    return any(is_shared(prefix, callee) for prefix in (HAZARD, PACKING))


class Polling:
    """The polls of one function, and the loop in it that may run without the GIL."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.f = e.f
        self.free_loop: Node | None = None  # the one that is being written
        self._watches: dict[Node, Watch] = {}
        self._has_lists: bool | None = None  # None: nobody has asked
        self._state: Ref | None = None
        self._late: Ref | None = None  # where it says that a poll could not leave
        self._is_late = False  # for a loop that has been written since the last Snapshot
        self._flag = NULL  # where a copy of the state's first word is
        self._gate: _Gate | None = None
        # blocks written in a loop that are on the way out of it, by id
        self._outside: set[int] = set()

    def poll(self, loop: Node | None = None, left: Ref | None = None) -> None:
        """Look at the flag; leave at the current Snapshot if that is asked for. `left`: what quick code may still run.

        In a `loop` of a reordered nest the state is no one of the program: it is left behind the nest.
        """
        f, bailout = self.f, self.e.bailout
        if bailout.current is None:
            return
        is_late = loop is not None and bool(loop.attrs.get("reordered"))
        if self.e.is_quick and not is_late:
            context = self.e.context
            left = work_left(context, f) if left is None else left
            is_hot = is_used_up(context, f, left, overdraft=overdraft_in(loop))
            bailout.bail_if(is_hot, HOT)
        leave = f.new_block("late") if is_late else bailout.fail_block(INTERRUPTED)
        state = self._state if self.free_loop is not None else None
        flag = f.load("ptr", self._flag) if state is not None else self._requests
        is_set = f.icmp("ne", f.emit("i8", f"load volatile i8, ptr {flag}"), 0)
        look, go_on = f.new_block("look"), f.new_block("go.on")
        f.condbr(is_set, look, go_on, unlikely=True)
        if f.start(look, cold=True):
            name, operands = ("attend", (state,)) if state is not None else ("attend_held", ())
            status = f.call("i32", support(name), operands, _ATTEND)
            if state is not None:
                self._read_flag(state)
            # Branches, as LLVM's fast instruction selection knows no `switch`: the slow one takes 0.1 ms for it.
            over = f.new_block("over")
            f.condbr(f.icmp("ne", status, GO_ON), over, go_on)
            f.start(over, cold=True)
            f.condbr(f.icmp("eq", status, ERROR), bailout.error_block(), leave)
            if is_late and f.start(leave, cold=True):
                f.store(TRUE, self._late_flag())
                f.br(go_on)
        f.start(go_on)

    def _late_flag(self) -> Ref:
        """Where it says that a nest is to be left behind its end."""
        if self._late is None:
            self._late = self.f.alloca("i1")
            self.f.entry.lines.append(f"store i1 false, ptr {self._late}")
        self._is_late = True
        return self._late

    def leave_late(self) -> None:
        """Leave at a new Snapshot if a poll in a reordered nest asked for that."""
        if self._is_late and self._late is not None:
            self._is_late = False
            asked = self.f.load("i1", self._late)
            self.f.store(FALSE, self._late)
            self.e.bailout.bail_if(asked, INTERRUPTED)

    def begin_trip(self, node: Node) -> None:
        """Do what a trip of the loop begins with."""
        left = None
        if self.e.is_quick:
            left = count_work(self.e.context, self.f, nodes_of_trip(node))
        if self.watch_of(node) is Watch.POLL:
            self.poll(node, left)

    @computed_once
    def _requests(self) -> Ref:
        """The address of the flag that says that CPython's interpreter has to stop."""
        if not flags().of_thread:
            return flags().requests
        with self._at_entry():
            thread = self.f.call_external("ptr", "PyThreadState_Get", ())
            return self.f.emit("ptr", f"getelementptr i8, ptr {thread}, i64 {THREAD_FLAG}")

    @contextmanager
    def _at_entry(self) -> Iterator[None]:
        """Write what the function begins with."""
        saved, self.f.block = self.f.block, self.f.entry
        yield
        self.f.block = saved

    def poll_in_frames(self, graph: Graph) -> None:
        """Poll at the entry of a body that calls others: every so many frames; or in each, if short loops call."""
        assert self.e.body is not None
        f = self.f
        poll, go_on = f.new_block("poll"), f.new_block("go.on")
        asks = self.e.body.is_checkpoint(f)
        if any(map(self._calls_in_few_trips, graph.walk())):
            asks = in_each_frame(f, asks)
        f.condbr(asks, poll, go_on, unlikely=True)
        if f.start(poll, cold=True):
            self.poll()
            f.br(go_on)
        f.start(go_on)

    def _calls_in_few_trips(self, node: Node) -> bool:
        """Whether it is a loop that does not poll, with native calls: even shallow recursion can take long."""
        return (
            node.op is LOOP
            and self.watch_of(node) is Watch.NONE
            and any(inner.op is CALL_NATIVE for inner in node.blocks[0].walk())
        )

    def watch_of(self, node: Node) -> Watch:
        """Choose for a loop."""
        if node not in self._watches:
            self._watches[node] = watch_of(node)
        return self._watches[node]

    def _most_trips(self, node: Node) -> int:
        """With how many trips an inner loop is left to the interpreter."""
        around = (o for o in node.owners() if o.op is LOOP)
        if height_of(node) > 1 or any(self.watch_of(o) is Watch.CHECK for o in around):
            return _MANY_EACH
        return _MANY // work_of(node)

    def check_inner_loops(self, node: Node, value_of: Callable[[Value], Ref]) -> None:
        """Leave in front of a loop if a loop in it, or itself, has so many trips that it should poll."""
        f, bailout = self.f, self.e.bailout
        if bailout.current is None:
            return
        for loop in (node, *inner_loops(node)):
            if self.watch_of(loop) is Watch.CHECK and place_of_check(loop) is node:
                start, stop = map(value_of, loop.inputs[:2])
                most = self._most_trips(loop)
                is_long = f.icmp("sgt", f.binary("sub", stop, start), most)
                bailout.bail_if(is_long, LONG_LOOP)

    def _trips_of_chunk(self, node: Node) -> Ref:
        """How many trips a chunk has, with those of short loops inside about as many as one without."""
        if self.e.context.options.chaos:
            return integer("i64", 1)
        trips = _QUICK_CHUNK if self.e.is_quick else _CHUNK
        return integer("i64", max(trips // trips_inside(node), 1))

    def end_of_chunk(self, node: Node, k: Ref, stop: Ref) -> tuple[Ref, Ref | None]:
        """Up to where the trips from `k` on run before the next poll; and where the next chunk begins, as a plain sum.

        LLVM knows of such a sum, but not of the number that the trips end with, that it is not negative: it makes
        vectors of ``if a[i] > x: last = i`` then.
        """
        f, trips = self.f, self._trips_of_chunk(node)
        start = node.inputs[0].constant if node.inputs[0].is_constant else None
        if isinstance(start, int) and start <= 0:
            # It would overflow after more trips than a machine can run.
            following = end = f.binary("add", k, trips, "nsw")
        else:
            following, end = None, f.call_external("i64", "llvm.sadd.sat.i64", (k, trips), "")
        end = f.call_external("i64", "llvm.smin.i64", (end, stop), "")
        # LLVM unrolls no loop whose number of trips it thinks is costly to compute: it has not to know how.
        return f.emit("i64", f"freeze {end.typed}"), following

    def _read_flag(self, state: Ref) -> None:
        """Keep the address of the flag in a register."""
        if self._flag is not state:
            self.f.store(self.f.load("ptr", state), self._flag)

    # -- loops without the GIL ---------------------------------------------------------------------

    def begin_loop(self, node: Node, start: Ref, stop: Ref) -> None:
        """Begin to write a loop, which may run without the GIL if it is not in one that does."""
        f = self.f
        if self.free_loop is not None or not f.is_reachable:
            return
        if self.watch_of(node) is Watch.NONE or _touches_objects(node):
            return
        if not self._may_free(node.graph):
            return
        if self._state is None:
            self._state = self.e.bailout.thread_state = f.alloca("ptr", 3)
            with self._at_entry():
                f.store(NULL, f.emit("ptr", f"getelementptr ptr, {self._state.typed}, i64 1"))
            # A variable of its own becomes a register; quick code has none.
            self._flag = self._state if self.e.is_quick else f.alloca("ptr")
        gate, go_on = f.new_block("gate"), f.new_block("go.on")
        f.br(gate)
        f.start(gate)
        f.br(go_on)
        f.start(go_on)
        self.free_loop = node
        self.e.bailout.is_free = True
        self._gate = _Gate(gate, go_on, start, stop, f.mark())

    def end_loop(self, node: Node) -> None:
        """Take the GIL back where the trips of the loop are used up; all others ways out have been written."""
        if node is not self.free_loop:
            return
        f = self.f
        self._regain()
        self.free_loop = None
        self.e.bailout.is_free = False
        saved = f.block
        self._write_gate(node)
        f.block = saved

    def _may_free(self, graph: Graph) -> bool:
        """Whether a loop of the function may run without the GIL."""
        if self._has_lists is None:
            self._has_lists = _has_lists(graph)
        return self.e.body is None and not self._has_lists

    def _write_gate(self, node: Node) -> None:
        """Write what is in front of a loop, now that it is known what the loop does."""
        f, gate, state = self.f, self._gate, self._state
        assert gate is not None and state is not None
        inside = [b for b in f.blocks_since(gate.mark) if id(b) not in self._outside]
        is_free = all(_is_harmless(f.module, line) for block in inside for line in block.lines)
        gate.block.lines.clear()
        f.block = gate.block
        f.store(integer("i64", int(is_free)), f.gep("ptr", state, 2))
        f.store(self._requests, state)
        if self._flag is not state:
            f.store(self._requests, self._flag)
        if not is_free or node.inputs[1].is_endless:
            f.br(gate.following)
            return
        trips = f.binary("sub", gate.stop, gate.start, "nsw")
        is_long = f.icmp("sgt", trips, _LONG // work_of(node))
        release = f.new_block("release")
        f.condbr(is_long, release, gate.following, unlikely=True)
        if f.start(release, cold=True):
            f.call("void", support("release_gil"), (state,), _NO_MEMORY)
            self._read_flag(state)
            f.br(gate.following)

    @contextmanager
    def leaving(self, terminator: Node) -> Iterator[None]:
        """Write what `terminator` does; if it leaves the loop that may have given up the GIL, with the GIL."""
        loop = self.free_loop
        if loop is None or _stays(terminator, loop) or not self.f.is_reachable:
            yield
            return
        self._regain()
        outside = self.f.new_block("left")
        self.f.br(outside)
        mark = self.f.mark()
        self.f.start(outside)
        yield
        self._outside.update(map(id, self.f.blocks_since(mark)))

    def _regain(self) -> None:
        """Wait for the GIL if the state says that it was given up."""
        assert self._state is not None
        self.f.call("void", support("regain_gil"), (self._state,), "nounwind willreturn")


class _Gate(Record):
    """The block in front of a loop that may run without the GIL; its text is known behind the loop."""

    block: BlockRef
    following: BlockRef
    start: Ref
    stop: Ref
    mark: tuple[int, int]


def _stays(terminator: Node, loop: Node) -> bool:
    """Whether control stays in the loop."""
    target = terminator.target
    if target is loop:
        return terminator.op is CONTINUE
    return target is not None and target.is_inside(loop)

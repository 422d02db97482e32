"""Outlined loops: native code that the interpreter enters at the header of a loop that is hot.

It is compiled for the types that the loop's live values have there, and comes back at the place where the
interpreter goes on: behind the loop, at an exit out of it, or in the middle of it when a check fails.

All this ends: each compile of a loop needs as many trips again as the one before, a loop is compiled at most
`MAX_COMPILES` times for the same types, and beyond `MAX_LOOPS` types the least used code is given up, at most
`MAX_EVICTIONS` times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ljit import config
from ljit.errors import InternalError
from ljit.interp import MIN_TRIPS, LoopExit, LoopInfo
from ljit.ir import Node, Value
from ljit.ops.control import LOOP, UNCOUNTED_TRIPS
from ljit.ops.names import UNBOUND_VALUE
from ljit.passes.containers.identities import as_whole_object, is_identity_asked
from ljit.runtime.bailouts import Bailout, on_loop_exit
from ljit.runtime.links import note_callers
from ljit.runtime.native import (
    CompileRequest,
    NativeUnit,
    compile_loop,
    is_compiler_loaded,
    is_left_alone,
)
from ljit.runtime.plans import (
    MANY_KINDS,
    MAX_EARLY_RAISES,
    MAX_EVICTIONS,
    MAX_LOOPS,
    MOST_NODES_OF_LOOP,
    NODES_UNTIL_HOT,
    NODES_UNTIL_LOADED,
    SECONDS_UNTIL_HOT,
    SECONDS_UNTIL_LOADED,
    TRIPS_OF_EARLY_RAISE,
    LoopPlan,
    Plan,
    graph_of_quick_code,
    quick_runs,
    types_text,
)
from ljit.runtime.prices import OPTIMISING
from ljit.sizes import sized_types
from ljit.types import NEVER, UNBOUND, ListType, Type
from ljit.value_types import type_of

if TYPE_CHECKING:
    from ljit.runtime.executor import ProfilingExecutor

__all__ = ["OutlinedLoops"]

_EMPTY = ListType(NEVER)

_log = config.logger(config.EXECUTOR)

#: a loop and the types of its live values
_Key = tuple[int, tuple[Type, ...]]


class OutlinedLoops:
    """The outlined loops of one function."""

    def __init__(self, executor: ProfilingExecutor) -> None:
        self.executor = executor
        self.plans: dict[_Key, LoopPlan] = {}
        self.sized: dict[_Key, tuple[Type, ...]] = {}  # the sizes of small arrays seen first
        self.evictions = 0
        self._prices: dict[int, float] = {}  # by loop
        self._evicted: list[NativeUnit] = []  # may still be running

    def trips_until_hot(self, loop: LoopInfo, *, is_hot: bool = False) -> int:
        """Give the trips after which interpreting a loop would have cost about as much as its compiles.

        `is_hot`: the function has run so much that its code is optimised.
        """
        plans = [found for (loop_id, _), found in list(self.plans.items()) if loop_id == loop.id]
        units = [unit for unit in (found.unit for found in plans) if unit is not None]
        if any(unit.code.is_hot for unit in units):
            return 1  # it was left to go on in optimised code
        if units:
            return MIN_TRIPS
        times = (1 + sum(found.compiles for found in plans)) * _times_of_quick_code(loop, is_hot)
        return self._trips_of_compile(loop) * times

    def _trips_of_compile(self, loop: LoopInfo) -> int:
        nodes = NODES_UNTIL_HOT if is_compiler_loaded() else NODES_UNTIL_LOADED
        return max(int(nodes * self._price(loop)) // loop.size, MIN_TRIPS)

    def seconds_until_hot(self, loop: LoopInfo, *, is_hot: bool = False) -> float:
        """Give what a loop may take that has few trips, each of which takes long."""
        compiles = sum(
            p.compiles for (loop_id, _), p in list(self.plans.items()) if loop_id == loop.id
        )
        seconds = SECONDS_UNTIL_HOT if is_compiler_loaded() else SECONDS_UNTIL_LOADED
        return seconds * self._price(loop) * (1 + compiles) * _times_of_quick_code(loop, is_hot)

    def _price(self, loop: LoopInfo) -> float:
        """What compiling a loop takes, by what most loops take."""
        if loop.id not in self._prices:
            assert self.executor.baseline is not None
            body = self.executor.baseline.node(loop.id).blocks[0]
            self._prices[loop.id] = max(sum(1 for _ in body.walk()) / MOST_NODES_OF_LOOP, 1.0)
        return self._prices[loop.id]

    def enter(
        self,
        plan: Plan,
        loop_id: int,
        trip: int,
        registers: Sequence[object],
        asked: dict[LoopPlan, int],
    ) -> LoopExit | None:
        """Run the rest of a loop natively, if that works out; called at the loop's header.

        `asked`: what the same run of the function waits for, and since which trip.
        """
        baseline = self.executor.baseline
        assert baseline is not None
        loop = baseline.node(loop_id)
        live = baseline.liveness.live_at_header(loop)
        values = [registers[baseline.code.register_of[v.key]] for v in live]
        types_ = tuple(map(_live_type, live, values))
        sized = sized_types(types_, values)
        first = self.sized.setdefault((loop_id, types_), sized)
        key = (loop_id, sized if sized == first else types_)
        found = self._plan_for(key)
        if found is None:
            return None
        unit = found.unit
        if unit is not None and unit.code.is_hot:
            found.retire(unit)
        if found.unit is None and (is_left_alone() or self._waits(found, loop_id, trip, asked)):
            return None
        unit = found.unit or self._compile(plan, found, key, live)
        if unit is None:
            return None
        result = unit.call(values)
        if not isinstance(result, LoopExit):
            return None
        if result.errors:
            self._note_raise(plan, found, loop, result.values, values[live.index(_trip(loop))])
        return result

    def _waits(self, found: LoopPlan, loop_id: int, trip: int, asked: dict[LoopPlan, int]) -> bool:
        """Whether code for one more kind of types is not worth a compile yet, where many kinds have some.

        A ``while`` that native code has left counts as one that has run long, which most of them have not if there are
        so many kinds. So this run has to ask again, after as many trips of its own as a compile takes.
        """
        kinds = sum(p.unit is not None for (of, _), p in list(self.plans.items()) if of == loop_id)
        if trip < UNCOUNTED_TRIPS or kinds < MANY_KINDS or found.compiles:
            return False
        first = asked.get(found)
        if first is None or trip < first:
            asked[found] = trip
            return True
        assert self.executor.baseline is not None
        loops = self.executor.baseline.code.loops
        return trip < first + self._trips_of_compile(next(x for x in loops if x.id == loop_id))

    def _note_raise(
        self, plan: Plan, found: LoopPlan, loop: Node, left: Mapping[str, object], entered: object
    ) -> None:
        """Give up native code that raises again and again soon after it was entered: handlers are not in it."""
        trip = left.get(_trip(loop).key)
        if trip is None:  # the handler is behind the loop
            return
        assert isinstance(trip, int) and isinstance(entered, int)
        is_early = trip - entered < TRIPS_OF_EARLY_RAISE
        found.early_raises = found.early_raises + 1 if is_early else 0
        if found.early_raises >= MAX_EARLY_RAISES:
            self._refuse(found, loop.id, "it raises too often")
            unit = found.unit
            if unit is not None:
                found.retire(unit)
            self.executor.refuse(plan, "it raises too often")

    def _plan_for(self, key: _Key) -> LoopPlan | None:
        """Find or start the plan; None if there were too many."""
        found = self.plans.get(key) or self._native_with_items(key)
        if found is not None:
            return found
        with self.executor.lock:
            if key not in self.plans and len(self.plans) >= MAX_LOOPS:
                if self.evictions >= MAX_EVICTIONS:
                    return None
                self.evictions += 1
                order = {k: (p.unit is not None, p.native_calls) for k, p in self.plans.items()}
                self._evicted += self.plans.pop(min(order, key=order.__getitem__)).units
            return self.plans.setdefault(key, LoopPlan())

    def _native_with_items(self, key: _Key) -> LoopPlan | None:
        """The plan whose code takes these values, though it was made when empty lists had items: these are guesses."""
        if _EMPTY not in key[1]:
            return None
        for (loop_id, types_), found in list(self.plans.items()):
            is_native = loop_id == key[0] and found.unit is not None
            if is_native and all(map(_is_but_for_items, key[1], types_)):
                return found
        return None

    def _compile(
        self, plan: Plan, found: LoopPlan, key: _Key, live: Sequence[Value]
    ) -> NativeUnit | None:
        loop_id, types_ = key
        with self.executor.lock:
            if found.unit is not None:  # another thread was faster
                return found.unit
            if found.is_used_up and found.refused is None:
                self._refuse(found, loop_id, f"compiled {found.compiles} times")
            if found.refused is not None:
                return None
            unit = self._native_code(plan, found, key, live)
            if unit is not None:
                found.unit = unit
                self.executor.bet.add(unit.seconds)
                self.executor.bet.win()  # the interpreter has run as long
                found.bailouts.clear()
                unit.retire = lambda _reason: found.retire(unit)
                note_callers(unit)
                _log.update(
                    f"{unit.code.name} is native for {types_text(types_)}: "
                    f"compile {found.compiles}, {unit.seconds * 1e3:.1f} ms"
                )
            return unit

    def _native_code(
        self, plan: Plan, found: LoopPlan, key: _Key, live: Sequence[Value]
    ) -> NativeUnit | None:
        """None, and refused from now on: a fault of ljit's own."""
        loop_id, types_ = key
        baseline = self.executor.baseline
        assert baseline is not None
        loop = baseline.node(loop_id)
        # the loop around it will be native soon
        is_provisional = not found.compiles and any(o.op is LOOP for o in loop.owners())
        plan.feedback.fastmath = self.executor.options.fastmath
        request = CompileRequest(
            tuple(types_),
            plan.feedback,
            lambda exit_index, site, values: on_loop_exit(
                self.executor, plan, found, Bailout(unit, exit_index, site, values)
            ),
            self.executor.link_to,
            fastmath=self.executor.options.fastmath,
            quick_runs=config.settings().quick_runs
            if is_provisional
            else quick_runs(plan.feedback),
            earlier=graph_of_quick_code(found, types_, plan.feedback),
        )
        try:
            with found.counted_compile(plan.feedback.summary()):
                unit = compile_loop(baseline, loop, live, request)
        except InternalError as error:
            if config.settings().check:
                raise
            self._refuse(found, loop_id, f"internal error: {error}")
            return None
        self.executor.lacks_profiles |= unit.specialization.lacks_profiles  # later calls have them
        return unit

    def _refuse(self, found: LoopPlan, loop_id: int, reason: str) -> None:
        found.refused = reason
        name = self.executor.fn.__qualname__
        _log.update(f"{name}.loop{loop_id} stays interpreted: {reason}")


def _times_of_quick_code(loop: LoopInfo, is_hot: bool) -> int:
    """How many times as long as quick code the loop takes to compile; inner ones get quick code at first."""
    return OPTIMISING if is_hot and loop.parent is None else 1


def _trip(loop: Node) -> Value:
    """The trip index."""
    return loop.blocks[0].params[0]


def _is_but_for_items(t: Type, other: Type) -> bool:
    return t == other or (t == _EMPTY and isinstance(other, ListType))


def _live_type(value: Value, held: object) -> Type:
    """The type of what the register of a value holds."""
    if held is UNBOUND_VALUE:
        return UNBOUND
    found = type_of(held)
    return as_whole_object(found) if is_identity_asked(value, found) else found

"""The profiling executor: decides for each call whether CPython, the interpreter or native code runs it.

One executor a function. Calls are sorted by the types of their arguments into *plans*. The first calls of a plan
(`num_profiled_runs`, 1 by default) run in the interpreter, which records types; the next is specialised, compiled and
from then on reached straight through the function's vectorcall slot: plans form a chain of entries, each of
which hands arguments that it was not made for to the next, the last to `slow_call`.

A plan whose native code keeps bailing out is compiled again with what was learnt meanwhile, at most
`MAX_COMPILES` times; then CPython runs it for good. A function that the frontend cannot translate is
always run by CPython.
"""

from __future__ import annotations

import threading
import types
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ljit import config
from ljit.errors import InternalError, UserError
from ljit.interp import (
    Code,
    LoopExit,
    drop_own_frames,
    enter_frame,
    leave_frame,
    resume,
    run,
)
from ljit.ir import Value
from ljit.ops.control import NOT_RUN, PLANNED_EXITS
from ljit.runtime.baseline import Baseline
from ljit.runtime.binding import bind_arguments
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.native import MISMATCH, NativeUnit, compile_function, compile_loop, link_entries
from ljit.runtime.options import Options
from ljit.types import Type, type_of

__all__ = ["Plan", "ProfilingExecutor"]

_log = config.logger("profiling_executor")

MAX_PLANS = 16  # specialisations of one function that live side by side
MAX_COMPILES = 8  # compiles of one plan or loop before it is left to CPython or the interpreter
MAX_LOOPS = 32  # outlined loops of one function
BAILOUTS_BEFORE_RECOMPILE = 2
HOT_LOOP_THRESHOLD = 256  # back-edges in the interpreter before a loop is outlined


@dataclass(slots=True, eq=False)
class Plan:
    """What is known and made for one tuple of argument types."""

    types: tuple[Type, ...]
    feedback: PlanFeedback = field(default_factory=PlanFeedback)
    runs: int = 0
    compiles: int = 0
    unit: NativeUnit | None = None
    bailouts: Counter[int] = field(default_factory=Counter)  # by site, of the present unit
    retired: list[NativeUnit] = field(default_factory=list)  # may still be running
    refused: str | None = None  # why CPython runs it


@dataclass(slots=True, eq=False)
class _LoopPlan:
    """An outlined loop for one tuple of types of its live values."""

    unit: NativeUnit | None = None
    compiles: int = 0
    bailouts: Counter[int] = field(default_factory=Counter)
    retired: list[NativeUnit] = field(default_factory=list)


def _patience(reason: str) -> int:
    """How many bailouts at a site make its code be compiled anew."""
    return 1 if reason == NOT_RUN else BAILOUTS_BEFORE_RECOMPILE


class _Hooks:
    """The interpreter's way back to the executor while it runs one call of a plan."""

    hot_loop_threshold = HOT_LOOP_THRESHOLD

    def __init__(self, executor: ProfilingExecutor, plan: Plan) -> None:
        self.executor = executor
        self.plan = plan
        self.on_profile = plan.feedback.profile.record

    def on_hot_loop(
        self, code: Code, loop_id: int, trip: int, registers: Sequence[object]
    ) -> LoopExit | None:
        return self.executor.enter_loop(self.plan, loop_id, registers, self)


class ProfilingExecutor:
    """The executor of one function. `refused` says why CPython runs it, if it does."""

    def __init__(self, fn: types.FunctionType, options: Options, owner: object) -> None:
        self.fn = fn
        self.options = options
        self.owner = owner  # the Function object whose vectorcall slot is served
        self.plans: OrderedDict[tuple[Type, ...], Plan] = OrderedDict()
        self.loops: dict[tuple[int, tuple[Type, ...]], _LoopPlan] = {}
        self.lock = threading.RLock()
        self.refused: str | None = None
        self._baseline: Baseline | None = None

    @property
    def baseline(self) -> Baseline | None:
        """The baseline graphs, made at the first use; None if CPython runs the function."""
        if self._baseline is None and self.refused is None:
            with self.lock:
                self._make_baseline()
        return self._baseline

    def _make_baseline(self) -> None:
        if self._baseline is not None or self.refused is not None:
            return
        try:
            self._baseline = Baseline.of(self.fn)
        except UserError as error:
            if self.options.strict:
                raise
            self.refused = str(error)
        except Exception as error:  # ljit's own fault: the function still has to work
            self._on_internal_error(error)
        if self.refused is not None:
            _log.dump(self.fn.__qualname__, "is left to CPython:", self.refused)

    def _on_internal_error(self, error: Exception) -> None:
        """Show ljit's own faults in tests, hide them from users."""
        if config.settings().check:
            raise error
        self.refused = f"internal error: {error}"
        _log.dump(self.fn.__qualname__, self.refused)

    # -- calls -------------------------------------------------------------------------------------

    def call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Run a call that no native entry took. Errors leave with the user's frames alone."""
        try:
            return self._call(args, kwargs)
        except BaseException as error:
            drop_own_frames(error)
            raise

    def _call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        if self.baseline is None:
            return self.run_plainly(args, kwargs)
        values = bind_arguments(self.fn, args, kwargs)
        if values is None:
            return self.run_plainly(args, kwargs)
        plan = self.plan_for(values)
        if plan is None or plan.refused is not None:
            return self.run_plainly(args, kwargs)
        unit = self.unit_for(plan)
        if unit is not None:
            result = unit.call(values)
            if result is not MISMATCH:
                return result
        if plan.refused is not None:
            return self.run_plainly(args, kwargs)
        return self.interpret(plan, values)

    def run_plainly(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Let CPython run the call; recursion through here may go as deep as without ljit."""
        enter_frame()
        try:
            return self.fn(*args, **kwargs)
        finally:
            leave_frame()

    def plan_for(self, values: Sequence[object]) -> Plan | None:
        """Find or start the plan for the types of `values`; None if there are too many."""
        key = tuple(map(type_of, values))
        plan = self.plans.get(key)
        if plan is None and len(self.plans) < MAX_PLANS:
            with self.lock:
                plan = self.plans.setdefault(key, Plan(key))
        return plan

    def interpret(self, plan: Plan, values: Sequence[object]) -> object:
        """Run one call in the interpreter, watching types."""
        assert self.baseline is not None
        result = run(self.baseline.code, values, _Hooks(self, plan))
        plan.runs += 1
        return result

    def unit_for(self, plan: Plan) -> NativeUnit | None:
        """Give the plan's native code, compiling it if the profile is complete."""
        if plan.unit is not None:
            broken = plan.unit.broken_assumptions()
            if not broken:
                return plan.unit
            plan.feedback.changes.update(broken)
            self.retire(plan, f"changed: {', '.join(broken)}")
        if plan.runs < self.options.num_profiled_runs:
            return None
        with self.lock:
            if plan.unit is None and plan.refused is None:
                self._compile(plan)
        return plan.unit

    def _compile(self, plan: Plan) -> None:
        if plan.compiles >= MAX_COMPILES:
            plan.refused = f"bailed out too often: compiled {plan.compiles} times"
            return
        plan.compiles += 1
        assert self.baseline is not None

        def bail_out(exit_index: int, site: int, values: tuple[object, ...]) -> object:
            try:
                return self.on_bailout(plan, unit, exit_index, site, values)
            except BaseException as error:
                drop_own_frames(error)
                raise

        fastmath = self.options.fastmath
        try:
            unit = compile_function(
                self.baseline, plan.types, plan.feedback, bail_out, fastmath=fastmath
            )
        except InternalError as error:
            if config.settings().check:
                raise
            plan.refused = f"internal error: {error}"
            _log.dump(self.fn.__qualname__, plan.refused)
            return
        if not unit.is_worthwhile:
            plan.refused = "nothing in it gains from native code"
            return
        plan.unit = unit
        plan.bailouts.clear()
        self.link_entries()

    def link_entries(self) -> None:
        """Chain the entries of all native plans behind the function's vectorcall slot."""
        units = [plan.unit for plan in self.plans.values() if plan.unit is not None]
        link_entries(self.owner, units)

    def retire(self, plan: Plan, reason: str) -> None:
        """Take the plan's native code out of use; a call of it may still be running."""
        with self.lock:
            if plan.unit is None:
                return
            _log.update(self.fn.__qualname__, "drops native code:", reason)
            plan.retired.append(plan.unit)
            plan.unit = None
            self.link_entries()

    # -- bailouts ------------------------------------------------------------------------------------

    def on_bailout(
        self,
        plan: Plan,
        unit: NativeUnit,
        exit_index: int,
        site_index: int,
        values: tuple[object, ...],
    ) -> object:
        """Go on in the interpreter with a call that left native code; gives the call's result."""
        assert self.baseline is not None
        leaving = unit.exits[exit_index]
        _log.debug(self.fn.__qualname__, "bails out at", leaving.at, unit.sites[site_index].reason)
        state = dict(zip(leaving.names, values, strict=True))
        plan.bailouts[site_index] += 1
        unit.bailouts[site_index] += 1
        result = resume(self.baseline.code, leaving.at, state, _Hooks(self, plan))
        if plan.unit is unit:  # it did not raise: native code could have gone on
            self.learn(plan.feedback, unit, site_index)
            if plan.bailouts[site_index] >= _patience(unit.sites[site_index].reason):
                self.retire(plan, unit.sites[site_index].reason)
        return result

    def learn(self, feedback: PlanFeedback, unit: NativeUnit, site_index: int) -> None:
        """Keep what a bailout shows about its site for the next compile."""
        site = unit.sites[site_index]
        if unit.bailouts[site_index] >= _patience(site.reason):
            feedback.widened.add(site.origin)

    # -- outlined loops --------------------------------------------------------------------------------

    def enter_loop(
        self, plan: Plan, loop_id: int, registers: Sequence[object], hooks: _Hooks
    ) -> LoopExit | None:
        """Run the rest of a loop natively, if that works out; called at the loop's header."""
        baseline = self.baseline
        assert baseline is not None
        loop = baseline.node(loop_id)
        live = [v for v in baseline.liveness.live_at_header(loop) if not v.is_constant]
        values = [registers[baseline.code.register_of[v.key]] for v in live]
        key = (loop_id, tuple(map(type_of, values)))
        found = self.loops.get(key)
        if found is None:
            if len(self.loops) >= MAX_LOOPS:
                return None
            found = self.loops.setdefault(key, _LoopPlan())
        if found.unit is None and not self._compile_loop(plan, found, loop_id, live, key[1]):
            return None
        assert found.unit is not None
        result = found.unit.call(values)
        return result if isinstance(result, LoopExit) else None

    def _compile_loop(
        self,
        plan: Plan,
        found: _LoopPlan,
        loop_id: int,
        live: Sequence[Value],
        types_: tuple[Type, ...],
    ) -> bool:
        with self.lock:
            if found.compiles >= MAX_COMPILES:
                return False
            found.compiles += 1
            assert self.baseline is not None
            try:
                unit = compile_loop(
                    self.baseline,
                    self.baseline.node(loop_id),
                    live,
                    types_,
                    plan.feedback,
                    lambda exit_index, site, values: self.on_loop_exit(
                        plan, found, unit, exit_index, site, values
                    ),
                    fastmath=self.options.fastmath,
                )
            except InternalError as error:
                if config.settings().check:
                    raise
                found.compiles = MAX_COMPILES
                _log.dump(self.fn.__qualname__, "loop stays interpreted:", error)
                return False
            if not unit.is_worthwhile:
                found.compiles = MAX_COMPILES
                return False
            found.unit = unit
            found.bailouts.clear()
            return True

    def on_loop_exit(
        self,
        plan: Plan,
        found: _LoopPlan,
        unit: NativeUnit,
        exit_index: int,
        site_index: int,
        values: tuple[object, ...],
    ) -> LoopExit:
        """Tell the interpreter where an outlined loop was left and with which values."""
        leaving = unit.exits[exit_index]
        site = unit.sites[site_index]
        unit.bailouts[site_index] += 1
        if site.reason not in PLANNED_EXITS:
            found.bailouts[site_index] += 1
            self.learn(plan.feedback, unit, site_index)
            if found.unit is unit and found.bailouts[site_index] >= _patience(site.reason):
                found.retired.append(unit)
                found.unit = None
        return LoopExit.resumed(leaving.at, dict(zip(leaving.names, values, strict=True)))

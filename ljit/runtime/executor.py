"""The profiling executor: decides for each call whether CPython, the interpreter or native code runs it.

One executor a function. Calls are sorted by the types of their arguments into *plans*. The first calls of a plan
(`num_profiled_runs`, 1 by default) run in the interpreter, which records types; the next is specialised, compiled and
from then on reached straight through the function's vectorcall slot: plans form a chain of entries, each of
which hands arguments that it was not made for to the next, the last to `slow_call`.

A plan whose native code keeps bailing out is compiled again with what was learnt meanwhile, at most
`MAX_COMPILES` times in vain; then CPython runs it for good. A function that the frontend cannot translate is
always run by CPython.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ljit import config
from ljit.analysis.signatures import NativeLink
from ljit.cpython.frame_count import GRANTED, thread
from ljit.cpython.frames import is_raised_by_handler
from ljit.cpython.isolation import are_builtins_replaced
from ljit.cpython.locks import shared_lock
from ljit.cpython.own_frames import drop_own_frames
from ljit.cpython.own_time import OwnTime, add_own_work, seconds_of_own_work, seconds_of_stretch
from ljit.cpython.parameters import is_by_position
from ljit.cpython.recursion import call_plainly
from ljit.cpython.stack import compiler_frames
from ljit.errors import InternalError, UserError
from ljit.held import MadeFunctions
from ljit.interp import Errors, resume, run
from ljit.ops.arrays.float_settings import is_loud
from ljit.ops.control import HOT
from ljit.profile import keep_objects_of
from ljit.runtime import links
from ljit.runtime.bailouts import Bailout, on_bailout
from ljit.runtime.baseline import Baseline
from ljit.runtime.bets import Bet
from ljit.runtime.binding import bind_arguments
from ljit.runtime.callees import KnownCallees
from ljit.runtime.cold import ColdCalls, takes_objects
from ljit.runtime.contests import Contest, most_elements
from ljit.runtime.detours import Detours
from ljit.runtime.hooks import Hooks
from ljit.runtime.links import connect, disconnect, drop_callers, link_to, note_callers
from ljit.runtime.native import (
    MISMATCH,
    CompileRequest,
    LacksProfilesError,
    NativeUnit,
    PassOn,
    compile_function,
    is_compiler_loaded,
    is_left_alone,
    link_behind,
    link_entries,
    make_fill_in,
)
from ljit.runtime.options import Options
from ljit.runtime.outlining import OutlinedLoops
from ljit.runtime.passing import FOR_EVER, pass_calls, stop_passing
from ljit.runtime.plain_calls import call_cold, run_refused, run_watched, run_without_plan
from ljit.runtime.plan_table import PlanTable
from ljit.runtime.plans import (
    BOUND_CALLS_BEFORE_FILLING_IN,
    MAX_MISMATCHES,
    NO_GAIN,
    LoopPlan,
    Plan,
    graph_of_quick_code,
    is_long_in_use,
    quick_runs,
)
from ljit.runtime.prices import note_compile
from ljit.runtime.replaced_code import up_to_date
from ljit.runtime.twins import function_made, twin_of
from ljit.runtime.waiting import counted_once
from ljit.types import Type

if TYPE_CHECKING:
    from ljit.codegen import FillIn

__all__ = ["Plan", "ProfilingExecutor"]

_log = config.logger(config.EXECUTOR)
_SLOWNESS = 0.75  # of the interpreter's time: what CPython would not take
_LEAVING = 10  # stretches of time that are measured, as which a bailout counts beside the interpreter's part
_lock = shared_lock()  # of all executors: one compiles while another does


def _plain_function(decorated: Any) -> types.FunctionType | None:
    """The function that does what a decorated one does; None: that does it in another way."""
    return None if decorated._calls.options.fastmath else decorated._plain


class ProfilingExecutor:
    """The executor of one function. `refused` says why CPython runs it, if it does; `before`: the last one."""

    def __init__(
        self,
        fn: types.FunctionType,
        options: Options,
        owner: object,
        before: ProfilingExecutor | None = None,
    ) -> None:
        self.fn = fn
        self.options = options
        self.owner = owner  # the Function object whose vectorcall slot is served
        keep_objects_of(type(owner), _plain_function)  # what functions call may be an argument
        self.table = PlanTable(_lock, self._give_up, self._known_as)
        self.outlined = OutlinedLoops(self)
        self.lock = _lock
        self.refused: str | None = None
        self.cold = ColdCalls.of(fn, options)
        self.detours = Detours(owner, fn, are_calls_short=self.cold.are_short)
        self.bet = Bet()
        self.bound_calls = 0  # of native code, with keywords or defaults
        self._fill_in: FillIn | None = None
        self._evicted: list[NativeUnit | PassOn] = []  # may still be running
        self._before = before  # its code may be, too
        self._baseline: Baseline | None = None
        self.lacks_profiles = False  # of operators that are methods of users' classes
        self.callees: KnownCallees = KnownCallees(None if before is None else before.callees)

    @property
    def plans(self) -> Mapping[tuple[Type, ...], Plan]:
        """The plans by the types of arguments."""
        return self.table.plans

    @property
    def kinds(self) -> int:
        """How many kinds of argument types had a compile, or were given up."""
        return self.table.evictions + sum(p.compiles > 0 for p in list(self.plans.values()))

    @property
    def loops(self) -> Mapping[tuple[int, tuple[Type, ...]], LoopPlan]:
        """The outlined loops, by the loop and the types of its live values."""
        return self.outlined.plans

    @property
    def baseline(self) -> Baseline | None:
        """The baseline graphs, made at the first use; None if CPython runs the function, for now or for good."""
        if self._baseline is None and self.refused is None and not are_builtins_replaced():
            with self.lock, compiler_frames():
                self._make_baseline()
        return self._baseline

    def baseline_for(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> Baseline | None:
        """The same, with the bodies of functions among the arguments of the first call where they are called."""
        if self._baseline is None and any(map(callable, (*args, *kwargs.values()))):
            with self.lock, compiler_frames():
                self.callees.note_arguments(bind_arguments(self.fn, args, kwargs) or ())
        return self.baseline

    def _known_as(self, types_: tuple[Type, ...]) -> tuple[Type, ...]:
        return types_ if self._baseline is None else self._baseline.known_as(types_)

    @property
    def is_outdated(self) -> bool:
        """Whether the function, or one that was inlined, has got other code since it was translated.

        Or whether it is to be translated with more profiles, or functions that it calls.
        """
        lacks = self.lacks_profiles or self.callees.are_lacking
        return self._baseline is not None and (lacks or self._baseline.is_outdated)

    def _make_baseline(self) -> None:
        if self._baseline is not None or self.refused is not None:
            return
        try:
            before = seconds_of_own_work()
            lacking = self._before is not None and self._before.lacks_profiles
            callees = self.callees.used
            self._baseline = Baseline.of(
                self.fn, self._twin_of, callees, profiles_operators=lacking
            )
            self.bet.add(seconds_of_own_work() - before)
        except UserError as error:
            if self.options.strict:
                raise
            self.refused = str(error)
        except Exception as error:  # ljit's own fault: the function still has to work
            if is_raised_by_handler(error):
                raise
            self._on_internal_error(error)
        if self.refused is not None:
            _log.dump(self.fn.__qualname__, "is left to CPython:", self.refused)

    def _twin_of(self, fn: types.FunctionType) -> object:
        """The decorated function through which a plain one is called."""
        return self.owner if fn is self.fn else twin_of(fn, type(self.owner))

    def link_to(self, callee: object, given: tuple[Type, ...], seen: Type) -> NativeLink | None:
        """Give the link to a function that native code of this one calls; to a plain one through its twin."""
        if isinstance(callee, MadeFunctions):
            callee = function_made(callee)
        if isinstance(callee, types.FunctionType):
            callee = self._twin_of(callee)
        return None if callee is None else link_to(callee, given, seen)

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
            if self.detours.go_on():
                return self.detours.run(args, kwargs)
            return up_to_date(self)._call(args, kwargs)
        except BaseException as error:
            drop_own_frames(error)
            raise

    def _call(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        if not self.cold.is_over:
            return call_cold(self, args, kwargs)
        if self.baseline_for(args, kwargs) is None:
            if self.refused is not None:
                pass_calls(self.owner, self.fn, FOR_EVER)
            return self.run_plainly(args, kwargs)
        values = bind_arguments(self.fn, args, kwargs)
        plan = self.table.plan_for(values) if values is not None else None
        if values is None or plan is None:
            return run_without_plan(self, args, kwargs)
        unit = self.unit_for(plan)
        if unit is not None:
            contest = plan.contest
            result = contest.call(self, plan, tuple(values)) if contest else unit.call(values)
            if result is not MISMATCH:
                if values is not args:
                    self._count_bound_call()
                return result
            self._count_mismatch(plan, contest.unit if contest else unit)
        if plan.refused is not None:
            return run_refused(self, plan, args, kwargs)
        if is_left_alone():
            return self.run_plainly(args, kwargs)
        return run_watched(self, plan, values, args, kwargs)

    def warm_up(self) -> None:
        """Profile and compile from now on, whatever the calls took so far."""
        if not self.cold.is_over:
            self.cold.limit = 0
            self.link_if_loaded()

    def link_if_loaded(self) -> None:
        """Link native entries; without a compiler there are none, and calls come here anyway."""
        stop_passing(self.owner, self.fn)
        if is_compiler_loaded():
            with self.lock:
                self.link_entries()

    def _count_mismatch(self, plan: Plan, unit: NativeUnit) -> None:
        """Note that the unit has not taken a call; not if the next one will have other code, or none."""
        is_outdated = plan.unit is not unit or unit.code.is_hot or unit.broken_assumptions()
        if is_outdated or is_loud():
            return
        plan.mismatches += 1
        if plan.mismatches >= MAX_MISMATCHES:
            self.refuse(plan, "native code does not take these arguments")

    def _count_bound_call(self) -> None:
        """Note a call with keywords or defaults; after some of them a native entry binds such calls."""
        self.bound_calls += 1
        if self.bound_calls == BOUND_CALLS_BEFORE_FILLING_IN:
            with self.lock:
                self._fill_in = make_fill_in(self.fn, self.owner)
                self.link_entries()
        if self._fill_in is None:
            self.detours.begin_anew()

    def run_plainly(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Let CPython run the call; recursion through here may go as deep as without ljit."""
        return call_plainly(self.fn, args, kwargs)

    def _give_up(self, victim: Plan) -> None:
        """Drop a plan for a new one; a call of its code may still be running."""
        _log.update(self.fn.__qualname__, "gives up the plan for", victim)
        self.retire(victim, "too many specialisations")
        self._evicted += victim.retired
        drop_callers(victim)
        if victim.pass_on is not None:
            self._evicted.append(victim.pass_on)
        self.link_entries()

    def interpret(self, plan: Plan, values: Sequence[object]) -> object:
        """Run one call in the interpreter, watching types."""
        assert self.baseline is not None
        _log.debug(self.fn.__qualname__, "profiles a call with", plan)
        code, stretch = self.baseline.code, OwnTime()  # in this order
        try:
            return run(code, values, Hooks(self, plan))
        finally:
            seconds = stretch.end()
            self.pay(plan, seconds)
            plan.last_run = most_elements(values), seconds
            plan.runs += 1  # also if it raised: a function that always raises is compiled as well

    def pay(self, plan: Plan, seconds: float) -> None:
        """Count what the interpreter took; most of it CPython would not have taken."""
        plan.seconds += seconds
        self.cold.claim(seconds * (1 - _SLOWNESS), plan.types)
        add_own_work(self.bet.add(counted_once(seconds * _SLOWNESS)))

    def resume(
        self, plan: Plan, at: str, state: Mapping[str, object], errors: Errors, *, is_hot: bool
    ) -> object:
        """Go on in the interpreter with a call that native code has left; `is_hot`: to be optimised."""
        assert self.baseline is not None
        code, stretch = self.baseline.code, OwnTime()
        try:
            return resume(code, at, state, Hooks(self, plan, is_hot=is_hot), errors)
        finally:
            self.pay(plan, stretch.end() + _LEAVING * seconds_of_stretch())

    def unit_for(self, plan: Plan, runs: int | None = None) -> NativeUnit | None:
        """Give the plan's native code, compiling it if enough calls, or `runs`, were profiled."""
        unit = plan.unit
        if unit is not None and unit.code.is_hot:
            if self.cold.may_optimise(plan, unit):
                self.optimize(plan)
            unit = plan.unit
        broken = unit.broken_assumptions() if unit is not None else []
        if unit is not None and not broken:
            return unit
        if plan.refused is not None or (broken and is_left_alone()):
            return None
        if broken:
            plan.feedback.see_changes(broken, self.fn.__globals__)
            self.retire(plan, f"changed: {', '.join(broken)}")
        wanted = self.options.num_profiled_runs if runs is None else runs
        if plan.runs < wanted or (runs is None and not self._may_compile(plan)):
            return None
        if is_left_alone():
            return None
        with self.lock:
            if plan.unit is None and plan.refused is None and not plan.is_compiling:
                plan.is_compiling = True
                try:
                    self._compile(plan)
                finally:
                    plan.is_compiling, plan.found = False, None
        return plan.unit

    def _compile(self, plan: Plan) -> None:
        """Put native code of the plan in use, or leave its calls to CPython."""
        if plan.is_used_up:
            self.refuse(plan, f"bailed out too often: compiled {plan.compiles} times")
            return
        assert self.baseline is not None
        with compiler_frames():
            self.callees.note_seen(self.baseline.graph, plan.feedback.profile)
        if self.callees.are_lacking:
            return
        try:
            unit = self._native_code(plan)
        except LacksProfilesError:
            self.lacks_profiles = True
            return
        except InternalError as error:
            if config.settings().check:
                raise
            self.refuse(plan, f"internal error: {error}")
            return
        if unit is None:
            self.refuse(plan, NO_GAIN)
        else:
            self._put_in_use(plan, unit)

    def _native_code(self, plan: Plan) -> NativeUnit | None:
        """Compile for what is known of the plan by now; None: nothing in it gains."""
        assert self.baseline is not None
        plan.feedback.know_changes(self.baseline.global_names, self.fn.__globals__)
        earlier = graph_of_quick_code(plan, plan.types, plan.feedback)
        plan.is_waiting = False
        plan.left_at.clear()
        plan.seconds = 0.0
        plan.looks = 0

        def bail_out(exit_index: int, site: int, values: tuple[object, ...]) -> object:
            assert unit is not None
            # native code has counted the frame that it leaves, and granted some
            frames = thread.frames
            before, frames.called_at = frames.called_at, frames.left.value + 2 - GRANTED
            try:
                return on_bailout(self, plan, Bailout(unit, exit_index, site, values))
            except BaseException as error:
                drop_own_frames(error)
                raise
            finally:
                frames.called_at = before

        plan.feedback.fastmath = self.options.fastmath
        request = CompileRequest(
            plan.types,
            plan.feedback,
            bail_out,
            self.link_to,
            fastmath=self.options.fastmath,
            quick_runs=quick_runs(plan.feedback),
            earlier=earlier,
            is_called=plan.is_called,
            is_alone=all(p.unit is None for p in self.plans.values()),
            is_long_in_use=is_long_in_use(plan),
            is_short=self.cold.are_short and takes_objects(plan.types),
            rival=self.fn if self.cold.may_wait and is_by_position(self.fn.__code__) else None,
            is_as_guessed=lambda made: links.is_as_guessed(plan, made),
        )
        with plan.counted_compile(plan.feedback.summary()):
            unit = compile_function(self.baseline, request)  # `bail_out` names it
        return unit

    def _put_in_use(self, plan: Plan, unit: NativeUnit) -> None:
        """Let calls and callers of the plan's types reach the code."""
        if unit.types != plan.types:  # sizes are no help
            self.table.generalize(plan)
        assert self.baseline is not None
        if not plan.retired:
            note_compile(unit, self.baseline)
        self.bet.add(unit.seconds)
        if plan.feedback.is_hot:
            self.bet.win()
        plan.contest = Contest.of(unit, plan.last_run, plan.contest)
        plan.unit = unit
        plan.bailouts.clear()
        self.link_entries()
        unit.retire = lambda reason: self.retire(plan, reason) if plan.unit is unit else None
        connect(plan)
        note_callers(unit)  # behind `connect`: quick code calls itself through a link
        _log.update(
            f"{self.fn.__qualname__} is native for {plan}: "
            f"compile {plan.compiles}, {unit.seconds * 1e3:.1f} ms"
        )

    def optimize(self, plan: Plan) -> None:
        """Drop the plan's quick code: the next call has it compiled with optimising."""
        plan.feedback.is_hot = True
        unit = plan.unit
        if unit is not None and unit.code.is_quick:
            self.retire(plan, HOT)

    def refuse(self, plan: Plan, reason: str) -> None:
        """Leave all further calls of the plan to CPython."""
        plan.refused = reason
        _log.update(self.fn.__qualname__, plan, "is left to CPython:", reason)
        with self.lock:
            self.retire(plan, reason)
            drop_callers(plan)

    def link_entries(self) -> None:
        """Chain the entries of all native plans behind the function's vectorcall slot."""
        if not is_by_position(self.fn.__code__):
            # Native entries take all parameters by position, which is wrong for callers here.
            units = [plan.unit for plan in self.plans.values() if plan.unit is not None]
            if self._fill_in is not None:
                link_behind(self.owner, units, self._fill_in)
            else:
                link_entries(self.owner, [])
            return
        entries = [plan.entry for plan in self.plans.values()]
        link_entries(self.owner, [e for e in entries if e is not None], self._fill_in)

    def retire(self, plan: Plan, reason: str) -> None:
        """Take the plan's native code out of use; a call of it may still be running."""
        with self.lock:
            if plan.unit is None:
                return
            _log.update(self.fn.__qualname__, "drops native code:", reason)
            plan.retire(plan.unit)
            disconnect(plan)
            self.link_entries()

    def _may_compile(self, plan: Plan) -> bool:
        """Whether a profiled plan need not wait: first compiles may have to, others did so with the old code."""
        cold, baseline = self.cold, self.baseline
        if plan.compiles and not plan.is_waiting:
            return plan.feedback.is_hot or cold.has_room(plan, baseline)
        kinds = self.kinds
        if cold.is_earned(plan, baseline, kinds):
            return cold.is_shown(plan, baseline, kinds)
        return cold.is_bet(plan, baseline, kinds)

    def retire_if_earned(self, plan: Plan, reason: str) -> None:
        """Drop code that leaves too often, for better code or, if that has to wait and pays less, for CPython."""
        cold, baseline = self.cold, self.baseline
        if cold.is_earned(plan, baseline):
            self.retire(plan, reason)
        elif baseline is not None and cold.is_slowed_by(plan, baseline):
            plan.is_waiting = True
            self.retire(plan, reason)

"""Bailouts: what becomes of calls that leave native code, and what is learnt from them.

The interpreter goes on where native code has left, with the values of the Snapshot there. What a bailout shows is kept
in the feedback for the next compile; code that has left often enough, for a reason that another compile may do away
with, is compiled anew, and code that most calls leave is given up.

A signal may come meanwhile. What its handler raises is raised where native code has left: the function may catch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ljit import config
from ljit.errors import InternalError
from ljit.interp import Errors, LoopExit, clean_traceback
from ljit.ops.control import (
    BROADCAST,
    CALLEE_LEFT,
    HOT,
    LOUD,
    MANY_NUMBERS,
    NO_UINT,
    NOT_ALL,
    NOT_RUN,
    OTHER_CALLABLE,
    OTHER_ITEM,
    OTHER_ORDER,
    OTHER_SHAPES,
    OUT_OF_RANGE,
    PLANNED_EXITS,
    RAISED,
    SINGLE_ROWS,
)
from ljit.records import Record
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.links import renew_callees
from ljit.runtime.native import NativeUnit
from ljit.runtime.plans import Compiled, LoopPlan, Plan
from ljit.sizes import MANY

if TYPE_CHECKING:
    from ljit.codegen import ExitInfo, SiteInfo
    from ljit.runtime.executor import ProfilingExecutor

__all__ = ["Bailout", "on_bailout", "on_loop_exit", "patience", "wants_compile"]

_MIN_BAILOUTS = 64  # of one unit before it is asked whether they dominate
_BAILOUTS_BEFORE_RECOMPILE = 2
_TESTS_IN_FRONT = (OUT_OF_RANGE, OTHER_ORDER)  # of loops; reasons that one bailout proves
# reasons for a compile after the first bailout
_SHOWN_AT_ONCE = (NOT_RUN, BROADCAST, SINGLE_ROWS, MANY_NUMBERS, OUT_OF_RANGE)

_log = config.logger(config.EXECUTOR)


class Bailout(Record):
    """Native code was left: at one of its exits, for the check of one of its sites, with the values there."""

    unit: NativeUnit
    exit_index: int
    site_index: int
    values: tuple[object, ...]

    @property
    def leaving(self) -> ExitInfo:
        return self.unit.exits[self.exit_index]

    @property
    def site(self) -> SiteInfo:
        return self.unit.sites[self.site_index]

    @property
    def reason(self) -> str:
        return self.site.reason

    def state(self) -> tuple[dict[str, object], Errors]:
        """Give the values by their names, and the exceptions that stand behind them."""
        leaving = self.leaving
        shown = leaving.objects(self.values)
        errors: list[Any] = list(shown[len(leaving.names) :])
        raised = errors.pop() if leaving.raises else None
        return dict(zip(leaving.names, shown, strict=False)), Errors(tuple(errors), raised)

    def loop_exit(self) -> LoopExit:
        """Say to the interpreter where an outlined loop was left."""
        return LoopExit(self.leaving.at, *self.state())


def on_bailout(executor: ProfilingExecutor, plan: Plan, bailout: Bailout) -> object:
    """Go on in the interpreter with a call that left native code; gives the call's result."""
    unit, reason = bailout.unit, bailout.reason
    try:
        _log.debug(executor.fn.__qualname__, "bails out at", bailout.leaving.at, reason)
        state, errors = bailout.state()
        plan.bailouts[bailout.site_index] += 1
        unit.bailouts[bailout.site_index] += 1
        _learn_raise(plan.feedback, bailout, errors)
        if reason == HOT:
            executor.optimize(plan)
        if reason in _TESTS_IN_FRONT:
            _learn(plan.feedback, bailout)  # for the loops that are outlined now
        _watch_ints(executor, bailout)
    except (InternalError, RecursionError):
        raise
    except BaseException as error:  # of a signal's handler
        clean_traceback(error, bailout.site.range)
        state, errors = bailout.state()
        errors = Errors(errors.handled, error)
    has_raised = True
    try:
        is_hot = reason == HOT
        result = executor.resume(plan, bailout.leaving.at, state, errors, is_hot=is_hot)
        has_raised = False
        return result
    finally:
        if plan.unit is unit:
            _renew_or_give_up(executor, plan, bailout, has_raised=has_raised)


def _renew_or_give_up(
    executor: ProfilingExecutor, plan: Plan, bailout: Bailout, *, has_raised: bool
) -> None:
    """Decide whether the code is compiled anew, or given up.

    An exception is no reason for either (native code has to leave for it) unless bailouts dominate, nor are NumPy's
    settings.
    """
    unit, reason = bailout.unit, bailout.reason
    if reason == CALLEE_LEFT:
        renew_callees(unit)
    if reason == CALLEE_LEFT or reason in PLANNED_EXITS:
        return
    if (has_raised and reason != NOT_RUN) or reason in (RAISED, LOUD):
        if reason == RAISED and wants_compile(plan, plan.feedback, bailout):
            executor.retire_if_earned(plan, reason)
        elif _is_dominated_by_bailouts(unit):
            executor.refuse(plan, f"most calls leave native code: {reason}")
        return
    _learn(plan.feedback, bailout)
    if wants_compile(plan, plan.feedback, bailout):
        executor.retire_if_earned(plan, reason)
    elif _is_dominated_by_bailouts(unit) and not _may_compile(plan, plan.feedback):
        executor.refuse(plan, f"bailed out too often: compiled {plan.compiles} times")


def on_loop_exit(
    executor: ProfilingExecutor, plan: Plan, loop: LoopPlan, bailout: Bailout
) -> LoopExit:
    """Tell the interpreter where an outlined loop was left and with which values."""
    unit, reason = bailout.unit, bailout.reason
    try:
        found = bailout.loop_exit()
        _watch_ints(executor, bailout)
        unit.bailouts[bailout.site_index] += 1
        plan.feedback.is_hot |= unit.code.is_hot
        if reason not in PLANNED_EXITS and reason not in (CALLEE_LEFT, LOUD):
            loop.bailouts[bailout.site_index] += 1
            if reason == RAISED:
                _learn_raise(plan.feedback, bailout, found.errors)
            else:
                _learn(plan.feedback, bailout)
            if wants_compile(loop, plan.feedback, bailout):
                loop.retire(unit)
    except (InternalError, RecursionError):
        raise
    except BaseException as error:  # of a signal's handler
        clean_traceback(error, bailout.site.range)
        found = bailout.loop_exit()
        found = found.with_changes(errors=Errors(found.errors.handled, error))
    return found


# -- what is learnt -----------------------------------------------------------------------------


def _learn(feedback: PlanFeedback, bailout: Bailout) -> None:
    """Keep what a bailout shows about its site for the next compile.

    A test in front of a loop that fails once leaves the whole loop to the interpreter. Others of the same line may fail
    for the same reason, each in a compile of its own.
    """
    unit, site = bailout.unit, bailout.site
    if site.reason in (BROADCAST, SINGLE_ROWS):  # the next code has loops for such
        feedback.broadcasts |= site.reason == BROADCAST
        feedback.single_rows |= site.reason == SINGLE_ROWS
        return
    if site.reason == MANY_NUMBERS:
        feedback.elements_passed = max(feedback.elements_passed, MANY)
        return
    if site.reason in _TESTS_IN_FRONT:
        alike = (s for s in unit.sites if s.reason == site.reason and _is_on_line(s, site))
        feedback.failed_tests.update(s.origin for s in alike)
    elif unit.bailouts[bailout.site_index] >= patience(site.reason) + _is_told_of(site):
        if site.reason == OTHER_ITEM:
            _learn_items(feedback, unit, site)
            return
        is_test = site.reason in (NOT_ALL, OTHER_SHAPES)
        failed = feedback.no_uints if site.reason == NO_UINT else feedback.widened
        (feedback.failed_tests if is_test else failed).add(site.origin)


def _learn_items(feedback: PlanFeedback, unit: NativeUnit, site: SiteInfo) -> None:
    """Other reads find such items, too, as the profile tells, but not of items that a search only looks at."""
    if site.origin in feedback.met_items:
        feedback.widened.add(site.origin)
    feedback.met_items.add(site.origin)
    feedback.other_items.update(s.origin for s in unit.sites if s.reason == OTHER_ITEM)


def _is_told_of(site: SiteInfo) -> bool:
    """Whether the profile tells of it, mostly: then there is other code before a further bailout."""
    return site.reason == OTHER_CALLABLE


def _watch_ints(executor: ProfilingExecutor, bailout: Bailout) -> None:
    """Let the interpreter tell which ints are beyond int64 where native code left for one.

    It goes on to larger ones and to other sums and products of them: the next compile knows all of these.
    """
    assert executor.baseline is not None
    code = executor.baseline.code
    if bailout.reason == NO_UINT or bailout.site.origin in code.results.values():
        code.watch()


def _learn_raise(feedback: PlanFeedback, bailout: Bailout, errors: Errors) -> None:
    """Keep that an exception has left native code for a handler: there the next compile has the handler."""
    if bailout.reason == RAISED and errors.raised is not None:
        feedback.profile.record(bailout.site.origin, errors.raised)


def _is_on_line(site: SiteInfo, other: SiteInfo) -> bool:
    if site.range is None or other.range is None:
        return site is other
    return site.range.line == other.range.line


# -- whether there is to be other code ----------------------------------------------------------


def patience(reason: str, compiles: int = 1) -> int:
    """How many bailouts for a reason make code be compiled anew: more and more from the third compile on."""
    at_first = 1 if reason in _SHOWN_AT_ONCE else _BAILOUTS_BEFORE_RECOMPILE
    return at_first << max(compiles - 3, 0)


def wants_compile(code: Compiled, feedback: PlanFeedback, bailout: Bailout) -> bool:
    """Whether native code has bailed out often enough; code that no compile makes better stays as it is.

    Places that were not run before count together: if they come one by one, later compiles are for several.
    """
    reason = bailout.reason
    count = code.bailouts.total() if reason == NOT_RUN else code.bailouts[bailout.site_index]
    return count >= patience(reason, code.compiles) and _may_compile(code, feedback)


def _may_compile(code: Compiled, feedback: PlanFeedback) -> bool:
    """Whether another compile is allowed, and would be made with other feedback than the last one."""
    return not code.is_used_up and feedback.summary() != code.known


def _is_dominated_by_bailouts(unit: NativeUnit) -> bool:
    """Whether more of the unit's calls bailed out than came to their end."""
    bailouts = unit.bailouts.total()
    return bailouts >= _MIN_BAILOUTS and 2 * bailouts > unit.code.calls

"""Calls that CPython runs for the executor, and what follows from the time that they take.

Those of cold functions, and of plans whose compile is not earned yet (`cold.py`), are counted and timed; the next ones
jump to the plain function without coming here (`passing.py`). So do calls that gain nothing by native code.
"""

from __future__ import annotations

import time
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ljit.cpython.own_time import TimeOfCall, without_delays
from ljit.cpython.recursion import is_deep
from ljit.runtime.binding import bind_arguments
from ljit.runtime.likely import calls_its_name, has_large_array, may_be_many_trips
from ljit.runtime.native import is_compiler_loaded, make_pass_on
from ljit.runtime.passing import MOST_PASSED, PART_PASSED, SECONDS_PASSED, calls_within, pass_calls
from ljit.runtime.plans import NO_GAIN, SLOW_CALLS_BEFORE_PASSING_ON, Plan, is_long_in_use
from ljit.runtime.prices import price
from ljit.runtime.repeated import are_in_a_row, may_be_in_a_row, note_calls
from ljit.runtime.waiting import are_few

if TYPE_CHECKING:
    from ljit.runtime.executor import ProfilingExecutor

_SECONDS_OF_SHORT_LOOK = 1e-4
_MOST_BETWEEN_LOOKS = 64  # calls

__all__ = ["call_cold", "run_refused", "run_watched", "run_without_plan"]


def call_cold(
    executor: ProfilingExecutor, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Leave a call to CPython, unless there are reasons to compile the function now."""
    cold, fn = executor.cold, executor.fn
    if not cold.is_for([*args, *kwargs.values()]):
        executor.warm_up()
        return executor.call(args, kwargs)
    if not cold.is_look_due:
        result = cold.run(executor.owner, fn, executor.run_plainly, args, kwargs)
        if cold.is_over:  # it has run often
            cold.has_run_often = True
            executor.link_if_loaded()
        return result
    cold.was_looked_at = True
    baseline = executor.baseline_for(args, kwargs)
    values = bind_arguments(fn, args, kwargs) if baseline is not None else None
    plan = executor.table.plan_for(values) if values is not None else None
    if values is None or plan is None:
        return executor.run_plainly(args, kwargs)
    result = executor.interpret(plan, values)
    if plan.feedback.profile.has_arrays:
        executor.warm_up()
    return result


def run_watched(
    executor: ProfilingExecutor,
    plan: Plan,
    values: Sequence[object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> object:
    """Interpret a call; or leave it to CPython if it is a short one, and the next ones, until a compile is earned."""
    cold, baseline = executor.cold, executor.baseline
    plan.has_large_arrays = has_large_array(values)
    if cold.are_loops_over_numbers(plan):
        levels = max(cold.levels, 1)
        plan.has_many_trips = may_be_many_trips(values, levels, if_unknown=are_few())
    cold.is_asked_for |= cold.is_likely(plan) and are_in_a_row(executor.fn)
    is_left = baseline is not None and cold.leaves(plan, baseline, executor.kinds)
    runs_here = not is_left and not is_deep() and cold.may_look(plan, baseline)
    if baseline is None or runs_here:
        return _look(executor, plan, values)
    if not cold.is_paid(plan, baseline, executor.kinds):
        plan.looks = 0
    calls = cold.calls_since(executor.owner)
    if not _has_native_code(executor):
        cold.let_nested_pass(executor.owner, executor.fn)
    stretch = TimeOfCall()
    try:
        return executor.run_plainly(args, kwargs)
    finally:
        within = cold.calls_since(executor.owner)
        calls, seconds = calls + within - 1, stretch.end() / within
        note_calls(executor.fn, calls, seconds)
        is_native = _has_native_code(executor)
        if is_native:
            calls = executor.detours.note(seconds)
        if cold.are_short:
            seconds = plan.each = without_delays(seconds, plan.each, executor.fn.__code__)
        if plan.runs:  # else there is no profile yet
            plan.runs += calls
        plan.seconds += cold.claim(seconds * calls, plan.types)
        if not is_native and not may_be_in_a_row(executor.fn):
            cold.passed = _calls_to_pass(
                plan, price(plan, baseline), seconds, are_short=cold.are_short
            )
            pass_calls(executor.owner, executor.fn, cold.passed)


def _look(executor: ProfilingExecutor, plan: Plan, values: Sequence[object]) -> object:
    """Interpret a call to see what it does.

    In a recursion those that follow one another may all be its leaves: CPython runs some in between.
    """
    cold, owner, fn = executor.cold, executor.owner, executor.fn
    cold.calls_since(owner)  # which are not timed
    plan.looks += 1
    try:
        return executor.interpret(plan, values)
    finally:
        note_calls(fn, 1, plan.last_run[1])
        is_short = plan.last_run[1] < _SECONDS_OF_SHORT_LOOK
        is_left = cold.may_wait and not _has_native_code(executor)
        if is_short and is_left and calls_its_name(fn.__code__):
            cold.passed = min(1 << plan.looks, _MOST_BETWEEN_LOOKS)
            pass_calls(owner, fn, cold.passed)


def _calls_to_pass(plan: Plan, needed: float, seconds: float, *, are_short: bool) -> int:
    """How many of the next calls may jump: half as many as there were, until the compile is earned.

    Where it is, but there is no room, those of the next milliseconds.
    """
    due = needed - plan.seconds
    due = due if due > 0 else max(SECONDS_PASSED, plan.seconds * PART_PASSED)
    calls = calls_within(due, seconds, are_short=are_short)
    return min(calls, plan.runs // 2) if plan.runs else calls


def _has_native_code(executor: ProfilingExecutor) -> bool:
    """Whether calls have to come to native entries first."""
    return any(plan.unit is not None for plan in list(executor.plans.values()))


def run_without_plan(
    executor: ProfilingExecutor, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Leave a call to CPython whose arguments do not fit, or are of types that are too many."""
    stretch = TimeOfCall()
    try:
        return executor.run_plainly(args, kwargs)
    finally:
        executor.detours.note(stretch.end())
        if not _has_native_code(executor):
            executor.detours.pass_on()


def run_refused(
    executor: ProfilingExecutor, plan: Plan, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Let CPython run a call of a plan that gains nothing; after many of them calls jump there without coming here."""
    start = time.perf_counter()
    try:
        return executor.run_plainly(args, kwargs)
    finally:
        _count_slow_call(executor, plan, time.perf_counter() - start)


def _count_slow_call(executor: ProfilingExecutor, plan: Plan, seconds: float) -> None:
    plan.slow_calls += 1
    if all(p.refused is not None for p in list(executor.plans.values())):
        may_gain = plan.refused == NO_GAIN and plan.compiles == 1 and is_compiler_loaded()
        if may_gain and is_long_in_use(plan, seconds):
            plan.refused = None  # the next call that comes here has it compiled again
        _pass_behind(executor.owner, executor.fn, plan.slow_calls, seconds)
    elif (
        is_compiler_loaded()
        and plan.slow_calls >= SLOW_CALLS_BEFORE_PASSING_ON
        and not plan.pass_on
    ):
        with executor.lock:
            plan.pass_on = make_pass_on(executor.fn, plan.types)
            executor.link_entries()
    else:  # with that entry, it is a call that it does not take, as one with keywords
        plan.slow_calls += executor.detours.note(seconds) - 1


def _pass_behind(owner: object, fn: types.FunctionType, slow_calls: int, seconds: float) -> None:
    """Let calls jump to CPython behind so many that did not: as many as there were, jumps included.

    They may have arguments of other types. `seconds`: what the last call took; a long one need not jump.
    """
    as_many = 1 << min(slow_calls, MOST_PASSED.bit_length())
    calls = min(as_many, calls_within(SECONDS_PASSED, seconds))
    if calls:
        pass_calls(owner, fn, calls)

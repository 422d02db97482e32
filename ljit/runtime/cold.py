"""Cold functions: CPython runs them until what they took says that compiling pays.

Native code of a function without loops, called with numbers or objects, gains a part of a microsecond a call. To
profile and compile it takes some ten milliseconds, which most functions of a program never earn. Until then their
calls jump to the plain function through an entry that counts them (`passing.py`), and now and then one of them comes
to the executor and is timed: a function that takes long is looked at once in the interpreter. If it sees arrays there,
or is called with some, or anybody asks for its native code, it is cold no longer.

Functions with loops mostly never are: any call may be the one that takes all the time, which the interpreter leaves
in its midst. If all loops are over containers, and an argument is a user's object, they are after a first call in the
interpreter. Functions that call plain functions with loops, or recursive ones, by name are not cold either: such
callees depend on them for being native.

What is not cold is *watched*: a plan is compiled, and compiled again after bailouts, when the interpreter has spent as
much time on it as that may take. So whatever number of calls is to come, they take at most twice as long as with the
better choice. If the first calls are all short, the interpreter makes them slower than anything else does; then
CPython runs the others until it has spent that time. So it does when short calls leave native code one after the
other. Compiles may be bets within the stake, though (`waiting.py`), until ljit took a second: a program of a few
functions has them native in their second calls, however short these are.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.cpython.classes import is_open
from ljit.cpython.own_time import TimeOfCall, without_delays
from ljit.cpython.recursion import is_deep
from ljit.packed_types import is_packed
from ljit.records import Record, made_by
from ljit.runtime.binding import bind_arguments
from ljit.runtime.gains import Gain
from ljit.runtime.jumps import Jumps, may_callees_run_long
from ljit.runtime.likely import calls_its_name, levels_of_loops
from ljit.runtime.native import is_compiler_loaded
from ljit.runtime.options import TWIN_OPTIONS, Options
from ljit.runtime.passing import MOST_PASSED, calls_within, pass_calls
from ljit.runtime.plans import MANY_KINDS, MAX_PLANS, RUNS_OF_SHORT_ONE, Plan
from ljit.runtime.prices import is_optimising_due, price
from ljit.runtime.vectorcall import calls_left
from ljit.runtime.waiting import (
    SECONDS_OF_LLVM,
    claim,
    counted_once,
    has_room,
    has_run,
    is_staked,
    leaves_calls,
)
from ljit.types import RANGE, UINT, ItemsType, ListType, ObjectType, Type, is_number, is_numpy
from ljit.value_types import type_of

if TYPE_CHECKING:
    from ljit.runtime.baseline import Baseline
    from ljit.runtime.native import NativeUnit

__all__ = ["PROFILED_RUNS", "ColdCalls", "are_of_numbers", "takes_objects"]

#: of what was cold, and of calls with objects: one shows few branches and classes
PROFILED_RUNS = 30
_INSTRUCTIONS = 2_000_000  # that a function runs before native code would have gained what a small compile takes
_INSTRUCTIONS_OF_CALL = 8  # as which a call counts
_CALLS = 10_000  # the same for what a compile takes more for each instruction
_SECONDS_OF_BETS = 1.0  # that ljit has taken, beyond which compiles have to be earned
_MORE_BETS = 10  # times as many of those that are likely to pay
_SECONDS_OF_SHORT_CALL = 1e-4  # there: half of it is spent before and behind the call
# of a compile's price: to profile calls just before it, or for calls that leave its code
_SHARE_OF_LOOKS = 1 / 8
_PARTS_LEFT = 8  # of a call, one of which is much to be left to the interpreter
_SECONDS_OF_LOOPS = 0.06  # of the calls of a function with loops: as long as a compile, twice
_SECONDS_UNTIL_LOOK = 0.01  # of the calls: a look takes about a third of it


class ColdCalls(Record, frozen=False):
    """The calls of one function that were left to CPython, and how many more may be."""

    limit: int
    has_loops: bool = False  # over containers
    levels: int = 0  # of loops in one another
    are_short: bool = False  # none of them may be the one that takes all the time
    may_wait: bool = True  # whether its calls may be left, or profiled more than once
    calls: int = 0
    passed: int = 0  # how many the entry may take, as of the last time
    each: float = 0.0  # seconds of one, without loops
    seconds: float = 0.0  # that all calls took, by those that were timed
    waited: float = 0.0  # seconds that calls took before the function was translated
    is_asked_for: bool = False  # by code that is not decorated, few functions or many in a row
    is_last_chance: bool = False  # the first call is all that there may be, and cannot be left
    gain: Gain | None = None  # that native code is expected to be
    was_looked_at: bool = False
    has_run_often: bool = False  # until it was cold no longer
    last_types: tuple[Type, ...] | None = None  # of the arguments of the last call that was timed
    #: classes of arguments of timed calls, by their addresses
    kinds: set[tuple[int, ...]] = made_by(factory=set)

    @staticmethod
    def of(fn: types.FunctionType, options: Options) -> ColdCalls:
        """What may be left of a new function."""
        if not leaves_calls(options):
            return ColdCalls(0, may_wait=False)
        jumps = Jumps.of(fn.__code__)
        if jumps.may_run_long or may_callees_run_long(fn, {fn}):
            return ColdCalls(0, levels=levels_of_loops(fn.__code__))
        if options is TWIN_OPTIONS:  # callers that are compiled take its profile
            return ColdCalls(0, jumps.has_loops, are_short=True)
        limit = _CALLS + _INSTRUCTIONS // (_INSTRUCTIONS_OF_CALL + jumps.instructions)
        return ColdCalls(limit, jumps.has_loops, are_short=True)

    def wait_until_now(
        self,
        seconds: float,
        samples: Sequence[object] | None,
        *,
        is_asked_for: bool,
        is_last_chance: bool,
        gain: Gain,
    ) -> None:
        """Note what the calls took before there was an executor, and what arguments are like."""
        self.is_asked_for, self.is_last_chance = is_asked_for, is_last_chance
        self.gain = gain
        self.waited = seconds
        self.last_types = tuple(map(type_of, samples)) if samples is not None else None

    @property
    def is_over(self) -> bool:
        """Whether the function is cold no longer, or never was: each kind of arguments is a compile."""
        return self.calls >= self.limit * max(len(self.kinds), 1)

    def is_for(self, args: Iterable[object]) -> bool:
        """Whether a call with these arguments is to be left to CPython: no arrays, and loops over objects only."""
        classes = list(map(type, args))
        if any(issubclass(cls, np.ndarray | np.generic) for cls in classes):
            return False
        return not self.has_loops or any(map(is_open, classes))

    @property
    def is_look_due(self) -> bool:
        """Whether a call is to be profiled: the first one with a loop, else one of many that took long enough."""
        return not self.was_looked_at and (self.has_loops or self.seconds >= _SECONDS_UNTIL_LOOK)

    def is_earned(self, plan: Plan, baseline: Baseline | None, kinds: int = 0) -> bool:
        """Whether as much time was spent on the plan since its last compile as the next one may take.

        If CPython has spent it before the first, some runs that show branches and classes are enough. Where as many
        `kinds` of types have native code already, that for one more takes few of the calls, most likely.
        """
        if not self.may_wait or baseline is None:
            return True
        if not (self._may_load or self.is_likely(plan)):
            return False
        has_shown = self.has_run_often and plan.runs >= PROFILED_RUNS
        if plan.compiles or kinds >= MANY_KINDS or not has_shown:
            return self.is_paid(plan, baseline, kinds) and self.has_room(plan, baseline)
        return self.has_room(plan, baseline)

    def is_paid(self, plan: Plan, baseline: Baseline, kinds: int = 0) -> bool:
        """Whether as much time was spent on the plan as the next compile may take."""
        needed = price(plan, baseline) * (1 + kinds // MANY_KINDS)
        seconds = plan.seconds if kinds or plan.compiles else plan.seconds + self.waited
        return seconds >= needed and counted_once(seconds) >= needed

    def is_shown(self, plan: Plan, baseline: Baseline | None, kinds: int = 0) -> bool:
        """Whether the calls just before a compile, which is earned, were profiled: the first ones show little."""
        if not self.may_wait or baseline is None or not self.is_paid(plan, baseline, kinds):
            return True
        seconds = plan.looks * plan.last_run[1]
        return plan.looks >= PROFILED_RUNS or seconds >= price(plan, baseline) * _SHARE_OF_LOOKS

    def has_room(self, plan: Plan, baseline: Baseline | None) -> bool:
        """Whether a compile fits into ljit's share of the time: until it does, CPython runs the calls."""
        if not self.may_wait or baseline is None:
            return True
        is_free = is_compiler_loaded() or has_run(SECONDS_OF_LLVM)
        seconds = price(plan, baseline) + (0.0 if is_free else SECONDS_OF_LLVM)
        return has_room(
            seconds,
            is_likely=self.is_likely(plan),
            is_asked_for=self.is_asked_for,
            of_numbers=self.are_loops_over_numbers(plan),
            spent=plan.seconds,
            at_once=_takes_arrays(plan.types) or (self.is_last_chance and not plan.runs),
            gain=self.gain,
        )

    def may_optimise(self, plan: Plan, unit: NativeUnit) -> bool:
        """Whether a plan's quick code that was used up is to be optimised now; loops over numbers gain most by that."""
        return not self.may_wait or self.is_likely(plan) or is_optimising_due(unit)

    def may_look(self, plan: Plan, baseline: Baseline | None) -> bool:
        """Whether the interpreter may run a call; if that is likely to take long, its loops earn their own compiles."""
        if self.may_wait and self.is_likely(plan):
            return has_room(is_likely=True, is_asked_for=self.is_asked_for)
        return self.has_room(plan, baseline)

    @property
    def _may_load(self) -> bool:
        """Whether the compiler is there, or may be loaded though it is not likely that calls take long."""
        return self.is_asked_for or is_compiler_loaded() or has_run(SECONDS_OF_LLVM)

    def is_bet(self, plan: Plan, baseline: Baseline | None, kinds: int = 0) -> bool:
        """Whether the first compile of a plan is a bet within the stake; not if one call seldom shows all.

        Nor if neither is likely: that the calls take long, nor that native code takes much less, as it does of arrays;
        unless the function is what the program is about, for all that is known.
        """
        if baseline is None or self.has_run_often or plan.compiles or kinds >= MANY_KINDS:
            return False
        if takes_objects(plan.types):
            return False
        is_likely = self.is_likely(plan)
        if not (is_likely or self.is_asked_for or _takes_arrays(plan.types)):
            return False
        if not (is_likely or self._may_load):
            return False
        most = _SECONDS_OF_BETS * (_MORE_BETS if is_likely else 1)
        at_once = _takes_arrays(plan.types)
        return is_staked(
            price(plan, baseline),
            most=most,
            is_likely=is_likely,
            is_asked_for=self.is_asked_for,
            at_once=at_once,
            gain=self.gain,
        )

    def is_likely(self, plan: Plan) -> bool:
        """Whether calls are long loops over numbers, or on large arrays: the likely ones that take all the time."""
        return plan.has_large_arrays or (plan.has_many_trips and self.are_loops_over_numbers(plan))

    def are_loops_over_numbers(self, plan: Plan) -> bool:
        return not self.are_short and are_of_numbers(plan.types)

    def is_slowed_by(self, plan: Plan, baseline: Baseline) -> bool:
        """Note that a call has left native code; whether CPython had better run the calls until the next compile.

        That is so if most of the last calls were short ones that left, or if calls that leave have taken a part of what
        the compile takes and the interpreter runs much of them.
        """
        unit = plan.unit
        if unit is None:
            return False
        plan.left_at.append(unit.code.calls)
        if len(plan.left_at) < RUNS_OF_SHORT_ONE:
            return False
        each, calls = plan.seconds / unit.bailouts.total(), plan.left_at
        if each < _SECONDS_OF_SHORT_CALL and calls[-1] - calls[0] < 2 * RUNS_OF_SHORT_ONE:
            return True
        of_call = plan.last_run[1]
        is_much = _PARTS_LEFT * each >= of_call or of_call < _SECONDS_OF_SHORT_CALL
        return is_much and plan.seconds >= _SHARE_OF_LOOKS * price(plan, baseline)

    def leaves(self, plan: Plan, baseline: Baseline, kinds: int) -> bool:
        """Whether CPython is to run a call of a plan that has no native code yet: those before it were short.

        Where CPython has paid for its compile, some runs are enough for that, unless many `kinds` had it before.
        """
        if not self.is_shown(plan, baseline, kinds):
            return False
        if plan.is_waiting:
            return True
        is_soon = self.has_run_often and kinds < MANY_KINDS
        if not self.may_wait or is_soon or plan.compiles:
            return False
        are_short = self.are_short or plan.seconds < plan.runs * _SECONDS_OF_SHORT_CALL
        return plan.runs >= RUNS_OF_SHORT_ONE and are_short

    def run(
        self,
        owner: object,
        fn: types.FunctionType,
        run: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> object:
        """Time one call, which `run` leaves to CPython; the next ones may jump there."""
        values = bind_arguments(fn, args, kwargs)
        self.last_types = tuple(map(type_of, values)) if values is not None else None
        if len(self.kinds) < MAX_PLANS:  # more are not compiled
            self.kinds.add(tuple(id(type(value)) for value in [*args, *kwargs.values()]))
        calls = self.calls_since(owner)
        self.let_nested_pass(owner, fn)
        stretch = TimeOfCall()
        try:
            return run(args, kwargs)
        finally:
            within = self.calls_since(owner)
            self._note(fn, calls + within - 1, stretch.end() / within)
            if not self.is_over:
                self.passed = self._next_calls()
                pass_calls(owner, fn, self.passed)

    def let_nested_pass(self, owner: object, fn: types.FunctionType) -> None:
        """Before a call that is timed: calls within it jump to CPython, and count as it does, if it is recursive.

        So they do far down, where CPython takes less stack for them.
        """
        if calls_its_name(fn.__code__) or is_deep():
            self.passed = MOST_PASSED
            pass_calls(owner, fn, MOST_PASSED)

    def _note(self, fn: types.FunctionType, calls: int, seconds: float) -> None:
        if not self.has_loops:
            seconds = self.each = without_delays(seconds, self.each, fn.__code__)
        self.calls += calls
        self.seconds += self.claim(seconds * calls, self.last_types)
        if self.has_loops and self.seconds >= _SECONDS_OF_LOOPS:
            self.limit = 0

    def claim(self, seconds: float, types_: Sequence[Type] | None) -> float:
        """Count what calls took that were given arguments of these types."""
        of_objects = types_ is None or not are_of_numbers(types_)
        return claim(seconds, of_objects=of_objects, gain=self.gain)

    def calls_since(self, owner: object) -> int:
        """This call, and those that the entry has taken since the last one that came here."""
        calls = 1 + max(self.passed - max(calls_left(owner), 0), 0)
        self.passed = 0
        return calls

    def _next_calls(self) -> int:
        """Half as many as there were, but none beyond the limit, nor beyond the time at which something is due."""
        most = min(self.calls // 2 + 1, self.limit * len(self.kinds) - self.calls)
        due = math.inf if self.was_looked_at else _SECONDS_UNTIL_LOOK
        if self.has_loops:
            due = _SECONDS_OF_LOOPS
        each = self.seconds / self.calls
        return min(most, calls_within(due - self.seconds, each, are_short=not self.has_loops))


def takes_objects(types_: Iterable[Type]) -> bool:
    """Whether one of the argument types is a user's class."""
    return any(isinstance(t, ObjectType) and is_open(t.cls) for t in types_)


def _takes_arrays(types_: Iterable[Type]) -> bool:
    """Whether one of the argument types is an array, or a number of NumPy's."""
    return any(map(is_numpy, types_))


def are_of_numbers(types_: Iterable[Type]) -> bool:
    """Whether the argument types are numbers, arrays and the like, or lists and tuples of them."""
    return all(map(_is_of_numbers, types_))


def _is_of_numbers(t: Type) -> bool:
    if isinstance(t, ItemsType):
        return are_of_numbers(t.items)
    if isinstance(t, ListType):
        return _is_of_numbers(t.item)
    return is_number(t) or is_numpy(t) or t in (UINT, RANGE) or is_packed(t)

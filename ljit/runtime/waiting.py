"""What ljit may take of a program's time, and the calls that CPython runs until there is room for their function.

To translate a function takes some hundred times what CPython takes for a call of it, and to compile it as much again.
Most functions of a program never pay for that. But any call of a function with loops may be the one that takes all the
time, and nobody can tell before it is over. So CPython runs it with its trips counted, and leaves it when it has taken
long (`counted_calls.py`). Where that cannot be, translating a function at its first call is a bet, as compiling it is
before its calls took as long.

All that ljit does has to have room (`has_room`) in one of these:

- a share of what the program took so far, so that the bets are lost for a small part of the time;
- the same share of what CPython spent on the function itself, all of it where these are loops over numbers, half of it
  where they are on large arrays, time of calls in calls counted once: what is used much is translated in any case;
- a *stake*, which is there from the beginning: ten minutes, divided by the number of decorated functions. Each of
  them may be the one; but the more a package has, the fewer of them are, so that beyond eight the stake soon falls to
  almost nothing. But for a small part it is for calls of loops over numbers alone that may make many trips, and for
  large arrays (`likely.py`). Functions that are given objects are as often as not the plumbing of a package, those
  that are given 3 and 50 seldom take long, and what calls prepare while a module is imported does neither.

And where nothing says that it is likely to pay, the compiler is loaded, and what it does goes on, while that stays
below three quarters of what the program took: most programs end soon, and one of 0.3 s would take twice as long with
the compiler loaded. To load it, that is less, down to a twentieth, the less the functions do with numbers (`gains.py`).
But for a first call that nobody could leave later, and for arrays, on which code gains much.

A stake is what bets may lose. What was done for a function that has run as long since, by its loops in the interpreter
or in quick code, is *won* (`bets.py`): so all of a collection of kernels are bet on, few of a package's hundreds.

A function's calls come here first, with no compiler loaded: no more is imported than this. CPython runs the calls
until they took as long as the translation, and the program as long as it takes to load the compiler, or until one comes
that is likely to take long. What is translated goes on as any other function (`cold.py`), by the same rule.
"""

from __future__ import annotations

import math
import sys
import time
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit import config
from ljit.cpython.frame_count import thread
from ljit.cpython.own_time import TimeOfCall, seconds_of_own_work, timed_apart, without_delays
from ljit.cpython.recursion import call_plainly, is_deep
from ljit.runtime.bets import Bet
from ljit.runtime.binding import bind_arguments
from ljit.runtime.gains import Gain
from ljit.runtime.likely import (
    are_numbers,
    calls_its_name,
    codes_in,
    has_array,
    has_large_array,
    is_being_imported,
    levels_of_loops,
    may_be_many_trips,
    runs_later,
)
from ljit.runtime.options import TWIN_OPTIONS, Options
from ljit.runtime.passing import MOST_PASSED, PART_PASSED, SECONDS_PASSED, calls_within, pass_calls
from ljit.runtime.repeated import are_in_a_row, may_be_in_a_row, note_calls
from ljit.runtime.samples import samples_of
from ljit.runtime.vectorcall import calls_left

if TYPE_CHECKING:
    from ljit.runtime.counted_calls import CountedCalls

__all__ = [
    "SECONDS_OF_LLVM",
    "Waiting",
    "are_few",
    "claim",
    "count_in",
    "counted_once",
    "has_room",
    "has_run",
    "is_asked_for",
    "is_staked",
    "is_within_most",
    "leaves_calls",
    "loading",
    "seconds_claimed",
    "seconds_of_program",
]

_SHARE = 1 / 7  # of the time that the program takes, or a function, for what ljit does
_SHARE_OF_NUMBERS = 1.0  # of the time that loops over numbers take
_SHARE_OF_LIKELY = 1 / 2  # and work on large arrays, which gains less
_STAKE = 600.0  # seconds, by the number of functions
_ODDS = 80  # that a call of loops over numbers, or on large arrays, is the long one, against others
_FEW = 8  # functions; the more a package has beyond them, the more of them are plumbing
_LEAST_STAKE = 0.1  # seconds, for what is likely: nobody waits long for that
# Of the time that the program took, for all that ljit did and is to do next where that is not likely to pay.
_MOST = 3 / 4
_LEAST = 1 / 20  # to load the compiler for what is expected to gain nothing
_SECONDS_OF_CLAIM = 1e-3  # that calls took, until their function's code is looked at for it
_LITTLE = 0.03  # seconds, that it may be at any time: to count trips
_SECONDS_OF_UNIT = 1e-4  # of bytecode, to translate it
_SECONDS_OF_LOADING = 0.05  # the compiler without LLVM, and what its first use takes
_SECONDS_OF_NUMPY = 0.07  # the same where the program has not imported it
_SECONDS_OF_PARSING = 0.001  # to have trips counted, beside a part for each line of the file
_SECONDS_OF_LINE = 1e-5
_WITHOUT_LOOPS = 10  # a bet on such a function has the stake for as many
#: beside the translation, what a call takes whose trips are counted before it is left
_SECONDS_OF_COMPILE = 0.05
_SECONDS_OF_LIKELY = 0.02  # the same of one that is likely to take long
_PART_OF_LIKELY = 0.7  # and of what it takes to load the compiler
SECONDS_OF_LLVM = 0.1  # to load it
_PASSED_AT_FIRST = 32  # calls, of functions without loops
_TIMES_PASSED = 3  # as many as there were so far, likewise
_PART_OF_LOOPS = 8  # of the calls so far, that jump next: the next loop over numbers may be long

_functions: weakref.WeakSet[object] = weakref.WeakSet()


class _Start:
    """What the process, and ljit in it, had taken when the first call came that may have to wait."""

    of_process: float | None = None
    of_own_work = 0.0
    of_loading = 0.0  # and what ljit has taken since to load the compiler


class _Claims:
    """What calls of functions took, all together. Those within them are in it as often, unless they were timed."""

    # `gaining`: what native code is expected to gain on
    __slots__ = ("gaining", "of_objects", "seconds")

    def __init__(self) -> None:
        self.seconds = self.of_objects = self.gaining = 0.0


_claims = _Claims()


@contextmanager
def loading() -> Iterator[None]:
    """Count what happens in it as ljit's own work, which it does once for all functions."""
    before = seconds_of_own_work()
    with timed_apart():
        yield
    seconds = seconds_of_own_work() - before
    Bet.loading += seconds
    _Start.of_loading += seconds


def claim(seconds: float, *, of_objects: bool = False, gain: Gain | None = None) -> float:
    """Count what calls of one function took; `of_objects`: these were given more than numbers and arrays."""
    _claims.seconds += seconds
    if gain is not None and seconds >= _SECONDS_OF_CLAIM:
        gain.part(seconds_of_program())
    _claims.gaining += seconds * (1.0 if gain is None else gain.known)
    if of_objects:
        _claims.of_objects += seconds
    return seconds


def seconds_claimed() -> tuple[float, float]:
    """What calls of all functions took, and those of them that were given objects."""
    return _claims.seconds, _claims.of_objects


def counted_once(seconds: float) -> float:
    """The part of what calls took that is their own: all functions have taken no more than the program."""
    claims = _claims.seconds
    if _Start.of_process is None or not claims or not config.settings().cold_calls:
        return seconds
    return seconds * min(seconds_of_program() / claims, 1.0)


def count_in(function: object) -> None:
    """Count a decorated function for as long as it lives."""
    _functions.add(function)


def are_few() -> bool:
    """Whether so few functions are decorated that a call without arguments may be the long one."""
    return len(_functions) <= _FEW


def is_asked_for() -> bool:
    """Whether the call that is about to begin is one that the program is about, as likely as not.

    So it is where it comes from code that is not decorated, and few functions are: those that its functions call are
    part of it, whose loops count their trips.
    """
    return thread.frames.depth == 0 and are_few()


def has_room(
    seconds: float = 0.0,
    *,
    spent: float = 0.0,
    of_numbers: bool = False,
    is_likely: bool = False,
    is_asked_for: bool = False,
    at_once: bool = False,
    gain: Gain | None = None,
) -> bool:
    """Whether as much work of ljit's own is within its share, or within the stake.

    `spent`: on the function's own calls. `of_numbers`: these are loops over numbers, which take a small part of that
    time in native code. `is_likely`: they are long, or on large arrays. What is not waits until the program has run
    long enough, the longer the less it may `gain`; not if it is wanted `at_once`, as it cannot be done later, or gains
    much. `is_asked_for`: the stake is that of few functions.
    """
    share = _SHARE_OF_NUMBERS if of_numbers else _SHARE_OF_LIKELY if is_likely else _SHARE
    if not config.settings().cold_calls or 0.0 < seconds <= share * counted_once(spent):
        return True
    of_program = seconds_of_program()  # in front of all else: the time may begin here
    most = _SHARE * of_program + _stake(is_likely=is_likely, is_asked_for=is_asked_for)
    fits = _at_stake(is_likely=is_likely) + seconds <= most
    return fits and (is_likely or at_once or is_within_most(seconds, gain, spent))


def is_within_most(seconds: float, gain: Gain | None = None, spent: float = 0.0) -> bool:
    """Whether as much work more leaves what ljit did within what it may do where that is not likely to pay.

    Loading counts before it is done: then what is loaded had better be used. It takes most of what ljit does for a
    short program, so that only as much may be as is expected to `gain` by it: for this function, and for all, with what
    was `spent` on calls of this one that have not ended.
    """
    if not config.settings().cold_calls:
        return True
    work, of_program = _own_work() - _Start.of_loading + seconds, seconds_of_program()
    if work <= max(_LEAST * of_program, _LITTLE):
        return True
    if work > _MOST * of_program or gain is None or not _seconds_of_loading():
        return work <= _MOST * of_program
    part = gain.part(of_program)
    of_all = (_claims.gaining + spent * part) / max(_claims.seconds + spent, of_program)
    return work <= _MOST * of_program * min(part, of_all)


def has_run(seconds: float) -> bool:
    """Whether the program took so long without ljit: sooner no compiler is loaded for what is not likely to pay."""
    return seconds <= 0.0 or not config.settings().cold_calls or seconds_of_program() >= seconds


def is_staked(
    seconds: float,
    *,
    most: float = math.inf,
    is_likely: bool = False,
    is_asked_for: bool = False,
    at_once: bool = False,
    gain: Gain | None = None,
) -> bool:
    """Whether as much work is within the stake, and brings what ljit did so far to no more than `most`."""
    stake = _stake(is_likely=is_likely, is_asked_for=is_asked_for)
    fits = _at_stake(is_likely=is_likely) + seconds <= min(stake, most)
    return fits and (is_likely or at_once or is_within_most(seconds, gain))


def _at_stake(*, is_likely: bool) -> float:
    """What ljit did. Loading is paid for when the program has run as long, or a function that was likely to."""
    won, loading = (Bet.won, Bet.loading) if is_likely else (0.0, _Start.of_loading)
    return _own_work() - won - (loading if seconds_of_program() >= loading else 0.0)


def _stake(*, is_likely: bool, is_asked_for: bool) -> float:
    functions = max(len(_functions), 1)
    if is_asked_for:
        functions = min(functions, _FEW)
    seconds = _STAKE / (functions * max(functions / _FEW, 1) ** 3)
    return max(seconds, _LEAST_STAKE) if is_likely else seconds / _ODDS


def seconds_of_program() -> float:
    """What the program took without ljit; the time begins at the first call."""
    now = time.process_time()
    if _Start.of_process is None:
        _Start.of_process, _Start.of_own_work = now, seconds_of_own_work()
        _Start.of_loading = 0.0
    return now - _Start.of_process - _own_work()


def _own_work() -> float:
    return seconds_of_own_work() - _Start.of_own_work


def leaves_calls(options: Options) -> bool:
    """Whether calls of functions with these options may be left to CPython for a while, or profiled more than once."""
    is_asked = options.num_profiled_runs != Options().num_profiled_runs
    return config.settings().cold_calls and (options is TWIN_OPTIONS or not is_asked)


def _seconds_of_loading() -> float:
    """What it takes to load the compiler: functions are translated to be compiled."""
    seconds = {
        "ljit.runtime.executor": _SECONDS_OF_LOADING,
        "numpy": _SECONDS_OF_NUMPY,
        "ljit.codegen": SECONDS_OF_LLVM,
    }
    return sum(s for module, s in seconds.items() if module not in sys.modules)


class Waiting:
    """The calls of one function while it waits."""

    __slots__ = (
        *(
            "_calls",
            "_defaults",
            "_each",
            "_fn",
            "_gain",
            "_is_early",
            "_is_recursive",
            "_levels",
            "_of_numbers",
        ),
        *(
            "_passed",
            "_price",
            "_runs_later",
            "_seconds",
            "_seconds_of_counting",
            "_watched",
            "is_asked_for",
            "is_last_chance",
            "samples",
        ),
    )

    def __init__(self, fn: types.FunctionType) -> None:
        self._fn, code = fn, fn.__code__
        self._gain = Gain(code)
        self._price = sum(len(c.co_code) // 2 for c in codes_in(code)) * _SECONDS_OF_UNIT
        self._runs_later = runs_later(code)
        self._levels = 0 if self._runs_later else levels_of_loops(code)
        defaults = fn.__defaults__ or ()
        self._defaults = (*[None] * (code.co_argcount - len(defaults)), *defaults)
        self._seconds_of_counting = _SECONDS_OF_PARSING + code.co_firstlineno * _SECONDS_OF_LINE
        self._is_recursive = calls_its_name(code)  # then one call may be all that there are
        self._is_early = is_being_imported(fn)  # at the first call
        # the last call's arguments, with loops: the next may be the long one
        self._of_numbers = False
        self._calls = 0
        self._each = 0.0  # seconds of one
        self._seconds = 0.0  # that they took, by those that were timed
        self._passed = 0
        self.is_asked_for = False  # and therefore translated
        self.is_last_chance = False  # the same: the first call may be all, and cannot be left
        self.samples: Sequence[object] | None = None  # of the first call's arguments
        #: who counts the trips of calls, once one is to be translated
        self._watched: CountedCalls | None = None

    @staticmethod
    def of(fn: types.FunctionType, options: Options) -> Waiting | None:
        """None: the function need not wait."""
        if not leaves_calls(options):
            return None
        has_room()  # the time begins
        return Waiting(fn)

    def is_over(self, values: Sequence[object], *, watch: Callable[[], CountedCalls]) -> bool:
        """Whether the function is to be translated now; asked for each call that is not passed on.

        `values`: the call's arguments. `watch` makes who counts trips: a loop that is not over arrays need not be
        translated before it has run for a while.
        """
        if self._runs_later:  # its calls do no more than to make what runs it, which is CPython's
            return False
        price, loading = self._price, _seconds_of_loading()
        is_paid = self._seconds >= price and counted_once(self._seconds) >= price
        is_likely = self._is_likely(values)
        on_arrays = has_array(values)
        has_time = is_paid and has_run(loading) and (is_likely or on_arrays or self._may_load())
        of_numbers = bool(self._levels) and self._of_numbers
        spent, gain = self._seconds, self.gain
        if has_time and has_room(
            price, spent=spent, of_numbers=of_numbers, is_likely=is_likely, gain=gain
        ):
            return True
        is_asked, in_a_row = is_asked_for(), are_in_a_row(self._fn)
        if is_likely and (on_arrays or in_a_row):
            is_asked = is_asked or in_a_row
            is_due = has_room(price + loading, is_likely=True, is_asked_for=is_asked)
            self.is_asked_for = is_due and is_asked
            return is_due
        is_first = not self._calls
        if self._is_early and is_first:
            return False
        may_be_bet_on = self._is_recursive or (self._levels and not is_first)
        if may_be_bet_on and is_asked:
            self.is_asked_for = has_room(
                price + loading, is_asked_for=True, at_once=on_arrays, gain=gain
            )
            if self.is_asked_for:
                return True
        if not self._levels:
            # what is loaded already leaves such calls to CPython as well, and knows more of them
            return is_first and not loading and is_staked(_WITHOUT_LOOPS * price, gain=gain)
        if self._watched is None and has_room(self._seconds_of_counting, is_likely=is_likely):
            self._watched = watch()
        watched = self._watched
        if watched is not None and watched.counted is not None:
            watched.price = price + loading + _SECONDS_OF_COMPILE
            watched.is_likely = is_likely
            watched.seconds = self._seconds_until_left(loading, is_likely=is_likely)
            return False
        cannot_be_left = is_first and watched is not None and watched.has_loops
        self.is_last_chance = cannot_be_left and is_asked
        at_once, is_due = self.is_last_chance, is_likely or cannot_be_left
        return is_due and has_room(price + loading, is_likely=is_likely, at_once=at_once, gain=gain)

    def _may_load(self) -> bool:
        """Whether the compiler is there, or may be loaded for calls that are not likely to pay."""
        loading = _seconds_of_loading()
        needed = loading + self._price + _SECONDS_OF_COMPILE
        return not loading or is_within_most(needed, self.gain)

    def _seconds_until_left(self, loading: float, *, is_likely: bool) -> float:
        """What a call may take whose trips are counted, before it is translated and compiled."""
        if is_likely:
            return max(_PART_OF_LIKELY * loading, _SECONDS_OF_LIKELY)
        return loading + self._price + _SECONDS_OF_COMPILE

    def _is_likely(self, values: Sequence[object]) -> bool:
        """Whether the call may well take long."""
        self._of_numbers = are_numbers(values)
        if not self._levels:
            return has_large_array(values)
        with_defaults = [*values, *self._defaults[len(values) :]]
        return self._of_numbers and may_be_many_trips(
            with_defaults, self._levels, if_unknown=not self._calls and is_asked_for()
        )

    @property
    def gain(self) -> Gain:
        """What native code is expected to gain."""
        return self._gain if self._watched is None else self._watched.gain

    @property
    def seconds(self) -> float:
        """What CPython took for calls so far."""
        return self._seconds

    def run(
        self,
        owner: object,
        fn: types.FunctionType,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> object:
        """Time a call, which CPython runs; the next ones may jump there, and, far down, those within it."""
        if not self._calls:
            bound = bind_arguments(fn, args, kwargs)
            self.samples = samples_of(bound) if bound is not None else None
        calls = self._calls_since(owner)
        if is_deep() or self._is_recursive:
            self._passed = MOST_PASSED
            pass_calls(owner, fn, MOST_PASSED)
        counted = self._watched and self._watched.counted
        stretch = TimeOfCall()
        try:
            return call_plainly(counted or fn, args, kwargs)
        finally:
            within = self._calls_since(owner)
            self._note(owner, fn, calls + within - 1, stretch.end() / within)

    def _calls_since(self, owner: object) -> int:
        """This call, and those that passed since the last one that came here."""
        calls = 1 + max(self._passed - max(calls_left(owner), 0), 0)
        self._passed = 0
        return calls

    def _note(self, owner: object, fn: types.FunctionType, calls: int, seconds: float) -> None:
        """Count calls that took so many seconds each; the next ones pass, too."""
        if not self._levels:
            seconds = self._each = without_delays(seconds, self._each, fn.__code__)
        was_due = self._seconds >= self._price  # but there was no room
        is_first = not self._calls
        note_calls(fn, calls, seconds)
        is_seen = may_be_in_a_row(fn)
        self._calls += calls
        self._seconds += claim(seconds * calls, of_objects=not self._of_numbers, gain=self.gain)
        part = _PART_OF_LOOPS if self._of_numbers else 1
        within = max(SECONDS_PASSED, self._seconds * PART_PASSED)
        if not was_due:
            within = min(within, self._price - self._seconds)
        calls = max(_TIMES_PASSED * self._calls, _PASSED_AT_FIRST)
        if self._levels:
            calls = self._calls // part
        most = min(calls, calls_within(within, seconds, are_short=not self._levels))
        if (is_first and self._levels and is_asked_for()) or is_seen:
            most = 0
        self._passed = most
        if most or calls_left(owner) > 0:  # those within the call may have been fewer than were let
            pass_calls(owner, fn, most)

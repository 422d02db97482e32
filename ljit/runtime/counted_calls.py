"""Calls that CPython runs with their trips counted, since any of them may be the one that takes all the time.

Now and then the clock is looked at. A call that has taken about as long as it takes to translate and compile the
function goes on in the interpreter, at the end of a trip (`taking_over.py`), and soon in native code. So whatever
number of trips is to come, the call takes at most twice as long as with the better choice, and a short one no longer
than under CPython.
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
import types
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ljit.cpython.frame_count import GRANTED, thread
from ljit.cpython.frames import pass_over
from ljit.cpython.locks import import_lock
from ljit.cpython.own_frames import drop_own_frames
from ljit.cpython.own_time import seconds_here, timed_apart
from ljit.cpython.stack import compiler_frames
from ljit.records import Record
from ljit.runtime.gains import Gain
from ljit.runtime.waiting import counted_once, has_room, seconds_claimed

if TYPE_CHECKING:
    from ljit.frontend.counted_trips import CountedLoop
    from ljit.runtime.executor import ProfilingExecutor
    from ljit.runtime.taking_over import Entrance

__all__ = ["CountedCalls"]

_MOST_TRIPS = 256  # from one look to the next: CPython has these numbers at hand
# Of what a likely call took, for calls within it: they may stand in its loops. Where those that are given objects take
# more than a part of it, it is none.
_OF_CALLEES = 0.75
_MOST_OF_OBJECTS = 0.25
_LEAST_OWN = (
    1 / 8
)  # of any other call, that counts as its own: what it drives may end before it does
_LOOKS = 16  # in the time until a call is left, at least


class _ByIndex:
    """What CPython goes through by index, as it does with arrays."""

    def __getitem__(self, index: int) -> object:
        raise IndexError(index)


_CONTAINERS: tuple[Any, ...] = (
    *([], (), "", "\xff", b"", bytearray(), {}, {}.values(), {}.items(), set()),
    *(range(0), range(2**70), reversed([]), reversed(()), reversed({}), _ByIndex()),
    *(itertools.product(), itertools.permutations(()), itertools.combinations((), 0)),
    *(itertools.count(), itertools.repeat(None)),
)
_QUIET = frozenset(type(iter(x)) for x in _CONTAINERS)


class _Clock(Record, frozen=False):
    """When looks at one call began, the last one was, and how many trips follow it."""

    begun: float
    last: float
    trips: int = 8
    own: float | None = None  # time of the processor, where a look at it was due first
    claims: tuple[float, float] = (0.0, 0.0)  # what calls of all functions had taken then
    of_callees: float = 0.0  # the largest part of the call so far that was theirs


class CountedCalls:
    """The calls of one function. `executor` gives its executor; None: there can be none now."""

    def __init__(self, fn: FunctionType, executor: Callable[[], ProfilingExecutor | None]) -> None:
        self.fn = fn
        self.code = fn.__code__
        self.seconds = 0.0  # that a call may take before it is left
        self.price = 0.0  # seconds that what follows takes ljit
        self.is_likely = False  # that a call takes long, by its arguments
        self._executor = executor
        self._entrances: dict[int, tuple[ProfilingExecutor, Entrance | None]] = {}  # by loop
        self._counted: FunctionType | None = None
        self._loops: Sequence[CountedLoop] = ()
        with import_lock, compiler_frames(), timed_apart():
            from ljit.frontend.counted_trips import counted_function, has_loop_statement

            found = counted_function(fn, self)
            if found is not None:
                self._counted, self._loops = found
            self.has_loops = found is not None or has_loop_statement(fn)
        counted = self.code if self._counted is None else self._counted.__code__
        self.gain = Gain(counted, {loop.at for loop in self._loops})

    @property
    def counted(self) -> FunctionType | None:
        """What runs a call; None: nothing counts its trips."""
        counted, fn = self._counted, self.fn
        if counted is None or fn.__code__ is not self.code:
            return None
        counted.__defaults__, counted.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return counted

    def look(self, clock: Any, loop: int, *iterators: object) -> tuple[int, Any]:
        """How many trips of a call to count until the next look; 0: it is to be left now."""
        try:
            now = time.perf_counter()
            if clock is None:
                clock = _Clock(now, now)
            elif self._is_over(clock, now) and self._can_leave(loop, iterators):
                return 0, clock
            return clock.trips, clock
        except BaseException as error:  # of a signal's handler
            drop_own_frames(error)
            raise

    def _is_over(self, clock: _Clock, now: float) -> bool:
        """Whether the call has taken so long that it is to be left. If not, how many trips follow."""
        is_soon = now - clock.last < self.seconds / _LOOKS
        clock.trips = min(2 * clock.trips, _MOST_TRIPS) if is_soon else max(clock.trips // 2, 1)
        clock.last = now
        if now - clock.begun < self.seconds / 2:
            return False
        if clock.own is None:
            clock.own, clock.claims = seconds_here(), seconds_claimed()
        observed = seconds_here() - clock.own
        if observed < self.seconds / 2:
            return False
        own, is_likely = self._own_seconds(clock, observed)
        if own < self.seconds or not has_room(
            self.price, spent=own, of_numbers=is_likely, is_likely=is_likely, gain=self.gain
        ):
            return False
        # If it cannot be left at this loop, it may be at another one.
        clock.begun, clock.own = now, None
        return True

    def _own_seconds(self, clock: _Clock, observed: float) -> tuple[float, bool]:
        """What counts as a call's own time, and whether it is still likely to be a long loop over numbers.

        One that only drives other functions gains nothing by being native: they are compiled by themselves. When they
        are, nobody tells what they take, but what they took before.
        """
        spent = self.seconds / 2 + observed
        of_callees, of_objects = (
            now - then for now, then in zip(seconds_claimed(), clock.claims, strict=True)
        )
        of_callees = min(counted_once(of_callees), observed)
        clock.of_callees = max(clock.of_callees, of_callees / observed)
        if self.is_likely and of_objects <= _MOST_OF_OBJECTS * observed:
            return spent - _OF_CALLEES * of_callees, True
        return spent * max(1.0 - clock.of_callees, _LEAST_OWN), False

    def _can_leave(self, loop: int, iterators: Iterable[object]) -> bool:
        """Whether the interpreter can go on there; the function is translated for that.

        What the loops around go through stays with CPython's frame until the call ends: when it dies must not matter.
        """
        if self.fn.__code__ is not self.code or not all(map(_is_quiet, iterators)):
            return False
        executor = self._executor()
        if executor is None:
            return False
        found = self._entrances.get(loop)
        if found is None or found[0] is not executor:
            baseline = executor.baseline
            entrance = _taking_over().entrance
            place = entrance(baseline, self._loops[loop]) if baseline is not None else None
            found = self._entrances[loop] = executor, place
        return found[1] is not None

    def go_on(self, variables: dict[str, object], loop: int) -> object:
        """Run the rest of a call, given its variables."""
        frames, left = thread.frames, thread.frames.left
        # where that function was called, whose frame calls this
        before, frames.called_at = frames.called_at, left.value + 2
        left.value += GRANTED
        try:
            executor, place = self._entrances[loop]
            return _taking_over().take_over(executor, self.fn, place, variables)
        except BaseException as error:
            drop_own_frames(error)
            raise
        finally:
            left.value -= GRANTED
            frames.called_at = before

    def drop(self) -> None:
        """Take the frame of the counted function off the traceback: that of the function follows it."""
        error = sys.exc_info()[1]
        if error is not None and error.__traceback__ is not None:
            error.__traceback__ = error.__traceback__.tb_next


def _is_quiet(iterator: Any) -> bool:
    """Whether it is an iterator of CPython's own over containers, and runs no code when it dies."""
    if type(iterator) is enumerate:
        return _is_quiet(iterator.__reduce__()[1][0])
    if type(iterator) is zip:
        return all(map(_is_quiet, iterator.__reduce__()[1]))
    return type(iterator) in _QUIET


@functools.cache
def _taking_over() -> types.ModuleType:
    with import_lock, compiler_frames():
        from ljit.runtime import taking_over

        pass_over((taking_over.__name__,))
        return taking_over

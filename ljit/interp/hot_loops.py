"""Which loops of a run are hot: trips are counted over the activations of a loop, not in each alone.

A loop is hot after `Hooks.trips_until_hot` trips, whoever ran them: what native code did before it was left counts
(`HotLoops.count_native_trips`), so that the rest of a long loop is soon native again. What else takes the
interpreter's time counts as the trips that take as long: raises, and the loops within, each with what it takes to
enter it. So a nest is hot when it has run long, however that time is spread over its loops.

A trip may take far longer than its nodes do elsewhere (an operation on large arrays). So the clock is looked at, too,
behind the second trip and when the trips so far say that it will be due: a loop that took `Hooks.seconds_until_hot`
is hot. So is one that took a small part of that, and will take as long by the trips that are left of what it goes
through. Each activation has its own time: what happens between them is the loop's around, which has a clock, too.

A loop that is short but entered often is not reported at once: its parent is, at its next trip, since native code of
the parent has the inner loop in it. A parent that has no next trip leaves it to the one around it; one that is
declined, or whose next trip is long in coming, leaves it to the inner loop. A loop that has no next trip itself is not
reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ljit.cpython.own_time import seconds_here
from ljit.interp.code import Code, LoopInfo
from ljit.ops.containers.iteration_views import trips_of

__all__ = ["MIN_TRIPS", "NODES_OF_LEAVING_RAISE", "NODES_OF_RAISE", "HotLoops"]

#: trips that are interpreted, and watched, behind native code before the loop may be native again
MIN_TRIPS = 64

#: that the interpreter runs in the time that a raise and its handler take: within a step, and out of it
NODES_OF_RAISE = 90
NODES_OF_LEAVING_RAISE = 300

#: the same for entering a loop and leaving it
_NODES_OF_ACTIVATION = 40

#: trips behind which the clock is looked at for the first time
_FIRST_LOOK = 2

#: activations of a loop that are timed so soon, and later ones: the loop around has a clock of its own
_FIRST_ACTIVATIONS = 8
_LATER_LOOK = 64

#: of the time after which a loop is hot: after so much of it, what is left of the loop is guessed
_PART_UNTIL_GUESS = 1 / 16

#: how many times the trips so far may be those until the next look
_MOST_GROWTH = 3

#: activations of a loop that runs elsewhere after which its parent is asked about again
_MANY_ACTIVATIONS = 1000

#: times that a loop is told to report itself before an inner one does
_MANY_REQUESTS = 64


class _Hooks(Protocol):
    def trips_until_hot(self, loop: LoopInfo) -> int: ...

    def seconds_until_hot(self, loop: LoopInfo) -> float: ...

    def on_hot_loop(self, code: Code, loop_id: int, trip: int, registers: list[object]) -> Any: ...


class _Count:
    """What a run knows of one loop."""

    __slots__ = (
        "activations",
        "charged",
        "first",
        "is_declined",
        "is_elsewhere",
        "look",
        "requests",
        "since",
        "threshold",
        "told",
        "trips",
        "trips_then",
        "will_be_long",
    )

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold  # as it was when last asked about
        self.trips = 0  # of all activations but the present one, and what counts as trips
        self.told = 0  # trips that the parent was told of
        self.charged = 0  # nodes that are no whole trip
        self.look: int | None = _FIRST_LOOK  # trips behind which the clock is looked at
        self.since = seconds_here()  # when the present activation began to be timed
        self.trips_then = 0
        self.first: int | None = None  # the trip in which that was; None: it is not timed yet
        self.will_be_long = False  # this activation, when the clock was looked at last
        self.activations = 0
        self.requests = 0  # of inner loops since it was at its header
        self.is_elsewhere = False  # it was run elsewhere when last asked about
        self.is_declined = False

    @property
    def first_look(self) -> int:
        """Trips of an activation behind which the clock is looked at for the first time."""
        return _FIRST_LOOK if self.activations <= _FIRST_ACTIVATIONS else _LATER_LOOK

    def trips_left(self, done: int) -> int:
        """Trips until the header must be looked at."""
        is_next = self.look is not None and self.look < self.threshold
        return max((self.look if is_next else self.threshold) - done, 1)  # type: ignore[operator]

    def begin(self, done: int, trip: int, now: float) -> None:
        """Take the time from now on."""
        self.since, self.trips_then, self.first = now, done, trip

    def is_long(self, done: int, trip: int, left: float | None, seconds: float) -> bool:
        """Look at the clock: whether the loop took so many seconds. If not, say when to look again.

        Or whether it took a part of them, and the trips that are `left` will take as long.
        """
        now = seconds_here()
        if self.first is None:
            self.begin(done, trip, now)
            self.look = done + self.first_look
            return False
        taken, trips = now - self.since, done - self.trips_then
        growth = min((seconds - taken) / max(taken, 1e-9), _MOST_GROWTH)
        self.look = done + max(int(trips * growth), 1)
        self.will_be_long = (
            left is not None
            and taken >= _PART_UNTIL_GUESS * seconds
            and taken * left >= seconds * (trip - self.first)
        )
        if taken >= seconds:
            self.begin(done, trip, now)
        return taken >= seconds or self.will_be_long


class HotLoops:
    """The counts of one run of the machine."""

    __slots__ = ("_counts", "_hooks", "raised")

    def __init__(self, hooks: _Hooks) -> None:
        self._hooks = hooks
        # Code that ran a loop elsewhere raised: the user's frame is in the traceback already.
        self.raised = False
        self._counts: dict[int, _Count] = {}

    def enter(self, loop: LoopInfo, registers: list[Any]) -> int:
        """Give the trip at which the header of a loop that is entered must be looked at.

        Its trip register still holds what an earlier activation left there.
        """
        count = self._counts.get(loop.id) or self._begin(loop)
        count.activations += 1
        start, stop, last = registers[loop.start], registers[loop.stop], registers[loop.trip]
        count.first = start if count.activations == 1 else None
        if count.is_elsewhere:
            count.look = None
            return min(start, stop)  # type: ignore[no-any-return]
        if count.is_declined:
            return min(start + count.threshold, stop)  # type: ignore[no-any-return]
        if isinstance(last, int):  # where the activation before this one ended
            count.trips += last
        if count.activations > 1 and count.look is not None:
            count.look = count.trips + count.first_look
        if loop.parent is not None:
            nodes = (count.trips - count.told) * loop.size + _NODES_OF_ACTIVATION
            count.told = count.trips
            self._charge(loop.parent, registers, nodes)
        return min(start + count.trips_left(count.trips), stop)  # type: ignore[no-any-return]

    def _begin(self, loop: LoopInfo) -> _Count:
        count = self._counts[loop.id] = _Count(self._hooks.trips_until_hot(loop))
        return count

    def _charge(self, loop: LoopInfo, registers: list[Any], nodes: int) -> None:
        """Count what happens within a trip as the trips that take as long."""
        count = self._counts.get(loop.id) or self._begin(loop)
        trips, count.charged = divmod(count.charged + nodes, max(loop.size, 1))
        count.trips += trips
        registers[loop.limit] -= trips

    def count_raise(self, loop: LoopInfo, registers: list[Any], nodes: int) -> None:
        """Count a raise that is handled within a trip as the nodes that it takes as long as."""
        self._charge(loop, registers, nodes)

    def count_native_trips(
        self, loops: Iterable[LoopInfo], registers: list[Any], left: LoopInfo | None = None
    ) -> None:
        """Set the limits of loops that native code has left in progress.

        It ran the loop `left` or (None) the whole function; loops around `left` keep their limits.
        """
        for loop in loops:
            if left is not None and not _is_within(loop, left):
                continue
            trip, stop = registers[loop.trip], registers[loop.stop]
            if not isinstance(trip, int) or not isinstance(stop, int):
                registers[loop.limit] = 0
                continue
            count = self._counts.get(loop.id) or self._begin(loop)
            threshold = count.threshold = self._hooks.trips_until_hot(loop)
            missing = max(threshold - _trips(loop, registers), min(threshold, MIN_TRIPS))
            done = threshold - missing
            count.trips = done - _trips(loop, registers)
            count.look = done + _FIRST_LOOK
            count.begin(done, trip, seconds_here())
            registers[loop.limit] = min(trip + count.trips_left(done), stop)

    def report(self, code: Code, loop: LoopInfo, trip: int, registers: list[Any]) -> Any:
        """Tell the hooks of a loop that is hot, or let its parent be told of; None: go on."""
        count = self._counts[loop.id]
        count.threshold = self._hooks.trips_until_hot(loop)
        count.requests = 0
        trips, left = _trips(loop, registers), _trips_left(loop, registers)
        if left is not None and left <= 0:  # it ends here
            registers[loop.limit] = registers[loop.stop]
            return None
        done = count.trips + trips
        if done >= count.threshold or count.look is None:
            is_hot, count.look, next_report = True, None, count.threshold
            is_short = trips < count.threshold
        else:
            is_hot = count.is_long(done, trip, left, self._hooks.seconds_until_hot(loop))
            next_report = count.trips_left(done)
            is_short = 2 * trips < done and not count.will_be_long
        registers[loop.limit] = min(trip + next_report, registers[loop.stop])
        if not is_hot or self._leaves_to_parent(loop, count, registers, is_short=is_short):
            return None
        self.raised = True
        left = self._hooks.on_hot_loop(code, loop.id, trip, registers)
        self.raised = False
        count.look = None
        count.is_declined, count.is_elsewhere = left is None, left is not None
        if count.is_declined:
            registers[loop.limit] = min(trip + count.threshold, registers[loop.stop])
        return left

    def _leaves_to_parent(
        self, loop: LoopInfo, count: _Count, registers: list[Any], *, is_short: bool
    ) -> bool:
        """Whether the loop around a hot one that has a next trip is told to report itself instead."""
        around = parent = loop.parent
        while around is not None and _is_in_last_trip(around, registers):
            around = around.parent
        if around is None or parent is None:
            return False
        told = self._counts.get(around.id) or self._begin(around)
        if told.is_declined:
            return False
        if count.is_elsewhere:
            if count.activations % _MANY_ACTIVATIONS == 0:
                _tell(around, told, registers)
            return False
        asked = self._counts.get(parent.id) or self._begin(parent)
        if not is_short or asked.requests >= _MANY_REQUESTS:
            return False
        asked.requests += 1  # it has not come to its next trip, or its end
        _tell(around, told, registers)
        return True


def _tell(loop: LoopInfo, count: _Count, registers: list[Any]) -> None:
    """Let a loop report itself at its next trip."""
    count.look = None
    registers[loop.limit] = 0


def _trips(loop: LoopInfo, registers: list[Any]) -> int:
    """How many trips the present activation has behind it."""
    trip, start = registers[loop.trip], registers[loop.start]
    return trip - start if isinstance(start, int) else trip  # type: ignore[no-any-return]  # loops of ranges start at 0


def _trips_left(loop: LoopInfo, registers: list[Any]) -> float | None:
    """How many trips the present activation has before it, with the one that it is in; None: nobody knows."""
    trips = None if loop.view is None else trips_of(registers[loop.view])
    return None if trips is None else trips - registers[loop.trip]


def _is_in_last_trip(loop: LoopInfo, registers: list[Any]) -> bool:
    left = _trips_left(loop, registers)
    return left is not None and left <= 1


def _is_within(loop: LoopInfo | None, outer: LoopInfo) -> bool:
    while loop is not None and loop is not outer:
        loop = loop.parent
    return loop is outer

"""Which loops of a run are hot: trips are counted over the activations of a loop, not in each alone.

A loop is hot after `Hooks.trips_until_hot` trips, whoever ran them: what native code did before it was left counts
(`HotLoops.count_native_trips`), so that the rest of a long loop is soon native again. What else takes the
interpreter's time counts as the trips that take as long: raises, and the loops within, each with what it takes to
enter it. So a nest is hot when it has run long, however that time is spread over its loops.

A trip may take far longer than its nodes do elsewhere (an operation on large arrays). So the clock is looked at, too,
behind the second trip and when the trips so far say that it will be due: a loop that took `Hooks.seconds_until_hot`
is hot. So is one that took a small part of that, and will take as long by the trips that are left of what it goes
through.

A loop that is short but entered often is not reported at once: its parent is, at its next trip, since native code of
the parent has the inner loop in it. A parent that is declined, that has no next trip, or whose next trip is long in
coming, leaves it to the inner loop. A loop that has no next trip itself is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ljit.interp.code import Code, LoopInfo
from ljit.ops.containers.iteration_views import trips_of
from ljit.own_time import seconds_here

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
        self.since, self.trips_then = seconds_here(), 0  # when it was first entered, or reported
        self.first: int | None = None  # the trip in which that was, if it was in this activation
        self.will_be_long = False  # this activation, when the clock was looked at last
        self.activations = 0
        self.requests = 0  # of inner loops since it was at its header
        self.is_elsewhere = False  # it was run elsewhere when last asked about
        self.is_declined = False

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
        taken, trips = now - self.since, done - self.trips_then
        growth = min((seconds - taken) / max(taken, 1e-9), _MOST_GROWTH)
        self.look = done + max(int(trips * growth), 1)
        self.will_be_long = (
            self.first is not None
            and left is not None
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
        """Whether the loop around a hot one is told to report itself instead."""
        if loop.parent is None:
            return False
        parent = self._counts.get(loop.parent.id) or self._begin(loop.parent)
        left = _trips_left(loop.parent, registers)
        if parent.is_declined or (left is not None and left <= 1):
            return False
        if count.is_elsewhere:
            if count.activations % _MANY_ACTIVATIONS == 0:
                _tell(loop.parent, parent, registers)
            return False
        if not is_short or parent.requests >= _MANY_REQUESTS:
            return False
        parent.requests += 1  # it has not come to its next trip
        _tell(loop.parent, parent, registers)
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


def _is_within(loop: LoopInfo | None, outer: LoopInfo) -> bool:
    while loop is not None and loop is not outer:
        loop = loop.parent
    return loop is outer

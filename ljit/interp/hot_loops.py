"""Which loops of a run are hot: trips are counted over the activations of a loop, not in each alone.

A loop is hot after `Hooks.trips_until_hot` trips, whoever ran them: what native code did before it was left counts
(`count_native_trips`), so that the rest of a long loop is soon native again. One that is short but entered often is
not reported at once: its parent is, at its next trip, since native code of the parent has the inner loop in it. A
parent that is declined, or whose next trip is long in coming, leaves it to the inner loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ljit.interp.code import Code, LoopInfo

__all__ = [
    "MIN_TRIPS",
    "NODES_OF_LEAVING_RAISE",
    "NODES_OF_RAISE",
    "HotLoops",
    "count_native_trips",
]

#: trips that are interpreted, and watched, behind native code before the loop may be native again
MIN_TRIPS = 64

#: that the interpreter runs in the time that a raise and its handler take: within a step, and out of it
NODES_OF_RAISE = 90
NODES_OF_LEAVING_RAISE = 300

#: activations of a loop that runs elsewhere after which its parent is asked about again
_MANY_ACTIVATIONS = 1000

#: times that a loop is told to report itself before an inner one does
_MANY_REQUESTS = 64


class _Hooks(Protocol):
    def trips_until_hot(self, loop: LoopInfo) -> int: ...

    def on_hot_loop(self, code: Code, loop_id: int, trip: int, registers: list[object]) -> Any: ...


class HotLoops:
    """The counts of one run of the machine."""

    __slots__ = (
        "_activations",
        "_declined",
        "_elsewhere",
        "_hooks",
        "_requests",
        "_thresholds",
        "_trips",
        "raised",
    )

    def __init__(self, hooks: _Hooks) -> None:
        self._hooks = hooks
        # Code that ran a loop elsewhere raised: the user's frame is in the traceback already.
        self.raised = False
        self._thresholds: dict[int, int] = {}  # as they were when last asked about
        self._trips: dict[int, int] = {}  # of all activations but the present one
        self._activations: dict[int, int] = {}
        self._elsewhere: set[int] = set()  # loops that were run elsewhere when last asked about
        self._declined: set[int] = set()
        self._requests: dict[int, int] = {}  # of inner loops since a loop was at its header

    def enter(self, loop: LoopInfo, registers: list[Any]) -> int:
        """Give the trip at which the header of a loop that is entered must be looked at.

        Its trip register still holds what an earlier activation left there.
        """
        self._activations[loop.id] = self._activations.get(loop.id, 0) + 1
        start, stop, last = registers[loop.start], registers[loop.stop], registers[loop.trip]
        if loop.id in self._elsewhere:
            return min(start, stop)  # type: ignore[no-any-return]
        threshold = self._thresholds.get(loop.id) or self._ask(loop)
        if loop.id in self._declined:
            return min(start + threshold, stop)  # type: ignore[no-any-return]
        trips = self._trips.get(loop.id, 0)
        if isinstance(last, int):  # where the activation before this one ended
            trips = self._trips[loop.id] = trips + last
        return min(start + max(threshold - trips, 1), stop)  # type: ignore[no-any-return]

    def _ask(self, loop: LoopInfo) -> int:
        threshold = self._thresholds[loop.id] = self._hooks.trips_until_hot(loop)
        return threshold

    def report(self, code: Code, loop: LoopInfo, trip: int, registers: list[Any]) -> Any:
        """Tell the hooks of a hot loop, or let its parent be told of; None: go on."""
        threshold = self._ask(loop)
        registers[loop.limit] = min(trip + threshold, registers[loop.stop])
        self._requests[loop.id] = 0
        parent = loop.parent
        if parent is not None and parent.id not in self._declined:
            is_known = loop.id in self._elsewhere
            if is_known and self._activations.get(loop.id, 0) % _MANY_ACTIVATIONS == 0:
                registers[parent.limit] = 0
            elif not is_known and trip < threshold and self._may_request(parent):
                registers[parent.limit] = 0
                return None
        self.raised = True
        left = self._hooks.on_hot_loop(code, loop.id, trip, registers)
        self.raised = False
        if left is None:
            self._declined.add(loop.id)
            self._elsewhere.discard(loop.id)
        else:
            self._elsewhere.add(loop.id)
        return left

    def count_raise(self, loop: LoopInfo, registers: list[Any], nodes: int) -> None:
        """Count a raise that is handled within a trip as the nodes that it takes as long as."""
        trips = nodes // loop.size
        self._trips[loop.id] = self._trips.get(loop.id, 0) + trips
        registers[loop.limit] -= trips

    def _may_request(self, parent: LoopInfo) -> bool:
        """Count what is asked of a loop that has not come to its next trip."""
        count = self._requests[parent.id] = self._requests.get(parent.id, 0) + 1
        return count <= _MANY_REQUESTS


def count_native_trips(
    loops: Iterable[LoopInfo], registers: list[Any], hooks: _Hooks, left: LoopInfo | None = None
) -> None:
    """Set the limits of loops that native code has left in progress.

    It ran the loop `left` or (None) the whole function; loops around `left` keep their limits.
    """
    for loop in loops:
        if left is not None and not _is_within(loop, left):
            continue
        trip, stop, start = registers[loop.trip], registers[loop.stop], registers[loop.start]
        if not isinstance(trip, int) or not isinstance(stop, int):
            registers[loop.limit] = 0
            continue
        done = trip - start if isinstance(start, int) else trip  # loops of ranges start at 0
        threshold = hooks.trips_until_hot(loop)
        missing = max(threshold - done, min(threshold, MIN_TRIPS))
        registers[loop.limit] = min(trip + missing, stop)


def _is_within(loop: LoopInfo | None, outer: LoopInfo) -> bool:
    while loop is not None and loop is not outer:
        loop = loop.parent
    return loop is outer

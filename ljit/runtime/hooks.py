"""The interpreter's way back to the executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.interp import MIN_TRIPS, Code, LoopExit, LoopInfo

if TYPE_CHECKING:
    from ljit.runtime.executor import ProfilingExecutor
    from ljit.runtime.plans import LoopPlan, Plan

__all__ = ["Hooks"]

_EARNED = 8  # times sooner than else loops are hot whose compile CPython has paid for


class Hooks:
    """What the interpreter tells while it runs one call of a plan.

    `is_hot`: code was left for the outermost loop to be optimised at once. `is_earned`: CPython has run as long as a
    compile takes, so that the interpreter only has to see what there is.
    """

    def __init__(
        self,
        executor: ProfilingExecutor,
        plan: Plan,
        *,
        is_hot: bool = False,
        is_earned: bool = False,
    ) -> None:
        self.executor = executor
        self.plan = plan
        self.is_hot = is_hot
        self.part = _EARNED if is_earned else 1
        #: code of loops that this call waits for; since which trip
        self.asked: dict[LoopPlan, int] = {}
        self.on_profile = plan.feedback.profile.record
        self.on_method = plan.feedback.see_method
        self.on_long_int = plan.feedback.see_long_int

    def trips_until_hot(self, loop: LoopInfo) -> int:
        if self.is_hot and loop.parent is None:
            return 1
        trips = self.executor.outlined.trips_until_hot(loop, is_hot=self.plan.feedback.is_hot)
        return max(trips // self.part, min(trips, MIN_TRIPS))

    def seconds_until_hot(self, loop: LoopInfo) -> float:
        outlined = self.executor.outlined
        return outlined.seconds_until_hot(loop, is_hot=self.plan.feedback.is_hot) / self.part

    def on_hot_loop(
        self, code: Code, loop_id: int, trip: int, registers: Sequence[object]
    ) -> LoopExit | None:
        return self.executor.outlined.enter(self.plan, loop_id, trip, registers, self.asked)

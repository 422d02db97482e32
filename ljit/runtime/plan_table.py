"""The plans of one function: found by the types of arguments, started for new ones, given up where there are too many.

A plan is for arrays of all sizes, with one exception: the first plan for small arrays is for the sizes that were seen.
When others are seen before it is compiled, it becomes one for the sizes that are the same, as that of rows of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ljit import config
from ljit.runtime.plans import MAX_EVICTIONS, MAX_PLANS, Plan, choose_victim
from ljit.sizes import common_sizes, elements_of, may_be_broadcast, sized_types, without_sizes
from ljit.types import Type
from ljit.value_types import type_of

__all__ = ["PlanTable"]

_Types = tuple[Type, ...]


class PlanTable:
    """The plans by their types. `lock` is held while they change; `give_up` gets one that is dropped for another.

    `known_as` says as what arguments of some types are known.
    """

    def __init__(
        self,
        lock: AbstractContextManager[bool],
        give_up: Callable[[Plan], None],
        known_as: Callable[[_Types], _Types],
    ) -> None:
        self.plans: dict[_Types, Plan] = {}
        self.evictions = 0
        self._lock = lock
        self._give_up = give_up
        self._known_as = known_as
        #: by types without sizes: the plan for the sizes seen first
        self._sized: dict[_Types, Plan] = {}

    def plan_for(self, values: Sequence[object]) -> Plan | None:
        """Find or start the plan for arguments, and note what these show; None if there were too many."""
        key = self._known_as(tuple(map(type_of, values)))
        sized = sized_types(key, values) if config.settings().profiled_sizes else key
        plan = self.plans.get(sized)
        if plan is None:
            plan = self.start(key, sized)
        if plan is None:
            return None
        feedback = plan.feedback
        if not feedback.broadcasts:
            feedback.broadcasts = may_be_broadcast(values)
        feedback.elements_passed = max(feedback.elements_passed, *map(elements_of, values), 0)
        return plan

    def start(self, key: _Types, sized: _Types) -> Plan | None:
        """Start a plan for small arrays of the sizes seen first, for those that stay the same, or for all others."""
        with self._lock:
            first, common = self._sized.get(key), sized
            if first is not None:
                common = common_sizes(first.types, sized)
                if first.compiles == 0 and not first.is_compiling:
                    self._rename(first, common)
                if first.types == common and self.plans.get(common) is first:
                    return first
            if key not in self.plans and len(self.plans) >= MAX_PLANS:
                if self.evictions >= MAX_EVICTIONS:
                    return None
                self._evict()
            if key in self.plans or common == key:
                plan = self.plans.setdefault(key, Plan(types=key))
            else:
                plan = self._sized[key] = self.plans.setdefault(common, Plan(types=common))
            if first is not None and first is not plan and not plan.runs:
                plan.feedback, plan.runs, plan.seconds = first.feedback, first.runs, first.seconds
            return plan

    def plan_of(self, types: _Types) -> Plan | None:
        """Find or start the plan for these types; None if no plan may be given up for it."""
        types = self._known_as(types)
        if types not in self.plans and len(self.plans) >= MAX_PLANS:
            return None
        return self.plans.setdefault(types, Plan(types=types))

    def generalize(self, plan: Plan) -> None:
        """Let a plan that was started for sizes of small arrays be one for all sizes."""
        self._rename(plan, without_sizes(plan.types))

    def _rename(self, plan: Plan, general: _Types) -> None:
        """Let a plan be one for more general types, unless there is one."""
        if general not in self.plans and self.plans.pop(plan.types, None) is not None:
            plan.types = general
            self.plans[general] = plan

    def drop(self, plan: Plan) -> None:
        """Forget a plan that has no native code."""
        del self.plans[plan.types]

    def _evict(self) -> None:
        """Give up one plan for a new one."""
        victim = choose_victim(p for p in self.plans.values() if not p.is_compiling)
        self.evictions += 1
        del self.plans[victim.types]
        self._give_up(victim)

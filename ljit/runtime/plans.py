"""What the executor keeps for each tuple of argument types, and its budgets.

No input makes ljit compile for ever: compiles of a plan, plans of a function, plans that were given up for
newer ones and outlined loops are all bounded, and native code that mostly bails out is given up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ljit import config
from ljit.analysis.signatures import NativeLink
from ljit.ops.control import (
    BROADCAST,
    CALL_NATIVE,
    NOT_ALL,
    NOT_RUN,
    OTHER_ITEM,
    OTHER_ORDER,
    OTHER_SHAPES,
    OUT_OF_RANGE,
    RAISED,
)
from ljit.records import Record, made_by
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.native import NativeUnit, PassOn
from ljit.sizes import LARGE
from ljit.types import ArrayType, Type

if TYPE_CHECKING:
    from ljit.codegen import SiteInfo
    from ljit.passes.specializing.specialize import Specialization

__all__ = [
    "BOUND_CALLS_BEFORE_FILLING_IN",
    "MAX_COMPILES",
    "MAX_EARLY_RAISES",
    "MAX_EVICTIONS",
    "MAX_LOOPS",
    "MAX_MISMATCHES",
    "MAX_PLANS",
    "NODES_UNTIL_HOT",
    "NODES_UNTIL_LOADED",
    "NO_GAIN",
    "SLOW_CALLS_BEFORE_PASSING_ON",
    "TESTS_IN_FRONT",
    "TRIPS_OF_EARLY_RAISE",
    "LoopPlan",
    "Plan",
    "choose_victim",
    "graph_of_quick_code",
    "is_dominated_by_bailouts",
    "is_long_in_use",
    "learn",
    "learn_raise",
    "may_compile",
    "patience",
    "quick_runs",
    "types_text",
    "wants_compile",
]

MAX_PLANS = 16  # specialisations of one function that live side by side
MAX_EVICTIONS = 32  # plans given up for newer ones; after that CPython runs calls with new types
MAX_COMPILES = 8  # compiles of one plan or loop before it is left to CPython or the interpreter
MAX_LOOPS = 32  # outlined loops of one function
MAX_MISMATCHES = 8  # calls that a plan's native entry did not take though the types are the plan's
MIN_BAILOUTS = 64  # bailouts of one unit before it is asked whether they dominate
BAILOUTS_BEFORE_RECOMPILE = 2
TESTS_IN_FRONT = (OUT_OF_RANGE, OTHER_ORDER)  # of loops; reasons that one bailout proves
_SHOWN_AT_ONCE = (NOT_RUN, BROADCAST, OUT_OF_RANGE)  # reasons for a compile after the first bailout
#: left to CPython that take as long as the compile after which calls jump there
SLOW_CALLS_BEFORE_PASSING_ON = 2000
NO_GAIN = "nothing in it gains from native code"
_LOOKS = 40  # at calls that jump, a thousand each: native code of a boxed call gains a tenth to a half of a microsecond
_SECONDS_OF_SHORT_CALL = 2e-5
# A loop is outlined when the interpreter has spent as much time on it as a compile takes: whatever the number
# of trips turns out to be, the call takes at most twice as long as with the better choice.
NODES_UNTIL_HOT = 400_000  # of the loop's body that the interpreter ran
NODES_UNTIL_LOADED = 1_600_000  # the same for the first compile of a process, which loads LLVM
TRIPS_OF_EARLY_RAISE = 2048  # native trips that pay for one exception that the interpreter handles
MAX_EARLY_RAISES = 16  # one after the other, before CPython and the interpreter run what raises
BOUND_CALLS_BEFORE_FILLING_IN = 100  # with keywords or defaults before native code binds them


class Plan(Record, frozen=False):
    """What is known and made for one tuple of argument types."""

    types: tuple[Type, ...]
    feedback: PlanFeedback = made_by(factory=PlanFeedback)
    runs: int = 0  # that were profiled
    seconds: float = 0.0  # that they took
    compiles: int = 0
    mismatches: int = 0
    slow_calls: int = 0  # since CPython runs it
    unit: NativeUnit | None = None
    bailouts: Counter[int] = made_by(factory=Counter)  # by site, of the present unit
    retired: list[NativeUnit] = made_by(factory=list)  # may still be running
    known: object = None  # summary of the feedback that the last compile was made with
    refused: str | None = None  # why CPython runs it
    pass_on: PassOn | None = None  # entry that hands its calls to CPython
    is_called: bool = False  # by native code of other units
    is_compiling: bool = False
    #: of callers, by what they rely on
    links: dict[tuple[Type, bool], NativeLink] = made_by(factory=dict)

    @property
    def units(self) -> list[NativeUnit]:
        """All native code that the plan had, the present one last."""
        return self.retired if self.unit is None else [*self.retired, self.unit]

    def __str__(self) -> str:
        return types_text(self.types)

    @property
    def native_calls(self) -> int:
        return sum(unit.code.calls for unit in self.units)


class LoopPlan(Record, frozen=False):
    """An outlined loop for one tuple of types of its live values."""

    unit: NativeUnit | None = None
    compiles: int = 0
    bailouts: Counter[int] = made_by(factory=Counter)
    retired: list[NativeUnit] = made_by(factory=list)
    early_raises: int = 0  # one after the other: exceptions soon after the code was entered
    known: object = None  # as of a `Plan`
    refused: str | None = None  # why the interpreter runs it

    @property
    def units(self) -> list[NativeUnit]:
        """All native code that the loop had, the present one last."""
        return self.retired if self.unit is None else [*self.retired, self.unit]

    @property
    def native_calls(self) -> int:
        return sum(unit.code.calls for unit in self.units)

    def retire(self, unit: NativeUnit) -> None:
        """Take the unit out of use; a call of it may still be running."""
        if self.unit is unit:
            self.retired.append(unit)
            self.unit = None


def patience(reason: str, compiles: int = 1) -> int:
    """How many bailouts for a reason make code be compiled anew: more and more from the third compile on."""
    at_first = 1 if reason in _SHOWN_AT_ONCE else BAILOUTS_BEFORE_RECOMPILE
    return at_first << max(compiles - 3, 0)


def may_compile(plan: Plan | LoopPlan, feedback: PlanFeedback) -> bool:
    """Whether another compile is allowed, and would be made with other feedback than the last one."""
    return plan.compiles < MAX_COMPILES and feedback.summary() != plan.known


def quick_runs(feedback: PlanFeedback) -> int:
    """How often code may run before it is worth optimising; 0 if it is at once."""
    is_hot = feedback.is_hot or feedback.elements >= LARGE
    return 0 if is_hot else config.settings().quick_runs


def graph_of_quick_code(
    plan: Plan | LoopPlan, types_: Sequence[Type], feedback: PlanFeedback
) -> Specialization | None:
    """The graph of the quick code that was dropped last, if specialising would give the same once more.

    Calls of other native code are linked anew, those of the function itself become direct ones.
    """
    if not plan.retired or plan.known != feedback.summary():
        return None
    unit = plan.retired[-1]
    if not unit.code.is_quick or unit.types != tuple(types_) or unit.broken_assumptions():
        return None
    if unit.specialization.leaves_methods:
        return None
    has_calls = any(node.op is CALL_NATIVE for node in unit.graph.walk())
    return None if has_calls else unit.specialization


def is_long_in_use(plan: Plan, seconds: float = 0.0) -> bool:
    """Whether a plan that gains nothing had so many short calls on arrays that what little there is counts."""
    has_arrays = any(isinstance(t, ArrayType) for t in plan.types)
    return has_arrays and plan.slow_calls >= _LOOKS and seconds <= _SECONDS_OF_SHORT_CALL


def wants_compile(
    plan: Plan | LoopPlan, feedback: PlanFeedback, site_index: int, reason: str
) -> bool:
    """Whether the plan's native code has bailed out often enough; code that no compile makes better stays as it is.

    Places that were not run before count together: if they come one by one, later compiles are for several.
    """
    bailouts = plan.bailouts
    count = bailouts.total() if reason == NOT_RUN else bailouts[site_index]
    return count >= patience(reason, plan.compiles) and may_compile(plan, feedback)


def learn(feedback: PlanFeedback, unit: NativeUnit, site_index: int) -> None:
    """Keep what a bailout of the unit shows about its site for the next compile.

    A test in front of a loop that fails once leaves the whole loop to the interpreter. Others of the same line may fail
    for the same reason, each in a compile of its own.
    """
    site = unit.sites[site_index]
    feedback.broadcasts |= site.reason == BROADCAST
    if site.reason in TESTS_IN_FRONT:
        alike = (s for s in unit.sites if s.reason == site.reason and _is_on_line(s, site))
        feedback.failed_tests.update(s.origin for s in alike)
    elif unit.bailouts[site_index] >= patience(site.reason):
        is_test = site.reason in (NOT_ALL, OTHER_SHAPES)
        failed = feedback.other_items if site.reason == OTHER_ITEM else feedback.widened
        (feedback.failed_tests if is_test else failed).add(site.origin)


def learn_raise(feedback: PlanFeedback, unit: NativeUnit, site_index: int, error: object) -> None:
    """Keep that an exception has left native code for a handler: there the next compile has the handler."""
    site = unit.sites[site_index]
    if site.reason == RAISED and error is not None:
        feedback.profile.record(site.origin, error)


def _is_on_line(site: SiteInfo, other: SiteInfo) -> bool:
    if site.range is None or other.range is None:
        return site is other
    return site.range.line == other.range.line


def is_dominated_by_bailouts(unit: NativeUnit) -> bool:
    """Whether more of the unit's calls bailed out than came to their end."""
    bailouts = unit.bailouts.total()
    return bailouts >= MIN_BAILOUTS and 2 * bailouts > unit.code.calls


def choose_victim(plans: Iterable[Plan]) -> Plan:
    """Choose the plan to give up for a new one: one without native code, else the least called one."""
    return min(plans, key=lambda plan: (plan.unit is not None, plan.native_calls))


def types_text(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"

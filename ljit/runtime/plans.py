"""What the executor keeps for each tuple of argument types, and its budgets.

No input makes ljit compile for ever: compiles of a plan, plans of a function, plans that were given up for
newer ones and outlined loops are all bounded. (`ljit.runtime.bailouts` says when code is compiled again.)
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit import config
from ljit.analysis.signatures import NativeLink
from ljit.errors import InternalError
from ljit.ops.control import CALL_NATIVE
from ljit.records import Record, made_by
from ljit.runtime.contests import Contest
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.native import NativeUnit, PassOn
from ljit.sizes import LARGE
from ljit.types import ArrayType, Type

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize import Specialization

__all__ = [
    "BOUND_CALLS_BEFORE_FILLING_IN",
    "MANY_KINDS",
    "MAX_COMPILES",
    "MAX_EARLY_RAISES",
    "MAX_EVICTIONS",
    "MAX_LOOPS",
    "MAX_MISMATCHES",
    "MAX_PLANS",
    "MOST_COMPILES",
    "MOST_NODES_OF_LOOP",
    "NODES_UNTIL_HOT",
    "NODES_UNTIL_LOADED",
    "NO_GAIN",
    "RUNS_OF_SHORT_ONE",
    "SECONDS_UNTIL_HOT",
    "SECONDS_UNTIL_LOADED",
    "SLOW_CALLS_BEFORE_PASSING_ON",
    "TRIPS_OF_EARLY_RAISE",
    "Compiled",
    "LoopPlan",
    "Plan",
    "choose_victim",
    "graph_of_quick_code",
    "is_long_in_use",
    "quick_runs",
    "types_text",
]

#: kinds of argument types with native code, from which on that for others has to be earned, the later the more
MANY_KINDS = 4
MAX_PLANS = 16  # specialisations of one function that live side by side
MAX_EVICTIONS = 32  # plans given up for newer ones; after that CPython runs calls with new types
MAX_COMPILES = 8  # of one plan or loop that did not pay; then CPython or the interpreter runs it
MOST_COMPILES = 32  # of one plan or loop, all of whose code stays in memory
# A compile takes as long as thousands of calls of CPython, however long the function; what a bailout takes is many.
_CALLS_THAT_PAY = 5000
_CALLS_OF_BAILOUT = 100
MAX_LOOPS = 32  # outlined loops of one function
MAX_MISMATCHES = 8  # calls that a plan's native entry did not take though the types are the plan's
#: left to CPython that take as long as the compile after which calls jump there
SLOW_CALLS_BEFORE_PASSING_ON = 2000
NO_GAIN = "nothing in it gains from native code"
# Looks at calls that jump, a thousand each. Native code of a boxed call on arrays gains a tenth to a half of a
# microsecond, of others a thirtieth: no frame of CPython's is made for it.
_LOOKS = 40
_LOOKS_WITHOUT_ARRAYS = 500
_SECONDS_OF_SHORT_CALL = 2e-5
# A loop is outlined when the interpreter has spent as much time on it as a compile takes: whatever the number
# of trips turns out to be, the call takes at most twice as long as with the better choice.
NODES_UNTIL_HOT = 400_000  # of the loop's body that the interpreter ran
NODES_UNTIL_LOADED = 1_600_000  # the same for the first compile of a process, which loads LLVM
# Of the processor, for loops whose nodes take longer than those of scalar code; compiles of array code do, too.
SECONDS_UNTIL_HOT = 0.06
SECONDS_UNTIL_LOADED = 0.15
MOST_NODES_OF_LOOP = 150  # with loops in it; larger ones take longer to compile, and as much longer until they are hot
TRIPS_OF_EARLY_RAISE = 2048  # native trips that pay for one exception that the interpreter handles
MAX_EARLY_RAISES = 16  # one after the other, before CPython and the interpreter run what raises
RUNS_OF_SHORT_ONE = 8  # in the interpreter, before calls of a plan are known to be short
BOUND_CALLS_BEFORE_FILLING_IN = 100  # with keywords or defaults before native code binds them


class Compiled(Record, frozen=False):
    """The native code of a function or a loop for some types, now and before, and why there is no more of it."""

    unit: NativeUnit | None = None
    compiles: int = 0
    bailouts: Counter[int] = made_by(factory=Counter)  # by site, of the present unit
    retired: list[NativeUnit] = made_by(factory=list)  # may still be running
    known: object = None  # summary of the feedback that the last compile was made with
    refused: str | None = None  # why there is none any more

    @property
    def units(self) -> list[NativeUnit]:
        """All native code that there was, the present one last."""
        unit = self.unit
        return self.retired if unit is None else [*self.retired, unit]

    @property
    def native_calls(self) -> int:
        return sum(unit.code.calls for unit in self.units)

    @contextmanager
    def counted_compile(self, known: object) -> Iterator[None]:
        """Count a compile that knows so much; not one that the handler of a signal ends with an exception."""
        before, self.known = self.known, known
        self.compiles += 1
        try:
            yield
        except InternalError:
            raise
        except BaseException:
            self.known = before
            self.compiles -= 1
            raise

    @property
    def is_used_up(self) -> bool:
        """Whether it may not be compiled once more."""
        unpaid = self.compiles - sum(map(_has_paid, self.units))
        return unpaid >= MAX_COMPILES or self.compiles >= MOST_COMPILES

    def retire(self, unit: NativeUnit) -> None:
        """Take the unit out of use; a call of it may still be running."""
        if self.unit is unit:
            self.retired.append(unit)
            self.unit = None


def _has_paid(unit: NativeUnit) -> bool:
    """Whether calls of native code have saved what compiling it took."""
    return unit.code.calls >= max(_CALLS_THAT_PAY, _CALLS_OF_BAILOUT * unit.bailouts.total())


class Plan(Compiled, frozen=False):
    """What is known and made for one tuple of argument types. CPython runs its calls if it is `refused`."""

    types: tuple[Type, ...] = ()
    feedback: PlanFeedback = made_by(factory=PlanFeedback)
    runs: int = 0  # that were profiled
    looks: int = 0  # of these, since CPython ran a call and the next compile was not earned
    seconds: float = 0.0  # that they took
    each: float = 0.0  # seconds of a call that CPython ran, without loops
    last_run: tuple[int, float] = (0, 0.0)  # elements of its largest array, seconds
    has_large_arrays: bool = False  # the last call for which there was no native code
    has_many_trips: bool = True  # it may have had them
    mismatches: int = 0
    contest: Contest | None = None  # of the native code with CPython
    slow_calls: int = 0  # since CPython runs it
    pass_on: PassOn | None = None  # entry that hands its calls to CPython, if it is refused
    is_called: bool = False  # by native code of other units
    is_compiling: bool = False
    #: meanwhile: what the code gives that is being made, and whether no unknown code runs in it
    found: tuple[Type, bool] | None = None
    is_waiting: bool = False  # for the next compile, without code: calls left that of the last one
    #: how many native calls there had been at the last bailouts that ask for a compile
    left_at: deque[int] = made_by(factory=lambda: deque(maxlen=RUNS_OF_SHORT_ONE))
    #: of callers, by what they rely on
    links: dict[tuple[Type, bool], NativeLink] = made_by(factory=dict)

    def __str__(self) -> str:
        return types_text(self.types)

    @property
    def entry(self) -> NativeUnit | PassOn | None:
        """What takes its calls in machine code."""
        return self.pass_on if self.refused is not None else self.unit


class LoopPlan(Compiled, frozen=False):
    """An outlined loop for one tuple of types of its live values. The interpreter runs it if it is `refused`."""

    early_raises: int = 0  # one after the other: exceptions soon after the code was entered


def quick_runs(feedback: PlanFeedback) -> int:
    """How often code may run before it is worth optimising; 0 if it is at once."""
    is_hot = feedback.is_hot or feedback.elements >= LARGE
    return 0 if is_hot else config.settings().quick_runs


def graph_of_quick_code(
    code: Compiled, types_: Sequence[Type], feedback: PlanFeedback
) -> Specialization | None:
    """The graph of the quick code that was dropped last, if specialising would give the same once more.

    Calls of other native code are linked anew, those of the function itself become direct ones.
    """
    if not code.retired or code.known != feedback.summary():
        return None
    unit = code.retired[-1]
    if not unit.code.is_quick or unit.types != tuple(types_) or unit.broken_assumptions():
        return None
    has_calls = any(node.op is CALL_NATIVE for node in unit.graph.walk())
    return None if has_calls else unit.specialization


def is_long_in_use(plan: Plan, seconds: float = 0.0) -> bool:
    """Whether a plan that gains nothing had so many short calls that what little there is counts."""
    has_arrays = any(isinstance(t, ArrayType) for t in plan.types)
    looks = _LOOKS if has_arrays else _LOOKS_WITHOUT_ARRAYS
    return plan.slow_calls >= looks and seconds <= _SECONDS_OF_SHORT_CALL


def choose_victim(plans: Iterable[Plan]) -> Plan:
    """Choose the plan to give up for a new one: one without native code, else the least called one."""
    return min(plans, key=lambda plan: (plan.unit is not None, plan.native_calls))


def types_text(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"

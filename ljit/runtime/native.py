"""Native units: one specialised graph as machine code behind a callable object.

`compile_function` and `compile_loop` run the specialiser, the passes and the code generator. This is the one
place that imports the specialiser and `ljit.codegen` (and with it LLVM), at the first compile.
"""

from __future__ import annotations

import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, cast

from ljit.analysis.branch_histories import BranchHistories
from ljit.cpython.frame_count import thread
from ljit.cpython.frames import is_raised_by_handler
from ljit.cpython.isolation import are_builtins_replaced
from ljit.cpython.own_time import seconds_here
from ljit.errors import InternalError
from ljit.ir import Effect, Graph, Node, Value, clone
from ljit.ops.arrays.float_settings import is_loud
from ljit.ops.control import CALL_NATIVE
from ljit.records import Record, made_by
from ljit.runtime.baseline import (
    OPTIMIZING_PIPELINE,
    QUICK_PIPELINE,
    SPECIALIZED_PIPELINE,
    Baseline,
)
from ljit.runtime.choose_sizes import choose_sizes, optimize
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.passing import is_stack_small, last_entry
from ljit.runtime.vectorcall import make_function_type, place_of_calls_left, set_vectorcall
from ljit.runtime.waiting import loading, seconds_of_program
from ljit.runtime.worth import gains_by_a_call, is_worthwhile, may_lose, quick_work
from ljit.sizes import MANY, SOME_VECTORS
from ljit.types import Type

if TYPE_CHECKING:
    from ljit.codegen import ExitInfo, FillIn, NativeCode, PassOnCode, SiteInfo
    from ljit.passes.specializing.native_calls import LinkTo
    from ljit.passes.specializing.specialize import Specialization

    #: whether calls of the function by itself rely on what it gives
    IsAsGuessed = Callable[[Specialization], bool]

__all__ = [
    "MISMATCH",
    "CompileRequest",
    "LacksProfilesError",
    "NativeUnit",
    "PassOn",
    "compile_function",
    "compile_loop",
    "is_compiler_loaded",
    "link_behind",
    "link_entries",
    "make_fill_in",
    "make_pass_on",
    "make_unit",
    "specialized_graph",
]

#: what a unit's callable gives for arguments that it was not compiled for
MISMATCH = object()

_GUESSES = 3  # of what calls of the function by itself give, in quick code

BailoutHandler = Callable[[int, int, tuple[object, ...]], object]


class _CallableBase:
    """Calls a unit's machine code from Python; arguments of other types give MISMATCH."""

    def __call__(self, *_args: object) -> object:
        return MISMATCH

    def _slow_call(self, _args: tuple[object, ...], _kwargs: dict[str, object] | None) -> object:
        return MISMATCH


_Callable = make_function_type(_CallableBase)


class NativeUnit(Record, frozen=False):
    """Machine code of one specialised graph, with what is needed to leave it and to explain it."""

    specialization: Specialization
    types: tuple[Type, ...]  # of the arguments
    code: NativeCode
    callable: Callable[..., object]
    seconds: float  # of the processor, to compile it: specialise, passes, code generation; without what it calls
    is_clean: bool  # no unknown code runs in it
    begun: float  # what the program had taken when the code was there
    retire: Callable[[str], None] = lambda _reason: None  # takes it out of use
    bailouts: Counter[int] = made_by(factory=Counter)  # by site

    @property
    def graph(self) -> Graph:
        return self.specialization.graph

    @property
    def exits(self) -> Sequence[ExitInfo]:
        return self.code.exits

    @property
    def sites(self) -> Sequence[SiteInfo]:
        return self.code.sites

    def call(self, values: Sequence[object]) -> object:
        """Run it; MISMATCH if the arguments are of other types.

        In the place of the call that ljit runs, or goes on with: its entry counts as that one's frame.
        """
        called_at, left = thread.frames.called_at, thread.frames.left
        granted = called_at - left.value if called_at is not None else 0
        left.value += granted
        try:
            return self.callable(*values)
        finally:
            left.value -= granted

    def broken_assumptions(self) -> list[str]:
        """Name the global and closure variables that are not what the code takes them for."""
        return [a.key for a in self.specialization.assumptions if not a.holds()]


def is_left_alone() -> bool:
    """Whether CPython has to run all that has no native code yet, as things are set now, or in this thread."""
    return are_builtins_replaced() or is_loud() or is_stack_small()


def is_compiler_loaded() -> bool:
    """Whether a compile of this process has loaded LLVM already."""
    return "ljit.codegen" in sys.modules


@contextmanager
def _blame(name: str) -> Iterator[None]:
    """Whatever goes wrong in a compile is ljit's fault, never the user's."""
    try:
        yield
    except (InternalError, LacksProfilesError):
        raise
    except Exception as error:
        if is_raised_by_handler(error):
            raise
        message = f"compiling {name} failed: {type(error).__name__}: {error}"
        raise InternalError(message) from error


def specialized_graph(
    baseline: Baseline,
    types_: Sequence[Type],
    feedback: PlanFeedback,
    link_to: LinkTo,
    *,
    is_quick: bool = False,
    is_as_guessed: IsAsGuessed = lambda _made: True,
) -> Specialization:
    """Specialise the whole function and run the passes on the result.

    Quick code calls itself as it would another function: such a call soon finds optimised code instead.
    """
    from ljit.passes.specializing.specialize import Given, specialize

    function = None if is_quick else cast(FunctionType, baseline.fn)  # a field looks like a method
    pipeline = QUICK_PIPELINE if is_quick else SPECIALIZED_PIPELINE

    def make(chosen: Sequence[Type], seen: PlanFeedback) -> Specialization:
        given = Given(baseline.graph, baseline.liveness, seen, link_to)
        for _ in range(_GUESSES):
            made = specialize(given, chosen, function)
            if is_as_guessed(made):
                break
        return made

    made = choose_sizes(types_, feedback, make, pipeline)
    made.assumptions.extend(baseline.sources)
    return made


def _optimized_further(earlier: Specialization, feedback: PlanFeedback) -> Specialization:
    """The graph of quick code with the passes that it went without."""
    made = earlier.with_changes(graph=clone(earlier.graph))
    optimize(made.graph, feedback, OPTIMIZING_PIPELINE)
    return made


class LacksProfilesError(Exception):
    """Operators of the function are methods of users' classes, and nobody looked at what they gave."""


class CompileRequest(Record):
    """What to compile a function or a loop for.

    `quick_runs`: how often the code may run before it is worth optimising; it is not optimised then. 0: it is.
    `earlier`: what quick code was made of, if that is to be optimised. `is_called`: by native code, too. `is_alone`:
    there is no native code of the function for other types. `is_short`: a call on objects, from CPython, which has to
    gain much. `rival`: the plain function, if CPython may run calls. `is_as_guessed`: whether calls of the function by
    itself rely on what a specialised graph is.
    """

    types: tuple[Type, ...]
    feedback: PlanFeedback
    on_bailout: BailoutHandler
    link_to: LinkTo
    fastmath: bool
    quick_runs: int
    earlier: Specialization | None = None
    is_called: bool = False
    is_alone: bool = True
    is_long_in_use: bool = False
    is_short: bool = False
    rival: Callable[..., object] | None = None
    is_as_guessed: IsAsGuessed = lambda _made: True

    @property
    def is_quick(self) -> bool:
        return self.quick_runs > 0


def compile_function(baseline: Baseline, request: CompileRequest) -> NativeUnit | None:
    """Compile the function; None: nothing in it gains from native code.

    Raises LacksProfilesError if it is to be translated anew.
    """
    name = baseline.fn.__qualname__
    request.feedback.add_branches(baseline.code.branches)
    with baseline.compiling(), _blame(name):
        start = seconds_here()
        if request.earlier is not None and not request.is_quick:
            made = _optimized_further(request.earlier, request.feedback)
        else:
            made = specialized_graph(
                baseline,
                request.types,
                request.feedback,
                request.link_to,
                is_quick=request.is_quick,
                is_as_guessed=request.is_as_guessed,
            )
        if made.lacks_profiles:
            raise LacksProfilesError
        long = request.is_long_in_use or request.is_called
        if not is_worthwhile(made.graph, is_alone=request.is_alone, is_long_in_use=long):
            return None
        if request.is_short and not long and not gains_by_a_call(made.graph):
            return None
        return _compile(made, name, request, start)


def compile_loop(
    baseline: Baseline, loop: Node, live: Sequence[Value], request: CompileRequest
) -> NativeUnit:
    """Compile one loop of the function, entered at its header with the given live values."""
    name = f"{baseline.fn.__qualname__}.loop{loop.id}"
    from ljit.passes.specializing.specialize import Given, specialize_loop

    request.feedback.add_branches(baseline.code.branches)
    with baseline.compiling(), _blame(name):
        start = seconds_here()

        def make(chosen: Sequence[Type], seen: PlanFeedback) -> Specialization:
            given = Given(baseline.graph, baseline.liveness, seen, request.link_to)
            return specialize_loop(given, loop, live, chosen)

        if request.earlier is not None and not request.is_quick:
            made = _optimized_further(request.earlier, request.feedback)
        else:
            pipeline = QUICK_PIPELINE if request.is_quick else SPECIALIZED_PIPELINE
            made = choose_sizes(request.types, request.feedback, make, pipeline)
        return _compile(made, name, request, start)


def _compile(made: Specialization, name: str, request: CompileRequest, start: float) -> NativeUnit:
    with loading():
        from ljit.codegen import CompileOptions, compile_unit

    branches = BranchHistories() if request.is_quick else None
    options = CompileOptions(
        fastmath=request.fastmath,
        helper=request.on_bailout,
        assumptions=tuple(made.assumptions),
        is_under_settings=made.is_under_settings,
        result=made.result,
        is_called=request.is_called or _has_body(made.graph, is_quick=request.is_quick),
        broadcasts=request.feedback.broadcasts,
        single_rows=request.feedback.single_rows,
        quick_work=quick_work(made.graph, request.quick_runs, is_called=request.is_called),
        has_lanes=request.feedback.elements >= SOME_VECTORS,
        has_many=request.feedback.elements >= MANY,
        rival=request.rival if may_lose(made.graph) else None,
        branches=branches,
    )
    code = compile_unit(made.graph, name=name, options=options)
    if branches is not None:
        request.feedback.add_branches(branches)
    return make_unit(made, code, seconds_here() - start)


def _has_body(graph: Graph, *, is_quick: bool) -> bool:
    """Whether its entry calls a function of the same code in any case: then native code may do that as well.

    Quick code is soon compiled once more.
    """
    calls = any(node.op is CALL_NATIVE for node in graph.walk())
    return calls or (not is_quick and _runs_unknown_code(graph))


def _runs_unknown_code(graph: Graph) -> bool:
    return any(node.op.effects_of(node) & Effect.CALL for node in graph.walk())


def make_unit(made: Specialization, code: NativeCode, seconds: float) -> NativeUnit:
    """Put a callable object in front of machine code."""
    from ljit.codegen import slow_entry

    caller = _Callable()
    code.set_next(slow_entry())
    set_vectorcall(caller, code.address)
    if code.choice is not None:
        code.choice.take_all_of(caller)
    is_clean = not _runs_unknown_code(made.graph)
    types_ = tuple(param.type for param in made.graph.params)
    return NativeUnit(made, types_, code, caller, seconds, is_clean, seconds_of_program())


class PassOn(Record):
    """A native entry that hands calls to the plain Python function."""

    code: PassOnCode


def make_pass_on(fn: types.FunctionType, types_: Sequence[Type]) -> PassOn:
    """Compile the entry that leaves calls with arguments of these types to `fn`."""
    from ljit.codegen import compile_pass_on

    return PassOn(compile_pass_on(fn, types_))


def make_fill_in(fn: types.FunctionType, owner: object) -> FillIn:
    """Compile the entry for calls of `fn` with keywords or defaults."""
    from ljit.codegen import FillIn

    return FillIn(fn, owner, _last_entry())


def link_entries(
    owner: object, units: Sequence[NativeUnit | PassOn], fill_in: FillIn | None = None
) -> None:
    """Chain the entries of `units` behind the vectorcall slot of `owner`, then `fill_in`, then the last one."""
    last = _last_entry()
    following = _chain(owner, units, last if fill_in is None else fill_in.address)
    if fill_in is not None:
        fill_in.set_first(following if units else last)
    set_vectorcall(owner, following)


def link_behind(owner: object, units: Sequence[NativeUnit], fill_in: FillIn) -> None:
    """Let calls of `owner` reach the entries of `units` through `fill_in` only."""
    fill_in.set_first(_chain(owner, units, fill_in.end_address))
    set_vectorcall(owner, fill_in.address)


def _chain(owner: object, units: Sequence[NativeUnit | PassOn], last: int) -> int:
    """Link the entries one behind the other; gives the address of the first."""
    following, count = last, place_of_calls_left(owner)
    for unit in reversed(units):
        unit.code.set_next(following, count)
        following = unit.code.address
    return following


def _last_entry() -> int:
    """The entry of calls that no other one takes: to CPython as long as such calls pass, else to the slow path."""
    from ljit.codegen import slow_entry

    return last_entry(slow_entry())

"""The machine: runs `Code` over real Python and NumPy objects. It is the semantics of the graph.

`run` starts at the entry, `resume` at any place that has a name, with the live values only. Both
tell their `Hooks` what `prim::profile` sees and which loops are hot; the answer to a hot loop may
be that it has been run elsewhere, and where to go on (`LoopExit`). Exceptions leave with the traceback that
CPython would give (`ljit.interp.tracebacks`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ljit.cpython.frame_count import thread
from ljit.cpython.own_frames import drop_own_frames
from ljit.cpython.recursion import FEW_FRAMES, check_depth
from ljit.errors import InternalError
from ljit.interp.code import Code, LoopInfo, Step, TryInfo
from ljit.interp.hot_loops import NODES_OF_LEAVING_RAISE, NODES_OF_RAISE, HotLoops
from ljit.interp.landings import Landing, landing_at
from ljit.interp.steps import step_at
from ljit.interp.tracebacks import drop_callers, replace_own_frames
from ljit.records import Record

__all__ = [
    "NO_ERRORS",
    "Errors",
    "Hooks",
    "InterpreterState",
    "LoopExit",
    "NoHooks",
    "resume",
    "run",
]

_NEVER = 2**63
# frames of ljit's on the way to a step, which stands for the user's
_FROM_RUN, _FROM_STATE, _FROM_HANDLER = 2, 1, 2


class Errors(Record):
    """The exceptions that are `handled` at a place, those of inner handlers last, and what is `raised` there."""

    handled: tuple[BaseException, ...] = ()
    raised: BaseException | None = None

    def __bool__(self) -> bool:
        return bool(self.handled) or self.raised is not None


NO_ERRORS = Errors()


class LoopExit(Record):
    """Where to go on when a loop was run elsewhere: at a place, with these values (by `Value.key`) set."""

    at: str
    values: Mapping[str, object]
    errors: Errors = NO_ERRORS


class Hooks(Protocol):
    """Who watches a run."""

    def trips_until_hot(self, loop: LoopInfo) -> int:
        """How many back-edges of a loop make it hot (again); see `ljit.interp.hot_loops`."""

    def seconds_until_hot(self, loop: LoopInfo) -> float:
        """How long a loop takes that is hot however few its trips are."""

    def on_profile(self, node_id: int, value: object) -> object:
        """See the value that the `prim::profile` node of that id was given, or what another node raised in a Try.

        Gives what needs not be told any more during this run: the value's class (for all its objects), or the value.
        """

    def on_method(self, node_id: int, receiver: object, name: str) -> None:
        """See an object, of another class than the last one, whose attribute a `py::call_method` is about to call."""

    def on_long_int(self, node_id: int, value: int) -> None:
        """See a negative int or one beyond int64 that a node gave, if the code is watched (`Code.watch`)."""

    def on_hot_loop(
        self, code: Code, loop_id: int, trip: int, registers: list[object]
    ) -> LoopExit | None:
        """Be told of a hot loop at its header, trip index `trip`; None goes on interpreting."""


class NoHooks:
    """Hooks that do nothing."""

    __slots__ = ()

    def trips_until_hot(self, loop: LoopInfo) -> int:
        """No loop is hot."""
        return _NEVER

    def seconds_until_hot(self, loop: LoopInfo) -> float:
        """Nor is one that takes long."""
        return math.inf

    def on_profile(self, node_id: int, value: object) -> None:
        """Ignore it."""

    def on_method(self, node_id: int, receiver: object, name: str) -> None:
        """Ignore it."""

    def on_long_int(self, node_id: int, value: int) -> None:
        """Ignore it."""

    def on_hot_loop(
        self, code: Code, loop_id: int, trip: int, registers: list[object]
    ) -> LoopExit | None:
        """Go on."""
        return None


class InterpreterState(Record, frozen=False):
    """A place in a Code and its register file: all there is to an activation."""

    code: Code
    pc: int
    registers: list[object]

    @staticmethod
    def at_position(code: Code, at: str, values: Mapping[str, object]) -> InterpreterState:
        """Give the state at the place `at`; registers without a value are unbound."""
        state = InterpreterState(code, code.pc_of(at), list(code.template))
        _set(code, state.registers, values)
        return state

    def run(self, hooks: Hooks, errors: Errors = NO_ERRORS) -> object:
        """Run on to the function's return; `errors`: what native code handled and raised here."""
        run = _Run(self.code, hooks)
        run.count_native_trips(self.code.loops, self.registers)
        frames = thread.frames
        depth, called_at, left = frames.depth, frames.called_at, frames.left
        if depth >= frames.most:
            check_depth(depth + 1)
        if called_at is None:
            called_at = left.value + 1
        run.lacking = max(FEW_FRAMES - called_at, 0)
        granted = _FROM_STATE + called_at + run.lacking - left.value
        frames.depth = depth + 1
        left.value += granted
        try:
            _go_on(self.code, self.registers, self.pc, run, errors=errors)
            return self.registers[self.code.result]
        except BaseException as error:
            drop_own_frames(error)
            raise
        finally:
            left.value -= granted
            frames.depth = depth


NO_HOOKS = NoHooks()


def run(code: Code, args: Sequence[object], hooks: Hooks = NO_HOOKS) -> object:
    """Call the function: run `code` from its entry."""
    registers = [*args, *code.template[code.parameters :]]
    if len(registers) != len(code.template):
        raise InternalError(f"{code.name}: {len(args)} arguments for {code.parameters}")
    frames = thread.frames
    depth, called_at, left = frames.depth, frames.called_at, frames.left
    if depth >= frames.most:
        check_depth(depth + 1)
    granted = _FROM_RUN + (called_at - left.value if called_at is not None else 1)
    frames.depth = depth + 1
    left.value += granted
    try:
        return execute(code, registers, 0, hooks)
    except BaseException as error:
        drop_own_frames(error)
        raise
    finally:
        left.value -= granted
        frames.depth = depth


def resume(
    code: Code,
    at: str,
    values: Mapping[str, object],
    hooks: Hooks = NO_HOOKS,
    errors: Errors = NO_ERRORS,
) -> object:
    """Run on from the place `at` with the given live values (by `Value.key`).

    `errors` were handled and raised there by native code.
    """
    state = InterpreterState.at_position(code, at, values)
    try:
        return state.run(hooks, errors)
    except BaseException as error:
        drop_own_frames(error)
        raise


class _Entering(Record):
    """A handler that is entered in its midst: at a pc, with the errors of handlers in it."""

    region: TryInfo
    pc: int
    errors: Errors


class _Run(HotLoops):
    """One activation, as its steps see it."""

    __slots__ = (
        "_code",
        "entering",
        "hooks",
        "known",
        "lacking",
        "left",
        "on_method",
        "on_profile",
        "raised_at",
        "region",
    )

    def __init__(self, code: Code, hooks: Hooks) -> None:
        super().__init__(hooks)
        self._code = code
        self.hooks = hooks
        self.on_profile = hooks.on_profile
        self.on_method = hooks.on_method
        self.left = thread.frames.left  # how many frames CPython's recursion limit allows
        self.lacking = 0  # of them, for the interpreter itself
        self.known: set[int] = set()  # nodes that the hooks know to raise
        self.raised_at: int | None = None  # where native code raised
        self.entering: _Entering | None = None  # a handler that native code was in
        self.region: TryInfo | None = None  # whose body raised last

    def see(self, node_id: int, value: object) -> object:
        """Tell the hooks of a value, and give it."""
        self.on_profile(node_id, value)
        return value

    def arrive(self, loop: LoopInfo, registers: list[Any]) -> int | None:
        """Be at the header of a loop that may be hot; gives where to go on if it was run elsewhere."""
        left = self.report(self._code, loop, registers[loop.trip], registers)
        if left is None:
            return None
        _set(self._code, registers, left.values)
        self.count_native_trips(self._code.loops, registers, loop)
        pc = self._code.pc_of(left.at)
        if left.errors:
            self.raise_at(pc, left.errors)
        return pc

    def raise_at(self, pc: int, errors: Errors) -> None:
        """Raise what native code was handling, to go on in that handler, or what it has raised.

        Its traceback has the user's frame already.
        """
        outer, *inner = errors.handled or (errors.raised,)
        assert outer is not None
        if errors.handled:
            around = [t for t in self._code.tries if t.handler <= pc < t.end]
            around.sort(key=lambda region: region.start)
            rest = Errors(tuple(inner), errors.raised)
            self.entering = _Entering(around[-len(errors.handled)], pc, rest)
        self.raised, self.raised_at = True, pc
        context = outer.__context__
        try:
            raise outer
        finally:
            outer.__context__ = context

    def caught(self, step: Step, registers: list[Any]) -> BaseException:
        """Give what is raised in a Try of the step, whose handler comes next, with the user's traceback."""
        error = sys.exc_info()[1]
        assert error is not None and error.__traceback__ is not None
        if isinstance(error, InternalError):
            raise error
        landing = self.landing(step.pc_at(error.__traceback__.tb_lasti), error)
        replace_own_frames(error, landing.entries, step.code)
        assert landing.region is not None
        if landing.region.loop is not None:
            self.count_raise(landing.region.loop, registers, NODES_OF_RAISE)
        return error

    def landing(self, pc: int, error: BaseException) -> Landing:
        """Give what a raise at `pc` leads to; the hooks are told once of each node that raises in a Try."""
        found = landing_at(self._code, pc)
        if found.region is not None and found.node not in self.known:
            self.known.add(found.node)
            self.on_profile(found.node, error)
        return found

    def block(self, start: int) -> Callable[[list[Any]], Any]:
        """Give the function that runs the block of a Map."""
        return lambda registers: execute(self._code, registers, start, self.hooks)


def execute(code: Code, registers: list[Any], pc: int, hooks: Hooks) -> object:
    """Run from `pc` until a Return: step after step."""
    _go_on(code, registers, pc, _Run(code, hooks))
    return registers[code.result]


_EVERYWHERE = range(sys.maxsize)


def _go_on(
    code: Code,
    registers: list[Any],
    pc: int,
    run: _Run,
    within: TryInfo | None = None,
    errors: Errors = NO_ERRORS,
) -> int:
    """Run until a Return, or (`within`) until control leaves the handler of a Try; gives the pc where that is."""
    steps = code.steps_at_limit if run.lacking else code.steps
    here = _EVERYWHERE if within is None else range(within.handler, within.end)
    while pc in here:
        step = None
        try:
            if errors:
                given, errors = errors, NO_ERRORS
                run.raise_at(pc, given)
            while pc in here:
                step = steps.get(pc) or step_at(code, pc, at_limit=run.lacking > 0)
                pc = step.run(registers, run)
        except BaseException as raised:
            _note(code, registers, pc, run, step, raised)
            pc = _handle(code, registers, run, within, raised)
    return pc


def _handle(
    code: Code, registers: list[Any], run: _Run, within: TryInfo | None, error: BaseException
) -> int:
    """Run the handler that `run` has noted, if it is one of this activation's level; give the pc behind it.

    Called where `error` is being handled, so that it is what the user's handler sees as that.
    """
    region = run.region
    if region is None or not (within is None or within.handler <= region.start < within.end):
        raise
    entering, run.entering = run.entering, None
    start, errors = region.handler, NO_ERRORS
    if entering is not None:
        start, errors = entering.pc, entering.errors
    registers[region.error] = error
    left, granted = thread.frames.left, _FROM_HANDLER
    left.value += granted
    try:
        return _go_on(code, registers, start, run, region, errors)
    except BaseException as following:
        left.value += 1 - granted
        granted = 1
        drop_own_frames(following)
        return _handle(code, registers, run, within, following)
    finally:
        left.value -= granted
        registers[region.error] = None  # which ends its life, as in CPython


def _note(
    code: Code, registers: list[Any], pc: int, run: _Run, step: Step | None, error: BaseException
) -> None:
    """Put the traceback right, and find the Try whose body raised: its handler gets what is current there."""
    values: Mapping[str, object] = {}
    if run.entering is not None:
        landing = Landing(-1, run.entering.region, (), (), ())
    elif run.raised_at is not None:
        landing = landing_at(code, run.raised_at)
    else:
        if step is not None:
            pc, values = _place(pc, step, error)
        landing = run.landing(pc, error)
    entries = () if run.raised else landing.entries
    replace_own_frames(error, entries, step.code if step is not None else None)
    if run.raised:
        drop_callers(error, landing.callers)
    run.raised, run.raised_at = False, None
    run.region = None if isinstance(error, InternalError) else landing.region
    if landing.region is not None:
        if run.entering is None:
            landing.fill(registers, values)
        if landing.region.loop is not None:
            run.count_raise(landing.region.loop, registers, NODES_OF_LEAVING_RAISE)


def _set(code: Code, registers: list[Any], values: Mapping[str, object]) -> None:
    """Set registers by `Value.key`."""
    register_of = code.register_of
    for key, value in values.items():
        if key not in register_of:
            raise InternalError(f"{code.name} has no value {key!r}")
        registers[register_of[key]] = value


def _place(pc: int, step: Step, error: BaseException) -> tuple[int, Mapping[str, object]]:
    """Where the step was that raised, and its variables."""
    assert error.__traceback__ is not None
    inside = error.__traceback__.tb_next
    if inside is None or inside.tb_frame.f_code is not step.code:
        return pc, {}
    return step.pc_at(inside.tb_lasti), inside.tb_frame.f_locals

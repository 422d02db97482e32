"""The machine: runs `Code` over real Python and NumPy objects. It is the semantics of the graph.

`run` starts at the entry, `resume` at any place that has a name, with the live values only. Both
tell their `Hooks` what `prim::profile` sees and which loops are hot; the answer to a hot loop may
be that it has been run to its end elsewhere (`LoopExit`). Exceptions leave with the traceback that
CPython would give (`ljit.interp.tracebacks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ljit.errors import InternalError
from ljit.interp.code import (
    BRANCH,
    BRANCH_IF,
    CALL,
    CALL0,
    CALL1,
    CALL2,
    CALL3,
    ENTER,
    HEADER,
    JUMP,
    MAP,
    MOVE,
    MOVE2,
    MULTI,
    NEXT,
    OBSERVE,
    PROFILE,
    RARE,
    RESULTS,
    RETURN,
    SPAN,
    Code,
    Instruction,
    LoopInfo,
)
from ljit.interp.hot_loops import HotLoops, count_native_trips
from ljit.interp.recursion import enter_frame, leave_frame
from ljit.interp.tracebacks import clean_traceback, drop_own_frames
from ljit.records import Record

__all__ = [
    "Finished",
    "Hooks",
    "InterpreterState",
    "LoopExit",
    "NoHooks",
    "Resumed",
    "Returned",
    "resume",
    "run",
]

_NEVER = 2**63


class LoopExit(Record):
    """How a hot loop was left by who ran it: `Finished`, `Returned` or `Resumed`."""

    @staticmethod
    def finished(values: Sequence[object]) -> Finished:
        """The loop is done and gives `values` as its outputs."""
        return Finished(tuple(values))

    @staticmethod
    def returned(value: object) -> Returned:
        """The function returned `value` out of the loop."""
        return Returned(value)

    @staticmethod
    def resumed(at: str, values: Mapping[str, object]) -> Resumed:
        """Go on at the place `at` after setting `values` (by `Value.key`)."""
        return Resumed(at, values)


class Finished(LoopExit):
    """See `LoopExit.finished`."""

    values: tuple[object, ...]


class Returned(LoopExit):
    """See `LoopExit.returned`."""

    value: object


class Resumed(LoopExit):
    """See `LoopExit.resumed`."""

    at: str
    values: Mapping[str, object]


class Hooks(Protocol):
    """Who watches a run."""

    def trips_until_hot(self, loop: LoopInfo) -> int:
        """How many back-edges of a loop make it hot (again); see `ljit.interp.hot_loops`."""

    def on_profile(self, node_id: int, value: object) -> bool | None:
        """See the value that the `prim::profile` node of that id was given.

        True: objects of the same class need not be told of any more during this run.
        """

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

    def on_profile(self, node_id: int, value: object) -> None:
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
    def at_entry(code: Code, args: Sequence[object]) -> InterpreterState:
        """Give the state in which a call starts."""
        if len(args) != code.parameters:
            raise InternalError(f"{code.name}: {len(args)} arguments for {code.parameters}")
        registers = list(code.template)
        registers[: len(args)] = args
        return InterpreterState(code, 0, registers)

    @staticmethod
    def at_position(
        code: Code, at: str, values: Mapping[str, object], hooks: Hooks
    ) -> InterpreterState:
        """Give the state at the place `at`; registers without a value are unbound."""
        state = InterpreterState(code, code.pc_of(at), list(code.template))
        _set(code, state.registers, values)
        count_native_trips(code.loops, state.registers, hooks)
        return state

    def run(self, hooks: Hooks) -> object:
        """Run on to the function's return."""
        enter_frame()
        try:
            return execute(self.code, self.registers, self.pc, hooks)
        except BaseException as error:
            drop_own_frames(error)
            raise
        finally:
            leave_frame()


NO_HOOKS = NoHooks()


def run(code: Code, args: Sequence[object], hooks: Hooks = NO_HOOKS) -> object:
    """Call the function: run `code` from its entry."""
    registers = [*args, *code.template[code.parameters :]]
    if len(registers) != len(code.template):
        raise InternalError(f"{code.name}: {len(args)} arguments for {code.parameters}")
    enter_frame()
    try:
        return execute(code, registers, 0, hooks)
    except BaseException as error:
        drop_own_frames(error)
        raise
    finally:
        leave_frame()


def resume(code: Code, at: str, values: Mapping[str, object], hooks: Hooks = NO_HOOKS) -> object:
    """Run on from the place `at` with the given live values (by `Value.key`)."""
    state = InterpreterState.at_position(code, at, values, hooks)
    try:
        return state.run(hooks)
    except BaseException as error:
        drop_own_frames(error)
        raise


def execute(  # noqa: C901, PLR0912, PLR0915 - one function, since a call for each instruction doubles the time
    code: Code, registers: list[Any], pc: int, hooks: Hooks
) -> object:
    """Run from `pc` until a Return. The dispatch loop."""
    segments = code.segments
    # Locals are read faster than globals.
    call1, call2, profile, move = CALL1, CALL2, PROFILE, MOVE
    branch, branch_if, next_trip, header = BRANCH, BRANCH_IF, NEXT, HEADER
    on_profile = hooks.on_profile
    hot_loops = HotLoops(hooks)
    segment: tuple[Instruction, ...] | None = segments[pc] or code.segment_at(pc)
    try:
        while True:
            assert segment is not None, "jumps go to labels"
            for kind, f, a, b, c, d, pc in segment:  # noqa: B007 - pc is for the handler
                if kind <= move:
                    if kind == call2:
                        registers[d] = f(registers[a], registers[b])
                    elif kind == call1:
                        registers[d] = f(registers[a])
                    elif kind == profile:
                        registers[d] = value = registers[a]
                        if value.__class__ is not registers[c] and on_profile(f, value):
                            registers[c] = value.__class__
                    else:
                        registers[d] = registers[a]
                elif kind <= header:
                    if kind == branch:
                        if not registers[b]:
                            segment = segments[a]
                            break
                    elif kind == branch_if:
                        if registers[b]:
                            segment = segments[a]
                            break
                    elif kind == next_trip:
                        registers[b] = trip = registers[b] + 1
                        segment = segments[c if trip < registers[d] else a]
                        break
                    elif (trip := registers[b]) >= registers[c]:
                        segment = segments[a]
                        break
                    elif trip >= registers[d]:
                        left = hot_loops.report(code, f, trip, registers)
                        if left is not None:
                            if isinstance(left, Returned):
                                return left.value
                            segment = _go_on(code, registers, f, left, hooks)
                            break
                elif kind == CALL3:
                    registers[d] = f(registers[a], registers[b], registers[c])
                elif kind == MOVE2:
                    registers[c], registers[d] = registers[a], registers[b]
                elif kind == SPAN:
                    registers[d] = f(registers)
                elif kind == CALL:
                    registers[d] = f(*a(registers))
                elif kind == JUMP:
                    segment = segments[a]
                    break
                elif kind == CALL0:
                    registers[d] = f()
                elif kind == ENTER:
                    registers[d] = hot_loops.enter(f, registers)
                elif kind == MULTI:
                    registers[d] = _checked(f(*a(registers)), b)
                elif kind == RETURN:
                    return registers[a]
                elif kind == RARE:
                    registers[d] = f(registers)
                elif kind == RESULTS:
                    return f(registers)
                elif kind == MAP:
                    registers[d] = f.run(
                        registers, lambda f=f: execute(code, registers, f.start, hooks)
                    )
                else:
                    assert kind == OBSERVE
                    f(a, registers)
            else:
                segment = segments[pc + 1]
    except BaseException as error:
        clean_traceback(error, None if hot_loops.raised else code.ranges[pc])
        raise


def _checked(results: tuple[object, ...], count: int) -> tuple[object, ...]:
    if len(results) != count:
        raise InternalError(f"an op gave {len(results)} results instead of {count}")
    return results


def _go_on(
    code: Code, registers: list[Any], loop: LoopInfo, left: LoopExit, hooks: Hooks
) -> tuple[Instruction, ...]:
    """Set the registers after a hot loop was run elsewhere and give the code to go on with."""
    if isinstance(left, Finished):
        for register, value in zip(loop.outputs, left.values, strict=True):
            registers[register] = value
        return code.segment_at(code.positions[f"after:{loop.id}"])
    assert isinstance(left, Resumed)
    _set(code, registers, left.values)
    count_native_trips(code.loops, registers, hooks, loop)
    return code.segment_at(code.pc_of(left.at))


def _set(code: Code, registers: list[object], values: Mapping[str, object]) -> None:
    """Set registers by `Value.key`."""
    register_of = code.register_of
    for key, value in values.items():
        if key not in register_of:
            raise InternalError(f"{code.name} has no value {key!r}")
        registers[register_of[key]] = value

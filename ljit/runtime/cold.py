"""Cold functions: CPython runs them until what they took says that compiling pays.

Native code of a function without loops, called with numbers or objects, gains a part of a microsecond a call. To
profile and compile it takes some ten milliseconds, which most functions of a program never earn. Until then their
calls jump to the plain function through an entry that counts them (`ljit.codegen.pass_on`), and now and then one of
them comes to the executor and is timed: a function that takes long is looked at once in the interpreter. If it sees
arrays there, or is called with some, or anybody asks for its native code, it is cold no longer.

Functions with loops mostly never are: any call may be the one that takes all the time. If all loops are over
containers, and an argument is a user's object, they are after a first call in the interpreter, until CPython has spent
on them what a compile takes. Functions that call plain functions with loops, or recursive ones, by name are not cold
either: such callees depend on them for being native.
"""

from __future__ import annotations

import dis
import inspect
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ljit import config
from ljit.records import Record
from ljit.runtime.binding import bind_arguments
from ljit.runtime.native import is_compiler_loaded, pass_calls
from ljit.runtime.options import Options
from ljit.runtime.vectorcall import calls_left
from ljit.types import Type, type_of

__all__ = ["MOST_PASSED", "PROFILED_RUNS", "ColdCalls", "may_jump"]

PROFILED_RUNS = 8  # of what was cold: a few calls show more branches than one
_INSTRUCTIONS = (
    1_000_000  # that a function runs before it has taken as long as a small compile, twice
)
_CALLS = 10_000  # the same for what a compile takes more for each instruction
MOST_PASSED = 1000  # at a time: what changes is noticed soon, and the way to the executor costs two microseconds
_SECONDS_OF_LOOPS = 0.03  # of the calls of a function with loops: as long as a compile, twice
_SECONDS_UNTIL_LOOK = 0.01  # of the calls: a look takes about a third of it
_SLOW_CALLS_BEFORE_LOADING = 30_000  # of all functions; they take as long as LLVM takes to load
_IS_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: no builtin class
_GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_slow_calls = 0  # of this process, while LLVM is not loaded


class ColdCalls(Record, frozen=False):
    """The calls of one function that were left to CPython, and how many more may be."""

    limit: int
    has_loops: bool = False  # over containers
    calls: int = 0
    passed: int = 0  # how many the entry may take, as of the last time
    seconds: float = 0.0  # that all calls took, callees included, by those that were timed
    was_looked_at: bool = False
    last_types: tuple[Type, ...] | None = None  # of the arguments of the last call that was timed

    @staticmethod
    def of(fn: types.FunctionType, options: Options) -> ColdCalls:
        """What may be left of a new function."""
        is_wanted = options.num_profiled_runs == Options().num_profiled_runs
        if not (is_wanted and config.settings().cold_calls) or _may_run_long(fn, set()):
            return ColdCalls(0)
        instructions = list(dis.get_instructions(fn.__code__))
        limit = _CALLS + _INSTRUCTIONS // max(len(instructions), 1)
        return ColdCalls(limit, has_loops=_has_loops(fn.__code__))

    @property
    def is_over(self) -> bool:
        """Whether the function is cold no longer, or never was."""
        return self.calls >= self.limit

    def is_for(self, args: Iterable[object]) -> bool:
        """Whether a call with these arguments is to be left to CPython: no arrays, and loops over objects only."""
        classes = set(map(type, args))
        if any(issubclass(cls, np.ndarray | np.generic) for cls in classes):
            return False
        return not self.has_loops or any(cls.__flags__ & _IS_HEAP_TYPE for cls in classes)

    @property
    def is_look_due(self) -> bool:
        """Whether a call is to be profiled: the first one with a loop, else one of many that took long enough."""
        return not self.was_looked_at and (self.has_loops or self.seconds >= _SECONDS_UNTIL_LOOK)

    def run(
        self,
        owner: object,
        fn: types.FunctionType,
        run: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> object:
        """Time one call, which `run` leaves to CPython; the next ones may jump there."""
        values = bind_arguments(fn, args, kwargs)
        self.last_types = tuple(map(type_of, values)) if values is not None else None
        start = time.perf_counter()
        try:
            return run(args, kwargs)
        finally:
            self._note(owner, time.perf_counter() - start)
            if not self.is_over and may_jump():
                self.passed = self._next_calls()
                pass_calls(owner, fn, self.passed)

    def _note(self, owner: object, seconds: float) -> None:
        calls = 1 + max(self.passed - max(calls_left(owner), 0), 0)
        self.passed = 0
        self.calls += calls
        self.seconds += seconds * calls
        if self.has_loops and self.seconds >= _SECONDS_OF_LOOPS:
            self.limit = 0

    def _next_calls(self) -> int:
        """As many as there were, but none beyond the limit, nor beyond the time at which something is due."""
        most = min(self.calls, self.limit - self.calls, MOST_PASSED)
        if self.has_loops or not self.was_looked_at:
            seconds = _SECONDS_OF_LOOPS if self.has_loops else _SECONDS_UNTIL_LOOK
            left = (seconds - self.seconds) * self.calls / max(self.seconds, 1e-9)
            most = min(most, max(int(left), 0))
        return most


def may_jump() -> bool:
    """Whether calls left to CPython may jump there, which takes LLVM: it is loaded when that pays."""
    global _slow_calls
    _slow_calls += 1
    return is_compiler_loaded() or _slow_calls >= _SLOW_CALLS_BEFORE_LOADING


def _may_run_long(fn: types.FunctionType, around: set[types.FunctionType]) -> bool:
    """Whether a call may take any time: a loop is none over a container, or plain functions that it names loop."""
    is_generator = bool(fn.__code__.co_flags & _GENERATES)
    if is_generator or _may_loop_long(list(_codes_in(fn.__code__))):
        return True
    callees = {f for f in _functions_named(fn) if isinstance(f, types.FunctionType)}
    around = around | {fn}
    return not callees.isdisjoint(around) or any(
        _has_loops(f.__code__) or _may_run_long(f, around) for f in callees
    )


def _has_loops(code: types.CodeType) -> bool:
    codes = list(_codes_in(code))
    return len(codes) > 1 or any(_jumps_back(i) for i in dis.get_instructions(code))


def _may_loop_long(codes: Sequence[types.CodeType]) -> bool:
    """Whether there is a loop that is none over a container: a ``while``, or perhaps one over a range."""
    instructions = [(code, i) for code in codes for i in dis.get_instructions(code)]
    heads = {(code, i.offset) for code, i in instructions if i.opname == "FOR_ITER"}
    loops = {(code, i.argval) for code, i in instructions if _jumps_back(i)}
    return not loops <= heads or (bool(heads) and any("range" in c.co_names for c in codes))


def _jumps_back(instruction: dis.Instruction) -> bool:
    is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
    return is_jump and instruction.argval <= instruction.offset


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and that of functions in it, comprehensions among them."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes_in(constant)


def _functions_named(fn: types.FunctionType) -> Iterator[object]:
    """What the names of global and closure variables in the function stand for now."""
    yield from (fn.__globals__[name] for name in fn.__code__.co_names if name in fn.__globals__)
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue

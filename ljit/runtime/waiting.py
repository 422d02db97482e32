"""Programs of many decorated functions: CPython runs the calls of each until they took as long as its translation.

To translate a function takes some hundred times what CPython takes for a call of it. Where a few are decorated, those
are what the program is about: each is translated at its first call, which may be the one that takes all the time. Where
whole packages are decorated, most functions never pay for it. There ljit takes a share of the processor's time
at most, for all that it does (`has_room`): a function with loops is translated at its first call if there is room for
it, others when their calls have taken as long. Their calls come here, with no compiler loaded: no more is
imported than this. What is translated then goes on as any other function (`cold.py`), within the same share.
"""

from __future__ import annotations

import time
import types
import weakref
from collections.abc import Iterator, Mapping
from opcode import opmap

from ljit import config
from ljit.own_time import OwnTime, seconds_of_own_work
from ljit.recursion import call_plainly, is_deep
from ljit.runtime.options import Options
from ljit.runtime.passing import MOST_PASSED, SECONDS_PASSED, calls_within, pass_calls
from ljit.runtime.vectorcall import calls_left

__all__ = ["Waiting", "codes_in", "count_in", "has_room", "is_crowded", "leaves_calls"]

_FEW = 250  # functions; more are a package
_SHARE = 0.25  # of the time that the program takes, for what ljit does
_SECONDS_OF_UNIT = 1e-4  # of bytecode, to translate it
_SECONDS_OF_LOADING = 0.3  # the compiler without LLVM, and what its first use takes
_JUMPS_BACK = {
    code
    for name, code in opmap.items()
    if "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name  # these wait for other generators
}

_functions: weakref.WeakSet[object] = weakref.WeakSet()


class _Start:
    """What the process, and ljit in it, had taken when the first call came that may have to wait."""

    of_process: float | None = None
    of_own_work = 0.0


def count_in(function: object) -> None:
    """Count a decorated function for as long as it lives."""
    _functions.add(function)


def is_crowded() -> bool:
    """Whether so many functions are decorated that most of them hardly run."""
    return len(_functions) > _FEW and config.settings().cold_calls


def has_room(seconds: float = 0.0) -> bool:
    """Whether as much work of ljit's own is within its share; always if there are few functions."""
    if not is_crowded():
        return True
    now, own = time.process_time(), seconds_of_own_work()
    if _Start.of_process is None:
        _Start.of_process, _Start.of_own_work = now, own
    own -= _Start.of_own_work
    of_program = now - _Start.of_process - own
    return own + seconds <= _SHARE * of_program


def leaves_calls(options: Options) -> bool:
    """Whether calls of functions with these options may be left to CPython for a while, or profiled more than once."""
    is_default = options.num_profiled_runs == Options().num_profiled_runs
    return is_default and config.settings().cold_calls


class Waiting:
    """The calls of one function while it waits."""

    __slots__ = ("_calls", "_passed", "_price", "_seconds", "has_loops")

    def __init__(self, code: types.CodeType) -> None:
        codes = list(codes_in(code))
        self._price = sum(len(c.co_code) // 2 for c in codes) * _SECONDS_OF_UNIT
        self.has_loops = any(not _JUMPS_BACK.isdisjoint(c.co_code[::2]) for c in codes)
        self._calls = 0
        self._seconds = 0.0  # that they took, by those that were timed
        self._passed = 0

    @staticmethod
    def of(fn: types.FunctionType, options: Options) -> Waiting | None:
        """None: the function need not wait."""
        if not is_crowded() or not leaves_calls(options):
            return None
        has_room()  # the time begins
        return Waiting(fn.__code__)

    def is_over(self, *, is_loaded: bool) -> bool:
        """Whether the function is to be translated now; asked for each call that is not passed on."""
        is_due = self._seconds >= self._price or (self.has_loops and self._calls == 0)
        price = self._price if is_loaded else self._price + _SECONDS_OF_LOADING
        return has_room(price) if is_due else not is_crowded()

    def run(
        self,
        owner: object,
        fn: types.FunctionType,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> object:
        """Time a call, which CPython runs; the next ones may jump there, and, far down, those within it."""
        calls = self._calls_since(owner)
        if is_deep():
            self._passed = MOST_PASSED
            pass_calls(owner, fn, MOST_PASSED)
        stretch = OwnTime()
        try:
            return call_plainly(fn, args, kwargs)
        finally:
            within = self._calls_since(owner)
            self._note(owner, fn, calls + within - 1, stretch.end() / within)

    def _calls_since(self, owner: object) -> int:
        """This call, and those that passed since the last one that came here."""
        calls = 1 + max(self._passed - max(calls_left(owner), 0), 0)
        self._passed = 0
        return calls

    def _note(self, owner: object, fn: types.FunctionType, calls: int, seconds: float) -> None:
        """Count calls that took so many seconds each; the next ones pass, too."""
        was_due = self._seconds >= self._price  # but there was no room
        self._calls += calls
        self._seconds += seconds * calls
        most = min(self._calls, calls_within(SECONDS_PASSED, seconds))
        if not was_due:
            most = min(most, calls_within(self._price - self._seconds, seconds))
        self._passed = most
        if most:
            pass_calls(owner, fn, most)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and that of functions in it, comprehensions among them."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)

"""What ljit may take of a program's time, and the calls that CPython runs until there is room for their function.

To translate a function takes some hundred times what CPython takes for a call of it, and to compile it as much again.
Most functions of a program never pay for that. But any call of a function with loops may be the one that takes all the
time, and nobody can tell before it is over. So translating a function at its first call is a bet, as compiling it is
before its calls took as long.

All that ljit does has to have room (`has_room`) in one of these:

- a share of what the program took so far, so that the bets are lost for a small part of the time;
- the same share of what CPython spent on the function itself: what is used much is translated in any case;
- a *stake*, which is there from the beginning: ten minutes, divided by the number of decorated functions. Each of
  them may be the one: of a collection of kernels all are bet on, of a package's hundreds hardly any. But for a small
  part it is for calls of loops over numbers alone (`are_numbers`), and for large arrays (`has_large_array`); functions
  that are given objects are as often as not the plumbing of a package.

A function's calls come here first, with no compiler loaded: no more is imported than this. Without loops or large
arrays, it is worth a bet only if that is cheap, as its call is not the long one. Where there is no room, CPython runs
the calls until they took as long as the translation. What is translated goes on as any other function (`cold.py`), by
the same rule.
"""

from __future__ import annotations

import math
import sys
import time
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from opcode import opmap

from ljit import config
from ljit.own_time import OwnTime, seconds_of_own_work
from ljit.recursion import call_plainly, is_deep
from ljit.runtime.options import Options
from ljit.runtime.passing import MOST_PASSED, SECONDS_PASSED, calls_within, pass_calls
from ljit.runtime.vectorcall import calls_left

__all__ = ["Waiting", "codes_in", "count_in", "has_large_array", "has_room", "is_staked"]
__all__ += ["leaves_calls"]

_SHARE = 0.25  # of the time that the program takes, or a function, for what ljit does
_STAKE = 600.0  # seconds, by the number of functions
_ODDS = 80  # that a call of loops over numbers, or on large arrays, is the long one, against others
_LARGE = 100  # elements of an array: work on them takes as long as the calls
_SECONDS_OF_UNIT = 1e-4  # of bytecode, to translate it
_SECONDS_OF_LOADING = 0.05  # the compiler without LLVM, and what its first use takes
_WITHOUT_LOOPS = 10  # a bet on such a function has the stake for as many
_NUMBERS = (bool, int, float, complex, bytes, bytearray, range)
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


def has_room(seconds: float = 0.0, *, spent: float = 0.0, is_likely: bool = False) -> bool:
    """Whether as much work of ljit's own is within its share, or within the stake.

    `spent`: on the function's own calls. `is_likely`: these are loops over numbers, or on large arrays.
    """
    if not config.settings().cold_calls or 0.0 < seconds <= _SHARE * spent:
        return True
    now = time.process_time()
    if _Start.of_process is None:
        _Start.of_process, _Start.of_own_work = now, seconds_of_own_work()
    own = _own_work()
    of_program = now - _Start.of_process - own
    return own + seconds <= _SHARE * of_program + _stake(is_likely=is_likely)


def is_staked(seconds: float, *, most: float = math.inf, is_likely: bool = False) -> bool:
    """Whether as much work is within the stake, and brings what ljit did so far to no more than `most`."""
    return _own_work() + seconds <= min(_stake(is_likely=is_likely), most)


def _stake(*, is_likely: bool) -> float:
    seconds = _STAKE / max(len(_functions), 1)
    return seconds if is_likely else seconds / _ODDS


def _own_work() -> float:
    return seconds_of_own_work() - _Start.of_own_work


def are_numbers(values: Iterable[object], levels: int = 3) -> bool:
    """Whether all are numbers, arrays or bytes; of tuples and lists the first item tells."""
    return all(_is_of_numbers(value, levels) for value in values)


def has_large_array(values: Iterable[object]) -> bool:
    """Whether one is an array with so many elements that the work on them counts."""
    arrays = _numpy_classes()[:1]
    return any(issubclass(type(x), arrays) and x.size >= _LARGE for x in values)  # type: ignore[attr-defined]


def _is_of_numbers(value: object, levels: int) -> bool:
    cls = type(value)
    if cls is tuple or cls is list:
        return levels > 0 and are_numbers(value[:1], levels - 1)  # type: ignore[index]  # it is a tuple or a list
    return cls in _NUMBERS or issubclass(cls, _numpy_classes())


def _numpy_classes() -> tuple[type, ...]:
    """None if nobody has imported NumPy, as then there are no arrays."""
    numpy = sys.modules.get("numpy")
    return tuple(getattr(numpy, name) for name in ("ndarray", "generic") if hasattr(numpy, name))


def leaves_calls(options: Options) -> bool:
    """Whether calls of functions with these options may be left to CPython for a while, or profiled more than once."""
    is_default = options.num_profiled_runs == Options().num_profiled_runs
    return is_default and config.settings().cold_calls


class Waiting:
    """The calls of one function while it waits."""

    __slots__ = ("_calls", "_has_loops", "_passed", "_price", "_seconds")

    def __init__(self, code: types.CodeType) -> None:
        codes = list(codes_in(code))
        self._price = sum(len(c.co_code) // 2 for c in codes) * _SECONDS_OF_UNIT
        self._has_loops = any(not _JUMPS_BACK.isdisjoint(c.co_code[::2]) for c in codes)
        self._calls = 0
        self._seconds = 0.0  # that they took, by those that were timed
        self._passed = 0

    @staticmethod
    def of(fn: types.FunctionType, options: Options) -> Waiting | None:
        """None: the function need not wait."""
        if not leaves_calls(options):
            return None
        has_room()  # the time begins
        return Waiting(fn.__code__)

    def is_over(self, values: Iterable[object], *, is_loaded: bool) -> bool:
        """Whether the function is to be translated now; asked for each call that is not passed on.

        `values`: the call's arguments.
        """
        price = self._price if is_loaded else self._price + _SECONDS_OF_LOADING
        if self._seconds >= self._price:
            return has_room(price, spent=self._seconds)
        if self._calls:
            return False
        is_likely = are_numbers(values) if self._has_loops else has_large_array(values)
        if self._has_loops or is_likely:
            return has_room(price, is_likely=is_likely)
        return is_staked(_WITHOUT_LOOPS * price)

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

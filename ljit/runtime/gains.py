"""What native code is expected to gain, before anything is loaded or translated for it.

Work on numbers takes native code a small part of CPython's time. What works on strings and objects, looks things up or
calls is left to CPython's own functions, mostly, and takes nearly as long. CPython's interpreter has learnt which is
which (`cpython/quickened.py`), so that the function's code tells the share of numbers in what it does, by instructions,
those in loops counted more often. Without loops it takes more of them: each call has to be entered. What takes as long
in either does not count: variables, jumps, items of lists.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from enum import Enum, auto
from functools import cache
from types import CodeType

from ljit.cpython.quickened import learnt_instructions
from ljit.runtime.likely import codes_in, levels_of_loops, loops_in

__all__ = ["Gain"]


class _Work(Enum):
    ON_NUMBERS = auto()
    ON_OBJECTS = auto()
    ON_ANYTHING = auto()  # the interpreter has learnt nothing of it: arrays' elements, among others
    IS_SAME = auto()


_OPERATORS = ("BINARY_OP", "COMPARE_OP")
_OF_NUMBERS = ("_INT", "_FLOAT", "_INT_JUMP", "_FLOAT_JUMP")
_OF_ANYTHING = ("BINARY_OP", "COMPARE_OP", "BINARY_SUBSCR", "STORE_SUBSCR")
_ADAPTIVE = "_ADAPTIVE"  # of CPython 3.11: may be put in the place of, and is not
_ON_OBJECTS = (
    *("BINARY_SUBSCR", "STORE_SUBSCR", "BINARY_SLICE", "CONTAINS_OP", "LOAD_ATTR", "STORE_ATTR"),
    *("CALL", "BUILD_", "FORMAT_", "YIELD_VALUE", "RAISE_VARARGS"),
)
_IS_SAME = ("LOAD_ATTR_METHOD", "LOAD_ATTR_MODULE")
_ITEMS_OF_LISTS = ("_LIST_INT", "_TUPLE_INT")
#: arguments of operators: +, * and -, also in place; all others are of numbers
_MAY_JOIN = frozenset((0, 5, 10, 13, 18, 23))
_TRIPS = 10  # that a loop is taken to have
_MOST_LEVELS = 3
# Of what a function does: so little on numbers gains nothing, so much as if it were all.
_LITTLE, _MUCH = 0.1, 0.4
_WITHOUT_LOOPS = 0.05  # more of it, if there are none
_LONGER = 1.25  # times as long as the program had run, until the code is looked at again


class Gain:
    """What native code of one function is expected to gain; `places`: line and column of what ljit has put into it."""

    __slots__ = ("_code", "_least", "_looked_at", "_places", "known")

    def __init__(self, code: CodeType, places: Container[tuple[int, int]] = ()) -> None:
        self._code = code
        self._places = places
        self._least = _LITTLE if levels_of_loops(code) else _LITTLE + _WITHOUT_LOOPS
        self.known = 1.0  # as of the last look
        self._looked_at = 0.0

    def part(self, seconds: float) -> float:
        """0: none; 1: as much as there can be, also if nothing is known. `seconds`: what the program has taken."""
        if seconds >= _LONGER * self._looked_at:
            self._looked_at = seconds
            numbers = _share_of_numbers(self._code, self._places)
            part = (numbers - self._least) / (_MUCH - _LITTLE)
            self.known = min(max(part, 0.0), 1.0)
        return self.known


def _share_of_numbers(code: CodeType, places: Container[tuple[int, int]]) -> float:
    """All, if too little is known."""
    often = dict.fromkeys(_Work, 0)
    for work, times in _instructions(code, places):
        often[work] += times
    known = often[_Work.ON_NUMBERS] + often[_Work.ON_OBJECTS]
    return often[_Work.ON_NUMBERS] / known if known > often[_Work.ON_ANYTHING] else 1.0


def _instructions(
    code: CodeType, places: Container[tuple[int, int]]
) -> Iterator[tuple[_Work, int]]:
    """What the instructions do, and how often each may run."""
    for each in codes_in(code):
        loops = loops_in(each)
        positions = list(each.co_positions())
        for unit, name, argument in learnt_instructions(each):
            line, _, column, _ = positions[unit]
            if line is None or column is None or (line, column) not in places:
                levels = sum(start <= unit <= end for start, end in loops.items())
                times = _TRIPS ** min(levels + (each is not code), _MOST_LEVELS)
                yield _work_of(name, argument), times


@cache
def _work_of(name: str, argument: int) -> _Work:
    if name.startswith(_OPERATORS) and name.endswith(_OF_NUMBERS):
        return _Work.ON_NUMBERS
    if name.removesuffix(_ADAPTIVE) in _OF_ANYTHING:
        is_of_numbers = name.startswith("BINARY_OP") and argument not in _MAY_JOIN
        return _Work.ON_NUMBERS if is_of_numbers else _Work.ON_ANYTHING
    if name.startswith(_IS_SAME) or name.endswith(_ITEMS_OF_LISTS):
        return _Work.IS_SAME
    return _Work.ON_OBJECTS if name.startswith((*_OPERATORS, *_ON_OBJECTS)) else _Work.IS_SAME

"""What is known of a call before it runs: whether it is a likely one to take long.

That is a guess by the function's bytecode and the arguments, for bets (`waiting.py`), and nothing is run for it. Native
code gains most in loops over numbers and arrays. How many trips they make, the sizes of arguments suggest: loops go up
to a number, or through what is given, and of those in one another each does. Where there are fewer sizes than loops,
some do so again. Numbers that may have a fraction suggest nothing.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from opcode import opmap
from typing import Any

from ljit.cpython.classes import is_plain_class, variables_of_module

__all__ = [
    "are_numbers",
    "calls_its_name",
    "codes_in",
    "has_array",
    "has_large_array",
    "is_being_imported",
    "levels_of_loops",
    "loops_in",
    "may_be_many_trips",
    "runs_later",
]

_LARGE = 100  # elements of an array: work on them takes as long as the calls
_MANY_TRIPS = 20_000  # take CPython as long as a translation takes, mostly
_MANY_ON_ARRAYS = 1000  # the same where they work on arrays; their elements may be the trips
_MOST_TRIPS = 10**9  # larger numbers are none: nobody waits so long for a loop
_LEVELS = 3  # of tuples and lists in one another
_NATIVE_INTS = range(-(2**63), 2**64)
_NUMBERS = (bool, float, complex, bytes, bytearray, range)
# CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE and CO_ASYNC_GENERATOR (Include/cpython/code.h); `inspect` has them,
# which takes long to import
_RUN_LATER = 0x20 | 0x80 | 0x100 | 0x200
_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_JUMPS_BACK = {
    code
    for name, code in opmap.items()
    if "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name  # these wait for other generators
}


def calls_its_name(code: types.CodeType) -> bool:
    """Whether a function may be recursive: it names something as it is called itself."""
    return code.co_name in (*code.co_names, *code.co_freevars)


def runs_later(code: types.CodeType) -> bool:
    """Whether a call makes a generator or a coroutine, in which the code runs."""
    return bool(code.co_flags & _RUN_LATER)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and that of functions in it, comprehensions among them."""
    yield code
    for nested in _nested_in(code):
        yield from codes_in(nested)


def levels_of_loops(code: types.CodeType) -> int:
    """How many loops lie in one another, in the code or in that of a function in it; 0: there are none."""
    loops = loops_in(code)
    around = (
        sum(a <= start and end <= b for a, b in loops.items()) for start, end in loops.items()
    )
    return max([0, *around, *map(levels_of_loops, _nested_in(code))])


def loops_in(code: types.CodeType) -> dict[int, int]:
    """The units where the loops of the code begin, but not of functions in it, and where they end."""
    loops: dict[int, int] = {}
    for start, end in _jumps_back(code.co_code):
        loops[start] = max(end, loops.get(start, end))
    return loops


def is_being_imported(fn: types.FunctionType) -> bool:
    """Whether the function's module is, or the package: then others are yet to be decorated, and nothing takes long."""
    name = fn.__globals__.get("__name__")
    package = sys.modules.get(name.partition(".")[0]) if type(name) is str else None
    modules = (fn.__globals__, variables_of_module(package) or {})
    specs = [variables.get("__spec__") for variables in modules]
    return any(type(spec) is ModuleSpec and getattr(spec, "_initializing", False) for spec in specs)


def _nested_in(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _jumps_back(instructions: bytes) -> Iterator[tuple[int, int]]:
    """Where each of them leads, give or take one, and where it stands."""
    codes = instructions[::2]
    for code in _JUMPS_BACK:
        unit = codes.find(code)
        while unit >= 0:
            distance, place, bits = instructions[2 * unit + 1], unit - 1, 8
            while place >= 0 and codes[place] == _EXTENDED_ARG:
                distance |= instructions[2 * place + 1] << bits
                place, bits = place - 1, bits + 8
            yield unit - distance, unit
            unit = codes.find(code, unit + 1)


def are_numbers(values: Iterable[object], levels: int = _LEVELS) -> bool:
    """Whether all are numbers, arrays or bytes; of tuples and lists the first item tells."""
    return all(_is_of_numbers(value, levels) for value in values)


def has_array(values: Iterable[object]) -> bool:
    """Whether one is an array, or a number of NumPy's."""
    return any(issubclass(type(value), _numpy_classes()) for value in values)


def has_large_array(values: Iterable[object]) -> bool:
    """Whether one is an array with so many elements that the work on them counts."""
    return any(size >= _LARGE for size in _sizes_of_arrays(values))


def may_be_many_trips(values: Sequence[object], levels: int, *, if_unknown: bool) -> bool:
    """Whether sizes of arguments suggest many trips of so many loops in one another; `if_unknown`: there are none."""
    arrays = _sizes_of_arrays(values)
    if any(size >= _MANY_ON_ARRAYS for size in arrays):
        return True
    sizes = sorted(_sizes(values), reverse=True)
    if not sizes:
        return if_unknown
    largest = sizes[:levels]
    trips: int = math.prod(largest) * sizes[0] ** (levels - len(largest))
    return trips >= (_MANY_ON_ARRAYS if arrays else _MANY_TRIPS)


def _is_of_numbers(value: Any, levels: int) -> bool:
    cls = type(value)
    if not is_plain_class(cls):
        return False
    if cls is tuple or cls is list:
        return levels > 0 and are_numbers(value[:1], levels - 1)
    return (
        (cls is int and value in _NATIVE_INTS)
        or cls in _NUMBERS
        or _is_packed(cls)
        or issubclass(cls, _numpy_classes())
    )


def _sizes_of_arrays(values: Iterable[Any]) -> list[int]:
    """As NumPy knows them: attributes of a subclass may be functions, which wait as this one does."""
    classes = _numpy_classes()[:1]
    arrays = [value for value in values if issubclass(type(value), classes)]
    return [classes[0].size.__get__(array) for array in arrays]  # type: ignore[attr-defined]


def _sizes(values: Iterable[Any]) -> Iterator[int]:
    """Ints that are arguments, and the lengths of all that has any."""
    for value in values:
        number = _plain(value)
        if type(number) is not int:
            yield from _lengths(value, _LEVELS)
        elif abs(number) <= _MOST_TRIPS:
            yield abs(number)


def _plain(value: Any) -> Any:
    """The Python number that a number of NumPy's stands for."""
    is_numpys = issubclass(type(value), _numpy_classes()[1:])
    return sys.modules["numpy"].generic.item(value) if is_numpys else value


def _lengths(value: Any, levels: int) -> Iterator[int]:
    """Of a tuple or list of such the first item tells."""
    cls = type(value)
    if not is_plain_class(cls):
        return
    if cls is range:
        yield abs(value.stop - value.start)
    elif cls in (tuple, list, bytes, bytearray) or _is_packed(cls):
        yield len(value)
        if levels and value:
            yield from _lengths(value[0], levels - 1)
    elif issubclass(cls, _numpy_classes()[:1]):
        yield from sys.modules["numpy"].ndarray.shape.__get__(value)


def _is_packed(cls: type) -> bool:
    """Whether it is that of the module `array`, if anybody has imported that."""
    return cls is getattr(sys.modules.get("array"), "array", None)


def _numpy_classes() -> tuple[type, ...]:
    """None if nobody has imported NumPy, as then there are no arrays."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return ()
    try:
        return (numpy.ndarray, numpy.generic)
    except AttributeError:  # in the midst of its import
        return ()

"""What a call gives the parameters of a function whose code is known: its arguments in their order, and defaults.

Defaults of a function that is known are constants, under assumptions. Those of functions that functions make differ
from one to the next: they are read from the function at hand, as what is in its cells is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.analysis.assumptions import Assumption, assumptions_of_defaults, python_function
from ljit.cpython.parameters import arrange, defaults_of
from ljit.held import MadeFunctions
from ljit.ir import Value
from ljit.records import Record
from ljit.types import Type

__all__ = ["Arguments", "Own", "arguments_of"]


class Own(Record):
    """One of the values that a callable gives by itself, see `HeldKind.types`."""

    index: int
    type: Type


class Arguments(Record):
    """A value for each parameter, and what is taken for granted of the defaults among them."""

    values: Sequence[Value | Own]
    assumptions: Sequence[Assumption] = ()


def arguments_of(
    callee: object,
    args: Sequence[Value | Own],
    kwnames: Sequence[str],
    constant: Callable[[object], Value],
) -> Arguments | None:
    """Arrange what a call gives, the last arguments by name; None: that is not known, or Python raises.

    Of functions that functions make, `args` begin with what is in the cells.
    """
    split = len(args) - len(kwnames)
    positional, keywords = args[:split], dict(zip(kwnames, args[split:], strict=True))
    if type(callee) is MadeFunctions:
        return _of_made(callee, positional, keywords)
    function = python_function(callee)
    given = None if function is None else arrange(function.__code__, positional, keywords)
    if function is None or given is None:
        return None
    missing = [name for name, value in given.items() if value is None]
    defaults = defaults_of(function) if missing else {}
    if not defaults.keys() >= set(missing):
        return None
    values = [constant(defaults[n]) if v is None else v for n, v in given.items()]
    return Arguments(values, assumptions_of_defaults(function, missing) if missing else ())


def _of_made(
    kind: MadeFunctions, positional: Sequence[Value | Own], keywords: dict[str, Value | Own]
) -> Arguments | None:
    cells = len(kind.given)
    given = arrange(kind.code, positional[cells:], keywords)
    if given is None:
        return None
    values = list(positional[:cells])
    for name, value in given.items():
        if value is not None:
            values.append(value)
            continue
        index = kind.default_of(name)
        if index is None:
            return None
        values.append(Own(index, kind.types[index]))
    return Arguments(values)

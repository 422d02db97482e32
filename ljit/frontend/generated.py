"""The text of constructors that `dataclasses` makes: it compiles and forgets it.

The lines are written anew from the names in the code, one a field, at the places where the module writes them. Whoever
takes them compares the code that they compile to, so that what the module writes otherwise is no text of the function.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from types import CodeType

from ljit.records import Record

__all__ = ["constructor_lines"]

_FILENAME = "<string>"
_SETATTR, _AFTER = "__setattr__", "__post_init__"


class _Names(Record):
    """What the instructions of a line name: variables, those of the function around, and attributes."""

    variables: list[str]
    cells: list[str]
    attributes: list[str]
    texts: list[str]  # constants
    calls: list[str]


def constructor_lines(code: CodeType) -> list[str]:
    """Give the lines of a file with the constructor where `code` has it; [] if it cannot be one."""
    if code.co_filename != _FILENAME or code.co_name != "__init__" or not code.co_argcount:
        return []
    first = code.co_firstlineno
    body = [_statement(names, code.co_varnames[0]) for names in _lines_of(code, first)]
    if not body or not all(body):
        return []
    around = [f"def __create_fn__({', '.join(code.co_freevars)}):"]
    padding = [""] * (first - 2)
    lines = [*around, *padding, f" def __init__({_parameters(code)}):", *(f"  {x}" for x in body)]
    return [f"{line}\n" for line in lines]


def _parameters(code: CodeType) -> str:
    positional = code.co_varnames[: code.co_argcount]
    by_name = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    return ", ".join((*positional, *(("*",) if by_name else ()), *by_name))


def _lines_of(code: CodeType, first: int) -> Sequence[_Names]:
    found: dict[int, _Names] = {}
    for instruction in dis.get_instructions(code):
        positions = instruction.positions
        line = positions.lineno if positions is not None else None
        if line is None or line <= first:
            continue
        names = found.setdefault(line, _Names([], [], [], [], []))
        _note(instruction, names)
    lines = [*found]
    return [*found.values()] if lines == [*range(first + 1, first + 1 + len(lines))] else []


def _note(instruction: dis.Instruction, names: _Names) -> None:
    name, value = instruction.opname, instruction.argval
    if name.startswith("LOAD_FAST"):
        names.variables.extend(value if isinstance(value, tuple) else (value,))
    elif name == "LOAD_DEREF":
        names.cells.append(value)
    elif name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"):
        names.attributes.append(value)
    elif name == "LOAD_CONST" and isinstance(value, str):
        names.texts.append(value)
    elif name == "CALL":
        names.calls.append(name)


def _statement(names: _Names, owner: str) -> str | None:
    """The statement of a line: what it stores in an attribute, or the call of the user's own part."""
    given = [x for x in names.variables if x != owner]
    if names.attributes == [_AFTER]:
        return f"{owner}.{_AFTER}({','.join(given)})"
    if names.attributes == [_SETATTR] and names.cells and names.texts:
        value = _value(given, names.cells[1:], calls=len(names.calls) > 1)
        return value and f"{names.cells[0]}.{_SETATTR}({owner},{names.texts[0]!r},{value})"
    if len(names.attributes) != 1 or names.attributes[0] == _SETATTR:
        return None
    value = _value(given, names.cells, calls=bool(names.calls))
    return value and f"{owner}.{names.attributes[0]}={value}"


def _value(given: Sequence[str], cells: Sequence[str], *, calls: bool) -> str | None:
    """A parameter; what a factory makes if none was given; or what it makes, or a default, of no parameter."""
    if given and not cells:
        return given[0]
    if given and len(cells) == 2:
        is_missing, factory = cells
        return f"{factory}() if {given[0]} is {is_missing} else {given[0]}"
    if not given and len(cells) == 1:
        return f"{cells[0]}()" if calls else cells[0]
    return None

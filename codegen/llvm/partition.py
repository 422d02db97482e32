"""Module text in two parts: what is worth optimising, and functions that only have to be there soon.

A function says ``optnone`` if its own speed does not matter: the entry of a loop, boxing for exits. Such functions
cost a tenth if they are compiled apart, without the hundred passes that visit each function of a module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ljit.codegen.llvm.instructions import NAME, NODE, SYMBOL
from ljit.records import Record

__all__ = ["AGAIN", "IN_PLACE", "QUICK", "is_apart", "partition"]

QUICK = "optnone"  # must go with noinline
IN_PLACE = "alwaysinline"  # of functions that are put in the place of each call
AGAIN = ".again"  # in names of copies of a function that calls itself, which are so, too

_PARAMETER = re.compile(f" {NAME.pattern}")


class _Pieces(Record):
    """Lines and functions of a module, by name."""

    globals: dict[str, str]
    declarations: dict[str, str]
    functions: dict[str, str]
    nodes: dict[str, str]  # of metadata
    rest: list[str]


def is_apart(function: str) -> bool:
    """Whether nothing is left of a function, given as text, in what is optimised, but in the place of its calls."""
    head = _head(function)
    return QUICK in head or IN_PLACE in head


def partition(text: str) -> tuple[str, str]:
    """Give the module's text without its quick functions, and that of a module of these ("" if there are none).

    What one part defines and the other uses is visible outside. Private constants, and functions that are put in the
    place of calls, are in each part that uses them; global variables belong to the first.
    """
    if QUICK not in text:
        return text, ""
    pieces = _pieces(text)
    quick = {name: body for name, body in pieces.functions.items() if QUICK in _head(body)}
    copied = {name: body for name, body in pieces.functions.items() if IN_PLACE in _head(body)}
    others = {k: body for k, body in pieces.functions.items() if k not in quick | copied}
    if not others:
        return "", text
    main, apart = ({**own, **_used(copied, own)} for own in (others, quick))
    return (
        _module(pieces, main, quick, has_variables=True),
        _module(pieces, apart, others, has_variables=False),
    )


def _used(copied: Mapping[str, str], functions: Mapping[str, str]) -> dict[str, str]:
    """Those of some functions that others call, also by way of one another."""
    found: dict[str, str] = {}
    todo = list(functions.values())
    while todo:
        for name in SYMBOL.findall(todo.pop()):
            if name in copied and name not in found:
                found[name] = copied[name]
                todo.append(copied[name])
    return found


def _pieces(text: str) -> _Pieces:
    pieces = _Pieces({}, {}, {}, {}, [])
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("define "):
            body = [line]
            while body[-1] != "}":
                body.append(next(lines))
            pieces.functions[_name(line)] = "\n".join(body)
        elif line.startswith("declare "):
            pieces.declarations[_name(line)] = line
        elif line.startswith("@"):
            pieces.globals[_name(line)] = line
        elif line.startswith("!"):
            pieces.nodes[line[: line.index(" ")]] = line
        else:
            pieces.rest.append(line)
    return pieces


def _name(line: str) -> str:
    found = SYMBOL.search(line)
    assert found is not None, line
    return found[1]


def _head(function: str) -> str:
    return function[: function.index("\n")]


def _module(
    pieces: _Pieces, own: Mapping[str, str], others: Mapping[str, str], *, has_variables: bool
) -> str:
    body = "\n".join(own.values())
    used = set(SYMBOL.findall(body))
    visible = set(SYMBOL.findall("\n".join(others.values())))
    if has_variables:
        values = (line.partition(" = ")[2] for line in pieces.globals.values())
        used |= set(SYMBOL.findall("\n".join(values)))
    lines = list(pieces.rest)
    for name, line in pieces.globals.items():
        if " global " not in line:
            lines += [line] if name in used else []
        elif has_variables:
            lines.append(line)
        elif name in used:
            lines.append(_declared_variable(line))
    lines += [line for name, line in pieces.declarations.items() if name in used]
    lines += [_declared(function) for name, function in others.items() if name in used]
    for name, function in own.items():
        is_visible = name in visible and IN_PLACE not in _head(function)
        lines.append(function.replace(" internal ", " ", 1) if is_visible else function)
    return "\n".join([*lines, *_nodes_of(body, pieces.nodes)]) + "\n"


def _declared_variable(line: str) -> str:
    name, rest = line.split(" = global ")
    return f"{name} = external global {rest.split(' ')[0]}"


def _declared(function: str) -> str:
    head = _head(function).replace(" internal ", " ", 1)
    end = head.index(")") + 1
    own = (word for word in head[end:-1].split() if word not in (QUICK, "noinline"))
    attributes = " ".join(dict.fromkeys(("nounwind", *own)))
    return f"declare{_PARAMETER.sub('', head[:end]).removeprefix('define')} {attributes}"


def _nodes_of(body: str, nodes: Mapping[str, str]) -> Iterable[str]:
    """The metadata nodes that a text needs."""
    found = dict.fromkeys(NODE.findall(body))
    todo = list(found)
    while todo:
        for name in NODE.findall(nodes[todo.pop()]):
            if name not in found:
                found[name] = None
                todo.append(name)
    return (line for name, line in nodes.items() if name in found)

"""Instructions that the builder wrote, read again: their text is the only record of them.

Objects for each instruction would cost more than what is made of them: few functions are looked at once more. Who does
so knows LLVM's grammar from here. A form that the builder never writes is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ljit.records import Record

__all__ = [
    "LABEL",
    "NAME",
    "NODE",
    "SYMBOL",
    "Call",
    "Instruction",
    "Load",
    "Operation",
    "Place",
    "Store",
    "callee_of",
    "intrinsic_of",
    "number_types",
    "operand_names",
    "read",
    "with_operands",
]

NAME = re.compile(r"(%[\w.]+)")  # of a value or a block; `split` keeps it
SYMBOL = re.compile(r"@([\w.]+)")  # a function or a global variable
LABEL = re.compile(r"label %([\w.]+)")  # where a branch goes
NODE = re.compile(r"![0-9]+")  # of metadata

_NUMBER = r"double|float|i\d+"
_TYPE = re.compile(rf"\b(?:{_NUMBER})\b")
_RESULT = re.compile(r"(%[\w.]+) = (\w+) (.*)")
_TOKEN = re.compile(rf"\b({_NUMBER})\b|(%[\w.]+|(?<![\w.])-?\d\w*|\btrue\b|\bfalse\b)")
_PLACE = re.compile(r"inbounds \[(\d+) x i8\], ptr (.+), i64 (%[\w.]+)")
_LOAD = re.compile(rf"({_NUMBER}), ptr (%[\w.]+)(, align .*)")
_STORE = re.compile(rf"store ({_NUMBER}) (\S+), ptr (%[\w.]+)(, align .*)")
_CALL = re.compile(rf"((?:\w+ )*?)({_NUMBER}) @([\w.]+)\((.*)\)")
_FOREIGN = re.compile(r"\b(?:half|ptr|i128)\b|[<{]")
_INTRINSIC = re.compile(r"llvm\.(\w+)\.([fi]\d+)")
_CALLEE = re.compile(r"\bcall .*?([@%][\w.]+|inttoptr \(i64 -?\d+ to ptr\))\(")


class Place(Record):
    """The address of an element of so many bytes."""

    result: str
    size: int
    base: str
    index: str


class Load(Record):
    """A number read from memory; `suffix`: alignment and metadata, likewise of a `Store`."""

    result: str
    type: str
    place: str
    suffix: str


class Store(Record):
    """A number written to memory."""

    type: str
    value: str
    place: str
    suffix: str


class Call(Record):
    """A call, by name, of a function that gives a number. `operands`: their text, with types."""

    result: str
    flags: str
    type: str
    callee: str
    operands: str


class Operation(Record):
    """What depends on its operands alone; `operands`: their text, with flags and types."""

    result: str
    opcode: str
    operands: str


Instruction = Place | Load | Store | Call | Operation


def read(line: str) -> Instruction | None:
    """Read an instruction; None: one that does something else to memory or to control, or in another way."""
    result = _RESULT.fullmatch(line)
    if result is None:
        store = _STORE.fullmatch(line)
        return None if store is None else Store(*store.groups())
    name, opcode, rest = result.groups()
    if opcode == "getelementptr":
        place = _PLACE.fullmatch(rest)
        return None if place is None else Place(name, int(place[1]), place[2], place[3])
    if opcode == "load":
        load = _LOAD.fullmatch(rest)
        return None if load is None else Load(name, *load.groups())
    if opcode == "call":
        call = _CALL.fullmatch(rest)
        return None if call is None else Call(name, *call.groups())
    return Operation(name, opcode, rest)


def operand_names(line: str) -> list[str]:
    """The names of an instruction's operands, each as often as it is one."""
    return NAME.findall(line.partition(" = ")[2] or line)


def callee_of(line: str) -> str | None:
    """The function that is called, by its name or its address; None: nothing is, "" that is not known."""
    if "call " not in line:
        return None
    found = _CALLEE.search(line)
    return "" if found is None else found[1]


def intrinsic_of(callee: str) -> tuple[str, str] | None:
    """The name of an intrinsic of one type, and what it calls the type: fabs, f64."""
    found = _INTRINSIC.fullmatch(callee)
    return None if found is None else (found[1], found[2])


def number_types(line: str) -> set[str]:
    """The types of numbers in an instruction, but for those in an address."""
    return set() if " = getelementptr " in line else set(_TYPE.findall(line))


def with_operands(
    text: str, of_type: Callable[[str], str], of_value: Callable[[str, str], str]
) -> str | None:
    """Put other types and values, given those of each, into the text of operands; None if not all are numbers."""
    if _FOREIGN.search(text) is not None:
        return None
    type_ = ""

    def other(found: re.Match[str]) -> str:
        nonlocal type_
        if found[1] is not None:
            type_ = found[1]
            return of_type(type_)
        return of_value(type_, found[2])

    return _TOKEN.sub(other, text)

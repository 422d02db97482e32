"""Comparisons of floats with constants, written so that LLVM's optimiser does not misread clips.

LLVM 22.1 takes a clip (`x < c ? c : x`) for a minimum or maximum wherever a comparison and a choice have the same
operands, and then forgets what it does with a NaN, or with -0.0:

- Of two clips of a value at one limit it keeps the first, though a NaN passes that (`x < c ? c : x`) and not the other
  (`x >= c ? x : c`).
- It moves conversions out of clips (`x < 0.0 ? 0.0 : float(x)`), and then asks for `x > 0.0`, which makes 0.0 of -0.0.

To compare with the neighbour of the limit (`x <= b` for `x < c`, where b is the next number below c) is the same for
all x, and no clip to LLVM. It may cost an instruction more, so only what can meet these two is written so. That is
found in a whole module, as LLVM puts functions in the place of their calls.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ljit.codegen.llvm.instructions import NAME, SYMBOL, operand_names
from ljit.codegen.llvm.refs import Ref, float_constant, float_value
from ljit.records import Record

__all__ = ["plain_clips"]

_NUMBER = r"0x(?:[0-9A-F]{16}|H[0-9A-F]{4})"
_COMPARISON = re.compile(
    rf"(%\S+ = fcmp (?:\w+ )*)([ou])([lg][te]) (double|float|half) (?:(%[\w.]+), ({_NUMBER})|({_NUMBER}), (%[\w.]+))"
)
# What hands a float on as it is, or in another width.
_MOVE = re.compile(
    r"(?:%\S+ = )?(?:tail )?(phi|select|fptrunc|fpext|freeze|load|store|extractvalue|insertvalue|call|ret|define) "
)
_ARRIVING = re.compile(r"\[ (%[\w.]+),")  # what a phi is one of
_FLOAT = re.compile(r"\b(?:double|float|half)\b")
_CASTS = ("fptrunc", "fpext")
_HANDED_OVER = ("call", "ret", "define")
_DTYPES = {"double": np.float64, "float": np.float32, "half": np.float16}

_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
# The same comparison with the next number, above (1) or below (-1).
_WITH_NEIGHBOUR = {"lt": ("le", -1), "le": ("lt", 1), "gt": ("ge", 1), "ge": ("gt", -1)}


class _Comparison(Record):
    """A comparison of `name` with a constant, in some line of a text."""

    line: int
    value: int  # what `name` is one of: see `_Values`
    head: str  # the result, with flags
    order: str  # "o" or "u": no or yes for a NaN
    predicate: str
    type: str
    name: str
    limit: float

    @property
    def kind(self) -> tuple[float, bool]:
        """The limit, and whether a NaN counts as not below it, or as not above it."""
        return self.limit, (self.predicate[0] == "l") == (self.order == "o")


class _Values:
    """Names of a module in groups: those of one group may be one number, of whatever width."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._leaders: list[int] = []
        self._cast: list[int] = []

    def number(self, name: str) -> int:
        found = self._numbers.setdefault(name, len(self._leaders))
        if found == len(self._leaders):
            self._leaders.append(found)
        return found

    def leader(self, value: int) -> int:
        while (above := self._leaders[value]) != value:
            self._leaders[value] = value = self._leaders[above]
        return value

    def join(self, names: Sequence[str], *, is_cast: bool) -> None:
        first = self.number(names[0])
        for name in names[1:]:
            self._leaders[self.leader(self.number(name))] = self.leader(first)
        if is_cast:
            self._cast.append(first)

    def cast(self) -> set[int]:
        """The groups with numbers that are converted."""
        return {self.leader(value) for value in self._cast}


def plain_clips(text: str) -> str:
    """Give a module's text with comparisons that LLVM would misread written in another way.

    Cost: a search for comparisons with constants. If some are about zero and floats are converted, or if there are two
    kinds of them about one limit, a walk through the text.
    """
    if "fcmp " not in text:
        return text
    kinds = {x.kind for x in map(_comparison, _COMPARISON.finditer(text))}
    has_casts = any(f" {cast} " in text for cast in _CASTS)
    if not any(
        (limit, not is_below) in kinds or (limit == 0 and has_casts) for limit, is_below in kinds
    ):
        return text
    lines = text.split("\n")
    values = _Values()
    comparisons = _read(lines, values)
    for comparison in _misread(comparisons, values):
        lines[comparison.line] = _with_neighbour(comparison)
    return "\n".join(lines)


def _comparison(found: re.Match[str], line: int = 0, value: int = 0) -> _Comparison:
    head, order, predicate, type_, name, limit, first, second = found.groups()
    if name is None:
        name, limit, predicate = second, first, _SWAPPED[predicate]
    return _Comparison(line, value, head, order, predicate, type_, name, _number(type_, limit))


def _number(type_: str, text: str) -> float:
    if type_ == "half":
        return float(np.uint16(int(text.removeprefix("0xH"), 16)).view(np.float16))
    number = float_value(Ref(type_, text))
    assert number is not None
    return number


def _read(lines: Sequence[str], values: _Values) -> list[_Comparison]:
    """Note which names are one number; give the comparisons with constants."""
    called = {_symbol(line) for line in lines if line.startswith("define ")}
    called &= {_symbol(line) for line in lines if "call " in line}
    comparisons = []
    function = ""
    for i, line in enumerate(map(str.strip, lines)):
        if line.startswith("define "):
            function = _symbol(line)
        if "double" not in line and "float" not in line and "half" not in line:
            continue  # four times as fast as a pattern
        found = _COMPARISON.fullmatch(line)
        if found is not None:
            name = found[5] or found[8]
            comparisons.append(_comparison(found, i, values.number(function + name)))
            continue
        move = _MOVE.match(line)
        if move is None or _FLOAT.search(line) is None:
            continue
        names = [function + name for name in _moved(move[1], line)]
        if move[1] in _HANDED_OVER:
            # all that goes into a function, or out of it, counts as one
            callee = _symbol(line) if move[1] == "call" else function
            names = [callee, *names] if callee in called else []
        if names:
            values.join(names, is_cast=move[1] in _CASTS)
    return comparisons


def _symbol(line: str) -> str:
    found = SYMBOL.search(line)
    return "" if found is None else found[1]


def _moved(opcode: str, line: str) -> Iterable[str]:
    """The names in a line that are, or hold, one number."""
    if opcode == "phi":
        return [line[: line.index(" ")], *_ARRIVING.findall(line)]
    if opcode == "select":
        return [line[: line.index(" ")], *operand_names(line)[1:]]
    return NAME.findall(line)


def _misread(comparisons: Iterable[_Comparison], values: _Values) -> Iterator[_Comparison]:
    """The comparisons that are to be written in another way."""
    cast = values.cast()
    kinds = defaultdict[tuple[int, float], list[bool]](list)
    for comparison in comparisons:
        value = values.leader(comparison.value)
        limit, is_below = comparison.kind
        seen = kinds[value, limit]
        seen.append(is_below)
        if seen[0] != is_below or (limit == 0 and value in cast):
            yield comparison


def _with_neighbour(comparison: _Comparison) -> str:
    """The line that compares with the number next to the limit, if there is one."""
    predicate, side = _WITH_NEIGHBOUR[comparison.predicate]
    dtype = _DTYPES[comparison.type]
    number = np.array(comparison.limit, dtype)
    neighbour = np.nextafter(number, np.array(side * np.inf, dtype))
    if neighbour == number:
        predicate = comparison.predicate
    limit = float_constant(comparison.type, float(neighbour))
    return f"{comparison.head}{comparison.order}{predicate} {limit.type} {comparison.name}, {limit}"

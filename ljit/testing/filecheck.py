"""Match text against patterns that stand in comments, as LLVM's FileCheck does.

Directives: ``CHECK`` (somewhere behind the match before), ``CHECK-NEXT`` (on the next line),
``CHECK-SAME`` (on the same line), ``CHECK-NOT`` (not before the next match), ``CHECK-LABEL``
(splits the text into sections that are matched alone). In a pattern ``{{...}}`` is a regular
expression, ``[[N:...]]`` one whose match gets a name, ``[[N]]`` what it matched. Runs of spaces
match one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["CheckError", "Directive", "file_check", "parse_directives"]

_DIRECTIVE = re.compile(r"//\s*(CHECK(?:-NEXT|-SAME|-NOT|-LABEL)?):\s*(.*?)\s*$")
_PIECE = re.compile(r"\{\{(.*?)\}\}|\[\[(\w+)(?::(.*?))?\]\]")


class CheckError(AssertionError):
    """The text does not match; shows directive and text."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One line of patterns: its kind, its pattern and where it stands."""

    kind: str
    pattern: str
    line: int


def parse_directives(text: str, first_line: int = 1) -> list[Directive]:
    """Find the directives in `text`."""
    found = []
    for number, line in enumerate(text.splitlines(), start=first_line):
        match = _DIRECTIVE.search(line)
        if match is not None:
            found.append(Directive(match.group(1), match.group(2), number))
    return found


def file_check(text: str, directives: Sequence[Directive]) -> None:
    r"""Raise CheckError unless `text` matches.

    >>> checks = parse_directives("// CHECK: [[X:.]] = 1\n// CHECK-NEXT: = [[X]]")
    >>> file_check("a = 1\nb = a\n", checks)
    """
    text = re.sub(r"[ \t]+", " ", text)
    for section, part in _sections(text, directives):
        _Matcher(section, text).run(part)


def _sections(text: str, directives: Sequence[Directive]) -> Iterator[tuple[str, list[Directive]]]:
    """Split text and directives at the labels."""
    labels = [d for d in directives if d.kind == "CHECK-LABEL"]
    starts = [0]
    at = 0
    for label in labels:
        found = re.compile(_regex(label.pattern, {})).search(text, at)
        if found is None:
            raise CheckError(f"line {label.line}: no label {label.pattern!r} in\n{text}")
        starts.append(found.start())
        at = found.end()
    groups: list[list[Directive]] = [[]]
    for directive in directives:
        if directive.kind == "CHECK-LABEL":
            groups.append([])
        else:
            groups[-1].append(directive)
    for start, end, group in zip(starts, [*starts[1:], len(text)], groups, strict=True):
        yield text[start:end], group


class _Matcher:
    def __init__(self, text: str, whole: str) -> None:
        self.text = text
        self.whole = whole
        self.at = 0
        self.names: dict[str, str] = {}
        self.forbidden: list[Directive] = []

    def run(self, directives: Sequence[Directive]) -> None:
        for directive in directives:
            if directive.kind == "CHECK-NOT":
                self.forbidden.append(directive)
                continue
            start, end = self._window(directive.kind)
            found = self._search(directive, start, end)
            if found is None:
                raise self._error(directive, f"not found: {directive.pattern}")
            self._check_forbidden(found.start())
            self.names.update(found.groupdict())
            self.at = found.end()
        self._check_forbidden(len(self.text))

    def _window(self, kind: str) -> tuple[int, int]:
        """Give where a match may lie."""
        end_of_line = self.text.find("\n", self.at)
        end_of_line = len(self.text) if end_of_line < 0 else end_of_line
        if kind == "CHECK-SAME":
            return self.at, end_of_line
        if kind == "CHECK-NEXT":
            end = self.text.find("\n", end_of_line + 1)
            return min(end_of_line + 1, len(self.text)), len(self.text) if end < 0 else end
        return self.at, len(self.text)

    def _search(self, directive: Directive, start: int, end: int) -> re.Match[str] | None:
        return re.compile(_regex(directive.pattern, self.names)).search(self.text, start, end)

    def _check_forbidden(self, end: int) -> None:
        for directive in self.forbidden:
            if self._search(directive, self.at, end) is not None:
                raise self._error(directive, f"found: {directive.pattern}")
        self.forbidden.clear()

    def _error(self, directive: Directive, what: str) -> CheckError:
        rest = self.text[self.at :]
        return CheckError(
            f"line {directive.line}: {directive.kind} {what}\n"
            f"-- behind the match before:\n{rest}\n-- the whole text:\n{self.whole}"
        )


def _regex(pattern: str, names: dict[str, str]) -> str:
    """Turn a pattern into a regular expression."""
    pattern = re.sub(r"[ \t]+", " ", pattern)
    parts: list[str] = []
    defined: set[str] = set()
    at = 0
    for piece in _PIECE.finditer(pattern):
        parts.append(re.escape(pattern[at : piece.start()]))
        at = piece.end()
        plain, name, inner = piece.groups()
        if plain is not None:
            parts.append(f"(?:{plain})")
        elif inner is not None:
            parts.append(f"(?P<{name}>{inner})")
            defined.add(name)
        elif name in defined:
            parts.append(f"(?P={name})")
        elif name in names:
            parts.append(re.escape(names[name]))
        else:
            raise CheckError(f"[[{name}]] is used before it is defined: {pattern}")
    parts.append(re.escape(pattern[at:]))
    return "".join(parts)

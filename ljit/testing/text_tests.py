"""Text tests of passes: a graph, the passes to run on it, and what the result has to look like.

A file holds cases split by lines ``// -----``. ``// RUN: pass,pass`` (for all cases behind it)
names the pipeline; ``// EXPECT-ERROR: text`` wants an error of ljit with that text, from the
verifier or a pass. The result is matched by `file_check`, and it must verify and parse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ljit.errors import LjitError
from ljit.ir import Graph, parse, print_graph
from ljit.ir.verifier import verify
from ljit.testing.filecheck import CheckError, Directive, file_check, parse_directives

__all__ = ["TextCase", "parse_cases", "run_case"]

RunPasses = Callable[[Graph, str], object]

_SPLIT = re.compile(r"^\s*// -----\s*$")
_RUN = re.compile(r"//\s*RUN:\s*(.*?)\s*$")
_ERROR = re.compile(r"//\s*EXPECT-ERROR:\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class TextCase:
    """One graph of a file with what is said about it."""

    name: str
    line: int
    pipeline: str
    text: str
    directives: list[Directive] = field(default_factory=list)
    error: str = ""


def parse_cases(text: str) -> list[TextCase]:
    """Read a file of cases; the first comment of a case is its name."""
    cases: list[TextCase] = []
    pipeline = ""
    lines = text.splitlines()
    starts = [0, *(i + 1 for i, line in enumerate(lines) if _SPLIT.match(line))]
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        part = "\n".join(lines[start : end - 1])
        run = re.search(_RUN.pattern, part, re.MULTILINE)
        pipeline = run.group(1) if run is not None else pipeline
        error = re.search(_ERROR.pattern, part, re.MULTILINE)
        if re.search(r"^graph", part, re.MULTILINE) is None:
            continue
        cases.append(
            TextCase(
                name=_name_of(part) or f"line {start + 1}",
                line=start + 1,
                pipeline=pipeline,
                text=part,
                directives=parse_directives(part, start + 1),
                error=error.group(1) if error is not None else "",
            )
        )
    return cases


def _name_of(part: str) -> str:
    for line in part.splitlines():
        remark = re.match(r"//\s*(?!\s|RUN:|CHECK|EXPECT|-----)(.+?)[.:]?\s*$", line)
        if remark is not None:
            return remark.group(1)
    return ""


def run_case(case: TextCase, run_passes: RunPasses) -> None:
    """Run one case; CheckError if the result is not as wanted."""
    if not case.error:
        file_check(_result(case, run_passes), case.directives)
        return
    try:
        result = _result(case, run_passes)
    except LjitError as error:
        if case.error in str(error):
            return
        raise CheckError(f"the error does not say {case.error!r}:\n{error}") from error
    raise CheckError(f"no error that says {case.error!r}; the result is\n{result}")


def _result(case: TextCase, run_passes: RunPasses) -> str:
    graph = parse(case.text)
    is_ssa = not case.pipeline.startswith("convert_to_ssa")  # which also takes unreachable code
    if is_ssa:
        verify(graph)
    run_passes(graph, case.pipeline)
    verify(graph)
    objects: list[object] = []
    text = print_graph(graph, objects)
    again = print_graph(parse(text, objects), objects)
    if again != text:
        raise CheckError(f"the result does not read back the same:\n{text}\nread back:\n{again}")
    return text

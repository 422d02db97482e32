"""While somebody watches lines, as debuggers and coverage tools do, they see CPython's frames and variables."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import ljit


def summed(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
    return total


def traced_events(function, *args):
    events = []

    def trace(frame, event, _arg):
        if frame.f_code is summed.__code__:
            events.append((event, frame.f_lineno, dict(frame.f_locals)))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = function(*args)
    finally:
        sys.settrace(before)
    return result, events


@pytest.mark.parametrize("calls_before", [0, 1])  # after the second one there is native code
def test_a_trace_function_sees_what_it_would_see_undecorated(calls_before):
    compiled = ljit.jit(summed)
    for _ in range(calls_before):
        compiled(3)
    expected = traced_events(summed, 6)
    assert len(expected[1]) > 10
    assert traced_events(compiled, 6) == expected
    assert traced_events(compiled, 6) == expected


def test_calls_are_compiled_when_nobody_watches_any_more():
    compiled = ljit.jit(summed)
    traced_events(compiled, 6)
    assert not compiled._calls.has_executor()
    for _ in range(3):
        assert compiled(6) == summed(6)
    (info,) = compiled.specializations
    assert info.compiles == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in CPython 3.12")
def test_a_tool_that_monitors_lines_sees_them(tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
            import sys
            import ljit

            @ljit.jit
            def summed(n):
                total = 0
                for i in range(n):
                    total += i
                return total

            lines = []
            tool = sys.monitoring.COVERAGE_ID
            sys.monitoring.use_tool_id(tool, "test")
            sys.monitoring.set_events(tool, sys.monitoring.events.LINE)
            sys.monitoring.register_callback(
                tool, sys.monitoring.events.LINE,
                lambda code, line: lines.append(line - code.co_firstlineno) if code is summed.__code__ else None,
            )
            summed(2)
            print(lines)
        """)
    )
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[2, 3, 4, 3, 4, 3, 5]\n"

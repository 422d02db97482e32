"""A Function shows each of its stages, and says of each line how it runs and why."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import just, none

import ljit
from ljit import config
from ljit.config import overridden
from ljit.errors import UserError
from ljit.ir import parse


def scale(x):
    return x * 2.0


def program(xs, table, n):
    total = 0.0
    for k in range(n):
        if k > 5:
            total += table[k]
        total += xs[k % 4]
    text = f"{total}"
    return total, text


@pytest.fixture
def called():
    function = ljit.jit(program)
    for _ in range(3):
        function(np.arange(8.0), {}, 4)
    return function


def line_of(explanation, text):
    return next(line for line in explanation.splitlines() if text in line)


def test_each_line_says_how_it_runs(called):
    text = called.explain()
    first = program.__code__.co_firstlineno
    assert f"{first:7}  def program(xs, table, n):" in text
    assert line_of(text, "for k in range(n)").endswith("| native")
    assert "interpreted: not run before" in line_of(text, "table[k]")
    assert line_of(text, "xs[k % 4]").split("|")[1].startswith(" native")
    calls = ('calls Python: f"{total}"', "calls Python: {total}")  # the second since CPython 3.12
    assert line_of(text, "text = f").endswith(calls)
    assert "1 profiled run, 1 compile in " in text
    assert "2 native calls, 0 bailouts" in text


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Circle:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3.0 * self.radius * self.radius


def total_area(shapes, n):
    total = 0.0
    for _ in range(n):
        for shape in shapes:
            total += shape.area()
    return total


@pytest.mark.parametrize("shapes", [[Square(2.0)], [Square(2.0), Circle(1.0)]], ids=["1", "2"])
def test_methods_that_are_native_calls_do_not_call_python(shapes):
    with overridden(cold_calls=False, quick_runs=0):
        function = ljit.jit(total_area)
        for _ in range(3):
            function(shapes, 50)
        shown = line_of(function.explain(), "total += shape.area()")
    assert "native" in shown and "calls Python" not in shown


class Odd:
    def __getattr__(self, name):
        return len(name)


class Guarded(Square):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("cls", [Square, Odd, Guarded])
def test_attributes_at_known_places_do_not_call_python(cls):
    @ljit.jit
    def changed(x, n):
        for _ in range(n):
            x.side = x.side + 1
        return x.side

    with overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            changed(cls() if cls is Odd else cls(2), 50)
        shown = line_of(changed.explain(), "x.side = x.side + 1")
    assert ("calls Python" in shown) is (cls is not Square)


def test_failed_checks_are_counted_with_their_lines(called):
    table = {k: 1.0 for k in range(10)}
    for _ in range(3):
        called(np.arange(8.0), table, 8)
    text = called.explain()
    number = program.__code__.co_firstlineno + 4
    assert f"1 time at test_inspection.py:{number}:" in text
    assert "not run before" in text.split("of which failed:")[1]
    assert "2 compiles in" in text
    assert "interpreted" not in line_of(text, "table[k]")


def test_what_was_not_called_says_so():
    assert "not called yet" in ljit.jit(scale).explain()


def test_a_function_left_to_cpython_says_why():
    @ljit.jit
    def f(x):
        try:
            return x
        except* ValueError:
            pass

    text = f.explain()
    assert "left to CPython" in text
    assert "try/except* is not translated" in text
    assert "try:" in text
    with pytest.raises(UserError, match=r"is left to CPython: try/except\* is not translated"):
        _ = f.graph


def test_tools_read_all_attributes_that_a_function_names():
    @ljit.jit
    def left(x):
        try:
            return x
        except* ValueError:
            pass

    translated = ljit.jit(scale)
    assert {"graph", "inlined_graph", "code"} <= set(dir(translated)) - set(dir(left))
    for f in (left, translated):
        members = dict(inspect.getmembers(f))
        assert sorted(members) == sorted(dir(f))
        assert {"explain", "specializations", "__name__", "__wrapped__"} <= set(members)
        assert mock.create_autospec(f, return_value=7)(2) == 7
    seen = []
    given(x=just(3))(ljit.jit(lambda x: seen.append(x)))()
    assert set(seen) == {3}
    given(x=none())(left)()


def test_a_plan_left_to_cpython_says_why():
    f = ljit.jit(lambda x: f"{x}")
    assert [f("a") for _ in range(3)] == ["a"] * 3
    assert "(str): CPython: nothing in it gains from native code" in f.explain()


def test_outlined_loops_are_explained():
    f = ljit.jit(program)
    xs, table = np.arange(4.0), dict.fromkeys(range(3000), 0.5)
    f(xs, table, 3000)
    text = f.explain()
    (loop,) = [part for part in text.split("\n\n") if part.startswith("loop at")]
    assert f"test_inspection.py:{program.__code__.co_firstlineno + 2}:4" in loop
    assert "entered 1 time in the middle of a run" in loop
    assert "total += table[k]" in loop
    assert "none failed" in loop
    assert "text = f" not in loop


def test_specializations_tell_types_state_and_history(called):
    (info,) = called.specializations
    assert info.state == "native"
    assert (info.runs, info.compiles, info.calls, info.bailouts) == (1, 1, 2, 0)
    assert 0 < info.seconds < 60
    assert str(info).startswith("(Float64(*), Object[builtins.dict], int): native; 1 profiled run,")


def test_graphs_are_text_that_parses(called):
    for graph in (called.graph, ljit.jit(scale).graph, ljit.jit(scale).graph_for(2.5)):
        assert str(graph).startswith("graph")
    simple = ljit.jit(scale)
    text = str(simple.graph_for(np.arange(30.0)))
    assert "Float64(*)" in text
    assert str(parse(text)) == text
    assert "py::mul" in str(simple.graph)
    assert "test_inspection.py:" in str(simple.graph)
    assert "prim::profile" in str(simple.inlined_graph)
    assert "def scale" in simple.code


def test_graph_for_takes_keywords_and_checks_arguments():
    f = ljit.jit(lambda x, y=2: x + y)
    assert "np::add" in str(f.graph_for(np.ones(2), y=np.ones(2)))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        f.graph_for()


def test_code_is_shown_in_each_form(called):
    assert "define" in called.dump_llvm()
    assert "ljit_entry" in called.dump_llvm(optimized=True)
    assert called.dump_llvm() != called.dump_llvm(optimized=True)
    assert "ljit_entry" in called.dump_asm()
    assert "table" in called.dump_bytecode() or "return" in called.dump_bytecode().lower()


def test_machine_code_of_what_was_never_called_asks_for_calls():
    with pytest.raises(UserError, match="has no native code yet: call it twice"):
        ljit.jit(scale).dump_asm()


def test_dumps_choose_the_specialisation_of_their_arguments():
    f = ljit.jit(scale)
    for x in (1.5, np.arange(30.0), 1.5, np.arange(30.0)):
        f(x)
    assert f.dump_llvm(1.5) != f.dump_llvm(np.arange(30.0))
    assert f.dump_llvm(np.arange(30.0)) == f.dump_llvm(np.ones(70))


def test_an_interpreted_run_leaves_no_trace():
    f = ljit.jit(program)
    expected = program(np.arange(4.0), {}, 5)
    assert f.run_interpreted(np.arange(4.0), {}, n=5) == expected
    assert f.specializations == []
    assert f._executor.loops == {}


def test_the_log_shows_decisions(capsys):
    with config.overridden(log_levels={"profiling_executor": 2}):
        f = ljit.jit(lambda x, n: x * n)
        f(2, 3)
        f(2, 3)
        f(2**62, 3)
        f(2**62, 3)
        f(2**62, 3)
    lines = capsys.readouterr().err.splitlines()
    assert all(" profiling_executor] " in line for line in lines)
    text = "\n".join(lines)
    assert "profiles a call with (int, int)" in text
    assert "is native for (int, int): compile 1" in text
    assert "bails out" in text
    assert "drops native code" in text
    assert "is native for (int, int): compile 2" in text


def test_the_environment_switches_the_log_on(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import ljit\nf = ljit.jit(lambda x: x + 1)\nf(1); f(1)\n")
    environment = {
        **os.environ,
        "LJIT_LOG_LEVEL": ">>profiling_executor",
        "PYTHONPATH": str(Path(ljit.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True
    )
    assert "[DEBUG profiling_executor]" in done.stderr
    assert "[UPDATE profiling_executor] <lambda> is native for (int)" in done.stderr

"""Exceptions leave the interpreter with the traceback that CPython gives."""

from __future__ import annotations

import contextlib
import gc
import linecache
import sys
import traceback
import weakref

import pytest

import ljit
import ljit.ops  # noqa: F401 - declares the ops that the texts name
from ljit.config import overridden
from ljit.cpython.frames import is_own_frame
from ljit.cpython.own_frames import drop_own_frames
from ljit.errors import InternalError
from ljit.interp import clean_traceback, compile_graph, run
from ljit.ir import Graph, get_op, parse
from ljit.ops.control import CONSTANT, RETURN
from ljit.source import Source, SourceRange

TEXT = """def outer(x):
    return inner(x)

def inner(x):
    # äöü
    s = "é"; y = [1][x.größe]
    return y
"""


def source_of(function, filename="/nowhere/program.py", text=TEXT):
    return Source(filename, tuple(text.splitlines()), function)


def call_at(where, callee):
    """The code of a graph that calls `callee` with its parameter at `where`."""
    graph = Graph("f")
    x = graph.block.add_param("x")
    f = graph.block.create(CONSTANT, (), {"value": callee}).output
    made = graph.block.create(get_op("py::call"), (f, x), range=where).output
    graph.block.create(RETURN, (made,))
    return compile_graph(graph)


def caught(code, *args):
    with pytest.raises(BaseException) as info:  # noqa: PT011 - the callers look at it
        run(code, args)
    return info.value


def entries(error):
    """Function and line of the entries behind those of this file's helpers."""
    found = [(frame.f_code.co_name, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    assert found[0][0] == "caught"
    return found[1:]


def fails(x):
    raise KeyError(x)


def fails_deeper(x):
    return fails(x)


LINE = fails.__code__.co_firstlineno + 1
WHERE = SourceRange(source_of("outer"), 2, 11, 2, 19)


def test_the_user_frame_stands_for_the_machine():
    error = caught(call_at(WHERE, fails), 5)
    assert entries(error) == [("outer", 2), ("fails", LINE)]
    frame = error.__traceback__.tb_next.tb_frame
    assert frame.f_code.co_filename == "/nowhere/program.py"
    assert frame.f_code.co_qualname == "outer"
    assert error.__traceback__.tb_next.tb_lineno == 2


def test_frames_of_user_code_below_are_kept():
    error = caught(call_at(WHERE, fails_deeper), 5)
    assert [name for name, _ in entries(error)] == ["outer", "fails_deeper", "fails"]


def test_inlined_functions_have_frames_with_the_outermost_first():
    inner = SourceRange(source_of("Class.inner"), 6, 18, 6, 26, caller=WHERE)
    error = caught(call_at(inner, fails), 5)
    assert entries(error) == [("outer", 2), ("inner", 6), ("fails", LINE)]
    assert error.__traceback__.tb_next.tb_next.tb_frame.f_code.co_qualname == "Class.inner"


def test_interpreted_functions_that_call_one_another_have_a_frame_each():
    inner = call_at(SourceRange(source_of("inner"), 6, 4, 6, 10), fails)
    outer = call_at(WHERE, lambda x: run(inner, (x,)))
    assert entries(caught(outer, 5)) == [
        ("outer", 2),
        ("<lambda>", sys._getframe().f_lineno - 3),
        ("inner", 6),
        ("fails", LINE),
    ]


def test_the_printed_traceback_is_that_of_cpython(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(TEXT, encoding="utf-8")
    namespace = {}
    exec(compile(TEXT, str(path), "exec"), namespace)

    class Sized:
        größe = 3

    with pytest.raises(IndexError) as plain:
        namespace["inner"](Sized())
    line = TEXT.splitlines()[5]
    start = line.index("[1]")
    where = SourceRange(
        Source(str(path), tuple(TEXT.splitlines()), "inner"), 6, start, 6, len(line)
    )
    error = caught(call_at(where, lambda x: [1][3]), Sized())
    expected = traceback.format_exception(plain.value)
    actual = traceback.format_exception(error)
    assert actual[2] == expected[2]
    if sys.version_info >= (3, 11):
        assert "^^^^" in actual[2]


def test_sources_that_only_linecache_knows_are_shown():
    name = "<ipython-input-1-abc>"
    text = "def g(x):\n    return x[0]\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    try:
        where = SourceRange(source_of("g", name, text), 2, 11, 2, 15)
        shown = "".join(traceback.format_exception(caught(call_at(where, fails), 1)))
    finally:
        del linecache.cache[name]
    assert f'File "{name}", line 2, in g\n    return x[0]\n' in shown


def test_context_and_cause_gain_nothing():
    error = caught(call_at(WHERE, fails), 5)
    assert error.__context__ is None
    assert error.__cause__ is None
    assert not error.__suppress_context__
    try:
        raise OSError("first")
    except OSError as first:
        error = caught(call_at(WHERE, fails), 5)
        assert error.__context__ is first


def test_notes_and_arguments_stay():
    def annotated(x):
        error = KeyError(x, "two")
        error.add_note("a note")
        raise error

    error = caught(call_at(WHERE, annotated), 5)
    assert error.args == (5, "two")
    assert error.__notes__ == ["a note"]


def test_an_exception_raised_again_keeps_its_earlier_entries():
    try:
        fails(1)
    except KeyError as first:
        kept = first

    def again(x):
        raise kept

    error = caught(call_at(WHERE, again), 5)
    assert error is kept
    assert [name for name, _ in entries(error)] == [
        "outer",
        "again",
        sys._getframe().f_code.co_name,
        "fails",
    ]


def test_full_tracebacks_show_the_machine_too():
    with overridden(full_traceback=True):
        error = caught(call_at(WHERE, fails), 5)
    names = [name for name, _ in entries(error)]
    assert "outer" in names and "fails" in names and "execute" in names
    assert names.index("outer") < names.index("fails")


def test_faults_of_ljit_keep_its_frames():
    def broken(x):
        raise InternalError("oops")

    error = caught(call_at(WHERE, broken), 5)
    assert "execute" in [name for name, _ in entries(error)]


def test_ops_that_raise_point_at_their_line():
    graph = parse(
        "graph(%x : Any):\n  %1 : int = prim::Constant[value=0]()\n"
        "  %y : Any = py::truediv(%x, %1)\n  return (%y)\n"
    )
    node = graph.block.first.next
    node.range = SourceRange(source_of("inner"), 5, 4, 5, 9)
    error = caught(compile_graph(graph), 1)
    assert isinstance(error, ZeroDivisionError)
    assert entries(error) == [("inner", 5)]


def test_base_exceptions_pass_with_their_place():
    def interrupt(x):
        raise KeyboardInterrupt

    error = caught(call_at(WHERE, interrupt), 5)
    assert isinstance(error, KeyboardInterrupt)
    assert entries(error)[0] == ("outer", 2)


def test_an_exception_that_is_dropped_frees_everything_at_once():
    class Thing:
        pass

    code = call_at(WHERE, fails_with_nothing)
    thing = Thing()
    alive = weakref.ref(thing)
    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            run(code, (thing,))
        del thing
        assert alive() is None
    finally:
        gc.enable()


def fails_with_nothing(_x):
    raise ValueError


def test_an_error_without_a_place_has_no_frame_of_ljit():
    error = caught(call_at(None, fails), 5)
    assert entries(error) == [("fails", LINE)]


def test_clean_traceback_is_usable_from_any_handler():
    def handler(x):
        try:
            fails(x)
        except KeyError as error:
            clean_traceback(error, WHERE)
            raise

    try:
        handler(1)
    except KeyError as error:
        names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    # `handler` is not ljit's own, so its entry stays behind the new one
    assert names == [sys._getframe().f_code.co_name, "outer", "handler", "fails"]


def test_own_frames_are_those_of_the_package():
    assert not is_own_frame(sys._getframe())
    error = None
    try:
        get_op("no::such_op")
    except KeyError as caught_error:
        error = caught_error
    assert is_own_frame(error.__traceback__.tb_next.tb_frame)


class _InterruptedFinder:
    """A finder of modules that a signal's handler interrupts."""

    def find_spec(self, name, path=None, target=None):
        raise KeyboardInterrupt(name)


def test_imports_of_ljit_are_its_own_frames(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[:2] == ["ljit", "testing"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(ljit, "testing", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_InterruptedFinder()])
    try:
        ljit.testing  # noqa: B018 - imports the module
    except KeyboardInterrupt as interrupt:
        error = interrupt
    error.__traceback__ = error.__traceback__.tb_next  # of this function
    assert is_own_frame(error.__traceback__.tb_frame)
    drop_own_frames(error)
    assert [entry.name for entry in traceback.extract_tb(error.__traceback__)] == ["find_spec"]


def test_lambdas_and_nested_functions_have_cpython_names():
    where = SourceRange(source_of("f.<locals>.<lambda>"), 2, 0, 2, 5)
    error = caught(call_at(where, fails), 5)
    assert entries(error)[0] == ("<lambda>", 2)


def test_traceback_of_a_multi_line_range_gives_its_first_line():
    where = SourceRange(source_of("inner"), 4, 4, 6, 8)
    error = caught(call_at(where, fails), 5)
    assert entries(error)[0] == ("inner", 4)

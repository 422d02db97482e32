"""The vectorcall entry: which calls it takes, where the others go, assumptions, the slow path."""

from __future__ import annotations

import gc
import subprocess
import sys
import traceback
import types
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.codegen.entries import entry
from ljit.codegen.functions import recursion
from ljit.codegen.functions.choice import ChoiceCell
from ljit.codegen.functions.support import slow_entry
from ljit.codegen.llvm.builder import ModuleBuilder, address, integer
from ljit.codegen.llvm.engine import compile_ir
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references import boxing
from ljit.errors import Raised
from ljit.runtime.vectorcall import make_function_type, set_vectorcall
from ljit.sizes import ALL_MAGNITUDES
from ljit.types import ANY, FLOAT, INT, ArrayType
from tests.codegen.entry_harness import build


def _add(f, arguments, keep):
    total = f.binary("fadd", arguments[0].ref, arguments[1].ref)
    f.ret(boxing.box(f, Native(FLOAT, (total,)), keep))


def _constant(value):
    def body(f, _arguments, keep):
        f.ret(boxing.box(f, Native(ANY, (keep(value),)), keep))

    return body


def test_entry_takes_exactly_the_calls_of_its_types():
    add = build([FLOAT, FLOAT], _add)
    args = (1.0, 2.0)
    for _ in range(50):
        assert add(1.0, 2.0) == 3.0
        assert add(*args) == 3.0
    assert list(map(add, [1.0], [2.0])) == [3.0]
    assert add(1, 2.0) == ("slow", (1, 2.0), None)
    assert add() == ("slow", (), None)
    assert add(1.0) == ("slow", (1.0,), None)
    assert add(1.0, 2.0, 3.0) == ("slow", (1.0, 2.0, 3.0), None)


def test_keywords_go_to_the_slow_path_by_name():
    add = build([FLOAT, FLOAT], _add)
    assert add(1.0, y=2.0) == ("slow", (1.0,), {"y": 2.0})
    assert add(x=1.0, y=2.0) == ("slow", (), {"x": 1.0, "y": 2.0})
    assert add(1.0, 2.0, z=3.0) == ("slow", (1.0, 2.0), {"z": 3.0})
    assert add(**{}) == ("slow", (), None)


def test_function_without_parameters():
    call = build([], _constant("done"))
    assert call() == "done"
    assert call(1) == ("slow", (1,), None)


def test_calls_as_a_method_see_the_instance_as_first_argument():
    def get(f, arguments, keep):
        f.ret(boxing.box(f, arguments[1], keep))

    class Base:
        def __call__(self, *args):
            raise AssertionError

    function_type = make_function_type(Base)
    method = build([ANY, FLOAT], get, cls=function_type)

    class C:
        m = method

    c = C()
    for _ in range(50):
        assert c.m(2.5) == 2.5
    bound = c.m
    assert bound(1.5) == 1.5
    assert list(map(bound, [0.5])) == [0.5]


def test_entries_chain_through_their_next_cells():
    floats = build([FLOAT, FLOAT], _add)
    ints = build([INT, INT], _constant("ints"))
    floats.following.target = ints.code.address
    assert floats(1.0, 2.0) == 3.0
    assert floats(1, 2) == "ints"
    assert floats(1, 2.0) == ("slow", (1, 2.0), None)
    floats.following.target = slow_entry()
    assert floats(1, 2) == ("slow", (1, 2), None)


# -- the slow path -------------------------------------------------------------------------------------


def _make_function(slow):
    class Base:
        _slow_call = slow

        def __call__(self, *args):
            raise AssertionError

    made = make_function_type(Base)()
    set_vectorcall(made, slow_entry())
    return made


def test_slow_path_keeps_references_flat():
    f = _make_function(lambda self, args, kwargs: None)
    marks = [object() for _ in range(3)]
    f(*marks, k=marks[0])
    before = [sys.getrefcount(x) for x in (*marks, f, None)]
    for _ in range(1000):
        f(*marks)
        f(marks[0], key=marks[1], other=marks[2])
    after = [sys.getrefcount(x) for x in (*marks, f, None)]
    assert after[:-1] == before[:-1]
    assert abs(after[-1] - before[-1]) < 100  # None is the other threads', too


class _Error(Exception):
    pass


def _raise_in_user_code(message):
    raise _Error(message)


def _slow_raise(self, args, kwargs):
    try:
        _raise_in_user_code(*args)
    except _Error as error:
        return Raised((error, error.__traceback__.tb_next))


def test_raised_exceptions_come_with_the_given_traceback_only():
    f = _make_function(_slow_raise)
    with pytest.raises(_Error, match="boom") as caught:
        f("boom")
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [frame.name for frame in frames] == [
        "test_raised_exceptions_come_with_the_given_traceback_only",
        "_raise_in_user_code",
    ]


def test_raised_exception_without_traceback_starts_at_the_caller():
    f = _make_function(lambda self, args, kwargs: Raised((_Error("new"), None)))
    with pytest.raises(_Error) as caught:
        f()
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_raised_exceptions_keep_their_context_and_do_not_leak():
    f = _make_function(_slow_raise)
    context = KeyError("outer")
    try:
        raise context
    except KeyError:
        with pytest.raises(_Error) as caught:
            f("inner")
    assert caught.value.__context__ is context
    del caught, context
    message = "".join(["a", "message"])

    def run():
        for _ in range(500):
            try:
                f(message)
            except _Error:
                pass
        gc.collect()
        return sys.getrefcount(message), sys.getrefcount(_Error), sys.getrefcount(Raised)

    run()
    before = run()
    after = run()
    assert after == before


def test_exception_that_leaves_the_slow_call_is_passed_on():
    f = _make_function(lambda self, args, kwargs: _raise_in_user_code("through"))
    with pytest.raises(_Error, match="through"):
        f()


def test_other_tuples_are_plain_results():
    f = _make_function(lambda self, args, kwargs: (ValueError("x"), None))
    assert isinstance(f(), tuple)


# -- assumptions ---------------------------------------------------------------------------------------


def test_changed_global_is_seen_and_seen_again_when_it_comes_back():
    value = [1]
    namespace = {"a": value, "b": 2}
    call = build([], _constant("same"), assumptions=[Assumption(namespace, "a", value)])
    assert call() == "same"
    namespace["b"] = 3
    namespace["new"] = 4
    assert call() == "same"
    namespace["a"] = [1]
    assert call() == ("slow", (), None)
    assert call() == ("slow", (), None)
    namespace["a"] = value
    assert call() == "same"
    del namespace["a"]
    assert call() == ("slow", (), None)


def test_version_is_remembered_only_when_all_names_are_the_same():
    one, two = object(), object()
    namespace = {"one": one, "two": two}
    assumed = [Assumption(namespace, "one", one), Assumption(namespace, "two", two)]
    call = build([], _constant("same"), assumptions=assumed)
    namespace["two"] = None
    for _ in range(3):
        assert call() == ("slow", (), None)
    namespace["two"] = two
    assert call() == "same"


def test_name_that_shadows_a_builtin_later_is_seen():
    variables: dict[str, object] = {}
    builtins = {"len": len}
    assumed = [Assumption(variables, "len", MISSING), Assumption(builtins, "len", len)]
    call = build([], _constant("same"), assumptions=assumed)
    assert call() == "same"
    variables["len"] = len
    assert call() == ("slow", (), None)
    del variables["len"]
    assert call() == "same"
    builtins["len"] = max
    assert call() == ("slow", (), None)


def test_closure_cell_is_compared_by_its_content():
    content = object()
    cell = types.CellType(content)
    call = build([], _constant("same"), assumptions=[Assumption(cell, "x", content)])
    assert call() == "same"
    cell.cell_contents = object()
    assert call() == ("slow", (), None)
    del cell.cell_contents
    assert call() == ("slow", (), None)
    cell.cell_contents = content
    assert call() == "same"


def test_assumptions_hold_without_version_tags(monkeypatch):
    monkeypatch.setattr(entry.layout, "has_dict_versions", lambda: False)
    namespace: dict[str, object] = {"a": 1}
    call = build([], _constant("same"), assumptions=[Assumption(namespace, "a", 1)])
    assert call() == "same"
    namespace["a"] = 2
    assert call() == ("slow", (), None)


# -- recursion -----------------------------------------------------------------------------------------


def _make_recursive():
    """A function that calls itself until something stops it."""
    kept: list[object] = []

    def keep(value):
        kept.append(value)
        return address(id(value))

    class Base:
        def __call__(self, *args):
            raise AssertionError

    function = make_function_type(Base)()
    module = ModuleBuilder("recursive")
    following = entry.NextCell(slow_entry())
    f, arguments, _ = entry.begin_entry(module, "native", [INT], following)
    frame = recursion.EntryFrame.enter(f)
    again, stop = f.new_block("again"), f.new_block("stop")
    f.condbr(f.icmp("sgt", arguments[0].ref, integer("i64", 0)), again, stop)
    f.start(stop)
    frame.leave(f)
    f.ret(boxing.box(f, Native(INT, (integer("i64", 7),)), keep))
    f.start(again)
    less = f.add(arguments[0].ref, integer("i64", -1))
    argument = boxing.box(f, Native(INT, (less,)), keep)
    result = f.call_external("ptr", "PyObject_CallOneArg", (keep(function), argument))
    boxing.decref(f, argument)
    frame.leave(f)
    f.ret(result)
    code = compile_ir(module.render(), "native")
    set_vectorcall(function, code.address)
    return function, (code, kept, following)


def test_recursion_through_calls_stops_with_recursion_error():
    function, _alive = _make_recursive()
    assert function(100) == 7
    for _ in range(3):  # each failure gives its depth back
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            function(10**6)
    assert function(100) == 7


_DEEP = """
import sys, threading
sys.path.insert(0, {root!r})
from tests.codegen.test_entry import _make_recursive
function, alive = _make_recursive()
sys.setrecursionlimit(10**8)

def run(depth, wanted):
    for _ in range(2):
        try:
            result = function(depth)
        except RecursionError as error:
            result = str(error)
        assert result == wanted, result

deep = "maximum recursion depth exceeded"
allowed = 20_000 if sys.version_info < (3, 12) else 1_000  # calls from C have a limit of their own
run(allowed, 7)
run(10**8, deep)
threading.stack_size(1 << 20)
threads = [threading.Thread(target=run, args=(10**8, deep)) for _ in range(2)]
threads += [threading.Thread(target=run, args=(1000, 7)) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
run(allowed, 7)
print("survived")
"""


def test_stack_does_not_overflow_however_high_the_limit_is():
    root = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-c", _DEEP.format(root=root)], capture_output=True, text=True, cwd=root
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("survived\n", "", 0)


def test_memory_stays_flat_over_many_calls():
    add = build([FLOAT, FLOAT], _add)
    array = np.zeros(3)

    def run():
        for _ in range(20_000):
            add(1.0, 2.0)
            add(array, 1)
            add(1.0, y=2.0)
        gc.collect()
        return sys.getallocatedblocks(), sys.getrefcount(array), sys.getrefcount(add)

    run()
    before = run()
    after = run()
    assert after[1:] == before[1:]
    assert abs(after[0] - before[0]) < 50


def test_next_cell_is_one_word_of_memory():
    cell = entry.NextCell(5)
    word = np.ctypeslib.as_array((entry.ctypes.c_uint64 * 1).from_address(cell.address))
    assert (cell.target, word.tolist()) == (5, [5])
    cell.target = 2**64 - 1
    assert word.tolist() == [2**64 - 1]


def test_an_entry_asks_who_runs_calls_with_arrays_of_which_sizes():
    array = ArrayType(np.dtype(float), (None, None))
    cell = ChoiceCell()
    f = build([array, array, FLOAT], _constant("native"), choice=cell, rival=lambda *_: "plain")
    for elements in [0, 1, 2, 3, 4, 7, 8, 1023, 1024, 1025]:
        a, b = np.ones((elements, 1)), np.ones((1, elements // 2))
        magnitude = max(elements, 1).bit_length() - 1
        such, others = 1 << magnitude, ALL_MAGNITUDES ^ 1 << magnitude
        for cell.native, cell.plain in product([such, others, ALL_MAGNITUDES, 0], repeat=2):
            is_native, is_plain = cell.native & such, cell.plain & such
            wanted = "native" if is_native else "plain" if is_plain else ("slow", None)
            for args in [(a, b), (b, a), (a, a)]:
                result = f(*args, 1.0)
                assert (result if isinstance(result, str) else result[::2]) == wanted


def test_a_choice_holds_for_some_calls():
    cell = ChoiceCell()
    f = build(
        [ArrayType(np.dtype(float), (None,))],
        _constant("native"),
        choice=cell,
        rival=lambda _: "plain",
    )
    cell.native, cell.plain = 1 << 3, 1 << 4
    few, more = np.ones(8), np.ones(16)
    cell.calls = 3
    assert [f(few), f(more), f(few)] == ["native", "plain", "native"]
    assert cell.calls == 0
    assert f(few)[0] == f(more)[0] == "slow"
    cell.calls = 1
    assert f(more) == "plain"
    assert f(more)[0] == "slow"

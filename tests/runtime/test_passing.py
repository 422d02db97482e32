"""The entry by which calls jump to the plain function: counted, without frames of ljit, safe at the stack's end."""

from __future__ import annotations

import ctypes
import inspect
import os
import subprocess
import sys
import threading
import types
from sys import _getframe

import pytest

import ljit
from ljit.runtime import passing, waiting
from ljit.runtime.vectorcall import calls_left


@pytest.fixture
def came(monkeypatch):
    """The calls that did not jump."""
    seen = []
    go_on = ljit.api.go_on_passing

    def note(owner, fn):
        seen.append(owner)
        return go_on(owner, fn)

    monkeypatch.setattr(ljit.api, "go_on_passing", note)
    return seen


def caller():
    return sys._getframe(2).f_code.co_name


def plain(x, *more, scale=2, **named):
    return (x, more, scale, named, caller())


def pass_next(f, calls):
    passing.pass_calls(f, f.__wrapped__, calls)


def test_as_many_calls_jump_as_were_said_as_if_the_function_were_plain(came):
    f = ljit.jit(plain)
    pass_next(f, 4)
    me = "test_as_many_calls_jump_as_were_said_as_if_the_function_were_plain"
    for left in (3, 2, 1, 0):
        assert f(1, 5, scale=left, a=2) == (1, (5,), left, {"a": 2}, me)
        assert calls_left(f) == left
    assert not came
    assert f(1)[:4] == (1, (), 2, {})
    assert came == [f]


def test_errors_of_calls_that_jump_show_no_frame_of_ljit(came):
    f = ljit.jit(plain)
    pass_next(f, 10)
    with pytest.raises(TypeError, match=r"plain\(\) missing 1 required positional argument: 'x'"):
        f()
    g = ljit.jit(lambda x: 1 // x)
    pass_next(g, 10)
    with pytest.raises(ZeroDivisionError) as error:
        g(0)
    assert [entry.name for entry in error.traceback][1:] == ["<lambda>"]
    assert not came


def test_methods_jump_as_well(came):
    class Counter:
        n = 0

        @ljit.jit
        def add(self, k, *, by=1):
            self.n += k * by
            return self

    counter = Counter()
    pass_next(Counter.add, 3)
    assert counter.add(2).add(3, by=2) is counter
    bound = counter.add
    bound(k=1)
    assert counter.n == 9
    assert not came


def test_calls_come_back_when_told_so(came):
    f = ljit.jit(plain)
    pass_next(f, 10)
    f(1)
    passing.stop_passing(f, plain)
    assert calls_left(f) == 0
    f(1)
    assert came == [f]


_vectorcall_call = ctypes.pythonapi.PyVectorcall_Call
_vectorcall_call.argtypes = (ctypes.py_object, ctypes.py_object, ctypes.py_object)
_vectorcall_call.restype = ctypes.py_object


def test_programs_in_c_may_jump_to_any_function_themselves(came):
    f = ljit.jit(plain)
    for calls in (0, 2, 0):
        pass_next(f, calls)
        for k in range(4):
            assert _vectorcall_call(f, (1, 5), {"scale": k, "a": 2})[:4] == (1, (5,), k, {"a": 2})
            assert _vectorcall_call(f, (), {"x": 1})[:4] == (1, (), 2, {})
    assert came
    with pytest.raises(TypeError, match=r"plain\(\) missing 1 required positional argument: 'x'"):
        _vectorcall_call(f, (), {})
    del came[:]
    fresh = ljit.jit(lambda *args, **named: (args, named))
    assert _vectorcall_call(fresh, tuple(range(9)), {}) == (tuple(range(9)), {})
    assert came == [fresh]


def test_each_thread_looks_at_its_own_stack(came):
    f = ljit.jit(plain)
    pass_next(f, 100)
    f(1)
    thread = threading.Thread(target=lambda: [f(1) for _ in range(10)])
    thread.start()
    thread.join()
    assert came == [f]
    f(1)
    assert came == [f, f]
    assert calls_left(f) == 100 - 1 - 9 - 0


def test_where_there_can_be_no_such_entry_all_calls_come(came, monkeypatch):
    monkeypatch.setattr(passing, "_entry", lambda: None)
    monkeypatch.setattr(waiting, "_STAKE", 0.0)
    f = ljit.jit(plain)
    pass_next(f, 10)
    for k in range(20):
        assert f(k)[0] == k
    assert len(came) == 20


def imports_getframe():
    return _getframe(1).f_code.co_name


def goes_back():
    return inspect.currentframe().f_back.f_code.co_name


def asks_for_one():
    return sys._getframe(1).f_code.co_name


def name_above(levels):
    return sys._getframe(levels).f_code.co_name


jitted_name_above = ljit.jit(name_above)


def asks_a_module():
    return inspect.stack(0)[1].function


def asks_others_of_such_names(frames=("here",)):
    stack = types.SimpleNamespace(stack=lambda: frames)
    return inspect.isfunction(frames) or stack.stack()[0]


def asks_a_helper():
    return name_above(2)


def asks_a_decorated_helper():
    return jitted_name_above(2)


@pytest.mark.parametrize(
    "fn",
    [
        imports_getframe,
        goes_back,
        asks_for_one,
        asks_a_helper,
        asks_a_decorated_helper,
        asks_a_module,
    ],
)
def test_functions_that_look_for_their_callers_frame_find_it(fn):
    f = ljit.jit(fn)
    me = "test_functions_that_look_for_their_callers_frame_find_it"
    for _ in range(5):
        assert f() == me
    assert "looks at the frame" in f.explain()


def test_other_attributes_of_the_same_names_are_no_reason_to_leave_a_function_alone():
    assert calls_left(ljit.jit(asks_a_module)) == passing.FOR_EVER
    assert calls_left(ljit.jit(asks_others_of_such_names)) == 0


DEEP = """
import sys, threading
import ljit
from ljit.runtime import waiting

waiting._STAKE, waiting._SHARE = 0.0, 0.0  # all wait for ever

@ljit.jit
def is_even(n):
    return n == 0 or is_odd(n - 1)

@ljit.jit
def is_odd(n):
    return n != 0 and is_even(n - 1)

def calls():
    for _ in range(20):
        found.append(is_even(20))
        try:
            is_odd(10**8)
        except RecursionError as error:
            found.append(str(error)[:32])
        found.append(is_odd(20))

sys.setrecursionlimit(10**9)
for size in (256 * 1024, 1 << 20, 1 << 25):
    found = []
    threading.stack_size(size)
    threads = [threading.Thread(target=calls) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(found), len(set(found)))
found = []
calls()
print(len(found), len(set(found)), is_even._calls.has_executor())
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="3.13 crashes in small stacks by itself")
def test_calls_that_nest_for_ever_end_with_recursion_error_not_with_a_crash(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(DEEP, encoding="utf-8")
    environment = {**os.environ, "LJIT_COLD_CALLS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["120 3"] * 3 + ["60 3 False"]


SMALL = """
import sys, threading
import ljit

@ljit.jit
def powers(n):
    total = 0.0
    for i in range(n):
        total += NESTED
    return total

def call():
    for _ in range(3):
        found.append(powers(2000))

found = []
threading.stack_size(32 * 1024)
thread = threading.Thread(target=call)
thread.start()
thread.join()
in_small_one = powers._calls.has_executor()
found.append(powers(2000))
print(len(set(found)), in_small_one, powers._calls.has_executor())
"""


def test_a_thread_whose_stack_is_too_small_for_a_compile_compiles_nothing(tmp_path):
    nested = "i"
    for k in range(60):
        nested = f"({nested} * 1.5 + {k})"
    program = tmp_path / "program.py"
    program.write_text(SMALL.replace("NESTED", nested), encoding="utf-8")
    environment = {**os.environ, "LJIT_COLD_CALLS": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.stdout, done.stderr) == ("1 False True\n", "")


@pytest.mark.parametrize("count", [0, 1, 2, 998, 999, 1000, 1001, 5000])
def test_first_calls_take_any_number_of_arguments(count):
    for named in ({}, {"a": 1}, {f"n{k}": k for k in range(700)}):
        f = ljit.jit(lambda *args, **kwargs: (args, kwargs))
        args = tuple(range(count))
        for _ in range(3):
            assert f(*args, **named) == (args, named)

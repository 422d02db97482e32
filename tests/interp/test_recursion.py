"""Recursion ends where CPython's limit says, with RecursionError, and never crashes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

import ljit
import ljit.ops
from ljit.cpython import recursion, stack
from ljit.interp import compile_graph, run
from ljit.ir import parse
from tests.depths import reachable

COUNT_DOWN = """
graph(%f : Any, %n : Any):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %c : Any = py::gt(%n, %0)
  %c.1 : bool = py::truth(%c)
  %r : Any = prim::If(%c.1)
    block0():
      %m : Any = py::sub(%n, %1)
      %d : Any = py::call(%f, %f, %m)
      %e : Any = py::add(%d, %1)
      -> (%e)
    block1():
      -> (%0)
  return (%r)
"""


def depth_function():
    """A function that calls itself through the interpreter, with plain frames in between."""
    code = compile_graph(parse(COUNT_DOWN))

    def entry(f, n):
        return plain(f, n)

    def plain(f, n):
        return run(code, (f, n))

    return entry


def test_recursion_reaches_the_depth_that_it_has_in_cpython():
    f = depth_function()
    assert f(f, 300) == 300
    assert f(f, int(sys.getrecursionlimit() * 0.8)) == int(sys.getrecursionlimit() * 0.8)


def test_endless_recursion_is_a_recursion_error_and_leaves_the_limit_alone():
    f = depth_function()
    limit = sys.getrecursionlimit()
    for _ in range(3):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            f(f, 10**9)
        assert sys.getrecursionlimit() == limit
        assert f(f, 100) == 100


def test_a_limit_set_by_the_user_inside_is_kept():
    limit = sys.getrecursionlimit()
    f = depth_function()

    def raise_limit(g, n):
        if n > 0:
            return f(raise_limit, n)
        sys.setrecursionlimit(sys.getrecursionlimit() + 500)
        return 0

    try:
        assert f(raise_limit, 60) == 60
        assert sys.getrecursionlimit() == limit + 500
    finally:
        sys.setrecursionlimit(limit)


def test_threads_count_their_own_depth():
    f = depth_function()
    results = []
    threads = [threading.Thread(target=lambda: results.append(f(f, 400))) for _ in range(4)]
    limit = sys.getrecursionlimit()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [400] * 4
    assert sys.getrecursionlimit() == limit


def test_a_huge_limit_does_not_overflow_the_c_stack():
    """In a process of its own, since the failure would be a crash."""
    script = """
        import sys, threading
        from tests.interp.test_recursion import depth_function
        sys.setrecursionlimit(10**6)
        f = depth_function()
        def overflow():
            try:
                f(f, 10**9)
            except RecursionError as error:
                print(error)
        overflow()
        thread = threading.Thread(target=overflow)
        thread.start()
        thread.join()
        threading.stack_size(512 * 1024)
        thread = threading.Thread(target=overflow)
        thread.start()
        thread.join()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("maximum recursion depth exceeded") == 3


def test_exceptions_count_activations_out_again():
    f = depth_function()

    def fail(g, n):
        raise KeyError(n)

    before = recursion.activations.depth
    for _ in range(100):
        with pytest.raises(KeyError):
            f(fail, 3)
    assert recursion.activations.depth == before == 0


def test_functions_left_to_cpython_recurse_as_deep_as_without_ljit():
    @ljit.jit
    def left(n):
        try:
            return 0 if n == 0 else left(n - 1) + 1
        finally:
            pass

    limit = sys.getrecursionlimit()
    most = reachable(850)
    assert left(most) == most
    with pytest.raises(RecursionError):
        left(10**6)
    assert sys.getrecursionlimit() == limit
    assert left(most) == most


def test_compiled_functions_recurse_as_deep_as_without_ljit():
    @ljit.jit
    def compiled(n):
        if n == 0:
            return 0
        return compiled(n - 1) + 1

    most = reachable(850)
    for _ in range(4):
        assert compiled(most) == most
        with pytest.raises(RecursionError):
            compiled(10**6)


class Stop(BaseException):
    """What the handler of a signal raises."""


def interrupted(work, place):
    """Call `work`, and raise where CPython runs handlers: as a function begins, or behind a call of a builtin one.

    The `place`-th of these in the modules that count; gives whether there was one.
    """
    left = [place]

    def profile(frame, event, _arg):
        name = frame.f_globals.get("__name__")
        if event in ("call", "c_return") and name in (
            "ljit.cpython.recursion",
            "ljit.cpython.stack",
        ):
            left[0] -= 1
            if left[0] < 0:
                sys.setprofile(None)
                raise Stop

    try:
        sys.setprofile(profile)
        work()
    except Stop:
        return True
    finally:
        sys.setprofile(None)
    return False


def nested(n):
    return recursion.call_plainly(nested, (n - 1,), {}) + 1 if n else 0


def compiles():
    with stack.compiler_frames():
        return sys.getrecursionlimit()


def test_what_signals_interrupt_leaves_the_count_and_the_limit_as_they_are():
    limit, place = sys.getrecursionlimit(), 0
    while interrupted(lambda: nested(40), place):
        assert recursion.activations.depth == 0
        assert nested(40) == 40  # makes good what was interrupted
        assert sys.getrecursionlimit() == stack.users_limit() == limit
        place += 1
    assert place > 100


def test_what_signals_interrupt_where_a_compile_begins_or_ends_leaves_the_limit_as_it_is():
    limit, place = sys.getrecursionlimit(), 0
    raised = compiles()
    while interrupted(compiles, place):
        assert compiles() == raised  # makes good what was interrupted
        assert sys.getrecursionlimit() == stack.users_limit() == limit
        place += 1
    assert place > 6

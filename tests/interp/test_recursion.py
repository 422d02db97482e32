"""Recursion ends where CPython's limit says, with RecursionError, and never crashes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

import ljit
import ljit.ops
from ljit.cpython import frame_count, recursion, stack
from ljit.interp import compile_graph, run
from ljit.ir import parse
from tests.depths import reachable

pytestmark = pytest.mark.usefixtures("nothing_is_collected")

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
    """A function that calls itself through the interpreter, with a plain frame in between."""
    code = compile_graph(parse(COUNT_DOWN))

    def entry(f, n):
        return run(code, (f, n))

    return entry


def count_down(f, n):
    return f(f, n - 1) + 1 if n > 0 else 0


def in_cpython(f, n):
    return count_down(f, n)


def deepest(f):
    n = 0
    while n < 10**4:
        try:
            assert f(f, n) == n
        except RecursionError:
            break
        n += 1
    return n - 1


def test_recursion_reaches_the_depth_that_it_has_in_cpython():
    few = 4  # frames of the interpreter, at the limit; here nobody leaves such calls to CPython
    assert 0 <= deepest(in_cpython) - deepest(depth_function()) <= few


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
    threads = [threading.Thread(target=lambda: results.append(f(f, 300))) for _ in range(4)]
    limit = sys.getrecursionlimit()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [300] * 4
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


def counts():
    """What is counted of this thread, where this is called."""
    frames = frame_count.thread.frames
    return frames.left.value, frames.depth, frames.called_at


def test_exceptions_count_activations_out_again():
    f = depth_function()

    def fail(g, n):
        raise KeyError(n)

    before = counts()
    for _ in range(100):
        with pytest.raises(KeyError):
            f(fail, 3)
    assert counts() == before


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


COUNTING = ("ljit.cpython.recursion", "ljit.cpython.stack", "ljit.interp.machine", "ljit.api")


class Stop(BaseException):
    """What the handler of a signal raises."""


def interrupted(work, place):
    """Call `work`, and raise where CPython runs handlers: as a function begins, or behind a call of a builtin one.

    The `place`-th of these in the modules that count; gives whether there was one.
    """
    left = [place]

    def profile(frame, event, _arg):
        name = frame.f_globals.get("__name__")
        if event in ("call", "c_return") and name in COUNTING:
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


@ljit.jit
def interpreted(f, n):
    try:
        raise ValueError
    except ValueError:
        return f.run_interpreted(f, n - 1) + 1 if n else 0


def compiles():
    with stack.compiler_frames():
        return counts()


def test_what_signals_interrupt_leaves_the_counts_as_they_are():
    before = counts()
    for work, places in ((lambda: nested(40), 39), (lambda: interpreted(interpreted, 5), 30)):
        wanted, place = work(), 0
        while interrupted(work, place):
            assert counts() == before
            assert work() == wanted
            place += 1
        assert place > places


def test_what_signals_interrupt_where_a_compile_begins_or_ends_is_made_good():
    before, raised, place = counts(), compiles(), 0
    while interrupted(compiles, place):
        assert compiles() == raised  # makes good what was interrupted
        assert counts() == before
        place += 1
    assert place > 4

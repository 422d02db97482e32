"""Recursion through native code ends where CPython's does, with its error, on stacks of any size; all goes on afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import ljit
from ljit import config
from ljit.held import MAX_KINDS
from ljit.runtime import callees
from tests.frontend.harness import function_of

pytestmark = pytest.mark.usefixtures("nothing_is_collected")

ENDLESS = 10**6
FEW = 8  # frames: of the calls that are left to CPython some are timed, which takes one more each


def down(n):
    return 0 if n == 0 else down(n - 1) + 1


def ping(n):
    return 0 if n == 0 else pong(n - 1) + 1


def pong(n):
    return 0 if n == 0 else ping(n - 1) + 1 + n // (n + 1)


def by_way_of_the_variable(n):
    return 0 if n == 0 else VARIABLE[0](n - 1) + 1


VARIABLE = [by_way_of_the_variable]


def big_ints(n):
    return 2**70 if n == 0 else big_ints(n - 1) + 1


def left_to_cpython(n):
    try:
        return 0 if n == 0 else partly_left(n - 1) + 1
    finally:
        pass


def partly_left(n):
    return 0 if n == 0 else left_to_cpython(n - 1) + 1


def calls_down(n):
    return down(n) + 1


FUNCTIONS = [down, ping, by_way_of_the_variable, big_ints, partly_left, calls_down]


def compiled(function):
    """The function as native code."""
    made = ljit.jit(function)
    for _ in range(4):
        made(6)
    return made


def deepest(function):
    """How deep it can go from here."""
    reached, failed = 1, 4 * sys.getrecursionlimit()
    while failed - reached > 1:
        middle = (reached + failed) // 2
        try:
            function(middle)
            reached = middle
        except RecursionError:
            failed = middle
    return reached


def message_of(function, n):
    with pytest.raises(RecursionError) as caught:
        function(n)
    return str(caught.value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_limit_is_that_of_cpython(function):
    made, limit = compiled(function), sys.getrecursionlimit()
    wanted = deepest(function)
    for _ in range(3):
        assert abs(deepest(made) - wanted) <= FEW
        assert message_of(made, ENDLESS) == message_of(function, ENDLESS)
        assert made(5) == function(5)
        assert sys.getrecursionlimit() == limit


def test_native_code_between_frames_of_cpython_counts_once(monkeypatch):
    made = compiled(by_way_of_the_variable)
    between = [lambda n: made(n)]
    monkeypatch.setitem(by_way_of_the_variable.__globals__, "VARIABLE", between)
    wanted = deepest(lambda n: made.__wrapped__(n))
    # Calls that are timed count for more frames than they take, here and there; what counted twice would halve it.
    for _ in range(3):
        assert abs(deepest(made) - wanted) <= wanted // 8


def test_a_limit_that_is_set_later_holds():
    made, limit = compiled(ping), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(5 * limit)
        assert made(4 * limit) == 4 * limit
    finally:
        sys.setrecursionlimit(limit)
    message_of(made, 2 * limit)


class Link:
    """One of a list, whose method goes along it."""

    def __init__(self, rest):
        self.rest = rest

    @ljit.jit
    def length(self):
        return 1 + (self.rest.length() if self.rest is not None else 0)


def chain_of(count):
    link = None
    for _ in range(count):
        link = Link(link)
    return link


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="calls from C nest less deep in CPython")
@pytest.mark.parametrize("cold_calls", [False, True])
def test_first_calls_go_far_deeper_than_the_interpreter_has_room_for(cold_calls):
    """The interpreter takes several times the stack of a call that jumps to CPython."""
    limit, links = sys.getrecursionlimit(), chain_of(8000)

    @ljit.jit
    def visit(graph, node, order):
        for other in graph[node]:
            visit(graph, other, order)
        order.append(node)

    @ljit.jit
    def names(n):
        return 0 * len(locals()) if n == 0 else names(n - 1) + 1

    try:
        sys.setrecursionlimit(10**5)
        with config.overridden(cold_calls=cold_calls):
            for _ in range(3):
                visit([[i + 1] for i in range(8000)] + [[]], 0, order := [])
                assert order == list(range(8000, -1, -1))
                assert names(8000) == 8000
                assert links.length() == 8000
    finally:
        sys.setrecursionlimit(limit)


def calls_at_the_end(n, hooks):
    if n == 0:
        hooks[0](n)
        return hooks[1](n) * 0
    if n == 5:
        hooks[2](n)
    return calls_at_the_end(n - 1, hooks) + 1


def test_a_limit_that_changes_while_native_frames_nest_is_that_of_those_behind_it(monkeypatch):
    """Other threads raise it for all, and lower it, while they compile."""
    monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)
    limit = sys.getrecursionlimit()
    calm = [lambda n: n, lambda n: n + 0, lambda n: 0 + n, lambda n: n - 0, lambda n: n * 1]
    assert len(calm) > MAX_KINDS  # then others are called, too, without leaving native code
    with config.overridden(cold_calls=False):
        made = ljit.jit(calls_at_the_end)
        for k in range(2 * len(calm)):
            calm.append(calm.pop(0))
            assert made(6, calm) == 6
    before = made.specializations[0].bailouts
    hooks = [
        lambda n: sys.setrecursionlimit(limit),
        lambda n: down(limit // 2),
        lambda n: sys.setrecursionlimit(limit + 700),
    ]
    try:
        assert calls_at_the_end(6, hooks) == 6
        assert made(6, hooks) == 6
    finally:
        sys.setrecursionlimit(limit)
    assert made.specializations[0].bailouts == before


def test_threads_have_their_own_depth():
    made, results = compiled(down), []
    threads = [threading.Thread(target=lambda: results.append(made(700))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [700] * 4


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Stop(Exception):
    pass


def test_a_signal_stops_recursion_in_native_code():
    made = compiled(fib)

    def stop(_signal, _frame):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(2):
            with pytest.raises(Stop):
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                made(90)
            assert made(10) == 55
    finally:
        signal.signal(signal.SIGALRM, before)


def nested(n):
    total = 0
    for i in range(n):
        if i % 2:
            for j in range(i):
                if j > 1:
                    total += i * (j + (n - (total % (i + 1))))
                else:
                    total -= fib(j)
    return total


def with_frames_left(count, function, *args):
    """Call it so deep that so many frames are left."""
    frame, depth = sys._getframe(), count
    while frame is not None:
        frame, depth = frame.f_back, depth + 1

    def down(n):
        return function(*args) if n <= 0 else down(n - 1)

    return down(sys.getrecursionlimit() - depth)


@pytest.mark.parametrize("count", [50, 60, 100])
def test_a_function_that_is_first_called_far_down_is_compiled_there(count):
    compiled(nested)  # everything is imported
    made, limit = ljit.jit(nested), sys.getrecursionlimit()
    for _ in range(3):
        assert with_frames_left(count, made, 9) == nested(9)
        assert sys.getrecursionlimit() == limit
    assert "native" in str(made.specializations)


def conditions(count):
    """A loop with so many conditions in one another: of `and`, which end at 7, 13, 19 ..., and of `elif`."""
    tests = " and ".join(f"i != {6 * k + 1}" for k in range(count))
    branches = "".join(f"        elif i == {7 * k}: total += {k}\n" for k in range(1, count))
    head = "def f(n):\n    total = 0\n    for i in range(n):\n"
    return (
        function_of(f"{head}        if {tests}: total += i\n    return total\n"),
        function_of(f"{head}        if i == 0: total += 1\n{branches}    return total\n"),
    )


@pytest.mark.parametrize("count", [150, 199, 230, 500])
@pytest.mark.parametrize("left", [60, 800])
def test_conditions_nested_deeply_are_compiled_or_left_to_cpython(count, left):
    compiled(nested)  # everything is imported
    for function in conditions(count):
        made, limit = ljit.jit(function), sys.getrecursionlimit()
        with config.overridden(cold_calls=False, quick_runs=0):
            for _ in range(3):
                assert with_frames_left(left, made, 300) == function(300)
                assert sys.getrecursionlimit() == limit
        assert ("native" in str(made.specializations)) == (count < 200), made.explain()


@pytest.mark.parametrize("size", [128, 256, 400, 520, 700])
def test_conditions_nested_deeply_overrun_no_stack(size):
    """In a process of its own, for it would end there."""
    script = f"""
        import threading
        import ljit
        from tests.adversarial.test_recursion import conditions
        threading.stack_size({size} * 1024)
        def work():
            for function in conditions(199):
                made = ljit.jit(function)
                print(*[made(300) == function(300) for _ in range(3)])
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """
    environment = {**os.environ, "LJIT_COLD_CALLS": "0", "LJIT_QUICK_RUNS": "0"}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout.split() == ["True"] * 6, done.stdout + done.stderr[-2000:]


def test_a_compile_at_the_limit_says_what_cpython_says():
    compiled(nested)  # everything is imported
    for count in range(2, 40, 2):
        made = ljit.jit(nested)
        with config.overridden(cold_calls=False):
            made(9)
            try:
                with_frames_left(count, made, 9)
            except RecursionError as error:
                assert str(error).startswith("maximum recursion depth exceeded"), count


def test_the_compiler_is_loaded_far_down():
    """In a process of its own, that has not loaded it."""
    script = """
        import ljit
        from tests.adversarial.test_recursion import nested, with_frames_left
        made = ljit.jit(nested)
        for _ in range(3):
            print(with_frames_left(60, made, 9) == nested(9))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ["True"] * 3, done.stdout + done.stderr[-2000:]


def test_the_machine_s_stack_never_overflows():
    """In a process of its own, since the failure would be a crash.

    CPython 3.13 itself crashes when a thread with a small stack drops so long a traceback: there only the main one.
    """
    sizes = (256, 2048, 256) if sys.version_info < (3, 13) else ()
    script = f"""
        sizes = {sizes}
        import sys, threading
        from tests.adversarial.test_recursion import FUNCTIONS, compiled
        compiled_functions = [compiled(f) for f in FUNCTIONS]
        sys.setrecursionlimit(3 * 10**5)
        def overflow():
            for f in compiled_functions:
                try:
                    f(10**6)
                except RecursionError as error:
                    assert "maximum recursion depth exceeded" in str(error)
                    print("caught", f(5) == f.__wrapped__(5))
        for size in sizes:  # that of the main thread is larger
            threading.stack_size(size * 1024)
            thread = threading.Thread(target=overflow)
            thread.start()
            thread.join()
        overflow()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    caught = done.stdout.count("caught True")
    assert caught == (len(sizes) + 1) * len(FUNCTIONS), done.stdout + done.stderr[-2000:]

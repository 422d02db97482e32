"""Threads that share a function, from its first call on, get the results that one thread gets."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import ljit
from ljit.runtime.plans import MAX_COMPILES
from tests.programs.harness import compare


@pytest.fixture
def eager_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work, count=4):
    """Run `work(number)` in threads that start at once; raise what any of them raised."""
    barrier = threading.Barrier(count)
    errors = []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    for error in errors:
        raise error


def mixed(x, n):
    total = x
    for k in range(n):
        total = total + x * k
    return total


ARGS = [
    (1.5, 3),
    (7, 300),
    (2**62, 5),
    (np.arange(4.0), 3),
    (np.float32(2), 10),
    (np.ones((2, 2)), 400),
    (1j, 2),
]


@pytest.mark.usefixtures("eager_switches")
def test_the_first_call_in_many_threads():
    for args in ARGS:
        compiled = ljit.jit(mixed)
        expected = mixed(*args)

        def work(_number, compiled=compiled, args=args, expected=expected):
            for _ in range(3):
                assert compare(expected, compiled(*args)) is None

        together(work)
        for _ in range(2 * MAX_COMPILES):  # until all is learnt that the threads did not
            work(0)
        settled = [info.compiles for info in compiled.specializations]
        work(0)
        assert [info.compiles for info in compiled.specializations] == settled
        assert max(settled) <= MAX_COMPILES


@pytest.mark.usefixtures("eager_switches")
def test_types_change_in_many_threads():
    compiled = ljit.jit(mixed)
    expected = [mixed(*args) for args in ARGS]

    def work(number):
        for k in range(60):
            index = (k + number * 3) % len(ARGS)
            assert compare(expected[index], compiled(*ARGS[index])) is None

    together(work)


@pytest.mark.usefixtures("eager_switches")
def test_plans_are_given_up_while_others_run_them(monkeypatch):
    monkeypatch.setattr("ljit.runtime.plan_table.MAX_PLANS", 2)
    compiled = ljit.jit(mixed)
    expected = [mixed(*args) for args in ARGS]

    def work(number):
        for k in range(60):
            index = (k * (number + 1)) % len(ARGS)
            assert compare(expected[index], compiled(*ARGS[index])) is None

    together(work)
    assert len(compiled.specializations) <= 2


@pytest.mark.usefixtures("eager_switches")
def test_a_global_changes_while_others_call():
    namespace_function = ljit.jit(scaled)

    def work(number):
        for k in range(300):
            if number == 0:
                globals()["FACTOR"] = float(k % 7)
            else:
                assert namespace_function(1.0) in range(7)

    together(work)
    globals()["FACTOR"] = 1.0


FACTOR = 1.0


def scaled(x):
    return x * FACTOR


@pytest.mark.usefixtures("eager_switches")
def test_exceptions_in_many_threads():
    def f(a, i):
        total = 0.0
        for k in range(20):
            total += a[k % 4]
        return total + a[i]

    compiled = ljit.jit(f)
    a = np.arange(4.0)

    def work(number):
        for k in range(100):
            if (k + number) % 3:
                assert compiled(a, 1) == 31.0
            else:
                with pytest.raises(IndexError) as error:
                    compiled(a, 9)
                assert [entry.name for entry in error.traceback][1:] == ["f"]

    together(work)


@pytest.mark.usefixtures("eager_switches")
def test_functions_that_call_each_other_do_not_deadlock():
    def make():
        @ljit.jit
        def even(n):
            return True if n == 0 else odd(n - 1)

        @ljit.jit
        def odd(n):
            return False if n == 0 else even(n - 1)

        return even, odd

    for _ in range(3):
        even, odd = make()

        def work(number, pair=(even, odd)):
            for k in range(20):
                assert pair[number % 2](k) is (k % 2 == number % 2)

        together(work)


def squares(n):
    return sum([i * i for i in range(n)])


def doubles(n):
    return sum([i + i for i in range(n)])


def test_a_child_process_does_not_wait_for_threads_of_its_parent():
    """The parent forks while a thread compiles; in a process of its own, since the failure would be to wait for ever."""
    script = """
        import os, signal, threading
        import ljit
        from ljit.runtime import executor
        from tests.runtime.test_threads import doubles, squares

        by_the_thread, by_the_child = ljit.jit(squares), ljit.jit(doubles)
        is_compiling, compile_function = threading.Event(), executor.compile_function

        def compile_and_tell(*request):
            is_compiling.set()
            return compile_function(*request)

        executor.compile_function = compile_and_tell
        work = lambda: [by_the_thread(4) for _ in range(3)]
        thread = threading.Thread(target=work)
        thread.start()
        is_compiling.wait()
        child = os.fork()
        if not child:
            signal.alarm(60)
            results = [f(4) for f in (by_the_child, by_the_thread) for _ in range(3)]
            os._exit(results != [12] * 3 + [14] * 3)
        thread.join()
        print(os.waitpid(child, 0)[1], work())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "0 [14, 14, 14]", done.stdout + done.stderr[-2000:]


def test_a_child_process_does_not_wait_for_what_threads_of_its_parent_import():
    """The parent forks while a thread makes the first call of all, which imports most of ljit."""
    script = """
        import os, signal, sys, threading
        import ljit
        from tests.runtime.test_threads import squares, doubles

        by_the_thread, by_the_child = ljit.jit(squares), ljit.jit(doubles)
        is_importing, begins_to_fork = threading.Event(), threading.Event()

        class Finder:
            def find_spec(name, path=None, target=None):
                if name == "ljit.runtime.outlining":
                    is_importing.set()
                    begins_to_fork.wait(60)

        sys.meta_path.insert(0, Finder)
        os.register_at_fork(before=begins_to_fork.set)
        thread = threading.Thread(target=lambda: by_the_thread(4))
        thread.start()
        assert is_importing.wait(60)
        child = os.fork()
        if not child:
            signal.alarm(60)
            results = [f(4) for f in (by_the_child, by_the_thread) for _ in range(3)]
            os._exit(results != [12] * 3 + [14] * 3)
        thread.join()
        print(os.waitpid(child, 0)[1], by_the_thread(4))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ["0", "14"], done.stdout + done.stderr[-2000:]


def test_a_child_process_does_not_wait_for_what_threads_of_its_parent_computed():
    """The parent forks while a thread makes the graph that is shown, which takes no lock."""
    script = """
        import os, signal, threading
        import ljit
        from ljit.runtime import baseline
        from tests.runtime.test_threads import squares

        f = ljit.jit(squares)
        results = [f(4) for _ in range(3)]
        is_computing, may_end, script_graph = threading.Event(), threading.Event(), baseline.script_graph

        def make_and_wait(fn):
            if threading.current_thread() is thread:
                is_computing.set()
                may_end.wait(60)
            return script_graph(fn)

        baseline.script_graph = make_and_wait
        thread = threading.Thread(target=lambda: results.append(f.graph))
        thread.start()
        is_computing.wait()
        child = os.fork()
        if not child:
            signal.alarm(30)
            os._exit("prim::Loop" not in str(f.graph) or f(4) != 14)
        print(os.waitpid(child, 0)[1], may_end.is_set())
        may_end.set()
        thread.join()
        print(results[:3], results[3] is f.graph)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    expected = ["0", "False", "[14,", "14,", "14]", "True"]
    assert done.stdout.split() == expected, done.stdout + done.stderr[-2000:]

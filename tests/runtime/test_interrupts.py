"""Signals stop long native loops, and long native loops let other threads run."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import ljit
from ljit.codegen.functions import gil
from ljit.codegen.loops import polling
from ljit.ops.control import LONG_LOOP
from ljit.runtime.plans import MAX_COMPILES

# -- signals -------------------------------------------------------------------------------------------

HEADER = """
import signal, threading, time, traceback
import numpy as np
import ljit

signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it

def interrupt(started, delay):
    started.wait()
    for _ in range(1000):  # takes part in what needs the GIL
        pass
    time.sleep(delay)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

def call_interrupted(f, *args):
    for attempt in range(100):  # until the signal comes while f runs
        started = threading.Event()
        thread = threading.Thread(target=interrupt, args=(started, attempt / 100))
        thread.start()
        try:
            started.set()
            f(*args)
            thread.join()
        except KeyboardInterrupt as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            thread.join()
            if last.name == "f":
                print("interrupted at", last.line)
                return
    raise SystemExit("not interrupted")
"""

#: source, arguments of calls that end, of one that does not
LOOPS = {
    "endless": ("while True:\n        if n == 2:\n            return n", "2", "1"),
    "condition": ("while s != n:\n        s = (s + 1) & 1023\n    return s", "2", "-1"),
    "counted": ("for i in range(n):\n        s = (s ^ i) & 1023\n    return s", "99", "10**15"),
    "nested": (
        "for i in range(n):\n        for j in range(n):\n            s = (s ^ j) & 1023\n    return s",
        "99",
        "10**6",
    ),
    "long inner": (
        "for i in range(3):\n        for j in range(n):\n            s = (s ^ j) & 1023\n    return s",
        "99",
        "10**15",
    ),
    "short inner": (
        "for i in range(n):\n        for j in range(i % 7):\n            s = (s ^ j) & 1023\n    return s",
        "99",
        "10**15",
    ),
    "inner that grows": (
        "for i in range(n):\n        for j in range(i * i, i * i * 9):\n            s = (s ^ j) & 1023\n    return s",
        "99",
        "10**6",
    ),
    "inner while": (
        "for i in range(n):\n        x = i\n        while x > 0:\n            x >>= 1\n            s += x & 1\n    return s",
        "99",
        "10**15",
    ),
    "inner while that counts": (
        "for i in range(n):\n        k = 0\n        while k < n:\n            k += 1\n            s = (s ^ k) & 1023\n    return s",
        "99",
        "10**9",
    ),
    "search": (
        "for i in range(n):\n        k = 0\n        while bits[k] != 2:\n            k = (k + n) % 8\n    return k",
        "99",
        "10**15 * 2",
    ),
    "list": (
        "for i in range(n):\n        s = (s ^ xs[i % 3]) & 1023\n    return s",
        "99",
        "10**15",
    ),
    "boxed": ("for i in range(n):\n        s = len(str(i & 7))\n    return s", "99", "10**15"),
}


@pytest.fixture
def run(tmp_path):
    def run_text(text):
        path = tmp_path / "program.py"
        path.write_text(HEADER + text)
        command = [sys.executable, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_text


@pytest.mark.parametrize("name", LOOPS)
def test_an_interrupt_stops_a_loop_at_a_line_of_the_user(run, name):
    body, short, long = LOOPS[name]
    lists = "xs = [1, 2, 3]" if "xs" in body else "pass"  # functions with lists keep the GIL
    lists = "bits = np.array([0, 2, 0, 0, 0, 0, 0, 0])" if "bits" in body else lists
    f = f"@ljit.jit\ndef f(n):\n    {lists}\n    s = 0\n    {body}\n"
    out = run(f"{f}\nfor _ in range(3): f({short})\ncall_interrupted(f, {long})\n")
    assert out.startswith("interrupted at"), out


class _TooLongError(Exception):
    """What the handler of an alarm raises."""


def _plus_one(x):
    return x * 2 - x + 1


def _count(n):
    total = 0
    for _ in range(n):
        total += 1
    return total


@pytest.mark.parametrize("place", ["choose_sizes.run_passes", "executor.Baseline.of"])
def test_what_a_handler_raises_during_a_compile_reaches_the_user(monkeypatch, place):
    def interrupted(*args, **kwargs):
        monkeypatch.undo()
        signal.raise_signal(signal.SIGALRM)
        raise AssertionError("the handler was not called")

    def handler(number, frame):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        message = f"signal {number}"
        raise _TooLongError(message)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        f = ljit.jit(_plus_one)
        monkeypatch.setattr(f"ljit.runtime.{place}", interrupted)
        with pytest.raises(_TooLongError, match="signal"):
            for _ in range(3):
                f(1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [f(x) for x in (1, 2, 3)] == [2, 3, 4]
    assert f.specializations


@pytest.mark.parametrize(
    ("place", "runs", "n"),
    [("executor.compile_function", 0, 3), ("outlining.compile_loop", 99, 200_000)],
)
def test_a_compile_that_an_interrupt_ends_is_not_counted(monkeypatch, place, runs, n):
    def interrupted(*_args):
        monkeypatch.undo()
        raise KeyboardInterrupt

    f = ljit.jit(_count, num_profiled_runs=runs)
    for _ in range(MAX_COMPILES + 1):
        monkeypatch.setattr(f"ljit.runtime.{place}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(n)
    assert f(n) == n
    made = f._executor.loops if runs else f._executor.plans
    assert [(p.compiles, p.unit is not None) for p in made.values()] == [(1, True)]


def handled_sum(xs, log):
    total = 0
    try:
        for x in xs:
            total += x
    except KeyboardInterrupt:
        log.append(total)
    finally:
        log.append("end")
    return total


@pytest.fixture
def interrupted_bailout(monkeypatch):
    """The next bailout is interrupted while it is noted."""

    def interrupted(*_args):
        monkeypatch.undo()
        raise KeyboardInterrupt

    return lambda: monkeypatch.setattr("ljit.runtime.bailouts._watch_ints", interrupted)


def test_an_interrupt_while_a_bailout_is_noted_comes_to_the_functions_own_handler(
    interrupted_bailout,
):
    f, log = ljit.jit(handled_sum), []
    for _ in range(3):
        f([0, 1, 2], [])
    interrupted_bailout()
    assert f([1, 2**62, 2**62, 3, 4], log) == 1 + 2**62
    assert log == [1 + 2**62, "end"]


def test_an_interrupt_while_the_bailout_of_a_loop_is_noted_comes_there_too(interrupted_bailout):
    f, log = ljit.jit(handled_sum), []
    interrupted_bailout()
    assert f([1] * 10**6 + [2**62] * 2, log) == 10**6 + 2**62
    assert log == [10**6 + 2**62, "end"]


def test_what_was_stored_before_an_interrupt_stays_stored(run):
    out = run("""
@ljit.jit
def f(a, m):
    for i in range(len(a)):
        for j in range(m):
            a[i] = (a[i] * 3 + j) % 1021
    return a

for _ in range(3): f(np.zeros(3, np.int64), 3)
(whole,) = f(np.zeros(1, np.int64), 10**5)
assert whole != 0
a = np.zeros(10**7, np.int64)
call_interrupted(f, a, 10**5)
done = int((a == whole).sum())
assert done < len(a) and (a[:max(done - 1, 0)] == whole).all() and (a[done + 1:] == 0).all()
""")
    assert out.startswith("interrupted at")


def test_a_compile_that_was_interrupted_while_ops_were_loaded_is_made_again(run):
    out = run("""
from ljit.ir.registry import Registry

@ljit.jit
def f(a):
    return np.max(a) + 1.0

declare, interrupted = Registry.declare, []

def declare_or_be_interrupted(self, op):
    if op.name == "np::max" and not interrupted:
        interrupted.append(op)
        raise KeyboardInterrupt
    return declare(self, op)

Registry.declare = declare_or_be_interrupted
for _ in range(4):
    try:
        assert f(np.arange(5.0)) == 5.0
    except KeyboardInterrupt:
        assert interrupted
assert interrupted
print("py::call" in str(f.graph_for(np.arange(5.0))), *(info.state for info in f.specializations))
""")
    assert out.startswith("False native")


def test_an_interrupt_at_any_call_of_llvm_frees_nothing_twice_and_leaves_its_lock_free(run):
    out = run("""
from llvmlite.binding import ffi
from ljit.codegen.llvm.engine import compile_ir

TEXT = "define i64 @f() { ret i64 1 }"
plain, calls, chosen = ffi._lib_fn_wrapper.__call__, 0, None

def call_interrupted(self, *args):
    global calls
    result = plain(self, *args)
    calls += 1
    if calls == chosen:
        signal.raise_signal(signal.SIGINT)
    return result

compile_ir(TEXT, "f")
ffi._lib_fn_wrapper.__call__ = call_interrupted
compile_ir(TEXT, "f")
count, interrupts = calls, 0
for chosen in range(1, count + 1):
    calls = 0
    try:
        compile_ir(TEXT, "f")
    except KeyboardInterrupt:
        interrupts += 1
assert interrupts > count / 2, (interrupts, count)  # the others come into finalizers
thread = threading.Thread(target=compile_ir, args=(TEXT, "f"), daemon=True)
thread.start()
thread.join(60)
print("free" if not thread.is_alive() else "locked")
""")
    assert out == "free\n"


def test_a_nest_in_another_order_is_interrupted(run):
    out = run("""
@ljit.jit
def f(a, m):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            for k in range(m):
                a[i, j] += k

for _ in range(3): f(np.zeros((20, 20)), 20)
assert "reordered=True" in str(f.graph_for(np.zeros((20, 20)), 20))
call_interrupted(f, np.zeros((1000, 1000)), 10**6)
""")
    assert out.startswith("interrupted at")


@pytest.mark.parametrize("times", ["m", "j, m"])
def test_a_triangle_in_another_order_is_interrupted(run, times):
    out = run(f"""
@ljit.jit
def f(a, m):
    n = len(a)
    for j in range(n):
        for i in range(j, n):
            for k in range({times}):
                a[i, j] += k

for _ in range(3): f(np.zeros((20, 20)), 20)
assert "uneven=True" in str(f.graph_for(np.zeros((20, 20)), 20))
call_interrupted(f, np.zeros((1000, 1000)), 10**6)
""")
    assert out.startswith("interrupted at")


def nest(a, b, n):
    for j in range(n):
        for i in range(n):
            for k in range(n):
                a[i, j] += b[k, j]
    return flag_is_set()


flag = False


def flag_is_set():
    return flag


def test_what_a_handler_sets_during_a_nest_in_another_order_is_seen_behind_it(on_signal):
    def handler(*_):
        global flag
        flag = True

    f = ljit.jit(nest)
    for _ in range(3):
        assert f(np.zeros((20, 20)), np.ones((20, 20)), 20) is False
    assert "reordered=True" in str(f.graph_for(np.zeros((20, 20)), np.ones((20, 20)), 20))
    on_signal(handler)
    n = 1000
    a, b = np.zeros((n, n)), np.ones((n, n))
    sender = threading.Timer(0.02, send_signal)
    sender.start()
    assert f(a, b, n) is True
    sender.join()
    assert (a == n).all()


class Done(Exception):
    pass


@pytest.fixture
def on_signal():
    """Set the handler of a signal for the test."""
    saved = []

    def install(handler):
        saved.append(signal.signal(signal.SIGUSR1, handler))

    yield install
    signal.signal(signal.SIGUSR1, saved[0])


def send_signal():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)


def wait_for(flag):
    n = 0
    while flag[0] == 0:
        n = (n + 1) & 0xFFFF
    return n


def test_the_handler_of_a_signal_runs_during_a_loop_and_the_loop_sees_what_it_does(on_signal):
    f = ljit.jit(wait_for)
    for _ in range(3):
        f(np.ones(1))
    flag = np.zeros(1)
    on_signal(lambda *_: flag.fill(1))
    sender = threading.Thread(target=send_signal)
    sender.start()
    f(flag)  # comes back
    sender.join()


def test_a_thread_that_runs_python_makes_progress_during_a_native_loop(on_signal):
    f = ljit.jit(wait_for)
    for _ in range(3):
        f(np.ones(1))
    counted, started = [], threading.Event()

    def count():
        started.wait()
        for n in range(100_000):
            counted.append(n)
        send_signal()

    def stop(*_):
        raise Done

    on_signal(stop)
    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(Done):
        started.set()
        f(np.zeros(1))
    thread.join()
    assert len(counted) == 100_000


@pytest.mark.parametrize(
    ("body", "xs"), [("pass", "0"), ("s = s ^ xs[s & 1]", "[0, 1]"), ("s = len(str(s))", "0")]
)
def test_the_program_goes_on_and_ends_while_a_thread_is_in_an_endless_native_loop(run, body, xs):
    out = run(f"""
@ljit.jit
def f(n, xs):
    s = 0
    while n:
        {body}
    return s

for _ in range(3): f(0, {xs})
threading.Thread(target=f, args=(1, {xs}), daemon=True).start()
print(sum(k for k in range(10**5)))
""")
    assert out == "4999950000\n"


# -- threads -------------------------------------------------------------------------------------------


def work(a, times):
    total = 0
    for t in range(times):
        for i in range(len(a)):
            a[i] = (a[i] * 5 + t) & 0xFFFF
            total += a[i]
    return total


def test_threads_in_one_function_at_the_same_time_get_their_own_results():
    f = ljit.jit(work)
    for _ in range(3):
        f(np.arange(3), 2)
    arrays = [np.arange(n, n + 3000) for n in range(4)]
    expected = [a.copy() for a in arrays]
    totals = [0] * 4

    def run_one(n):
        totals[n] = f(arrays[n], 300)

    threads = [threading.Thread(target=run_one, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, a in enumerate(expected):
        total = 0
        for t in range(300):
            a[:] = (a * 5 + t) & 0xFFFF
            total += a.sum()
        assert totals[n] == total
        np.testing.assert_array_equal(arrays[n], a)


# -- how loops are written -----------------------------------------------------------------------------


def find(a, x):
    for i in range(len(a)):
        if a[i] == x:
            break
    else:
        i = -1
    return i


def count_down(n, step):
    s = 0
    for i in range(n, -3, -step):
        s = s * 3 + i
    return s


def first_negative(a):
    for x in a:
        if x < 0:
            return x
    return None


def total_of(a):
    s = 0
    for i in range(len(a)):
        s += a[i]
    return s


def triangle(a):
    s = 0
    for i in range(len(a)):
        for j in range(i):
            s = (s * 3 + a[j]) % 1000
    return s


def table(n, m):
    out = np.zeros((n, m))
    for t in range(3):
        for i in range(n):
            for j in range(m):
                out[i, j] += i * j + t
    return out.sum()


def steps_to_zero(n):
    total = 0
    for i in range(-2, n):
        while i > 0:
            i //= 2
            total += 1
    return total


def reversed_bits(n):
    total = 0
    for i in range(n):
        x, r = i, 0
        for _ in range(10):
            r = r * 2 + x % 2
            x //= 2
        total ^= r
    return total


@pytest.fixture(params=[1, 7, 23])
def chunk(request, monkeypatch):
    monkeypatch.setattr(polling, "_CHUNK", request.param)
    monkeypatch.setattr(polling, "_QUICK_CHUNK", request.param)
    monkeypatch.setattr(polling, "_LONG", 1)  # the GIL is given up at once


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (find, [(np.arange(n), x) for n in (0, 1, 6, 7, 8, 40) for x in (0, 6, 7, 39, 99)]),
        (count_down, [(n, s) for n in (-3, -2, 3, 4, 5, 19) for s in (1, 2, 5)]),
        (
            first_negative,
            [(np.array(xs, float),) for xs in ([], [-1.0], [1.0] * 9 + [-2.0], [1.0] * 9)],
        ),
        (triangle, [(np.arange(n),) for n in (0, 1, 2, 9, 30)]),
        (table, [(n, m) for n in (0, 1, 5, 30) for m in (0, 1, 7, 40)]),
        (steps_to_zero, [(n,) for n in (-5, 0, 1, 8, 100)]),
        (reversed_bits, [(n,) for n in (0, 1, 4, 5, 40)]),
        (total_of, [(np.arange(n) * 0.1,) for n in (0, 1, 6, 7, 8, 50)]),
    ],
)
@pytest.mark.usefixtures("chunk")
def test_loops_in_chunks_give_what_python_gives(fn, args):
    f = ljit.jit(fn)
    for each in [*args, *args]:
        expected, found = fn(*each), f(*each)
        assert (found, type(found)) == (expected, type(expected))


def test_a_long_loop_in_another_one_is_compiled_by_itself(monkeypatch):
    monkeypatch.setattr(polling, "_MANY", 2**10)
    f = ljit.jit(work)
    for _ in range(3):
        a, b = np.arange(3000), np.arange(3000)
        assert f(a, 40) == work(b, 40)
        np.testing.assert_array_equal(a, b)
    (plan,) = f._executor.plans.values()
    assert [plan.unit.sites[n].reason for n in plan.unit.bailouts] == [LONG_LOOP]
    assert plan.compiles == 1


def collatz(n):
    steps = 0
    for x in range(1, n):
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
    return steps


def collatz_of_even_numbers(n):
    steps = 0
    for x in range(1, n):
        if x % 2:
            continue
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
    return steps


def bits(n):
    count = 0
    for i in range(n):
        x = i
        while x > 0:
            count += x & 1
            x >>= 1
    return count


@pytest.mark.parametrize(("fn", "trips_inside"), [(bits, 64), (reversed_bits, 10)])
def test_a_loop_around_short_loops_polls_between_chunks_of_less_trips(fn, trips_inside):
    f = ljit.jit(fn)
    for _ in range(3):
        assert f(40) == fn(40)
    text = f.dump_llvm(40)
    assert text.count("load volatile i8") == 1
    assert f", {2**17 // trips_inside}\n" in text


@pytest.mark.parametrize(("fn", "polls"), [(collatz, 1), (collatz_of_even_numbers, 2)])
def test_a_loop_polls_if_not_each_trip_comes_to_a_while_loop_that_does(fn, polls):
    f = ljit.jit(fn)
    for _ in range(3):
        assert f(40) == fn(40)
    assert f.dump_llvm(40).count("load volatile i8") == polls


def insertions(a):
    a, moves = a.copy(), 0
    for i in range(1, len(a)):
        j = i
        while j > 0 and a[j - 1] > a[j]:
            a[j - 1], a[j] = a[j], a[j - 1]
            j -= 1
        moves += i - j
    return moves


def runs(a, n):
    """Loops over `a`, which are not known to be short, in one of three trips."""
    total = 0
    for i in range(3):
        j = 0
        while j < n and a[j] <= i:
            j += 1
        total += j
    return total


def all_runs(a, n):
    total = 0
    for i in range(n):
        j = 0
        while j < len(a) and a[j] <= i:
            j += 1
        total += j
    return total


@pytest.mark.parametrize(
    ("fn", "args", "in_while"), [(insertions, (), 0), (runs, (40,), 1), (all_runs, (40,), 0)]
)
def test_a_while_loop_that_counts_up_to_a_size_polls_only_in_a_short_loop(fn, args, in_while):
    f, a = ljit.jit(fn), np.array([5, 1, 4, 2, 3] * 8)
    for _ in range(3):
        assert f(a, *args) == fn(a, *args)
    text = str(f.graph_for(a, *args))
    assert "ends_after=4194304" in text
    assert f.dump_llvm(a, *args).count("load volatile i8") == (in_while or 1)


def test_a_while_loop_that_counts_very_far_polls_from_then_on():
    f, a = ljit.jit(all_runs), np.zeros(2**22 + 5, np.uint8)
    for size in (5, 5, 5, len(a), len(a)):
        assert f(a[:size], 2) == 2 * size
    (plan,) = f._executor.plans.values()
    assert len(plan.unit.bailouts) == 0
    assert plan.compiles == 2
    assert "ends_after" not in str(f.graph_for(a, 2))


def blurred(a):
    n, m = a.shape
    out = np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = a[i - 1, j - 1] + a[i + 1, j + 1]
    return out


def test_trips_that_the_loop_around_computes_alike_each_time_are_checked_in_front_of_it(
    monkeypatch,
):
    monkeypatch.setattr(polling, "_MANY", 2**10)
    f = ljit.jit(blurred)
    for _ in range(3):
        f(np.ones((5, 5)))
    wide = np.arange(3 * 5000.0).reshape(3, 5000)
    np.testing.assert_array_equal(f(wide), blurred(wide))
    plan = next(iter(f._executor.plans.values()))
    (site,) = (plan.unit.sites[n] for n in plan.unit.bailouts)
    assert site.reason == LONG_LOOP
    assert site.range.line == blurred.__code__.co_firstlineno + 3


def test_the_flags_of_cpython_are_found():
    found = gil.flags()
    assert (
        found.of_thread
        or len({found.requests.text, found.drop.text, found.signals.text, gil.NEVER.text}) == 4
    )

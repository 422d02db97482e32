"""Quick code: what is not optimised until it has run much, and how it gives way to what is."""

from __future__ import annotations

import gc
import threading
import warnings

import numpy as np
import pytest

import ljit
from ljit import config

NOT_YET = "native, not optimised yet"
SOON, NEVER = 20, 10**9


@pytest.fixture(autouse=True)
def code_is_quick_at_first():
    with config.overridden(quick_runs=SOON):
        yield


def states(function: ljit.Function) -> list[str]:
    return [info.state for info in function.specializations]


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * 2
    return s


def test_native_code_is_quick_until_it_has_run_often():
    f, a = ljit.jit(total), np.arange(5.0)
    seen = []
    for _ in range(40):
        assert f(a) == 20.0
        seen += states(f)
    assert seen[:3] == ["profiling", NOT_YET, NOT_YET]
    assert not f.specializations[0].is_quick
    assert seen[-1] == "native"
    (info,) = f.specializations
    assert (info.runs, info.compiles, info.bailouts) == (1, 2, 0)


def test_code_that_runs_little_stays_quick():
    f, a = ljit.jit(total), np.arange(5.0)
    with config.overridden(quick_runs=NEVER):
        for _ in range(1000):
            f(a)
    assert states(f) == [NOT_YET]


@pytest.mark.parametrize(("quick_runs", "jumps"), [(NEVER, False), (0, True)])
def test_entries_jump_to_the_next_one_unless_that_takes_slow_instruction_selection(
    quick_runs, jumps
):
    f = ljit.jit(total)
    with config.overridden(quick_runs=quick_runs):
        for dtype in (np.float64, np.float32, np.int64) * 3:
            made = f(np.arange(5, dtype=dtype))
            assert (made, type(made)) == (20.0, np.float32 if dtype is np.float32 else np.float64)
    units = [unit for plan in f._executor.plans.values() for unit in plan.units]
    assert len(units) == 3
    assert all(("musttail" in unit.code.ir) == jumps for unit in units)


def test_zero_runs_have_code_optimised_at_once():
    f, a = ljit.jit(total), np.arange(5.0)
    with config.overridden(quick_runs=0):
        f(a), f(a)
    assert states(f) == ["native"]


def test_a_long_loop_of_quick_code_goes_on_in_optimised_code():
    f = ljit.jit(total)
    f(np.arange(3.0)), f(np.arange(3.0))
    assert states(f) == [NOT_YET]
    a = np.arange(30_000.0)
    assert f(a) == total(a)
    assert "entered 1 time in the middle of a run" in f.explain()
    assert f(a) == total(a)
    assert states(f) == ["native"]


def test_loops_in_loops_go_on_where_they_were():
    def walk(n):
        out = []
        for i in range(n):
            for j in range(i):
                out.append(i * 1000 + j)
        return out

    f = ljit.jit(walk)
    assert f(3) == walk(3)
    for _ in range(4):
        assert f(150) == walk(150)
    assert states(f) == ["native"]


def test_an_exception_behind_the_switch_is_that_of_cpython():
    def divide(a, n):
        for i in range(n):
            a[i] = 100 // (5000 - i)
        return a

    f = ljit.jit(divide)
    small = np.zeros(10, dtype=np.int64)
    f(small, 3), f(small, 3)
    assert states(f) == [NOT_YET]
    a, b = np.zeros(10_000, dtype=np.int64), np.zeros(10_000, dtype=np.int64)
    with pytest.raises(IndexError) as caught:
        f(a[:4000], 9000)
    with pytest.raises(IndexError) as expected:
        divide(b[:4000], 9000)
    assert str(caught.value) == str(expected.value)
    assert np.array_equal(a, b)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion_switches_in_the_midst_of_it():
    f = ljit.jit(fib)
    globals()["fib"], plain = f, fib
    try:
        f(5), f(5)
        assert states(f) == [NOT_YET]
        assert f(21) == 10946
        assert states(f) == ["native"]
        assert f.specializations[0].compiles <= 4
    finally:
        globals()["fib"] = plain


def callee(x):
    return x * 3 + 1


def test_callers_find_the_optimised_code_of_a_callee():
    inner = ljit.jit(callee)

    def caller(n):
        s = 0
        for i in range(n):
            s += inner(i)
        return s

    f = ljit.jit(caller)
    for n in (3, 3, 3, 5000, 5000, 5000):
        assert f(n) == sum(3 * i + 1 for i in range(n))
    assert states(f) == ["native"]


def test_nests_count_their_elements():
    def scaled(a, b):
        return (a + b) * 2 - a

    f = ljit.jit(scaled)
    a = np.arange(2000.0)
    for _ in range(4):
        assert np.array_equal(f(a, a), a * 3)
    assert states(f) == ["native"]
    assert f.specializations[0].compiles == 2


def test_code_for_large_arrays_is_optimised_at_once():
    f, a = ljit.jit(lambda a: a * 2 + 1), np.arange(100_000.0)
    f(a), f(a)
    assert states(f) == ["native"]
    assert f.specializations[0].compiles == 1


def loop_units(function: ljit.Function) -> list[bool]:
    """Whether the units of its outlined loops are quick, in the order in which they were made."""
    return [u.code.is_quick for loop in function._executor.loops.values() for u in loop.units]


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("n", [500, 1023, 5000])
def test_sums_of_quick_code_are_as_exact_as_numpys(n, step):
    """Rounding goes one way all the time where all elements are equal."""

    def add(a, step):
        return (
            (a[::step] * np.float32(0.1)).sum(),
            np.mean(a[::step]),
            (a[::step] * a[::step]).sum(),
        )

    f, a = ljit.jit(add), np.full(n, 0.1, np.float32)
    with config.overridden(quick_runs=NEVER):
        f(a, step), f(a, step)
        assert states(f) == [NOT_YET]
        for found, exact in zip(f(a, step), add(a.astype(np.float64), step), strict=True):
            assert abs(found / exact - 1) < 2e-6


def test_an_outlined_loop_is_quick_until_it_has_run_often():
    f, a = ljit.jit(total), np.arange(30_000.0)
    assert f(a) == total(a)
    assert loop_units(f) == [True, False]
    assert f(a) == total(a)
    assert states(f) == ["native"]
    assert f.specializations[0].compiles == 1, "its loop was hot"


def test_an_outlined_loop_that_ends_soon_stays_quick_and_so_does_the_function():
    f, a = ljit.jit(total), np.arange(3000.0)
    with config.overridden(quick_runs=NEVER):
        assert (f(a), f(a)) == (total(a), total(a))
    assert loop_units(f) == [True]
    assert states(f) == [NOT_YET]


def test_what_an_outlined_loop_changed_is_kept_when_it_is_optimised():
    def sort(xs):
        for i in range(len(xs)):
            for j in range(i, 0, -1):
                if xs[j - 1] <= xs[j]:
                    break
                xs[j - 1], xs[j] = xs[j], xs[j - 1]
        return xs

    f = ljit.jit(sort)
    a = np.random.default_rng(1).random(700)
    assert np.array_equal(f(a.copy()), np.sort(a))
    assert loop_units(f)[:1] == [True]
    assert not loop_units(f)[-1]


def test_hot_code_is_made_of_the_graph_of_quick_code(monkeypatch):
    specialised = []
    from ljit.passes.specializing import specialize

    plain = specialize.specialize

    def noted(*args, **options):
        specialised.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(specialize, "specialize", noted)
    f, a = ljit.jit(total), np.arange(5.0)
    for _ in range(40):
        assert f(a) == 20.0
    assert states(f) == ["native"]
    assert f.specializations[0].compiles == 2
    assert len(specialised) == 1


class Steps:
    def __init__(self):
        self.sizes = [1, 2, 3, 4]

    def size(self, k):
        return self.sizes[k % 4]


def steps_together(steps, n):
    s = 0
    for k in range(n):
        s += steps.size(k + 1)
    return s


def test_methods_looked_up_before_their_arguments_are_functions_in_quick_code(monkeypatch):
    from ljit.passes.specializing import specialize

    plain, made = specialize.specialize, []

    def noted(*args, **options):
        made.append(plain(*args, **options))
        return made[-1]

    monkeypatch.setattr(specialize, "specialize", noted)
    monkeypatch.setattr(Steps, "size", Steps.size)  # put back behind the test
    f, steps = ljit.jit(steps_together), Steps()
    with config.overridden(quick_runs=NEVER):
        for _ in range(60):
            assert f(steps, 9) == steps_together(steps, 9)
        assert states(f) == [NOT_YET]
        names = [node.op.name for result in made for node in result.graph.walk()]
        assert "prim::check_method" in names
        assert "prim::call_native" in names
        Steps.size = lambda self, k: self.sizes[0] * 10 * k
        assert f(steps, 9) == 450
        steps.size = lambda k: -k
        assert f(steps, 9) == -45


def test_hot_code_is_specialised_anew_if_more_was_seen_meanwhile():
    f = ljit.jit(lambda x, y: x if y > 3 else x + y)
    for _ in range(5):
        assert f(1.0, 2) == 3.0
    for _ in range(400):
        assert f(1.0, 2) == 3.0
        assert f(1.0, 5) == 1.0
    assert states(f) == ["native"]


def test_code_that_makes_large_arrays_is_optimised_at_once():
    f = ljit.jit(lambda n: np.arange(n) * 2.0 + 1)
    f(100_000), f(100_000)
    assert states(f) == ["native"]
    assert f.specializations[0].compiles == 1


def test_what_is_shown_is_optimised():
    f, a = ljit.jit(total), np.arange(5.0)
    f(a), f(a)
    assert states(f) == [NOT_YET]
    text = f.dump_llvm(a)
    assert states(f) == ["native"]
    assert "optnone" not in text.split("ljit_entry.body", 1)[1].split("{", 1)[0]
    assert f(a) == 20.0


def test_what_is_shown_without_arguments_is_compiled_if_it_was_just_dropped():
    f = ljit.jit(total)
    f(np.arange(3.0)), f(np.arange(3.0))
    f(np.arange(30_000.0))
    assert states(f) == ["profiling"]
    assert "define" in f.dump_llvm()
    assert states(f) == ["native"]


@pytest.mark.parametrize("large", [2**32 - 1, 2**40])
def test_quick_code_bails_out_and_is_compiled_again_quickly(large):
    """The product that left native code tells whether it fits 64 bits or is an object: one compile."""
    f = ljit.jit(lambda n: n * n)
    with config.overridden(quick_runs=NEVER):
        assert [f(5) for _ in range(3)] == [25] * 3
        assert [f(large) for _ in range(6)] == [large * large] * 6
    assert states(f) == [NOT_YET]
    assert f.specializations[0].compiles == 2


def test_threads_that_switch_together_all_get_the_right_result():
    f, a = ljit.jit(total), np.arange(400.0)
    expected, wrong = total(a), []

    def work():
        wrong.extend(1 for _ in range(300) if f(a) != expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert states(f) == ["native"]


def test_the_environment_says_how_often_code_is_run_before():
    read = config.Settings.from_environment
    assert read({}).quick_runs == config.QUICK_RUNS
    assert read({"LJIT_QUICK_RUNS": "0"}).quick_runs == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read({"LJIT_QUICK_RUNS": "many"}).quick_runs == config.QUICK_RUNS
    assert "LJIT_QUICK_RUNS: 'many' is not a count" in str(caught[0].message)


@pytest.mark.parametrize("trip", [0, 1, 30, 31, 32, 33, 100, 1000])
@pytest.mark.parametrize("odd", [0.5, 2**70, np.float32(1), None])
def test_an_item_of_another_type_is_met_before_at_and_behind_the_switch(trip, odd):
    def running(xs):
        s, out = 0, []
        for x in xs:
            s = s + x
            out.append(s)
        return out

    f = ljit.jit(running)
    for _ in range(3):
        assert f([1, 2]) == [1, 3]
    xs = [1] * 1200
    xs[trip] = odd
    for _ in range(2):
        if odd is None:
            with pytest.raises(TypeError, match="unsupported operand"):
                f(xs)
        else:
            got, expected = f(xs), running(xs)
            assert got == expected
            assert list(map(type, got)) == list(map(type, expected))


def test_a_compile_leaves_the_garbage_collector_as_it_was():
    for _ in range(2):
        f = ljit.jit(total)
        f(np.arange(5.0)), f(np.arange(5.0))
        assert states(f) == [NOT_YET]
        assert gc.isenabled()
    gc.disable()
    try:
        f = ljit.jit(total)
        f(np.arange(5.0)), f(np.arange(5.0))
        assert not gc.isenabled()
    finally:
        gc.enable()


def free(columns, row, column):
    for i in range(row):
        if columns[i] == column or abs(columns[i] - column) == row - i:
            return False
    return True


def place(columns, row, n):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        if free(columns, row, column):
            columns[row] = column
            count += place(columns, row + 1, n)
    return count


def count_queens(n):
    return place(np.zeros(n, np.int64), 0, n)


def test_a_callee_that_calls_with_objects_do_not_reach_is_optimised_when_it_is_used_up():
    with config.overridden(quick_runs=20000):
        f = ljit.jit(count_queens)
        for _ in range(500):
            assert f(6) == 4
    assert sum(info.bailouts for info in f.specializations) < 20

"""Plans: one compile for many shapes, side-by-side specialisations, and budgets that end every story."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.interp import MIN_TRIPS, hot_loops
from ljit.runtime import bailouts, plain_calls, plans
from ljit.runtime.vectorcall import calls_left
from ljit.testing.chaos import eager_loops
from tests.programs.harness import compare


def compiles(function):
    return sum(info.compiles for info in function.specializations)


def states(function):
    return [info.state for info in function.specializations]


def axpy(x, y):
    return x * y + x


def assert_same(function, *args):
    expected, actual = function.__wrapped__(*args), function(*args)
    assert compare(expected, actual) is None


def test_a_thousand_lengths_make_one_compile():
    f = ljit.jit(axpy)
    for n in range(1000):
        a = np.arange(float(n))
        assert_same(f, a, a + 1.0)
    assert compiles(f) == 1
    assert states(f) == ["native"]


def test_a_thousand_shapes_of_rank_two_with_broadcasts_make_one_compile():
    f = ljit.jit(axpy)
    for k in range(1000):
        shape = (k % 37, k % 23)
        other = (shape, (1, shape[1]), (shape[0], 1), (1, 1))[k % 4]
        assert_same(f, np.full(shape, 1.5), np.full(other, k + 0.5))
    assert compiles(f) == 1


def test_sizes_that_broadcast_later_make_one_more_compile():
    f = ljit.jit(axpy)
    for k in range(2, 9):
        assert_same(f, np.full((k, 3 * k), 1.5), np.full((k, 3 * k), k + 0.5))
    assert compiles(f) == 1
    for shape in ((1, 24), (8, 1), (1, 1)):
        for _ in range(3):
            assert_same(f, np.full((8, 24), 1.5), np.arange(float(np.prod(shape))).reshape(shape))
    assert compiles(f) == 2
    assert "an array of one element along an axis is broadcast" in f.explain()


def test_sizes_that_are_broadcast_from_the_start_are_expected():
    f = ljit.jit(axpy)
    for k in range(20, 25):
        assert_same(f, np.full((k, 30), 1.5), np.arange(float(k)).reshape(k, 1))
    assert compiles(f) == 1


def add_into(target, values):
    target += values
    return target


@pytest.mark.parametrize("shape", [(1, 24), (8, 1), (1, 1)])
def test_values_that_broadcast_later_are_added_in_place_once(shape):
    f = ljit.jit(add_into)
    for _ in range(3):
        assert_same(f, np.ones((8, 24)), np.full((8, 24), 2.0))
    for k in range(4):
        assert_same(f, np.ones((8, 24)), np.full(shape, k + 0.5))
    assert compiles(f) == 2


def test_sizes_that_do_not_fit_raise_and_are_no_reason_to_compile():
    f = ljit.jit(axpy)
    for _ in range(3):
        assert_same(f, np.ones((4, 5)), np.ones((4, 5)))
    with pytest.raises(
        ValueError, match=r"could not be broadcast together with shapes \(4,5\) \(3,5\)"
    ):
        f(np.ones((4, 5)), np.ones((3, 5)))
    assert_same(f, np.ones((4, 5)), np.ones((4, 5)))
    assert compiles(f) == 1


def test_mixed_ranks_are_specialised_side_by_side():
    f = ljit.jit(axpy)
    values = [np.arange(3.0), np.ones((4, 3)), np.float64(2), np.ones((2, 1, 3)), np.array(2.5)]
    for _ in range(5):
        for x, y in itertools.product(values, values[:2]):
            assert_same(f, x, y)
    seen = compiles(f)
    for x, y in itertools.product(values, values[:2]):
        assert_same(f, x, y)
    assert compiles(f) == seen == 10


def test_contiguous_arrays_get_code_of_their_own_after_strided_ones():
    @ljit.jit
    def f(a, b):
        s = 0.0
        for i in range(len(a)):
            s += a[i] * b[i]
        return s

    x, gaps = np.arange(6.0), np.arange(12.0)[::2]
    calls = [(gaps, gaps), (gaps, x), (x, gaps), (x, x)]
    for a, b in [*calls[:1] * 3, *calls * 3]:
        assert f(a, b) == f.__wrapped__(a, b)
    layouts = {tuple(t.layout for t in info.types): info for info in f.specializations}
    assert set(layouts) == {("strided", "strided"), ("C", "C")}, "mixed ones need none"
    assert all(info.state == "native" and info.compiles == 1 for info in layouts.values())
    assert [info.bailouts for info in layouts.values()] == [0, 0]


def test_a_loop_in_which_a_contiguous_array_gets_gaps_is_native():
    @ljit.jit(num_profiled_runs=10**9)
    def f(a):
        s = 0.0
        while len(a) > 1:
            s += a[0] + a[-1]
            a = a[1:] if len(a) % 50 else a[::2]
        return s

    for k in (600, 700, 600):
        assert f(np.arange(float(k))) == f.__wrapped__(np.arange(float(k)))
    assert all(loop.unit is not None and loop.native_calls for loop in f._executor.loops.values())


def test_types_that_change_each_call_stop_compiling():
    f = ljit.jit(axpy)
    numbers = [
        1,
        2.5,
        1 + 2j,
        True,
        np.float32(2),
        np.int8(3),
        np.arange(4),
        np.ones(3, np.float32),
    ]
    sequences = [[1], (1,), "a", [1.5], (1, "a")]  # times 2 and then + 2.5: TypeError
    for _ in range(4):
        for v in numbers:
            assert_same(f, v, v)
        for v in sequences:
            with pytest.raises(TypeError) as mine:
                f(v, 2.5)
            with pytest.raises(TypeError) as plain:
                axpy(v, 2.5)
            assert str(mine.value) == str(plain.value)
    before = compiles(f)
    for _ in range(20):
        for v in numbers:
            assert_same(f, v, v)
    assert compiles(f) == before
    assert states(f).count("native") == len(numbers)


def test_more_types_than_plans_give_up_the_least_used_plan():
    f = ljit.jit(axpy)
    for _ in range(50):
        f(1.5, 2.5)
    for rank in range(1, plans.MAX_PLANS + 4):
        for _ in range(3):
            assert_same(f, np.ones((1,) * rank), 2.0)
    infos = f.specializations
    assert len(infos) == plans.MAX_PLANS
    kept = [str(info.types[0]) for info in infos]
    assert "float" in kept  # the most used one
    assert len(infos[-1].types[0].shape) == plans.MAX_PLANS + 3
    assert infos[-1].state == "native"
    assert_same(f, np.ones(1), 2.0)  # one that was given up comes back
    assert_same(f, np.ones(1), 2.0)
    assert f.specializations[-1].state == "native"


def test_types_without_end_stop_compiling(monkeypatch):
    monkeypatch.setattr("ljit.runtime.plan_table.MAX_PLANS", 3)
    monkeypatch.setattr("ljit.runtime.plan_table.MAX_EVICTIONS", 5)
    f = ljit.jit(lambda x: x * 2)
    executor = f._executor
    for n in itertools.chain(range(1, 20), range(1, 20)):
        value = np.ones((1,) * n)
        for _ in range(2):
            assert_same(f, value)
    assert executor.table.evictions == 5
    assert len(f.specializations) == 3


def test_mismatches_at_the_entry_end_with_cpython():
    f = ljit.jit(axpy)
    f(1.5, 2.5)
    f(1.5, 2.5)
    executor = f._executor
    plan = next(iter(executor.plans.values()))
    for _ in range(plans.MAX_MISMATCHES):
        executor._count_mismatch(plan, plan.unit)
    assert plan.refused == "native code does not take these arguments"
    assert_same(f, 1.5, 2.5)


def test_no_profiled_run_compiles_at_the_first_call():
    @ljit.jit(num_profiled_runs=0)
    def f(x, y):
        total = 0.0
        for k in range(len(x)):
            total += x[k] * y
        return total

    assert f(np.arange(5.0), 2.0) == 20.0
    assert [(i.state, i.runs, i.compiles) for i in f.specializations] == [("native", 0, 1)]
    assert f(np.arange(5.0), 2.0) == 20.0
    assert compiles(f) == 1


def test_three_profiled_runs_are_awaited():
    f = ljit.jit(num_profiled_runs=3)(axpy)
    for runs in (1, 2, 3):
        assert f(1.5, 2.0) == 4.5
        assert [(i.state, i.runs) for i in f.specializations] == [("profiling", runs)]
    assert f(1.5, 2.0) == 4.5
    assert [(i.state, i.runs) for i in f.specializations] == [("native", 3)]


def test_what_gains_nothing_is_left_to_cpython_and_jumps_there():
    @ljit.jit
    def f(x, y=3):
        return "{} {}".format(x, y)

    for k in range(500):
        assert f("a", k) == f"a {k}"
    (plan,) = f._executor.plans.values()
    assert plan.refused is not None
    assert plan.slow_calls < 12  # as many calls jump as there were before
    assert calls_left(f) > 0
    assert f("b") == "b 3"
    with pytest.raises(TypeError, match=r"takes from 1 to 2 positional arguments but 3 were given"):
        f(1, 2, 3)
    assert f(1.5, y=2) == "1.5 2"


def test_long_calls_that_gain_nothing_do_not_jump(monkeypatch):
    monkeypatch.setattr(plain_calls, "SECONDS_PASSED", 0.0)  # so that each call is long

    @ljit.jit
    def f(x, y):
        return "{} {}".format(x, y)

    for k in range(50):
        assert f("a", k) == f"a {k}"
    (plan,) = f._executor.plans.values()
    assert plan.refused is not None
    assert plan.slow_calls >= 48


@pytest.mark.parametrize(("seconds", "state"), [(1.0, "native"), (0.0, "CPython")])
def test_short_boxed_calls_on_arrays_become_native_in_the_end(monkeypatch, seconds, state):
    monkeypatch.setattr(plans, "_LOOKS", 12)
    monkeypatch.setattr(plans, "_SECONDS_OF_SHORT_CALL", seconds)
    f = ljit.jit(lambda a: a.tolist())
    a = np.arange(3.0)
    for _ in range(30):
        assert f(a) == [0.0, 1.0, 2.0]
    assert [i.state.split(":")[0] for i in f.specializations] == ["CPython"]
    for _ in range(10_000):
        f(a)
    assert f(a + 1) == [1.0, 2.0, 3.0]
    assert [i.state.split(":")[0].split(",")[0] for i in f.specializations] == [state]


def test_short_methods_become_native_in_the_end(monkeypatch):
    class Switch:
        def __init__(self) -> None:
            self.is_on = False
            self.turns = [1]

        @ljit.jit
        def turn(self, on):
            self.is_on = on
            return self.turns

    monkeypatch.setattr(plans, "_LOOKS_WITHOUT_ARRAYS", 12)
    monkeypatch.setattr(plans, "_SECONDS_OF_SHORT_CALL", 1.0)
    switch = Switch()
    Switch.turn.explain()
    for k in range(40):
        assert switch.turn(k) is switch.turns
    assert [i.state.split(":")[0] for i in Switch.turn.specializations] == ["CPython"]
    for k in range(12_000):
        assert switch.turn(k) is switch.turns
        assert switch.is_on == k
    assert Switch.turn.specializations[0].state.startswith("native")


def test_types_that_gain_nothing_jump_to_cpython_beside_native_code_for_others():
    @ljit.jit
    def f(x, y):
        return x % y

    for k in range(2):
        assert f(k, 3) == k
    for k in range(2 * plans.SLOW_CALLS_BEFORE_PASSING_ON):
        assert f("a %s", k) == f"a {k}"
    native, refused = f._executor.plans.values()
    assert native.unit is not None
    assert refused.refused is not None
    assert refused.pass_on is not None
    # a fourth of them may have jumped before one was looked at
    assert 1 <= refused.slow_calls / plans.SLOW_CALLS_BEFORE_PASSING_ON < 1.3
    assert f(7, 3) == 1
    assert f("%s", "b") == "b"


def test_arrays_that_numpy_does_anyway_have_native_code_beside_other_arrays():
    @ljit.jit
    def f(a):
        return np.repeat(a, 3)

    contiguous = np.arange(6.0).reshape(2, 3)
    for a in (contiguous, contiguous[:, ::-1]):
        for _ in range(3):
            np.testing.assert_array_equal(f(a), np.repeat(a, 3), strict=True)
    assert all(plan.unit is not None for plan in f._executor.plans.values())
    assert len(f._executor.plans) == 2
    alone = ljit.jit(f.__wrapped__)
    for _ in range(3):
        alone(contiguous[:, ::-1])
    (plan,) = alone._executor.plans.values()
    assert plan.refused is not None


def test_an_untranslatable_function_jumps_to_cpython_once_the_compiler_is_loaded():
    import ljit.codegen  # noqa: F401

    @ljit.jit
    def f(x, *, scale=2):
        try:
            return x / scale
        except* ZeroDivisionError:
            pass

    for _ in range(3):
        assert f(3) == 1.5
    assert calls_left(f) > 10**9
    assert f(3, scale=0) is None
    with pytest.raises(TypeError) as error:
        f(3, 4)
    assert str(error.value).endswith("f() takes 1 positional argument but 2 were given")
    with pytest.raises(TypeError, match="unsupported operand") as error:
        f("a")
    assert [entry.name for entry in error.traceback][1:] == ["f"]


def test_deep_recursion_through_a_jump_to_cpython_ends_as_in_cpython():
    import ljit.codegen  # noqa: F401

    @ljit.jit
    def f(n):
        try:
            return 0 if n == 0 else 1 + f(n - 1)
        except* ValueError:
            pass

    for _ in range(5):
        assert f(0) == 0
    assert f(400) == 400
    with pytest.raises(RecursionError):
        f(10**6)


def test_a_function_that_always_raises_ends_with_cpython():
    @ljit.jit
    def f(x, i):
        return x[0] + x[i]

    x = np.ones(4)
    for _ in range(200):
        with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
            f(x, 9)
    (info,) = f.specializations
    assert info.state.startswith("CPython: most calls leave native code")
    assert info.compiles == 1
    assert info.bailouts == bailouts._MIN_BAILOUTS
    assert f(x, 1) == 2.0


def test_a_function_that_raises_now_and_then_stays_native():
    @ljit.jit
    def f(x, i):
        return x[0] + x[i]

    x = np.ones(4)
    for k in range(2000):
        if k % 4 == 3:
            with pytest.raises(IndexError):
                f(x, 9)
        else:
            assert f(x, 2) == 2.0
    (info,) = f.specializations
    assert info.state == "native"
    assert info.compiles == 1
    assert info.calls == 1999


def summing(xs, n):
    total = 0.0
    for k in range(n):
        total = total + xs[k % 4] * 2.0
    return total


def nested(xs, rows, columns):
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total = total + xs[(i + j) % 4] * 2.0
    return total


@pytest.mark.parametrize("columns", [3, 100])
def test_a_loop_is_outlined_when_interpreting_it_has_cost_as_much_as_a_compile(columns):
    xs = np.arange(4.0)
    f = ljit.jit(nested)
    outer, inner = f._executor.baseline.code.loops
    nodes = outer.size + hot_loops._NODES_OF_ACTIVATION + columns * inner.size  # of a row
    rows = 1000 * outer.size // nodes
    with eager_loops(1000):
        assert_same(f, xs, rows - 1, columns)
        assert not f._executor.loops
    f = ljit.jit(nested)
    with eager_loops(1000):
        assert_same(f, xs, 2 * rows, columns)
        ((loop_id, _types),) = f._executor.loops
    assert loop_id == outer.id, "short inner loops are compiled with the loop around them"
    assert f._executor.outlined.trips_until_hot(inner) > f._executor.outlined.trips_until_hot(outer)


def test_thresholds_follow_from_the_size_of_the_loop():
    f = ljit.jit(nested)
    executor = f._executor
    outer, inner = executor.baseline.code.loops
    for loop in (outer, inner):
        nodes = executor.outlined.trips_until_hot(loop) * loop.size
        assert nodes <= plans.NODES_UNTIL_LOADED < 5 * nodes
    with eager_loops(10):
        assert_same(f, np.arange(4.0), 50, 3)
    assert executor.outlined.trips_until_hot(outer) == MIN_TRIPS


def flattened_copy(a):
    b = c = a.copy()
    b.shape = -1
    return c * 2


def flattened_and_back(a, n):
    b = a * 2
    b.shape = -1
    first = b[0], b.shape
    b.shape = (n, -1)
    b.dtype = np.int64
    return first, b.sum(axis=1)


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype)")  # NumPy 2.5
def test_an_array_whose_shape_is_set_is_native_behind_that():
    f = ljit.jit(flattened_and_back)
    for k in range(6):
        assert_same(f, np.full((3, 40), float(k)), 12)
    (info,) = f.specializations
    assert (info.compiles, info.bailouts) == (1, 0)
    with pytest.raises(ValueError, match="cannot reshape"):
        f(np.ones((3, 40)), 7)


@pytest.mark.filterwarnings("ignore:Setting the shape")  # NumPy 2.5
def test_code_that_bails_out_again_and_again_is_compiled_only_with_something_new():
    f = ljit.jit(flattened_copy)
    for k in range(40):
        assert_same(f, np.full((3, 40), float(k)))
    assert compiles(f) <= 2
    for k in range(40, 120):
        assert_same(f, np.full((3, 40), float(k)))
    assert states(f)[0].startswith("CPython: bailed out too often")


@pytest.mark.parametrize(("calls", "most"), [(20, plans.MAX_COMPILES), (6000, plans.MOST_COMPILES)])
def test_compiles_whose_code_was_called_often_do_not_count_up_to_a_bound(calls, most):
    f = ljit.jit(lambda x, y: x * y + x)
    f(1.5, 2.5)
    (plan,) = f._executor.plans.values()
    for _ in range(most):
        assert f(1.5, 2.5) == 5.25
        assert plan.unit is not None
        for _ in range(calls):
            f(1.5, 2.5)
        f._executor.retire(plan, "a callee has changed")
    assert (f(1.5, 2.5), plan.compiles, plan.unit) == (5.25, most, None)
    assert states(f) == [f"CPython: bailed out too often: compiled {most} times"]


def test_items_of_other_types_than_a_list_was_made_of_are_still_read_natively():
    @ljit.jit
    def last_repeated(n):
        made = [None] * n
        for i in range(n):
            made[i] = str(i)
        found = ""
        for k, text in enumerate(made):
            found = text * k
        return found

    for _ in range(8):
        assert last_repeated(3) == "22"
    assert "(int, Any) = prim::next" in str(last_repeated.graph_for(3))


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (lambda a, b: (a * b + a) / b, ((70, 60), (70, 60), (1, 60))),
        (lambda a, _: a.sum(axis=1) + a.max(axis=1), ((70, 60), (2,), (2,))),
    ],
)
def test_code_that_was_left_for_axes_of_one_element_is_native_for_them_in_the_next_compile(
    f, shapes
):
    compiled, (one, two, other) = ljit.jit(f), (np.ones(shape) * 2.0 for shape in shapes)
    calls = ((one, two), (one, other), (np.arange(90.0).reshape(90, 1), other), (one, two))
    with config.overridden(quick_runs=0):
        for args in calls:
            for _ in range(3):
                np.testing.assert_array_equal(compiled(*args), f(*args))
    assert "Any" not in str(compiled.graph_for(one, other))
    assert compiles(compiled) == 2

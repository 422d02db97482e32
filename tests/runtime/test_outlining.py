"""Long loops run natively within the first call, whatever their form, and again after each bailout.

A loop is hot after `TRIPS` trips or so here. The interpreter's own trips are counted, never times.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ljit
from ljit.codegen import NativeCode
from ljit.interp import MIN_TRIPS
from ljit.ops.control import NOT_RUN, UNCOUNTED_TRIPS
from ljit.runtime import plans
from ljit.runtime.bailouts import Bailout, patience, wants_compile
from ljit.runtime.feedback import PlanFeedback
from ljit.runtime.plans import MANY_KINDS, LoopPlan
from ljit.testing.trips import interpreted_trips
from ljit.types import NEVER, ListType
from tests.programs.harness import compare

NODES = 10_000  # of a loop's body until it is hot
TRIPS = 1000  # at least, as bodies here have ten nodes or so
N = 100_000


@pytest.fixture(autouse=True)
def _early(monkeypatch):
    """The executor decides when a loop is hot, as it does outside of the test suite."""
    monkeypatch.setattr("ljit.runtime.outlining.NODES_UNTIL_HOT", NODES)
    monkeypatch.setattr("ljit.runtime.outlining.NODES_UNTIL_LOADED", NODES)
    monkeypatch.setattr(
        "ljit.runtime.hooks.Hooks.trips_until_hot",
        lambda hooks, loop: hooks.executor.outlined.trips_until_hot(loop),
    )


def trips_of(function, *args):
    """Compare one call with CPython's; gives the trips that were interpreted."""
    with interpreted_trips(function) as trips:
        try:
            actual = function(*args)
        except ArithmeticError as error:
            actual = repr(error)
    try:
        expected = function.__wrapped__(*args)
    except ArithmeticError as error:
        expected = repr(error)
    assert compare(expected, actual) is None
    return trips


def compiles_of_loops(function):
    return sum(found.compiles for found in function._executor.loops.values())


# -- which loop of a nest -------------------------------------------------------------------------------


def rows_in_steps(steps, rows):
    total = 0
    for step in range(steps):
        for i in range(rows):
            for j in range(30):
                total += (i ^ j) + step
    return total


def test_inner_loops_are_native_before_a_long_trip_of_the_outermost_ends():
    f = ljit.jit(rows_in_steps)
    trips = trips_of(f, 2, 3000)
    assert trips.total() < 5000, "the first step alone has 90,000"


# -- forms of loops ------------------------------------------------------------------------------------


def returns_from_within(n):
    total = 0
    for i in range(n):
        total += i
        if i == n - 5:
            return total
    return -1


def breaks_before_else(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += i
        if i > n - 5:
            break
    else:
        total = -1
    return total


def runs_else(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += i
    else:
        total += 7
        for _ in range(n):
            total += 1
    return total


def raises_from_within(n):
    total = 0
    for i in range(n):
        if i == n - 5:
            raise ArithmeticError(total)
        total += i
    return total


def divides_by_zero(n):
    total = 0.0
    for i in range(n):
        total += 1.0 / (n - 5 - i)
    return total


def while_loop(n):
    i, total = 0, 0.0
    while i < n:
        total += i * 0.5
        i += 1
    return total


def while_else(n):
    i = total = 0
    while i < n:
        i += 1
        if i % 2:
            continue
        total += i
    else:
        total += 1
    return total


def endless(n):
    i = total = 0
    while True:
        total += i
        i += 1
        if i >= n:
            return total


def backwards(n):
    total = 0
    for i in range(n, -n, -3):
        total += i * i
    return total


def comprehension(n):
    return sum([i * 0.5 for i in range(n)])


def callee(n, factor):
    total = 0.0
    for i in range(n):
        total += i * factor
        if total > 1e300:
            return 0.0
    return total


def inlined_once(n):
    return callee(n, 0.5) + 1.0


@ljit.jit
def decorated_callee(n, factor):
    total = 0.0
    for i in range(n):
        total += i * factor
    return total


def decorated_in_loop(n):
    total = 0.0
    for _ in range(n // 100):
        total += decorated_callee(100, 0.5)
    return total


def inlined_in_loop(n):
    total = 0.0
    for _ in range(n // 100):
        total += callee(100, 0.5)
    return total


def long_inner(n):
    total = 0.0
    for i in range(3):
        for j in range(n // 3):
            total += i * j
    return total


def short_inner(n):
    total = 0.0
    for i in range(n // 4):
        for j in range(4):
            total += i * j
    return total


def first_long_then_short(n):
    total = 0.0
    i = 0
    while i < n // 3:
        j = 0
        stop = 3000 if i == 0 else 3
        while True:
            total += i * j
            j += 1
            if j >= stop:
                break
        i += 1
    return total


def triple(n):
    total = 0
    for i in range(n // 100):
        for j in range(10):
            if j == i % 10:
                continue
            for k in range(10):
                if k > j:
                    break
                total += i ^ j ^ k
    return total


def leaves_two_loops(n):
    total = 0
    for i in range(n):
        for j in range(i % 5, 5):
            total += j
            if total > 8 * n:
                return i, j, total
    return total


def over_generator(n):
    total = 0
    for k in iter(range(n).__iter__, None) if n < 0 else map(abs, range(n)):
        total += k
    return total


FORMS = [
    returns_from_within, breaks_before_else, runs_else, raises_from_within, divides_by_zero,
    while_loop, while_else, endless, backwards, comprehension, inlined_once, decorated_in_loop,
    inlined_in_loop, long_inner, short_inner, first_long_then_short, triple, leaves_two_loops,
    over_generator,
]  # fmt: skip


@pytest.mark.parametrize("function", FORMS, ids=[f.__name__ for f in FORMS])
def test_a_loop_of_any_form_is_left_to_native_code_in_the_first_call(function):
    f = ljit.jit(function)
    trips = trips_of(f, N)
    assert trips.total() < 0.04 * N
    assert compiles_of_loops(f) <= 2
    assert not any(found.refused for found in f._executor.loops.values())


def over_list(xs):
    total = 0
    for x in xs:
        total += x
    return total


def over_enumerate(xs):
    total = 0
    for k, x in enumerate(xs):
        total += k * x
    return total


def over_zip(xs):
    total = 0
    for x, y in zip(xs, xs):  # noqa: B905 - the plain form is the usual one
        total += x * y
    return total


def over_reversed(xs):
    total = 0
    for x in reversed(xs):
        total = x - total
    return total


@pytest.mark.parametrize(
    "function", [over_list, over_enumerate, over_zip, over_reversed], ids=lambda f: f.__name__
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: list(range(N)),
        lambda: tuple(range(N)),
        lambda: np.arange(N),
        lambda: np.arange(N) * 0.5,
        lambda: range(N),
    ],
    ids=["list", "tuple", "ints", "floats", "range"],
)
def test_loops_over_collections(function, make):
    f = ljit.jit(function)
    assert trips_of(f, make()).total() < 0.04 * N


def rows(a):
    total = 0.0
    for row in a:
        for x in row:
            total += x
    return total


def test_loops_over_rows():
    f = ljit.jit(rows)
    assert trips_of(f, np.ones((N // 8, 8))).total() < 0.04 * N
    assert compiles_of_loops(f) == 1, "the loop over the rows has the other one in it"


def items(table):
    total = 0
    for key in table:
        total += table[key]
    return total


def test_loops_over_a_dict():
    assert trips_of(ljit.jit(items), {k: k + 1 for k in range(N)}).total() < 0.04 * N


# -- back into native code after a bailout -------------------------------------------------------------


def overflows_once(n, k):
    total = 0
    for i in range(n):
        total += i
        if i == k:
            total += 2**62
            total += 2**62
            total -= 2**63
    return total


def stays_big(n, k):
    total = 0
    for i in range(n):
        total += i
        if i == k:
            total += 2**70
    return total


def becomes_float(n, k):
    total = 0
    for i in range(n):
        if i == k:
            total = total * 0.5
        total += 1
    return total


def skips_none(xs):
    total = 0.0
    for x in xs:
        if x is not None:
            total += x
    return total


def changes_array(n, k, xs, ys):
    total = 0
    a = xs
    for i in range(n):
        if i == k:
            a = ys
        total += a[i % 4]
    return total


def nest_with_overflow(n, k):
    total = 0
    for i in range(n // 10):
        for _ in range(10):
            total += i
        if i == k // 10:
            total += 2**63
            total -= 2**63
    return total


def while_with_overflow(n, k):
    total = i = 0
    while i < n:
        total += i
        i += 1
        if i == k:
            total += 2**63
            total -= 2**63
    return total


def lists(first, second, n, k):
    return [first] * k + [second] * (n - k)


ARRAYS = np.arange(4), np.arange(4) * 0.5
REENTRIES = [
    (overflows_once, lambda n, k: (n, k)),
    (stays_big, lambda n, k: (n, k)),
    (becomes_float, lambda n, k: (n, k)),
    (nest_with_overflow, lambda n, k: (n, k)),
    (while_with_overflow, lambda n, k: (n, k)),
    (skips_none, lambda n, k: ([*lists(1.0, 2.0, n, k), None, *lists(2.0, 3.0, n, n)],)),
    (over_list, lambda n, k: (lists(1, 2.5, n, k),)),
    (over_list, lambda n, k: (lists(1, 2**70, n, k),)),
    (over_list, lambda n, k: (lists(1.5, 2 + 1j, n, k),)),
    (changes_array, lambda n, k: (n, k, *ARRAYS)),
    (changes_array, lambda n, k: (n, k, ARRAYS[0], ARRAYS[0].astype(np.int8))),
]


@pytest.mark.parametrize(("function", "make"), REENTRIES)
@pytest.mark.parametrize("k", [10, N // 2])
def test_the_rest_of_a_loop_is_native_again_after_a_bailout(function, make, k):
    f = ljit.jit(function)
    for _ in range(2):
        assert compare(function(*make(20, 50)), f(*make(20, 50))) is None
    trips = trips_of(f, *make(N, k))
    assert trips.total() < 0.04 * N
    assert compiles_of_loops(f) <= 3
    if k == N // 2 and trips:
        assert trips.total() < 20 * MIN_TRIPS, (
            "what native code ran before shows that the loop is long"
        )


@pytest.mark.parametrize(("function", "make"), REENTRIES)
def test_the_rest_of_an_outlined_loop_is_native_again(function, make):
    f = ljit.jit(function)
    trips = trips_of(f, *make(N, N // 2))
    assert trips.total() < 0.04 * N
    assert compiles_of_loops(f) <= 4


def rare_overflow(n, every):
    total = 0
    for i in range(n):
        big = i * 2**40
        if i % every == every - 1:
            big = big * 2**40
        total = (total + big) % 1000003
    return total


@pytest.mark.parametrize("every", [100, 5000])
def test_bailouts_again_and_again_end_with_code_that_stays(every):
    f = ljit.jit(rare_overflow)
    for _ in range(2):
        f(20, every)
    trips = trips_of(f, N, every)
    assert trips.total() < 0.06 * N
    assert compiles_of_loops(f) <= 3
    seen = compiles_of_loops(f)
    assert trips_of(f, N, every).total() < 0.04 * N
    assert compiles_of_loops(f) <= seen + 1


def sums_per_array(arrays):
    total = 0.0
    for a in arrays:
        for i in range(len(a)):
            if a[i]:
                total += 1.0
    return total


DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "c16", "c8", "?"]


def test_a_new_dtype_each_outer_trip_is_native_soon():
    f = ljit.jit(sums_per_array)
    arrays = [np.ones(N // 10, dtype) for dtype in DTYPES]
    trips = trips_of(f, arrays)
    assert trips.total() < 0.04 * N
    assert compiles_of_loops(f) <= len(DTYPES)


def counts_down(n):
    while n > 0:
        n -= 1
    return n


def test_a_while_that_native_code_leaves_for_one_more_of_many_kinds_has_to_run_long():
    outlined = ljit.jit(counts_down)._executor.outlined
    (loop,) = outlined.executor.baseline.code.loops
    needed = outlined.trips_until_hot(loop)
    for kinds, waits in ((MANY_KINDS - 1, False), (MANY_KINDS, True)):
        outlined.plans.clear()
        outlined.plans.update({(loop.id, (k,)): LoopPlan(unit=object()) for k in range(kinds)})
        found, asked, start = LoopPlan(), {}, UNCOUNTED_TRIPS + 5
        assert outlined._waits(found, loop.id, start, asked) is waits
        assert outlined._waits(found, loop.id, start + needed - 1, asked) is waits
        assert not outlined._waits(found, loop.id, start + needed, asked)
        assert outlined._waits(found, loop.id, start + needed, {}) is waits  # another run
        assert not outlined._waits(found, loop.id, start + needed, asked)  # however many ask
        assert not outlined._waits(LoopPlan(), loop.id, needed, asked)  # trips that were counted
        assert not outlined._waits(LoopPlan(compiles=1), loop.id, start, {})


def test_code_of_a_loop_that_two_threads_retire_at_once_is_retired_once(monkeypatch):
    f = ljit.jit(counts_down)
    assert f(N) == 0
    (found,), (plan,) = f._executor.loops.values(), f._executor.plans.values()
    unit, enter = found.unit, f._executor.outlined.enter

    def enter_while_another_thread_does(*args):
        with monkeypatch.context() as m:

            def is_hot(_code):
                m.undo()
                found.retire(unit)
                return True

            m.setattr(NativeCode, "is_hot", property(is_hot))
            return enter(*args)

    monkeypatch.setattr(f._executor.outlined, "enter", enter_while_another_thread_does)
    assert f._executor.interpret(plan, [N]) == 0
    assert found.retired == [unit]


def test_short_arrays_of_many_dtypes_are_one_loop():
    f = ljit.jit(sums_per_array)
    arrays = [np.ones(3, DTYPES[k % len(DTYPES)]) for k in range(N // 3)]
    assert trips_of(f, arrays).total() < 0.06 * N
    assert compiles_of_loops(f) <= 2


# -- bounds --------------------------------------------------------------------------------------------


class Box:
    """Its values have no known type where they were not seen yet."""

    def __init__(self, value):
        self.value = value


def branches_one_by_one(n, step, box):
    total = 0.0
    for i in range(n):
        k = i // step
        if k == 1:
            total += box.value
        elif k == 3:
            total -= box.value
        elif k == 5:
            total = total / box.value
        elif k == 7:
            total += box.value * 2
        elif k == 9:
            total -= box.value * 3
        elif k == 11:
            total += box.value * i
        elif k == 13:
            total += -box.value
        elif k == 15:
            total += abs(box.value)
        elif k == 17:
            total += 1 / box.value
        elif k == 19:
            total -= 2 / box.value
        total += 1.0
    return total


def test_code_that_is_left_in_ten_places_stays_native():
    f = ljit.jit(branches_one_by_one)
    trips = trips_of(f, N, N // 20, Box(3))
    assert compiles_of_loops(f) <= plans.MAX_COMPILES
    assert not any(found.refused for found in f._executor.loops.values())
    assert trips.total() < 0.2 * N


def test_a_function_that_is_left_in_ten_places_stays_native():
    f = ljit.jit(branches_one_by_one)
    for _ in range(10):
        for n in range(2, 24, 2):
            assert f(n, 1, Box(3)) == branches_one_by_one(n, 1, Box(3))
    (info,) = f.specializations
    assert info.state == "native"
    assert info.compiles <= plans.MAX_COMPILES
    assert info.bailouts <= 12


def test_patience_grows_with_the_compiles_and_the_last_code_stays():
    assert [patience(NOT_RUN, n) for n in range(1, 8)] == [1, 1, 1, 2, 4, 8, 16]
    assert [patience("int overflow", n) for n in range(1, 8)] == [2, 2, 2, 4, 8, 16, 32]
    found = plans.LoopPlan()
    unit = SimpleNamespace(sites=[SimpleNamespace(reason="int overflow")])
    for found.compiles in range(1, plans.MAX_COMPILES + 1):
        found.bailouts.clear()
        found.bailouts[0] = 1000
        assert wants_compile(found, PlanFeedback(), Bailout(unit, 0, 0, ())) == (
            found.compiles < plans.MAX_COMPILES
        )


def test_the_least_used_outlined_loop_gives_way(monkeypatch):
    monkeypatch.setattr("ljit.runtime.outlining.MAX_LOOPS", 4)
    monkeypatch.setattr("ljit.runtime.outlining.MAX_EVICTIONS", 5)
    f = ljit.jit(num_profiled_runs=2**40)(sums_per_array)
    for dtypes in (DTYPES[:4], DTYPES[4:8], DTYPES):
        arrays = [np.ones(4000, dtype) for dtype in dtypes]
        assert f(arrays) == 4000.0 * len(dtypes)
        assert len(f._executor.loops) == 4
    assert f._executor.outlined.evictions == 5
    assert compiles_of_loops(f) <= 4 * plans.MAX_COMPILES


def rows_of_halves(n, rows, items, keep):
    for _ in range(rows):
        row = []
        for k in range(n):
            row.append(items(k))
        keep(row)


def test_a_list_that_is_empty_again_needs_no_code_of_its_own():
    f = ljit.jit(num_profiled_runs=2**40)(rows_of_halves)
    halves, mixed = (0.5).__mul__, [0.5, 1, None, "a"] * (N // 4)
    for n, rows, items in ((N, 3, halves), (N // 4, 5, halves), (N // 4, 9, mixed.__getitem__)):
        expected, actual = [], []
        rows_of_halves(n, rows, items, expected.append)
        f(n, rows, items, actual.append)
        assert compare(expected, actual) is None
    inner = [(p, types) for (_, types), p in f._executor.loops.items() if len(types) > 6]
    assert sum(found.native_calls for found, _ in inner) > 5
    assert not any(ListType(NEVER) in types for _, types in inner)


def classes_raised(xs, table):
    seen = 0
    for x in xs:
        try:
            table[x]
        except KeyError:
            seen += sys.exc_info()[0] is KeyError
    return seen


@pytest.fixture
def without_native_handlers(monkeypatch):
    monkeypatch.setattr("ljit.passes.specializing.specialize_handlers._MAX_HANDLER", 0)


@pytest.mark.usefixtures("without_native_handlers")
def test_a_loop_that_raises_in_most_trips_is_hot_soon_and_known_after_the_first_call():
    f = ljit.jit(classes_raised)
    assert f(list(range(6000)), {}) == 6000
    assert "it raises too often" in f.explain()


@pytest.mark.usefixtures("without_native_handlers")
def test_a_loop_whose_body_raises_often_is_given_up_and_one_that_raises_now_and_then_is_not():
    often, seldom = ljit.jit(classes_raised), ljit.jit(classes_raised)
    for _ in range(4):
        assert often([1, 1, 1, 1, 1, 2] * 2000, {1: 1}) == 2000
        assert seldom([*[1] * 12_000, 2], {1: 1}) == 1
    assert "it raises too often" in often.explain()
    assert "it raises too often" not in seldom.explain()
    assert seldom.specializations[0].state.startswith("native")


def test_threads_may_start_loops_while_a_run_asks_which_are_hot():
    @ljit.jit
    def total(n):
        result = 0
        for k in range(n):
            result += k
        return result

    class Interrupted:
        """The id of a loop: while it is compared, another thread starts one."""

        def __eq__(self, other):
            loops[len(loops), ()] = plans.LoopPlan()
            return False

        __hash__ = object.__hash__

    loops = total._executor.outlined.plans
    loops[Interrupted(), ()] = plans.LoopPlan()
    assert total(10) == 45
    assert len(loops) > 1


# -- trips that take long -----------------------------------------------------------------------------


def smoothed(u, steps):
    for _step in range(steps):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def smoothed_but_for(u, steps, left_out):
    for step in range(steps):
        if step == left_out:
            u[0] = step
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def test_loops_that_take_longer_to_compile_are_hot_later(monkeypatch):
    def sums(n):
        total = 0
        for k in range(n):
            total += k ^ 1
        for k in range(n):
            total += k ^ 1
            total += k ^ 2
            for j in range(2):
                total += j ^ k
        return total

    f = ljit.jit(sums)
    small, large, _inner = f._executor.baseline.code.loops
    outlined = f._executor.outlined
    assert outlined.seconds_until_hot(small) == outlined.seconds_until_hot(large)
    before = outlined.trips_until_hot(large)
    monkeypatch.setattr("ljit.runtime.outlining.MOST_NODES_OF_LOOP", 6)
    outlined = ljit.jit(sums)._executor.outlined
    nodes = [
        sum(1 for _ in outlined.executor.baseline.node(loop.id).blocks[0].walk())
        for loop in (small, large)
    ]
    ratio = outlined.seconds_until_hot(large) / outlined.seconds_until_hot(small)
    assert ratio == pytest.approx(nodes[1] / nodes[0])
    assert outlined.trips_until_hot(large) / before == pytest.approx(nodes[1] / 6, rel=0.01)


def test_outermost_loops_that_are_optimised_at_once_are_hot_as_much_later():
    def sums(n):
        total = 0
        for k in range(n):
            for j in range(n):
                total += j ^ k
        return total

    f = ljit.jit(sums)
    outer, inner = f._executor.baseline.code.loops
    outlined = f._executor.outlined
    for hot_after in (outlined.trips_until_hot, outlined.seconds_until_hot):
        assert hot_after(outer, is_hot=True) == 4 * hot_after(outer)
        assert hot_after(inner, is_hot=True) == hot_after(inner)  # its first code is quick code


def test_loops_whose_few_trips_take_long_leave_the_interpreter_in_the_first_call(monkeypatch):
    monkeypatch.setattr("ljit.runtime.outlining.SECONDS_UNTIL_HOT", 0.0)
    monkeypatch.setattr("ljit.runtime.outlining.SECONDS_UNTIL_LOADED", 0.0)
    u = np.linspace(0.0, 1.0, 50) ** 2
    f = ljit.jit(smoothed)
    assert trips_of(f, u.copy(), 60).total() < 10
    assert compiles_of_loops(f) == 1


def test_loops_that_native_code_leaves_go_back_to_it_by_the_clock(monkeypatch):
    monkeypatch.setattr("ljit.runtime.outlining.SECONDS_UNTIL_HOT", 0.0)
    monkeypatch.setattr("ljit.runtime.outlining.SECONDS_UNTIL_LOADED", 0.0)
    u = np.linspace(0.0, 1.0, 50) ** 2
    f = ljit.jit(smoothed_but_for)
    for _ in range(3):
        f(u.copy(), 40, -1)
    assert trips_of(f, u.copy(), 60, 20).total() < 20

"""Functions that variables hold have their bodies where they are called, as long as they are those that came before."""

from __future__ import annotations

import gc
import sys
import types
import weakref

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE, LOOP
from ljit.ops.members import CHECK_KIND, GIVEN_VALUE, IS_KIND
from ljit.ops.objects import CALL
from ljit.testing.chaos import eager_loops, fail_each_guard, fail_each_loop_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    """Compile without waiting."""
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield


def squared_distance(x, y):
    s = 0.0
    for k in range(x.shape[0]):
        t = x[k] - y[k]
        s += t * t
    return s


def pairwise(x, y, distance):
    out = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = distance(x[i], y[j])
    return out


def total(f, n):
    s = 0
    for i in range(n):
        s += f(i)
    return s


def solve(f, n):
    return total(f, n) + total(lambda x: f(x) + 1, n)


def in_some_trips(f, n, every):
    s = 0
    for i in range(n):
        if i % every == every - 1:
            s += f(i)
    return s


def of_attribute(holder, n):
    f = holder.f
    s = 0
    for i in range(n):
        s += f(i)
    return s


def of_items(fs, n):
    s = 0
    for i in range(n):
        s += fs[i % len(fs)](i)
    return s


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


def scaled(x, k=4, *, add=1):
    return k * x + add


class Holder:
    def __init__(self, f):
        self.f = f

    def scaled(self, x):
        return self.f * x


def outcome(function, *args):
    """What a call gives or raises, with its text and where."""
    try:
        result = function(*args)
    except Exception as error:
        frames, at = [], error.__traceback__.tb_next
        while at is not None:
            frames.append((at.tb_frame.f_code.co_name, at.tb_lineno))
            at = at.tb_next
        return type(error), str(error), frames
    return type(result), result


def check(made, *args):
    assert outcome(made, *args) == outcome(made.__wrapped__, *args)


def native(function, *args):
    made = ljit.jit(function)
    for _ in range(4):
        check(made, *args)
    return made


def ops(made, *args):
    return [node.op for node in made.graph_for(*args).walk()]


def compiles(made):
    return sum(info.compiles for info in made.specializations)


def bailouts(made):
    return sum(info.bailouts for info in made.specializations)


def test_the_body_stands_in_the_loop_and_the_check_in_front_of_it():
    x = np.arange(12.0).reshape(4, 3)
    made = ljit.jit(pairwise)
    for _ in range(3):
        assert np.array_equal(made(x, x, squared_distance), pairwise(x, x, squared_distance))
    graph = made.graph_for(x, x, squared_distance)
    found = [node.op for node in graph.walk()]
    assert CALL not in found
    assert CALL_NATIVE not in found
    (kind,) = (node for node in graph.walk() if node.op is CHECK_KIND)
    assert not any(owner.op is LOOP for owner in kind.owners())
    assert not bailouts(made)


@pytest.mark.parametrize(
    ("function", "arg"),
    [(total, double), (of_attribute, Holder(double)), (of_items, [double, triple])],
)
def test_no_call_is_left(function, arg):
    made = native(function, arg, 10)
    assert not {CALL, CALL_NATIVE}.intersection(ops(made, arg, 10))


def test_functions_that_are_passed_on_have_their_bodies_in_each_other():
    made = native(solve, double, 10)
    for _ in range(4):
        check(made, double, 10)
    graph = made.graph_for(double, 10)
    loops = [node for node in graph.walk() if node.op is LOOP]
    inside = {inner.op for loop in loops for inner in loop.walk()}
    assert GIVEN_VALUE in inside
    assert not {CALL, CALL_NATIVE}.intersection(inside)


def test_the_first_call_leaves_the_interpreter_with_the_body_in_its_loop():
    made = ljit.jit(total)
    with eager_loops():
        check(made, double, 100)
    (loop,) = made._executor.loops.values()
    found = [node.op for node in loop.unit.graph.walk()]
    assert not {CALL, CALL_NATIVE}.intersection(found)


def test_another_function_has_its_own_code_and_the_first_one_keeps_it():
    made = native(total, double, 10)
    for f in [triple] * 6 + [double] * 4 + [triple, double] * 3:
        check(made, f, 10)
    before = bailouts(made)
    for f in [triple, double] * 3:
        check(made, f, 10)
    assert bailouts(made) == before
    assert CALL not in ops(made, double, 10)


def test_many_functions_end_in_code_that_calls_any():
    made = ljit.jit(total)
    sources = [f"lambda x: x * {k}" for k in range(12)]
    functions = [eval(source) for source in sources]  # noqa: S307
    for _ in range(4):
        for f in functions:
            for _ in range(4):
                check(made, f, 10)
    before = compiles(made), made._executor.callees.translations
    for f in functions:
        check(made, f, 10)
    assert (compiles(made), made._executor.callees.translations) == before
    assert made._executor.callees.translations <= 4
    assert CALL in ops(made, functions[0], 10)


def test_functions_of_the_same_code_share_it():
    made = ljit.jit(total)
    for k in range(20):
        check(made, lambda x, k=k: k * x, 10)
        check(made, (lambda k: lambda x: k - x)(k), 10)
    assert made._executor.callees.translations <= 2
    assert compiles(made) <= 2
    assert GIVEN_VALUE in ops(made, lambda x: x, 10)


def test_what_is_in_cells_may_be_of_another_class():
    def make(k):
        return lambda x: k * x

    made = native(total, make(2), 10)
    for k in [2.5, 3, np.float64(1.5), 2**70, True, "a", None, 7, 2.5]:
        for _ in range(3):
            check(made, make(k), 4)


def test_an_empty_cell_is_missed():
    def make(k, *, is_bound=True):
        def inner(x):
            return x * later

        if is_bound:
            later = k
        return inner

    made = native(total, make(3), 10)
    for _ in range(3):
        check(made, make(3, is_bound=False), 10)
        check(made, make(3), 10)


@pytest.mark.parametrize("f", [double, scaled])
def test_code_may_be_replaced(f):
    made = native(total, f, 10)
    code = f.__code__
    try:
        f.__code__ = triple.__code__
        for _ in range(4):
            check(made, f, 10)
    finally:
        f.__code__ = code
    for _ in range(4):
        check(made, f, 10)


@pytest.mark.parametrize("name", ["__defaults__", "__kwdefaults__"])
def test_defaults_may_be_replaced(name):
    made = native(total, scaled, 10)
    before = getattr(scaled, name)
    try:
        setattr(scaled, name, (7,) if name == "__defaults__" else {"add": 0.5})
        for _ in range(4):
            check(made, scaled, 10)
    finally:
        setattr(scaled, name, before)
    for _ in range(4):
        check(made, scaled, 10)


def test_what_is_raised_comes_from_the_line_of_the_callee():
    def fails(x):
        if x == 7:
            raise ValueError(f"no {x}")
        return 10 // (x - 8)

    made = native(total, fails, 5)
    for n in (7, 8, 9, 12):
        check(made, fails, n)
    assert outcome(made, fails, 10)[2][-1][0] == "fails"


def test_a_callee_may_call_the_caller():
    made = ljit.jit(total)

    def inner(x):
        return made(double, x) + 1

    for _ in range(6):
        assert made(inner, 6) == sum(total(double, i) + 1 for i in range(6))

    def for_ever(x):
        return made(for_ever, x + 2)

    for _ in range(3):
        with pytest.raises(RecursionError):
            made(for_ever, 3)
    check(made, double, 10)


def test_a_check_in_front_of_a_loop_that_does_not_call_fails_once():
    made = native(in_some_trips, double, 20, 3)
    for _ in range(20):
        check(made, triple, 20, 30)  # never called
    assert bailouts(made) <= 3
    for _ in range(4):
        check(made, triple, 20, 3)
        check(made, double, 20, 3)


def test_a_variable_may_hold_another_function_in_later_trips():
    @ljit.jit
    def swapped(f, g, n):
        out = []
        for i in range(n):
            out.append(f(i))
            if i == 5:
                f = g
        return out

    for args in [(double, triple, 5)] * 4 + [(double, triple, 9), (triple, double, 9)] * 4:
        check(swapped, *args)


def test_functions_die_where_only_their_code_is_known():
    made = ljit.jit(total)

    def make(k):
        return lambda x: k * x

    for k in range(5):
        check(made, make(k), 10)
    f = make(2)
    gone = weakref.ref(f)
    made(f, 10)
    del f
    gc.collect()
    assert gone() is None


def test_callers_callees_are_translated_anew_with_what_they_get():
    @ljit.jit
    def outer(f, n):
        s = 0
        for i in range(n):
            s += large(f, i)
        return s

    for f in [double] * 4 + [triple] * 4 + [double]:
        check(outer, f, 6)


def large(f, n):
    s = 0
    for i in range(n):
        s += f(i)
        if i > 100:
            s = countdown(f, s)
    return countdown(f, n) + s


def countdown(f, n):
    return f(n) + countdown(f, n - 1) if n > 0 else 0


@pytest.mark.parametrize(
    "args", [(double, 6), (scaled, 6), (lambda x, y=2: x * y, 6), (Holder(3).scaled, 6)]
)
def test_every_check_may_fail(args):
    made = native(total, *args)
    failed = 0
    for _ in fail_each_guard(made):
        check(made, *args)
        failed += 1
    assert failed
    with eager_loops():
        looped = ljit.jit(total)
        check(looped, *args)
        for _ in fail_each_loop_guard(looped):
            check(looped, *args)


def test_two_kinds_are_told_apart_in_each_trip():
    made = ljit.jit(of_items)
    for _ in range(6):
        check(made, [double, triple], 10)
    assert IS_KIND in ops(made, [double, triple], 10)
    failed = 0
    for _ in fail_each_guard(made):
        check(made, [double, triple], 10)
        failed += 1
    assert failed
    check(made, [double, scaled, triple], 10)
    check(made, [double, 5], 10)


def is_small(x):
    return len(x) < 2


def is_long(x):
    return len(x) > 4


class First(list):
    pass


class Second(list):
    pass


class Third(list):
    pass


class Fourth(list):
    pass


def sort(x):
    from kinds_of_lists import is_long, is_small

    if is_small(x):
        return 1
    if isinstance(x, First):
        return 2
    if isinstance(x, First) or not is_long(x):
        return 3
    return 4


def test_the_kind_of_a_function_that_is_imported_in_the_body_is_known(monkeypatch):
    """It came as any object when profiled, and is a constant where nothing else can be imported."""
    module = types.ModuleType("kinds_of_lists")
    module.is_small, module.is_long = is_small, is_long
    monkeypatch.setitem(sys.modules, module.__name__, module)
    fast = ljit.jit(sort)
    lists = [
        Second([1, 2, 3]),
        Third([1]),
        Fourth(range(9)),
        First(range(5)),
        First([1]),
        Fourth([1, 2]),
    ]
    for _ in range(4):
        assert [fast(x) for x in lists] == [3, 1, 4, 2, 1, 3]

"""Native calls between functions: what is compiled, what becomes of callers when callees change."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE
from ljit.runtime import links, twins
from ljit.types import INT

SCALE = 2


def countdown(n):
    return SCALE if n == 0 else countdown(n - 1) + 1


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def lookup(table, i):
    """Ints, but for the last item."""
    if i == 0:
        return table[0]
    return lookup(table, i - 1) if i < 10 else 0.5


def fails_at(n, bad):
    if n == bad:
        raise ValueError(n)
    return 0 if n == 0 else fails_at(n - 1, bad)


def up_and_down(n, x, a):
    if n <= 0:
        return 3 - a[n % len(a)]
    total = 0
    for _ in range(n % 3):
        total = total + down_and_up(n - 1, x % 2, a)
    down_and_up(n - 1, a[n % len(a)], a)
    return (n + 1) - (total * n) + down_and_up(n - 1, 3 + n, a)


def down_and_up(n, x, a):
    if n <= 1:
        return 1
    before = up_and_down(n - 1, 2 - x, a)
    a[n % len(a)] = x // 3 % 5
    return before % 2 - (n - 0.5)


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, x):
        if x < 0:
            raise ValueError(x)
        self.count += x
        return self.count


@pytest.fixture(autouse=True)
def each_test_has_twins_of_its_own(monkeypatch):
    """What other tests have shown of the functions above does not count."""
    monkeypatch.setattr(twins, "_twins", weakref.WeakValueDictionary())


def executor_of(function):
    return twins._twins[id(function)]._executor


def native_callees(function):
    """What the native code of a decorated function calls natively."""
    found = []
    for plan in function._executor.plans.values():
        for node in plan.unit.graph.walk() if plan.unit is not None else ():
            if node.op is CALL_NATIVE and node.attrs["callee"] is not None:
                found.append(node.attrs["callee"])
    return found


@pytest.fixture
def caller():
    @ljit.jit
    def total(n):
        result = 0
        for i in range(n):
            result += countdown(i)
        return result

    return total


def test_a_recursive_callee_is_called_natively_and_compiled_once_for_two_callers(caller):
    @ljit.jit
    def other(n):
        return countdown(n) + 1

    for _ in range(3):
        assert caller(4) == 4 * SCALE + 6
        assert other(4) == SCALE + 5
    for function in (caller, other):
        calls = native_callees(
            function
        )  # several of the loop's, where that was written more than once
        assert calls
        assert all(link.address != 0 for link in calls)
    (plan,) = executor_of(countdown).plans.values()
    assert plan.compiles == 1


def test_functions_that_call_one_another_are_linked_both_ways():
    calls_even = ljit.jit(lambda n: even(n) == odd(n + 1))
    for _ in range(3):
        assert calls_even(7) is True
    links = native_callees(calls_even)
    assert links and all(link.address for link in links)


def test_a_global_of_the_callee_that_changes_is_seen(caller):
    global SCALE
    try:
        for SCALE in (2, 2, 5, 5, 5, -1, 2.5):
            expected = sum(SCALE + i for i in range(4))
            assert repr(caller(4)) == repr(expected)
    finally:
        SCALE = 2


def test_a_callee_that_is_redefined_is_seen(caller, monkeypatch):
    for _ in range(3):
        caller(5)
    monkeypatch.setitem(globals(), "countdown", lambda n: n * 100)
    for _ in range(3):
        assert caller(5) == 1000
    monkeypatch.undo()
    assert caller(5) == 20


def test_a_callee_whose_result_becomes_another_type_has_its_callers_compiled_again():
    @ljit.jit
    def caller(table, n):
        return lookup(table, n) + 1

    tables = np.arange(3), np.arange(3.0)
    for n in (2, 2, 2, 12, 12, 2, 12):
        for table in tables:
            assert repr(caller(table, n)) == repr(lookup(table, n) + 1)


def test_a_callee_that_waits_for_its_next_code_is_taken_for_what_its_last_code_was(monkeypatch):
    callee = ljit.jit(lookup)
    for n in (2, 2, 12, 12):
        callee(np.arange(3), n)
    (plan,) = callee._executor.plans.values()
    plan.unit.retire("for a test")
    monkeypatch.setattr(type(callee._executor), "unit_for", lambda *_args, **_options: None)
    result = plan.retired[-1].specialization.result
    assert result != INT
    link = links.link_to(callee, plan.types, INT)
    assert link.signature.result == result
    assert link.is_clean == plan.retired[-1].is_clean


def test_types_that_are_found_out_while_functions_compile_one_another(monkeypatch):
    monkeypatch.setattr("ljit.passes.inline.MAX_CALLEE", 0)

    def total(n, x, a):
        return sum([down_and_up(i, x, a) for i in range(n)])

    made = ljit.jit(total)
    for n, x in ((6, 2**40), (2, 2), (3, 1), (6, 2), (5, 3.5), (6, 2)):
        expected, found = np.array([3, 1, 4, 1, 5]), np.array([3, 1, 4, 1, 5])
        assert repr(made(n, x, found)) == repr(total(n, x, expected))
        assert found.tolist() == expected.tolist()


def test_methods_of_objects_are_called_natively():
    @ljit.jit
    def total(n):
        counter, refused = Counter(), 0
        for i in range(n):
            try:
                counter.add(i)
                counter.add(i % 3 - 1)
            except ValueError:
                refused += 1
        return counter.count, refused

    with config.overridden(quick_runs=50):
        for _ in range(3):
            assert total(2) == total.__wrapped__(2)
        assert native_callees(total), "quick code calls them, too"
        for _ in range(100):
            assert total(60) == total.__wrapped__(60)
    links = native_callees(total)
    assert len(links) == 3 and all(link.address for link in links)  # __init__ too
    before = [plan.unit.bailouts.total() for plan in executor_of(Counter.add).plans.values()]
    total(600)
    after = [plan.unit.bailouts.total() for plan in executor_of(Counter.add).plans.values()]
    assert before == after, "raising leaves native code"


@dataclass(frozen=True, slots=True)
class Reading:
    value: int
    notes: list = field(default_factory=list)


def test_constructors_with_objects_as_defaults_are_called_natively():
    @ljit.jit
    def total(n):
        return sum(Reading(i).value for i in range(n))

    with config.overridden(quick_runs=0):
        for _ in range(20):
            assert total(60) == 1770
    links = native_callees(total)
    assert len(links) == 1 and links[0].address


def test_decorated_methods_are_called_natively_until_they_are_replaced():
    class Gauge:
        def __init__(self) -> None:
            self.level = 0

        @ljit.jit
        def rise(self, by):
            self.level += by
            return self.level * 2

    def total(gauge, n):
        s = 0
        for i in range(n):
            s += gauge.rise(i)
        return s, gauge.level

    made = ljit.jit(total)
    with config.overridden(quick_runs=50):
        for _ in range(200):
            assert made(Gauge(), 30) == total(Gauge(), 30)
    (link,) = native_callees(made)
    assert link.callee is vars(Gauge)["rise"] and link.address
    Gauge.rise = lambda self, by: by  # type: ignore[method-assign,assignment]
    assert made(Gauge(), 30) == (435, 0)
    gauge = Gauge()
    gauge.rise = lambda by: 1  # type: ignore[method-assign]
    assert made(gauge, 30) == (30, 0)


def test_a_callee_that_is_given_up_is_called_with_objects(caller):
    for _ in range(3):
        caller(5)
    executor = executor_of(countdown)
    for plan in executor.plans.values():
        executor.refuse(plan, "for this test")
    for _ in range(3):
        assert caller(5) == 20
    assert not native_callees(caller)


def test_each_check_of_a_callee_that_fails_leaves_the_result_alone(caller):
    from ljit.testing.chaos import fail_each_guard

    for _ in range(3):
        caller(5)
    sites = [(site, caller(5)) for site in fail_each_guard(caller)]
    line = countdown.__code__.co_firstlineno + 1
    assert any(f"test_links.py:{line}" in site for site, _ in sites)
    assert {result for _, result in sites} == {20}
    assert all(link.address for link in native_callees(caller))


def test_an_exception_shows_each_frame_of_native_callees():
    @ljit.jit
    def outer(n, bad):
        return fails_at(n, bad) + 1

    for _ in range(3):
        assert outer(3, 9) == 1
    for _ in range(3):
        with pytest.raises(ValueError) as caught:
            outer(4, 2)
        frames = traceback.extract_tb(caught.value.__traceback__)
        first = fails_at.__code__.co_firstlineno
        assert [f.name for f in frames[1:]] == ["outer"] + ["fails_at"] * 3
        assert [f.lineno - first for f in frames[2:]] == [3, 3, 2]


class Tree:
    def __init__(self, *branches):
        self.branches = branches


def test_quick_code_that_calls_itself_and_unknown_code_is_compiled_once():
    seen = []

    @ljit.jit
    def visit(tree, depth):
        seen.append(depth)
        for branch in tree.branches:
            visit(branch, depth + 1)

    tree = Tree(Tree(Tree(), Tree()), Tree())
    with config.overridden(quick_runs=10**9):
        for _ in range(10):
            visit(tree, 0)
    assert seen == [0, 1, 2, 2, 1] * 10
    (info,) = visit.specializations
    assert info.is_quick
    assert info.compiles == 1
    assert native_callees(visit)


def test_links_keep_no_caller_alive():
    def make():
        @ljit.jit
        def caller(n):
            return countdown(n)

        for _ in range(3):
            caller(3)
        return weakref.ref(caller)

    made = [make() for _ in range(3)]
    gc.collect()
    assert [ref() for ref in made] == [None] * 3


def test_threads_that_compile_functions_which_call_one_another_do_not_wait_for_ever():
    first = ljit.jit(lambda n: [even(i) for i in range(n)])
    second = ljit.jit(lambda n: [odd(i) for i in range(n)])
    results = []

    def work(function):
        for _ in range(4):
            results.append(function(6).count(True))

    threads = [threading.Thread(target=work, args=(f,)) for f in (first, second) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [3] * 16


class Cupboard:
    def __init__(self):
        self.items = []

    def put(self, x):
        self.items.append(x)


def put_all(cupboard, n):
    for i in range(n):
        cupboard.put(i)
    return len(cupboard.items)


@pytest.mark.parametrize("runs", [0, config.QUICK_RUNS])
def test_methods_that_calls_of_python_had_compiled_are_compiled_for_native_ones_at_most_once(
    runs, monkeypatch
):
    method = ljit.jit(Cupboard.put)
    monkeypatch.setattr(Cupboard, "put", method)
    cupboard = Cupboard()
    with config.overridden(quick_runs=runs):
        for _ in range(5):
            cupboard.put(1)
    (plan,) = method._executor.plans.values()
    assert plan.compiles == 1
    assert plan.unit.code.is_quick == (runs > 0)
    f = ljit.jit(put_all)
    with config.overridden(quick_runs=0):
        for n in (3, 4, 5):
            f(cupboard, n)
    assert len(cupboard.items) == 17
    assert plan.compiles == 1 + (runs > 0)
    assert not plan.unit.code.is_quick
    assert any(
        node.op is CALL_NATIVE for s in f._executor.plans.values() for node in s.unit.graph.walk()
    )


class Branch:
    def __init__(self, left=None, right=None):
        self.left = left
        self.right = right

    def count(self, other):
        return 1 if other is None else self.count(other.left) + self.count(other.right)


def leaves(branch):
    return 1 if branch is None else leaves(branch.left) + leaves(branch.right)


def grown(depth):
    return Branch(grown(depth - 1), grown(depth - 2)) if depth > 0 else None


def native_calls_of(function):
    """The arguments' types of the native calls in code that is made."""
    plans = function._executor.plans.values()
    graphs = [plan.unit.graph for plan in plans if plan.unit is not None]
    nodes = [node for graph in graphs for node in graph.walk() if node.op is CALL_NATIVE]
    return [tuple(str(value.type).split(".")[-1] for value in node.inputs) for node in nodes]


def test_arguments_that_may_be_none_are_passed_natively(monkeypatch):
    function = ljit.jit(leaves)
    monkeypatch.setitem(globals(), "leaves", function)
    monkeypatch.setattr(Branch, "count", ljit.jit(vars(Branch)["count"]))
    tree = grown(7)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(6):
            assert function(tree) == Branch().count(tree) == 34
    assert sorted(set(native_calls_of(function))) == [("Branch]",), ("None",)]
    kinds = {types[-1] for types in native_calls_of(vars(Branch)["count"])}
    assert kinds == {"Branch]", "None"}


def test_other_arguments_than_none_and_what_was_seen_leave_native_code(monkeypatch):
    function = ljit.jit(leaves)
    monkeypatch.setitem(globals(), "leaves", function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(6):
            function(grown(7))
        tree = grown(4)
        tree.right.left = 5
        for _ in range(12):
            with pytest.raises(AttributeError, match="'int' object has no attribute 'left'"):
                function(tree)
            assert function(grown(7)) == 34

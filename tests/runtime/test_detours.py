"""Calls that native entries hand on: of short functions, most go to CPython without a look at their types."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.runtime import cold
from ljit.runtime.detours import Detours
from ljit.runtime.passing import SECONDS_PASSED
from ljit.runtime.plans import BOUND_CALLS_BEFORE_FILLING_IN
from ljit.runtime.vectorcall import calls_left, set_passed_calls

pytestmark = pytest.mark.usefixtures("no_trips_are_counted")


@pytest.fixture(autouse=True)
def calls_may_be_left():
    with config.overridden(cold_calls=True):
        yield


def first(x, k=0):
    return x[k]


def last(x, k=0):
    while k + 1 < len(x):
        k += 1
    return x[k]


class Row(list):
    pass


def rows(n):
    """Of so many types."""
    return [type(f"Row{i}", (Row,), {})([i, i + 0.5]) for i in range(n)]


def native_for_an_array(function):
    made = ljit.jit(function)
    for _ in range(3):
        made(np.arange(3.0), 1)
    assert [plan.unit is not None for plan in made._executor.plans.values()] == [True]
    return made


def looks_of(function, monkeypatch):
    """The calls at whose types the executor looks."""
    table, looks = function._executor.table, []
    plan_for = type(table).plan_for

    def note(table, values):
        looks.append(values)
        return plan_for(table, values)

    monkeypatch.setattr(type(table), "plan_for", note)
    return looks


def test_calls_with_types_that_are_too_many_come_the_long_way_now_and_then(monkeypatch):
    f, given = native_for_an_array(first), rows(400)
    assert [f(row, 1) for row in given] == [first(row, 1) for row in given]
    looks = looks_of(f, monkeypatch)
    assert [f(row, 1) for row in given * 10] == [first(row, 1) for row in given] * 10
    assert 0 < len(looks) < len(given)
    before = len(looks)
    assert [f(np.arange(3.0), 1) for _ in range(9)] == [1.0] * 9
    assert len(looks) == before  # these are native as before


def test_calls_jump_to_cpython_where_types_are_too_many_and_there_is_no_native_code(monkeypatch):
    f, given = ljit.jit(first), rows(400)
    executor = f._executor
    executor.warm_up()
    monkeypatch.setattr("ljit.runtime.prices._SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr("ljit.runtime.waiting._STAKE", float("inf"))
    assert [f(row, 1) for row in given] == [first(row, 1) for row in given]
    came, call = [], executor.call
    monkeypatch.setattr(executor, "call", lambda *a: came.append(a) or call(*a))
    assert [f(row, 1) for row in given * 10] == [first(row, 1) for row in given] * 10
    assert len(came) < len(given) / 2
    f(np.arange(3.0), 1)
    assert f(given[0], k=1) == 0.5


def test_most_calls_of_a_function_with_a_while_loop_are_looked_at_until_there_were_many(
    monkeypatch,
):
    f, given = native_for_an_array(last), rows(400)
    looks = looks_of(f, monkeypatch)
    assert [f(row, 1) for row in given[:31]] == [last(row, 1) for row in given[:31]]
    assert len(looks) == 31
    assert [f(row, 1) for row in given * 30] == [last(row, 1) for row in given * 30]
    assert 12000 / 251 < len(looks) < 12000 / 10


def test_they_end_when_native_code_is_due(monkeypatch):
    monkeypatch.setattr(cold, "is_optimising_due", lambda _unit: True)
    with config.overridden(quick_runs=1000):
        f, given = native_for_an_array(first), rows(400)
    for row in given:
        f(row, 1)
    assert calls_left(f) > 5
    (plan,) = (p for p in f._executor.plans.values() if p.unit is not None)
    while not plan.unit.code.is_hot:
        assert f(np.arange(3.0), 1) == 1.0
    assert calls_left(f) > 5
    with config.overridden(quick_runs=0):
        assert f(np.arange(3.0), 1) == 1.0
    assert not plan.unit.code.is_quick
    assert calls_left(f) <= 0


def test_another_thread_goes_on_with_them():
    f, given = native_for_an_array(first), rows(400)
    for row in given:
        f(row, 1)
    left, got = calls_left(f), []
    thread = threading.Thread(target=lambda: got.extend([f(given[0], 1) for _ in range(5)]))
    thread.start()
    thread.join()
    assert (got, calls_left(f)) == ([0.5] * 5, left - 5)
    assert f(given[0], 1) == 0.5
    assert calls_left(f) == left - 6


def test_errors_of_such_calls_are_those_of_the_plain_function():
    f, given = native_for_an_array(first), rows(400)
    for row in given:
        with pytest.raises(IndexError, match="list index out of range") as found:
            f(row, 7)
        assert [frame.name for frame in found.traceback][1:] == ["first"]


@pytest.mark.parametrize("are_some_native", [True, False])
def test_calls_with_defaults_come_the_long_way_now_and_then(monkeypatch, are_some_native):
    f, given = native_for_an_array(first), rows(400)
    if are_some_native:
        for _ in range(BOUND_CALLS_BEFORE_FILLING_IN):
            assert f(np.arange(3.0)) == 0.0
    looks = looks_of(f, monkeypatch)
    for row in given:
        assert f(row) == row[0]
        assert f(k=1, x=row) == row[1]
    assert 0 < len(looks) < 400


def test_calls_with_defaults_that_native_code_runs_are_looked_at_more_often(monkeypatch):
    f, given = native_for_an_array(first), rows(50)
    assert f(np.arange(3.0)) == 0.0
    looks = looks_of(f, monkeypatch)
    for row in given:
        assert f(row) == row[0]
        assert f(np.arange(3.0)) == 0.0
    assert len(looks) > 30


def test_a_fourth_as_many_go_as_there_were_but_none_behind_a_long_one():
    owner = ljit.jit(first)
    detours = Detours(owner, first, are_calls_short=True)
    args = ([3, 4], 1)
    assert not detours.go_on()
    assert [detours.note(1e-6) for _ in range(4)] == [1, 1, 1, 1]
    assert detours.go_on()
    assert detours.run(args, {}) == 4
    assert not detours.go_on()
    assert [detours.note(1e-6) for _ in range(5)] == [
        2,
        1,
        1,
        1,
        1,
    ]  # the first with that before it
    for _ in range(2):
        assert detours.go_on()
        assert detours.run(args, {}) == 4
    assert not detours.go_on()
    detours.note(2 * SECONDS_PASSED)
    assert not detours.go_on()
    detours.note(1e-6)
    detours.begin_anew()
    assert not detours.go_on()
    for _ in range(4):
        detours.note(1e-6)
    assert calls_left(owner) == 1


@pytest.mark.parametrize(
    ("function", "are_short", "most"), [(first, True, 1000), (last, False, 250)]
)
def test_in_the_end_nearly_all_go_of_long_ones_fewer(function, are_short, most):
    owner = ljit.jit(function)
    detours, came = Detours(owner, function, are_calls_short=are_short), 0
    while calls_left(owner) < most:
        came += 1
        detours.note(1e-6)
        given = calls_left(owner)
        set_passed_calls(owner, function, 0)
        detours.note(1e-6)  # these have jumped
        assert calls_left(owner) >= given
    assert came < 250


def test_what_a_function_gives_is_that_of_new_code_when_its_code_is_replaced():
    f, given = native_for_an_array(first), rows(40)
    for row in given:
        f(row, 1)
    code = f.__code__
    try:
        f.__code__ = (lambda x, k=0: (x, k)).__code__
        assert all(f(row, 1) == (row, 1) for row in given)
        assert inspect.signature(f) == inspect.signature(first)
    finally:
        f.__code__ = code


def test_calls_that_others_let_jump_are_not_taken_off_those_that_were_made():
    """A plan that is refused counts what `note` gives; a count below 0 raised ValueError (autograd's tests)."""
    made = native_for_an_array(first)
    detours = Detours(made, first, are_calls_short=True)
    for _ in range(40):
        detours.note(1e-6)
    set_passed_calls(made, first, 100_000)
    assert detours.note(1e-6) == 1

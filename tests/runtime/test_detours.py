"""Calls that native entries hand on: of short functions, most go to CPython without a look at their types."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.runtime.detours import Detours
from ljit.runtime.passing import SECONDS_PASSED
from ljit.runtime.plans import BOUND_CALLS_BEFORE_FILLING_IN


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
    monkeypatch.setattr("ljit.runtime.cold._SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr("ljit.runtime.waiting._STAKE", float("inf"))
    assert [f(row, 1) for row in given] == [first(row, 1) for row in given]
    came, call = [], executor.call
    monkeypatch.setattr(executor, "call", lambda *a: came.append(a) or call(*a))
    assert [f(row, 1) for row in given * 10] == [first(row, 1) for row in given] * 10
    assert len(came) < len(given) / 2
    f(np.arange(3.0), 1)
    assert f(given[0], k=1) == 0.5


def test_any_call_of_a_function_with_a_while_loop_is_looked_at(monkeypatch):
    f, given = native_for_an_array(last), rows(100)
    looks = looks_of(f, monkeypatch)
    assert [f(row, 1) for row in given] == [last(row, 1) for row in given]
    assert len(looks) == len(given)


def test_errors_of_such_calls_are_those_of_the_plain_function():
    f, given = native_for_an_array(first), rows(400)
    for row in given:
        with pytest.raises(IndexError, match="list index out of range") as found:
            f(row, 7)
        assert [frame.name for frame in found.traceback][1:] == ["first"]


def test_keywords_and_defaults_are_looked_at_as_long_as_native_code_runs_such_calls():
    detours = Detours(first, are_calls_short=True)
    detours.note(1e-6)
    assert detours.takes((1,), {"k": 2})
    detours.note_bound_call(is_last=False)
    assert detours.takes((1, 2), {})
    assert not detours.takes((1,), {})
    assert not detours.takes((1,), {"k": 2})
    detours.note_bound_call(is_last=True)
    assert detours.takes((1,), {})
    long_ones = Detours(last, are_calls_short=False)
    long_ones.note(1e-6)
    long_ones.note_bound_call(is_last=True)
    assert not long_ones.takes((1,), {})


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


def test_a_few_calls_with_defaults_that_native_code_runs_are_looked_at(monkeypatch):
    f, given = native_for_an_array(first), rows(50)
    assert f(np.arange(3.0)) == 0.0
    looks = looks_of(f, monkeypatch)
    for row in given:
        assert f(row) == row[0]
        assert f(np.arange(3.0)) == 0.0
    assert len(looks) == 100


def test_as_many_go_as_came_before_but_none_behind_a_long_one():
    detours = Detours(first, are_calls_short=True)
    args = ([3, 4], 1)
    assert not detours.takes(args, {})
    assert detours.note(1e-6) == 1
    assert detours.takes(args, {})
    assert detours.run(args, {}) == 4
    assert not detours.takes(args, {})
    assert detours.note(1e-6) == 2  # this one and that before it
    for _ in range(2):
        assert detours.takes(args, {})
        assert detours.run(args, {}) == 4
    assert not detours.takes(args, {})
    detours.note(2 * SECONDS_PASSED)
    assert not detours.takes(args, {})
    detours.note(1e-6)
    detours._seconds = 0.0
    detours.run(args, {})
    assert not detours.takes(args, {})


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

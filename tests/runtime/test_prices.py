"""What a compile is taken to take: by the graph, by compiles of other functions, and by the last one of the same plan."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import ljit
from ljit import config
from ljit.runtime import prices
from ljit.runtime.plans import Plan
from ljit.runtime.prices import is_optimising_due, note_compile, price


@pytest.fixture(autouse=True)
def nothing_was_compiled(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_COMPILE", 1.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.1)
    monkeypatch.setattr(prices, "_SECONDS_OF_DOUBT", 2.0)
    monkeypatch.setattr(prices, "OPTIMISING", 4)
    monkeypatch.setattr(prices._Compiles, "estimated", 0.0)
    monkeypatch.setattr(prices._Compiles, "taken", 0.0)
    with config.overridden(quick_runs=1000):
        yield


def baseline_of(nodes):
    return SimpleNamespace(size=nodes)


def unit_of(seconds, *, is_quick=True):
    return SimpleNamespace(seconds=seconds, code=SimpleNamespace(is_quick=is_quick))


def test_the_first_compile_takes_as_long_as_the_graph_is_large():
    assert price(Plan(), baseline_of(10)) == 2.0
    assert price(Plan(), baseline_of(30)) == 4.0


def test_what_is_optimised_at_once_takes_longer():
    hot = Plan()
    hot.feedback.is_hot = True
    assert price(hot, baseline_of(10)) == 8.0
    with config.overridden(quick_runs=0):
        assert price(Plan(), baseline_of(10)) == 8.0


def test_the_next_compile_takes_as_long_as_the_last_one():
    plan = Plan(unit=unit_of(0.5), retired=[unit_of(7.0)])
    assert price(plan, baseline_of(1000)) == 0.5
    plan.retire(plan.unit)
    assert price(plan, baseline_of(1000)) == 0.5
    plan.feedback.is_hot = True
    assert price(plan, baseline_of(1000)) == 2.0
    plan.unit = unit_of(3.0, is_quick=False)
    assert price(plan, baseline_of(1000)) == 3.0
    plan.feedback.is_hot = False
    assert price(plan, baseline_of(1000)) == 0.75


def test_compiles_that_took_longer_than_estimated_make_later_ones_dearer():
    note_compile(unit_of(6.0), baseline_of(10))
    assert price(Plan(), baseline_of(10)) == 2.0 * (6 + 2) / (2 + 2)
    note_compile(unit_of(8.0, is_quick=False), baseline_of(10))
    assert price(Plan(), baseline_of(10)) == 2.0 * (8 + 2) / (4 + 2)


def test_shorter_compiles_make_none_cheaper():
    note_compile(unit_of(0.1), baseline_of(50))
    assert price(Plan(), baseline_of(10)) == 2.0


def test_quick_code_goes_on_until_it_may_have_run_as_long_as_optimising_takes(monkeypatch):
    now, times = 100.0, []
    monkeypatch.setattr(prices, "seconds_of_program", lambda: now)
    code = SimpleNamespace(is_quick=True, go_on_quick=times.append)
    unit = SimpleNamespace(seconds=1.0, begun=100.0, code=code)
    for now in (100.0, 101.0, 102.0, 103.9):
        assert not is_optimising_due(unit)
    assert times == [7.0, 3.0, 1.0, 0.25], "what is missing, if nothing else has run"
    now = 104.0
    assert is_optimising_due(unit)
    assert len(times) == 4


def loop_total(n):
    s = 0
    for i in range(n):
        s += i
    return s


def test_quick_code_that_is_used_up_at_once_is_not_dropped(monkeypatch):
    f = ljit.jit(loop_total)
    with config.overridden(quick_runs=20):
        f(10), f(10)
    (plan,) = f._executor.plans.values()
    unit = plan.unit
    assert unit.code.is_quick
    f._executor.cold.may_wait = True
    monkeypatch.setattr(prices, "seconds_of_program", lambda: unit.begun)
    for _ in range(1000):
        assert f(10) == 45
    assert plan.units == [unit]
    monkeypatch.setattr(prices, "seconds_of_program", lambda: unit.begun + 1e9)
    for _ in range(2000):
        assert f(10) == 45
    assert plan.unit is not unit
    assert not plan.unit.code.is_quick


def test_long_loops_over_numbers_are_optimised_when_they_are_used_up(monkeypatch):
    f = ljit.jit(loop_total)
    with config.overridden(quick_runs=20):
        f(10**5), f(10**5)
    (plan,) = f._executor.plans.values()
    f._executor.cold.may_wait = True
    monkeypatch.setattr(prices, "seconds_of_program", lambda: plan.unit.begun)
    plan.has_many_trips = True
    for _ in range(3):
        assert f(10**5) == 4999950000
    assert not plan.unit.code.is_quick

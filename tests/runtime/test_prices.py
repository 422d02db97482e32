"""What a compile is taken to take: by the graph, by compiles of other functions, and by the last one of the same plan."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ljit import config
from ljit.runtime import prices
from ljit.runtime.plans import Plan
from ljit.runtime.prices import note_compile, price


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

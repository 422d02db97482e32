"""Another thread may drop native code right after one has seen that it is there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import ljit
from ljit.runtime.explanation import specialization_info
from ljit.runtime.plans import Plan

CODE = SimpleNamespace(
    code=SimpleNamespace(calls=3, is_hot=True, is_quick=True), seconds=0.5, bailouts={}
)


class Dropped(Plan, frozen=False):
    """A plan with code that is gone at the second look."""

    looks = 0

    @property
    def unit(self):
        """The code, once."""
        self.looks += 1
        return CODE if self.looks == 1 else None

    @unit.setter
    def unit(self, _):
        pass


@pytest.fixture
def executor():
    return ljit.jit(lambda x: x)._executor


def test_the_list_of_all_code_has_what_was_seen():
    assert Dropped().units == [CODE]


def test_it_is_summed_up():
    assert specialization_info(Dropped()).state == "native, not optimised yet"


def test_a_call_that_has_left_it_is_counted(executor):
    plan = Dropped()
    assert not executor.cold.is_slowed_by(plan, None)
    assert list(plan.left_at) == [3]


def test_it_is_to_be_optimised(executor, monkeypatch):
    retired = []
    monkeypatch.setattr(executor, "retire", lambda plan, reason: retired.append(reason))
    plan = Dropped()
    executor.optimize(plan)
    assert retired
    assert plan.feedback.is_hot


def test_the_next_code_is_asked_for(executor, monkeypatch):
    monkeypatch.setattr(executor, "optimize", lambda plan: None)
    assert executor.unit_for(Dropped(), runs=1) is None

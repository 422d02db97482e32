"""Methods of classes that change all the time, as those that count something: found without code of Python's."""

from __future__ import annotations

from typing import Any

import pytest

import ljit
from ljit import config
from ljit.codegen.objects import attributes


@pytest.fixture(autouse=True)
def at_once():
    with config.overridden(cold_calls=False, quick_runs=0):
        yield


@pytest.fixture
def asked(monkeypatch) -> list[object]:
    """The names that Python has looked up for native code."""
    names: list[object] = []
    ask = attributes._is_method

    def is_method(x: object, name: str, *rest: Any) -> bool:
        names.append(name)
        return ask(x, name, *rest)

    monkeypatch.setattr(attributes, "_is_method", is_method)
    return names


def classes() -> Any:
    class First:
        count = 0

        def __init__(self):
            self.v = 1

        def plus(self, k):
            return self.v + k

    class Second(First):
        def plus(self, k):
            First.count += 1
            return super().plus(k) + self.more(k)

        def more(self, k):
            return 2 * k

    return First, Second


def total(x: Any, n: int) -> int:
    result = 0
    for k in range(n):
        result += x.plus(k)
    return result


def test_a_class_that_changes_in_each_call_is_looked_at_by_native_code(asked):
    First, Second = classes()
    f = ljit.jit(total)
    for n in range(1, 9):
        assert f(Second(), n) == n + 3 * n * (n - 1) // 2
    assert First.count == 36
    assert asked == []


def test_what_has_changed_is_noticed_all_the_same(asked):
    First, Second = classes()
    f = ljit.jit(total)
    for _ in range(4):
        f(Second(), 5)
    plus = First.plus
    First.plus = lambda self, k: 100
    assert f(Second(), 5) == 520
    First.plus = plus
    Second.more = lambda self, k: 7
    assert f(Second(), 5) == 50
    x = Second()
    x.more = lambda k: 1000
    assert f(x, 5) == 5 * 1000 + 15
    Second.__getattribute__ = lambda self, name: (
        (lambda k: 4) if name == "more" else object.__getattribute__(self, name)
    )
    assert f(Second(), 5) == 5 * 4 + 15
    del Second.__getattribute__
    Second.__bases__ = (type("Between", (First,), {"plus": lambda self, k: -1}),)
    assert f(Second(), 5) == 5 * 6


def test_attributes_in_the_place_of_methods_are_read_by_native_code(monkeypatch):
    asked = []
    monkeypatch.setattr(attributes, "_has_own", lambda x, name: asked.append(name) or True)

    class Holder:
        count = 0

        def __init__(self, f):
            self.f = f

        def plus(self, k):
            Holder.count += 1
            return self.f(k)

    def doubled(k):
        return 2 * k

    f = ljit.jit(total)
    for n in range(1, 9):
        assert f(Holder(doubled), n) == n * (n - 1)
    assert asked == []
    Holder.f = property(lambda self: lambda k: -k)
    assert f(Holder.__new__(Holder), 4) == -6

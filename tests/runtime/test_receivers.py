"""Methods that are called of objects of several classes at one place: a native call for each class."""

from __future__ import annotations

import pytest

import ljit
from ljit import config
from ljit.held import Receivers
from ljit.ops.control import CALL_NATIVE
from ljit.ops.members import IS_KIND
from ljit.testing.chaos import fail_each_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield


class Shape:
    def __init__(self, a):
        self.a = a

    def area(self, k):
        return self.a * k


class Square(Shape):
    def area(self, k):
        return self.a * self.a * k


class Circle(Shape):
    def area(self, k, pi=3.25):
        return pi * self.a * self.a * k


class Same(Shape):
    """Its method is inherited."""


class Apart:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a

    def area(self, k):
        if self.a > 50:
            raise ValueError(f"{self.a} is large")
        return self.a + k


def total(shapes, k):
    s = 0.0
    for x in shapes:
        s += x.area(k)
    return s


def shapes_of(classes, n=30):
    return [classes[i % len(classes)](i + 0.5) for i in range(n)]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_each_class_has_a_native_call(count):
    f = ljit.jit(total)
    classes = (Square, Circle, Same, Apart)[:count]
    for _ in range(5):
        assert f(shapes_of(classes), 2.0) == total(shapes_of(classes), 2.0)
    graph = f.graph_for(shapes_of(classes), 2.0)
    tests = [n.attrs["kind"] for n in graph.walk() if n.op is IS_KIND]
    assert [kind.classes for kind in tests] == [(cls,) for cls in classes]
    assert all(isinstance(kind, Receivers) for kind in tests)
    assert sum(n.op is CALL_NATIVE for n in graph.walk()) == count


def test_further_classes_that_come_later_have_one_too():
    f = ljit.jit(total)
    classes = (Square, Circle, Same, Apart)
    for count in (1, 2, 3, 4, 2, 1):
        for _ in range(4):
            assert f(shapes_of(classes[:count]), 2.0) == total(shapes_of(classes[:count]), 2.0)


def test_more_classes_are_called_as_objects():
    class Fifth(Shape):
        def area(self, k):
            return -k

    f = ljit.jit(total)
    shapes = shapes_of((Square, Circle, Same, Apart, Fifth))
    for _ in range(5):
        assert f(shapes, 2.0) == total(shapes, 2.0)
    assert not [n for n in f.graph_for(shapes, 2.0).walk() if n.op is IS_KIND]


def test_a_class_whose_method_is_replaced_has_the_new_one():
    class First(Shape):
        pass

    class Second(Shape):
        def area(self, k):
            return 1.0

    f = ljit.jit(total)
    shapes = shapes_of((First, Second))
    for _ in range(4):
        assert f(shapes, 2.0) == total(shapes, 2.0)
    Second.area = lambda self, k: self.a - k
    for _ in range(4):
        assert f(shapes, 2.0) == total(shapes, 2.0)
    shapes[4].area = lambda k: 100.0
    for _ in range(4):
        assert f(shapes, 2.0) == total(shapes, 2.0)


def test_others_that_have_no_such_method_of_python():
    class Static(Shape):
        @staticmethod
        def area(k):
            return k + 0.25

    class Looked(Shape):
        @property
        def area(self):
            return lambda k: k + self.a

    class Any:
        def __getattr__(self, name):
            return lambda k: len(name) * k

    f = ljit.jit(total)
    shapes = shapes_of((Square, Static, Looked))
    for more in ([], [Any(), Any()]):
        for _ in range(5):
            assert f(shapes + more, 2.0) == total(shapes + more, 2.0)


def test_errors_are_those_of_the_methods():
    f = ljit.jit(total)
    for n in (30, 30, 30, 80, 80, 30):
        shapes = shapes_of((Square, Apart), n)
        try:
            expected = total(shapes, 2.0)
        except ValueError as error:
            expected = str(error)
        try:
            assert f(shapes, 2.0) == expected
        except ValueError as error:
            assert str(error) == expected
    with pytest.raises(AttributeError, match="'int' object has no attribute 'area'"):
        f([*shapes_of((Square, Circle)), 3], 2.0)


def test_an_object_that_dies_behind_the_call_runs_its_finalizer():
    seen = []

    class First(Shape):
        def __del__(self):
            seen.append(self.a)

    class Second(First):
        def area(self, k):
            return k

    def calls(classes, n):
        counts = []
        for i in range(n):
            classes[i % len(classes)](i).area(2)
            counts.append(len(seen))
        return counts

    f = ljit.jit(calls)
    for _ in range(5):
        seen.clear()
        assert f([First, Second], 10) == list(range(1, 11))


def test_bailouts_at_each_check():
    shapes = shapes_of((Square, Circle, Apart))
    f = ljit.jit(total)
    for _ in range(4):
        f(shapes, 2.0)
    for site in fail_each_guard(f):
        assert f(shapes, 2.0) == total(shapes, 2.0), site

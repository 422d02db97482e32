"""``==`` and ``!=`` of objects whose classes define neither, and of those that do, then or later."""

from __future__ import annotations

import pytest

import ljit
from ljit.config import overridden
from ljit.testing.chaos import fail_each_guard

NAMES = ("Plain", "Sub", "Unequal", "Odd")


def classes():
    class Plain:
        pass

    class Sub(Plain):
        __slots__ = ()

        def __eq__(self, other):
            return NotImplemented if type(other) is Sub else True

        __hash__ = None

    class Unequal:
        def __ne__(self, other):
            return [other is self]

    class Odd(Plain):
        __eq__ = None

    return {cls.__name__: cls for cls in (Plain, Sub, Unequal, Odd)}


def compared(xs, y):
    return [(x == y, x != y, y == x) for x in xs]


def counted(xs, y):
    n = 0
    for x in xs:
        if x == y:
            n += 1
        if x != y and y != x:
            n += 100
    return n


def native(fn, *args, quick_runs):
    f = ljit.jit(fn)
    with overridden(cold_calls=False, quick_runs=quick_runs):
        for _ in range(3):
            f(*args)
    assert all(s.state.startswith("native") for s in f.specializations), f.explain()
    return f


def result_of(f, *args):
    try:
        return f(*args)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
@pytest.mark.parametrize("fn", [compared, counted])
def test_objects_are_compared_as_in_cpython(fn, quick_runs):
    of = classes()
    plain = [of["Plain"]() for _ in range(5)]
    f = native(fn, plain, plain[2], quick_runs=quick_runs)
    lists = [plain, [*plain, None], *([*plain, of[name]()] for name in NAMES), [*plain, 3, "a"]]
    for xs in lists:
        for y in (plain[2], xs[-1], None, 3):
            wanted = result_of(fn, xs, y)
            assert result_of(f, xs, y) == wanted
    for site in fail_each_guard(f):
        assert f(plain, plain[2]) == fn(plain, plain[2]), site


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
def test_a_class_may_learn_to_compare(quick_runs):
    cls = classes()["Plain"]
    plain = [cls() for _ in range(5)]
    f = native(compared, plain, plain[2], quick_runs=quick_runs)
    assert f(plain, plain[2]) == compared(plain, plain[2])
    cls.__eq__ = lambda _self, _other: "equal"
    assert f(plain, plain[2]) == compared(plain, plain[2]) == [("equal", False, "equal")] * 5
    del cls.__eq__
    assert f(plain, plain[2]) == compared(plain, plain[2])

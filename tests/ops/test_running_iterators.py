"""Views of iterators that a loop has begun with."""

from __future__ import annotations

import pytest

from ljit.ops.containers.iteration_views import has_next, next_item
from ljit.ops.containers.running_iterators import view_of_iterator

XS = [1, 2, 3, 4, 5]
ITERABLES = {
    "list": lambda: iter(XS),
    "tuple": lambda: iter((1, 2, 3)),
    "str": lambda: iter("ab\u1234d"),
    "range": lambda: iter(range(3, 30, 4)),
    "range backwards": lambda: reversed(range(30, 3, -4)),
    "long range": lambda: iter(range(10**30, 10**30 + 5)),
    "enumerate": lambda: enumerate(XS, 7),
    "enumerate of a range": lambda: enumerate(range(4, 9)),
    "long enumerate": lambda: enumerate(XS, 10**30),
    "zip": lambda: zip(range(9), XS, (1, 2, 3, 4), strict=False),
    "strict zip": lambda: zip(XS, XS, strict=True),
    "zip of ranges": lambda: zip(range(9), range(5), strict=False),
    "enumerate of a zip": lambda: enumerate(zip(XS, XS, strict=False)),
    "reversed": lambda: reversed(XS),
    "reversed tuple": lambda: reversed((1, 2, 3)),
    "zip of reversed": lambda: zip(reversed(XS), XS, strict=False),
    "dict": lambda: iter({1: 2, 3: 4}),
    "generator": lambda: (i for i in range(5)),
}
INDEXED = {
    "list",
    "str",
    "range",
    "enumerate",
    "enumerate of a range",
    "zip",
    "zip of ranges",
    "reversed",
}


def view_behind(trips, make):
    """The view of an iterator that a loop, and nobody else, has advanced so many times."""
    held = {}
    for _ in (iterator := make()):
        trips -= 1
        if not trips:
            held["it"], iterator = iterator, None
            return view_of_iterator(held.pop("it"))
    raise AssertionError


def rest(view, k):
    found = []
    while has_next(view, k):
        found.append(next_item(view, k))
        k += 1
    return found


@pytest.mark.parametrize("name", ITERABLES)
@pytest.mark.parametrize("trips", [1, 2])
def test_a_view_has_the_items_that_are_left(name, trips):
    view, k = view_behind(trips, ITERABLES[name])
    assert k >= 1
    assert rest(view, k) == list(ITERABLES[name]())[trips:]
    assert name not in INDEXED or type(view).__name__ != "Cursor"


def test_an_iterator_that_somebody_else_has_is_advanced():
    for wrap in (iter, enumerate, lambda it: zip(range(9), it, strict=False)):
        others = [iter(XS)]
        view, k = view_behind(2, lambda made=wrap, held=others: made(held[0]))
        assert next(others[0]) == 3
        assert [x[1] if isinstance(x, tuple) else x for x in rest(view, k)] == [4, 5]
        assert list(others[0]) == []

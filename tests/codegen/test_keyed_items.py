"""Numbers in containers: which objects they are, and that nobody else's changes."""

from __future__ import annotations

import sys

import pytest

import ljit


def native(function, *factories):
    """The function, called until it is native."""
    jitted = ljit.jit(function)
    for make in factories:
        for _ in range(4):
            jitted(*make())
    assert any(found.calls for found in jitted.specializations)
    return jitted


def add_to_items(d, ks):
    for k in ks:
        d[k] += 1


def add_to_items_or_zero(d, ks):
    for k in ks:
        d[k] = d.get(k, 0) + 1


@pytest.mark.parametrize("function", [add_to_items, add_to_items_or_zero])
def test_a_number_that_only_the_dict_has_is_written_over(function):
    f = native(function, lambda: ({1: 1000, 2: 2000}, [1, 2, 1]))
    d = {1: int("1000"), 2: int("2000")}
    before = [id(value) for value in d.values()]
    f(d, [1, 2, 1])
    assert d == {1: 1002, 2: 2001}
    assert [id(value) for value in d.values()] == before


@pytest.mark.parametrize("function", [add_to_items, add_to_items_or_zero])
def test_a_number_that_others_have_stays(function):
    f = native(function, lambda: ({1: 1000, 2: 2000}, [1, 2, 1]))
    value = int("1000")
    d = {1: value, 2: value}
    f(d, [1, 2, 1])
    assert (value, d) == (1000, {1: 1002, 2: 1001})


def put_twice(xs):
    seen = set()
    out = []
    for x in xs:
        if x not in seen:
            seen.add(x)
            out.append(x)
    return seen, out


def put_numbered(xs):
    seen = set()
    out = []
    for i, x in enumerate(xs):
        seen.add(x)
        out.append(x)
    return seen, out


def put_popped(xs):
    stack = list(xs)
    seen = set()
    out = []
    while stack:
        x = stack.pop()
        seen.add(x)
        out.append(x)
    return seen, out


@pytest.mark.parametrize("function", [put_twice, put_numbered, put_popped])
@pytest.mark.parametrize("numbers", [["1000", "2000"], ["0.5", "2.5"]])
def test_items_of_lists_are_put_elsewhere_as_the_objects_that_they_are(function, numbers):
    make = [float, int]["." not in numbers[0]]
    f = native(function, lambda: (list(map(make, numbers)),))
    xs = list(map(make, numbers))
    counts = [sys.getrefcount(x) for x in xs]
    seen, out = f(xs)
    assert sorted(map(id, xs)) == sorted(map(id, seen)) == sorted(map(id, out))
    del seen, out
    assert [sys.getrefcount(x) for x in xs] == counts

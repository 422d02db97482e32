"""Tuples that are needed as objects: the one that was read is kept, one that is made is made once."""

from __future__ import annotations

import gc
import sys
from typing import NamedTuple

import pytest

import ljit
from ljit.config import overridden
from ljit.testing.chaos import fail_each_guard


def groups(pairs):
    by_first, seen = {}, set()
    for p in pairs:
        seen.add(p)
        by_first.setdefault(p[0], []).append(p)
    return by_first, seen


def covered(rows):
    found = {}
    for i, row in rows.items():
        for j in row:
            found.setdefault(j, set()).add(i)
    return found


def made(n):
    listed, seen = [], set()
    for i in range(n):
        t = i, i * 0.5
        listed.append(t)
        seen.add(t)
    return listed, seen


def made_in_branches(n):
    first, second, third = [], [], []
    for i in range(n):
        if i % 3 == 0:
            t = i, n
            first.append(t)
            second.append(t)
        elif i % 3 == 1:
            t = i, n
            third.append(t)
            second.append(t)
        if i % 2:
            u = i, n
            first.append(u)
            third.append(u)
        v = i, n
        third.append(v)
    return first, second, third


def taken_apart(found):
    inner, last, sums = [], set(), 0.0
    for t in found:
        a, (b, c) = t
        x = t[1]
        inner.append(x)
        last.add(x)
        sums += b * c
        last.add(t[-2])
        last.add(a)
    return inner, last, sums


def left_early(pairs, limit):
    seen = set()
    for p in pairs:
        t = p[1], p[0]
        if p in seen:
            break
        seen.add(p)
        seen.add(t)
        if p[0] > limit:
            raise ValueError(p, t)
    return seen


def handled(pairs):
    seen, wrong = [], []
    for p in pairs:
        q = p[1], p[0]
        try:
            seen.append(q)
            seen.append(p[0] // p[1])
            seen.append(q)
        except ZeroDivisionError:
            wrong.append(q)
            wrong.append(p)
    return seen, wrong


def counted(table):
    return [(len(table[key]), key) for key in table]


def put_together(found, factor):
    kept = []
    for t in found:
        (a, b), c = t
        kept.append((c, (t[0], a * factor), (b, c)))
    return kept


def pairs():
    return [(i % 5 + 1000, i % 7 + 2000) for i in range(60)]


CASES = [
    pytest.param(groups, lambda: (pairs(),), id="groups"),
    pytest.param(
        covered, lambda: ({(i, i + 1, i + 2): [("a", i % 4), ("b", i % 3)] for i in range(20)},)
    ),
    pytest.param(made, lambda: (30,), id="made"),
    pytest.param(made_in_branches, lambda: (30,), id="made-in-branches"),
    pytest.param(taken_apart, lambda: ([(i, (i + 0.5, i % 3)) for i in range(30)],), id="apart"),
    pytest.param(counted, lambda: ({(str(i), (i, -i)): [0] * i for i in range(9)},), id="counted"),
    pytest.param(
        put_together, lambda: ([((i * 1000, "b"), i / 2) for i in range(9)], 3), id="put-together"
    ),
    pytest.param(left_early, lambda: (pairs()[:9] + pairs()[:2], 2000), id="left-early"),
    pytest.param(handled, lambda: ([(i, i % 4) for i in range(30)],), id="handled"),
]


def native(fn, args, quick_runs):
    f = ljit.jit(fn)
    with overridden(cold_calls=False, quick_runs=quick_runs):
        for _ in range(3):
            f(*args())
    assert all(s.state.startswith("native") for s in f.specializations), f.explain()
    return f


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
@pytest.mark.parametrize(("fn", "args"), CASES)
def test_results(fn, args, quick_runs):
    f = native(fn, args, quick_runs)
    wanted = fn(*args())
    assert f(*args()) == wanted
    for site in fail_each_guard(f):
        assert f(*args()) == wanted, site


def shared(found):
    """Tuples in an order of their own, as the place at which each object was seen first."""
    places: dict[int, int] = {}
    kept = []

    def visit(x):
        if isinstance(x, tuple):
            kept.append(x)
            return places.setdefault(id(x), len(places))
        if isinstance(x, dict):
            return [(k, visit(v)) for k, v in sorted(x.items())]
        return [visit(y) for y in (sorted(x) if isinstance(x, set) else x)]

    return [visit(x) for x in found]


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
@pytest.mark.parametrize("fn", [groups, made])
def test_objects_are_shared_as_in_cpython(fn, quick_runs):
    args = (lambda: (pairs(),)) if fn is groups else (lambda: (30,))
    f = native(fn, args, quick_runs)
    assert shared(f(*args())) == shared(fn(*args()))


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
def test_references_are_given_back(quick_runs):
    f = native(groups, lambda: (pairs(),), quick_runs)
    given = pairs()
    before = [sys.getrefcount(p) for p in given]
    f(given)
    assert [sys.getrefcount(p) for p in given] == before

    g = native(left_early, lambda: (pairs()[:9] + pairs()[:2], 2000), quick_runs)
    with pytest.raises(ValueError, match="1003, 2003"):
        g(given, 1002)
    assert [sys.getrefcount(p) for p in given] == before


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
def test_items_of_new_tuples_are_the_objects_that_were_read(quick_runs):
    f = native(put_together, lambda: ([((i * 1000, "b"), i / 2) for i in range(9)], 3), quick_runs)
    given = [((i * 1000 + 7, "c"), i + 0.5) for i in range(30)]
    before = [sys.getrefcount(t[0]) for t in given]
    made = f(given, 3)
    assert all(new[1][0] is old[0] for new, old in zip(made, given, strict=True))
    assert all(new[0] is old[1] is new[2][1] for new, old in zip(made, given, strict=True))
    del made
    assert [sys.getrefcount(t[0]) for t in given] == before


class Place(NamedTuple):
    row: int
    name: str


def of_lists(n):
    numbers, nested, lists, named = [], [], [], []
    for i in range(n):
        numbers.append((i, i * 0.5))
        nested.append((("a", i), (i, None)))
        lists.append((i, [i]))
        named.append((i, Place(i, "a")))
    return numbers, nested, lists, named


@pytest.mark.parametrize("quick_runs", [0, 1 << 40])
def test_the_garbage_collector_sees_only_tuples_that_may_be_in_cycles(quick_runs):
    f = native(of_lists, lambda: (30,), quick_runs)
    h = native(put_together, lambda: ([((i * 1000, "b"), i / 2) for i in range(9)], 3), quick_runs)
    numbers, nested, lists, named = f(30)
    assert not any(gc.is_tracked(t) for t in numbers)
    assert not any(gc.is_tracked(x) for t in nested for x in (t, *t))
    assert all(gc.is_tracked(t) for t in lists)
    assert all(gc.is_tracked(x) for t in named for x in (t, t[1]))  # it refers to its class
    assert not any(gc.is_tracked(t) for t in h([((1000, "b"), 2.0)] * 3, 3))

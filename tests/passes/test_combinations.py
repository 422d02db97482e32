"""Loops over combinations: views in the place of iterators, and what is known of the indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def by_shape(a):
    total = 0.0
    for i, j in np.ndindex(a.shape):
        total += a[i, j]
    return total


def by_sizes(a):
    total = 0.0
    for i, j in np.ndindex(*a.shape):
        total += a[i, j]
    return total


def by_ranges(a):
    total = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(a.shape[1] - 1, -1, -1)):
        total += a[i, j]
    return total


def by_numbers(a):
    total = 0.0
    for _, x in np.ndenumerate(a):
        total += x
    return total


@pytest.mark.parametrize("function", [by_shape, by_sizes, by_ranges, by_numbers])
def test_a_loop_has_a_view_and_indices_need_no_checks(function):
    compiled = ljit.jit(function)
    a = np.arange(12.0).reshape(3, 4)
    for _ in range(3):
        assert compiled(a) == 66.0
    text = str(compiled.graph_for(a))
    assert "_view(" in text
    assert "np::ndindex(" not in text
    assert "itertools::product(" not in text
    items = [line for line in text.splitlines() if "np::getitem" in line]
    assert all("inside.0" in line and "from_start.1" in line for line in items)
    assert items


def test_very_many_combinations_are_the_iterator_s(monkeypatch):
    from ljit.ops.containers import iteration_views

    monkeypatch.setattr(iteration_views, "_MOST_COPIED", 10)

    @ljit.jit
    def f(n):
        return [i * j for i, j in itertools.product(range(n), range(2))]

    for n in (3, 3, 3, 20, 20):
        assert f(n) == [i * j for i in range(n) for j in range(2)]


def of_pairs(xs):
    total = 0
    for x, y in itertools.combinations(xs, 2):
        total += x * y
    return total + sum(x - y for x, y in itertools.pairwise(xs))


def of_places(n):
    total = 0
    for i, j, k in itertools.combinations(range(n), 3):
        total += i * j - k
    return total + sum([i - j for i, j in itertools.permutations(range(n), 2)])


def of_grids(xs):
    total = 0
    for x, y in itertools.product(xs, xs):
        total += x * y
    return (
        total
        + sum([x for x in itertools.chain(xs, xs)])
        + len([x for x, y in itertools.product(xs, xs)])
    )


@pytest.mark.parametrize(
    ("function", "given"), [(of_grids, [1, 2, 3]), (of_pairs, [1, 2, 3, 4]), (of_places, 5)]
)
def test_loops_take_the_place_of_iterators_over_combinations(function, given):
    compiled = ljit.jit(function)
    for _ in range(3):
        assert compiled(given) == function(given)
    text = str(compiled.graph_for(given))
    assert "cursor" not in text
    assert "prim::Loop" in text
    assert ("py::list(" in text) == (function is not of_places)


def scaled(a, factor):
    out = np.zeros(a.shape, np.int64)
    for index in np.ndindex(a.shape):
        out[index] = a[index] * factor
    return out


def with_places(a, factor):
    out, last = np.zeros(a.size), ()
    for k, (index, x) in enumerate(np.ndenumerate(a)):
        out[k] = x + index[0] * factor + index[-1]
        last = index
    return out, last


def counted_sums(a, factor):
    total, count = 0, 0
    for index in np.ndindex(*a.shape):
        x = int(a[index])
        if x % 3 == 0:
            continue
        total += x * factor
        count += index[-1]
    return total, count


def of_parts(a, factor):
    found = []
    for i, x, c in itertools.product(range(a.shape[0], 0, -1), (1.5, 2.5), "ab"):
        found.append((i * factor, x, c))
    return found


_SHAPES = [
    (1,),
    (7,),
    (1, 1),
    (3, 4),
    (5, 1),
    (1, 6),
    (0, 3),
    (3, 0),
    (2, 3, 4),
    (2, 1, 3),
    (40, 50),
]


@pytest.mark.parametrize("function", [scaled, with_places, counted_sums, of_parts])
def test_places_are_those_of_each_trip(function):
    f = ljit.jit(function)
    for shape in _SHAPES * 2:
        a = np.arange(np.prod(shape)).reshape(shape)
        for given in (a, a[::-1], np.asfortranarray(a)):
            assert compare(function(given, 3), f(given, 3)) is None
    f, a = ljit.jit(function), np.arange(12).reshape(3, 4)
    expected = function(a, 3)
    for _ in range(2):
        f(a, 3)
    for _ in fail_each_guard(f):
        assert compare(expected, f(a, 3)) is None
    for factor in (2**60, 3, 2**60):
        with np.errstate(all="ignore"):
            assert compare(function(a, factor), f(a, factor)) is None

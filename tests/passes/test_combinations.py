"""Loops over combinations: views in the place of iterators, and what is known of the indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit


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
    assert bool(items) == (function is not by_numbers)


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

"""Loops over ``a.flat``: what CPython gives, natively for arrays in C order."""

from __future__ import annotations

import numpy as np
import pytest

import ljit


def total(a):
    s = 0.0
    for x in a.flat:
        s += x * x
    return s, type(x)


def numbered(a, b):
    found = []
    for i, x in enumerate(a.flat):
        found.append(x * i)
    for x, y in zip(a.flat, b.flat):
        found.append(x - y)
        a[0] = 7  # the iterator sees it
    return found


def used_twice(a):
    items = a.flat
    first = next(items)
    rest = []
    for x in items:
        rest.append(x)
    for x in items:
        rest.append(-x)
    return first, rest, items.index


def begun_once(a, n):
    items = a.flat
    found = []
    for k in range(n):
        for x in items:
            found.append(x + k)
    return found


def taken_from(a, i):
    items = a.flat
    items[i] = 9
    return items[i], len(items), [x for x in a.flat]


ARRAYS = [np.arange(6.0), np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4).T, np.float32(3) + np.zeros((2, 1, 2), "f"), np.arange(9.0)[::2], np.zeros((0, 3))]  # fmt: skip


@pytest.mark.parametrize("a", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
@pytest.mark.parametrize("function", [total, numbered, used_twice, begun_once, taken_from])
def test_items_and_types(function, a):
    more = {numbered: (a * 2,), begun_once: (3,), taken_from: (1,)}.get(function, ())
    compiled = ljit.jit(function)
    for _ in range(4):
        outcomes = []
        for f in (compiled, function):
            own = a.copy(order="K")
            try:
                outcomes.append(repr((f(own, *more), own)))
            except (IndexError, StopIteration, UnboundLocalError) as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]


def test_arrays_in_c_order_need_no_iterator():
    compiled = ljit.jit(total)
    for _ in range(3):
        compiled(np.ones((4, 5)))
    graph = str(compiled.graph_for(np.ones((4, 5))))
    assert "np::ravel" in graph
    assert "cursor" not in graph
    assert "cursor" in str(compiled.graph_for(np.ones((4, 5)).T))

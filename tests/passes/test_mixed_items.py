"""Items that are Python's numbers or NumPy's, of one dtype, are native behind a guard that tells which."""

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare

STARTS = np.arange(0, 85, 4)
TARGETS = (np.arange(80) * 7 + 3) % 20


def depth_first(starts, targets, values):
    seen = np.zeros(len(starts) - 1, np.bool_)
    order = []
    stack = [0]
    while len(stack) > 0:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = True
        order.append(v)
        for p in range(starts[v], starts[v + 1]):
            if not seen[targets[p]]:
                stack.append(targets[p])
    return order


def merged_sets(starts, targets, values):
    parent = list(range(len(starts) - 1))
    for i in range(len(targets)):
        a = i % 20
        while parent[a] != a:
            a = parent[a]
        b = targets[i]
        while parent[b] != b:
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    return parent


def sums_by_key(starts, targets, values):
    sums = {}
    for i in range(len(targets)):
        key = i % 5
        sums[key] = sums.get(key, 0.0) + values[i]
    return sums, sums[3] / 2


def least_so_far(starts, targets, values):
    found = [1.0, 0.5]
    for i in range(len(values)):
        found.append(values[i] * 2 if i % 2 else 0.25)
        if found[-1] < found[-2]:
            found[0] = found[-1] - found[-2]
    return found


FUNCTIONS = [depth_first, merged_sets, sums_by_key, least_so_far]


def given():
    return STARTS.copy(), TARGETS.copy(), np.sin(np.arange(80.0))


def check(f):
    assert compare(f.__wrapped__(*given()), f(*given())) is None


@pytest.mark.parametrize("function", FUNCTIONS)
def test_classes_are_kept(function):
    f = ljit.jit(function)
    for _ in range(8):
        check(f)
    for _ in fail_each_guard(f):
        check(f)


def test_items_are_guarded():
    def last(items):
        k = 0
        for i in range(len(items)):
            k = items[(k + i) % len(items)]
        return k

    f = ljit.jit(last)
    items = [0] * 16 + [np.int64(5), 1, np.int64(2)] * 4  # more than `type_of` looks at
    for _ in range(12):
        assert compare(last(items), f(items)) is None
    assert "prim::guard[type=Union[int, np.int64]]" in str(f.graph_for(items))


def test_numbers_of_other_dtypes_leave_native_code():
    def total(items):
        s = 0
        for x in items:
            s += x * 2
        return s

    f = ljit.jit(total)
    mixed = [1, np.int64(2)] * 20
    for items in (mixed, mixed, mixed, [*mixed, 0.5], [*mixed, np.int8(3)], mixed):
        for _ in range(3):
            assert compare(total(items), f(items)) is None

"""Private lists hold numbers of one of several widths: they share a place, as in the machine form of a Union."""

import itertools

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare

WIDTHS = [
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.uint8,
    np.int32,
    np.int64,
    np.uint64,
    np.bool,
]


def ends(a, b):
    found = [a[1], b[1]]
    if found[1] < found[0]:
        found.reverse()
    return found[0], found


def collected(a, b):
    items = [a[0], b[0]]
    for i in range(8):
        items.append(a[i] if i % 3 else b[i])
        if i % 5 == 4:
            items.pop()
    items.reverse()
    best = items[0]
    for x in items:
        if x > best:
            best = x
    return items, best, [(x, i) for i, x in enumerate(items)]


def replaced(a, b):
    items = [a[0]]
    items[0] = b[0]
    items.append(a[1])
    last = a[0]
    for i in range(8):
        last = items[i % 2]
        items[1] = b[i] if i % 2 else a[i]
    return last, items


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("function", [ends, collected, replaced])
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(WIDTHS, 2)))
def test_items_of_various_widths_keep_their_classes_and_values(function, first, second):
    a, b = (np.arange(8) * 7 - 9).astype(first), (np.arange(8)[::-1] * 30 - 5).astype(second)
    compiled = ljit.jit(function)
    for x, y in ((a, b), (b, a), (a, b), (b, a), (a, b.tolist()), (a.tolist(), b)):
        for _ in range(2):
            assert compare(_outcome(function, x, y), _outcome(compiled, x, y)) is None


def _outcome(function, *args):
    try:
        return function(*args)
    except OverflowError as error:  # of an int that the other number's dtype has not
        return str(error)


def test_they_are_left_as_they_are():
    a, b = np.arange(8, dtype=np.float32) / 3, np.arange(8)[::-1] / 7
    compiled = ljit.jit(collected)
    for _ in range(3):
        compiled(a, b)
    for site in fail_each_guard(compiled):
        assert compare(collected(a, b), compiled(a, b)) is None, site

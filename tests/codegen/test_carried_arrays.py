"""Arrays that loops carry are written over where they are used up, and only where nobody else has them."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import ljit
from tests.codegen.test_lifetimes import agrees, whole_numbers


def filtered(a, h):
    y = np.zeros(len(a) - len(h) + 1)
    for k in range(len(h)):
        y = y + h[k] * a[k : k + len(y)]
    return y


def two_in_a_nest(a, h):
    x, y = a * 1.0, a + 1.0
    for c in h:
        x, y = x * 0.5 + c, y * 0.25 - c
    return x, y


def one_before(a, h):
    x = a * 1.0
    total = 0.0
    for c in h:
        before = x
        x = x * 0.5 + c
        total += before[0] + x[1]
    return x, before, total


def one_of_the_trip_before(a, h):
    x = a * 1.0
    last = x
    for c in h:
        y = last[1:3].sum()
        last = x
        x = x * 0.5 + c
    return x, last, y


def view_of_the_trip_before(a, h):
    x = a * 1.0
    v = x[::-1]
    for c in h:
        x = v * 0.5 + x * c
        v = x[::-1]
    return x, v


def exchanged(a, h):
    x, y = a * 1.0, a + 1.0
    for c in h:
        x, y = y * c + 1.0, x
    return x, y


def seen_in_reverse(a, h):
    x, y = a * 1.0, a + 1.0
    for c in h:
        x = x * 0.5 + y[::-1] * c
        y = x
    return x, y


def all_kept(a, h):
    kept = []
    x = a * 1.0
    for c in h:
        x = x * 0.5 + c
        kept.append(x)
    return kept


def some_kept(a, h):
    kept = [a]
    x = a * 1.0
    for c in h:
        x = x * 0.5 + c
        if c > 1.0:
            kept[0] = x
    return kept, x


def nested(a, h):
    x = a * 1.0
    totals = []
    for c in h:
        y = x
        for d in h:
            y = y * 0.5 + d
        x = x * 0.25 + y * c
        totals.append(x)
    return x, y, totals


def left_in_between(a, h):
    x = a * 1.0
    for c in h:
        x = x * 0.5 + c
        if x[0] > 1.5:
            break
        x = x + 1.0
    return x


def grown(a, h):
    x = a[:1] * 1.0
    for c in h:
        x = x * 0.5 + a * c
    return x


def turned(a, h):
    x = a[:36].reshape(6, 6) * 1.0
    for c in h:
        x = x * 0.5 + x.T * c
    return x


def narrowed(a, h):
    x = a * 1.0
    for c in h:
        x = (x * 0.5 + c).astype(np.float32)
    return x


@pytest.mark.parametrize("size", [50, 1 << 11])
@pytest.mark.parametrize(
    "function",
    [
        filtered,
        two_in_a_nest,
        one_before,
        one_of_the_trip_before,
        view_of_the_trip_before,
        exchanged,
        seen_in_reverse,
        all_kept,
        some_kept,
        nested,
        left_in_between,
        grown,
        turned,
        narrowed,
    ],
)
def test_what_loops_carry(function, size):
    agrees(function, whole_numbers(size), np.array([0.5, 2.0, 0.25, 1.0, 3.0]))


def outgrown(a, n):
    x = a * 0.0
    total = 1
    for _ in range(n):
        x = x * 2.0 + 1.0
        total = total * 1000 + int(x[0])
    return x, total


def test_what_fails_behind_the_nest_does_not_do_it_twice():
    compiled = ljit.jit(outgrown)
    a = whole_numbers(60)
    for trips in (3, 4, 3, 12, 5, 13, 4):
        found, expected = compiled(a, trips), outgrown(a, trips)
        assert found[1] == expected[1]
        assert np.array_equal(found[0], expected[0])


def steps(a, n):
    x = a * 1.0
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def test_the_result_is_the_callers_alone():
    compiled = ljit.jit(steps)
    results = [compiled(whole_numbers(100), 7) for _ in range(6)]
    assert {sys.getrefcount(x) for x in results} == {sys.getrefcount(np.zeros(3)) + 2}
    assert len({x.ctypes.data for x in results}) == 6


def test_the_array_of_the_trip_before_is_written_over():
    code = ljit.jit(steps)
    for _ in range(3):
        code(whole_numbers(100), 7)
    (unit,) = [i for i in code.specializations if i.state == "native"]
    text = code.dump_llvm(whole_numbers(100), 7)
    taken = re.findall(
        r"call ptr inttoptr \(i64 \d+ to ptr\)\(ptr %\w+, i32 1, .*, i1 false, ptr (\S+)\)", text
    )
    assert unit.bailouts == 0
    assert taken
    assert "null" not in taken

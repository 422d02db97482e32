"""What is counted in inner loops of known lengths has bounds: it needs no check of its own."""

import re

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare

MOST = 2**63 - 1


def palindromes(s, count):
    for c in range(len(s)):
        i = j = c
        while i >= 0 and j < len(s) and s[i] == s[j]:
            count += 1
            i -= 1
            j += 1
    return count


def of_both_kinds(s, count):
    n = len(s)
    for c in range(n):
        i, j = c, c
        while i >= 0 and j < n and s[i] == s[j]:
            count += 1
            i -= 1
            j += 1
        i, j = c, c + 1
        while i >= 0 and j < n and s[i] == s[j]:
            count -= 3
            i -= 1
            j += 1
    return count


def in_three_loops(s, count):
    for a in range(len(s)):
        for b in range(a):
            k = b
            while k > 0 and s[k] != s[a]:
                k -= 1
                count += 2
    return count


FUNCTIONS = (palindromes, of_both_kinds, in_three_loops)


def symbols(n):
    return np.arange(n) ** 2 % 5 // 2


@pytest.mark.parametrize("function", FUNCTIONS)
def test_counts_are_those_of_cpython(function):
    f = ljit.jit(function)
    for count in (0, 0, 0, -5, 2**62, MOST - 3, MOST, -MOST, 0, 2**64, 0):
        for n in (40, 0, 1, 2):
            assert function(symbols(n), count) == f(symbols(n), count)
    for _ in fail_each_guard(f):
        assert compare(function(symbols(40), 7), f(symbols(40), 7)) is None


@pytest.mark.parametrize("function", [palindromes, of_both_kinds])
def test_counts_need_no_check(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(symbols(40), 0)
    steps = re.findall(r"= py::i(?:add|sub)\b.*", str(f.graph_for(symbols(40), 0)))
    assert steps and all("proven=('fits',)" in step for step in steps)


def test_loops_that_turn_out_long_count_on():
    def function(n, count):
        total = 0
        for k in range(n):
            j = k * 3_000_000
            while j > 0:
                j -= 1
                total += count
        return total

    f = ljit.jit(function)
    for n, count in ((2, 3), (2, 3), (2, 3), (4, 3), (2, 2**62 + 1), (3, 5)):
        assert f(n, count) == 3_000_000 * (n * (n - 1) // 2) * count


def rising(xs, stack):
    top = 0
    for i in range(len(xs)):
        while top >= 1 and xs[stack[top - 1]] > xs[i]:
            top -= 1
        stack[top] = i
        top += 1
    return top


def test_what_inner_loops_take_off_a_stack_is_on_it():
    f = ljit.jit(rising)
    xs = np.arange(40) * 37 % 23
    for size in (40, 40, 40, 40, 3):
        results = []
        for g in (rising, f):
            stack = np.zeros(size, dtype=np.int64)
            try:
                results.append((g(xs, stack), stack))
            except IndexError as error:
                results.append((str(error), stack))
        assert compare(*results) is None
    g = ljit.jit(rising)
    for _ in range(3):
        g(xs, np.zeros(40, dtype=np.int64))
    text = str(g.graph_for(xs, np.zeros(40, dtype=np.int64)))
    (store,) = re.findall(r"np::setitem.*", text)
    assert "from_start.0" in store
    tests = re.findall(r"prim::predicate(.*)\(", text)
    assert len(set(tests)) == len(tests)  # none is made twice, though loops are walked twice


def window_sums(image, out):
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0
            for dy in range(3):
                for dx in range(-1, 2):
                    s += int(image[y + dy - 1, x + dx])
            out[y, x] = s // 9


def test_sums_of_counted_loops_in_one_another_need_no_check():
    f = ljit.jit(window_sums)
    image = (np.arange(400) * 37 % 256).astype(np.uint8).reshape(20, 20)
    image[3:9, 4:11] = 255
    for _ in range(4):
        expected, out = np.zeros_like(image), np.zeros_like(image)
        window_sums(image, expected)
        f(image, out)
        assert compare(expected, out) is None
    text = str(f.graph_for(image, out))
    (step,) = re.findall(r"= py::iadd\b.*", text)
    assert "proven=('fits',)" in step
    assert "(-255," not in text  # nothing about the terms is tested, either

"""Products of what is not below 0 are not, also of one number with itself; what is given on several ways is within all."""

import re

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def partitions(n, m):
    p = np.zeros(n + 1, dtype=np.int64)
    p[0] = 1
    for i in range(1, n + 1):
        s = 0
        k = 1
        while True:
            g = k * (3 * k - 1) // 2
            if g > i:
                break
            s += p[i - g] if k % 2 == 1 else -p[i - g]
            g += k
            if g <= i:
                s += p[i - g] if k % 2 == 1 else -p[i - g]
            k += 1
        p[i] = s % m
    return p


def square_numbers(n, m):
    p = np.zeros(n + 1, dtype=np.int64)
    for i in range(n + 1):
        k = 0
        while k * k <= i:
            p[i - k * k] += m
            k += 1
    return p


def falling_products(n, m):
    p = np.zeros(n + 2 + m % 2, dtype=np.int64)
    for i in range(n + 1):
        for k in range(5):
            at = i - (k * k - 3 * k)  # above i for 1 and 2
            if at >= 0:
                p[at] += m
    return p


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [partitions, square_numbers, falling_products])
def test_elements_are_those_of_cpython(function):
    f = ljit.jit(function)
    for n, m in ((60, 97), (60, 97), (60, 97), (0, 5), (1, 5), (-1, 5), (-5, 5), (2, 1), (30, -7)):
        assert compare(outcome(function, n, m), outcome(f, n, m)) is None


@pytest.mark.parametrize("function", [partitions, square_numbers, falling_products])
def test_checks_that_fail_change_nothing(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(60, 97)
    for _ in fail_each_guard(f):
        assert compare(outcome(function, 60, 97), outcome(f, 60, 97)) is None


@pytest.mark.parametrize("function", [partitions, square_numbers])
def test_indices_need_no_check(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(60, 97)
    reads = re.findall(r"np::getitem.*", str(f.graph_for(60, 97)))
    assert reads and all("inside.0" in line for line in reads)

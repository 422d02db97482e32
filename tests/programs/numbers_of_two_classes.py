"""Numbers of which only a run tells whether they are Python's or NumPy's: the value is computed once for both."""

import math

import numpy as np

from tests.programs.harness import program

LARGE = 2**63 - 1


def texts():
    return np.array([0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0])


@program(lambda: (texts(),), lambda: (np.zeros(9, np.int64),), lambda: (texts()[:1],))
def lengths_of_common_prefixes(s):
    n = len(s)
    z = np.zeros(n, np.int64)
    left = right = 0
    for i in range(1, n):
        k = 0
        if i < right:
            k = min(right - i, z[i - left])
        while i + k < n and s[k] == s[i + k]:
            k += 1
        z[i] = k
        if i + k > right:
            left, right = i, i + k
    return z, left, right


@program(
    lambda: (texts(), 3, 5),
    lambda: (texts(), 0, 0),
    lambda: (texts(), -4, 3),
    lambda: (texts() * 0, 7, 2),
    lambda: (texts(), 7, 0),
)
def all_operators(xs, first, divisor):
    x = first
    seen = []
    for i in range(len(xs)):
        if xs[i] == 1:
            x = xs[i] + i
        y = x * 3 - i
        seen.append(y)
        seen.append((x + y, x & 6, x | 9, x ^ y, -x, x >> 1, x < y, x >= i, x == 4, x != y))
        if x:
            seen.append(y // divisor + y % divisor)
        if not y:
            seen.append(x)
    return seen, x


@program(
    lambda: (texts() * 1.0, 0.5),
    lambda: (texts() * 1.0, -0.0),
    lambda: (texts() * 0.0, float("nan")),
    lambda: (np.array([0.0, 1.5, float("nan"), 0.0, -2.0, 0.75]), 1.0),
)
def floats_of_two_classes(xs, first):
    x = first
    seen = []
    for i in range(len(xs)):
        if xs[i] > 0.5:
            x = xs[i] * 2.0
        y = x - x * 0.25
        seen.append((y, -y, x + y, x < y, x <= 1.0, x == x))
        if x:
            seen.append(x)
    return seen, x


@program(
    lambda: (np.array([0, 3, 0, 0, 5]), LARGE, 1),
    lambda: (np.array([0, 3, 0, 0, 5]), LARGE - 2, 1),
    lambda: (np.array([0, 3, 0, 0, 5]), 7, 2**61),
    lambda: (np.array([0, 3, 0, 0, 5]), -LARGE - 1, -1),
    lambda: (np.array([0, 0, 0, 0, 0]), -LARGE - 1, -1),
)
def sums_that_need_more_bits(xs, first, step):
    x = first
    seen = []
    for i in range(len(xs)):
        if xs[i]:
            x = xs[i]
        seen.append(x + step)
        seen.append(x * 2)
        seen.append(-x)
    return seen


@program(lambda: (np.array([0, LARGE, 0, 5]), 2), lambda: (np.array([0, 4, LARGE, 0, -LARGE]), 0))
def sums_of_numpys_numbers_wrap(xs, first):
    x = first
    seen = []
    with np.errstate(all="ignore"):
        for i in range(len(xs)):
            if xs[i]:
                x = xs[i]
            seen.append(x + 7)
            seen.append(x * 3)
    return seen


@program(lambda: (texts(), 2), lambda: (texts(), -2), lambda: (texts() * 0, 3))
def two_numbers_of_two_classes(xs, first):
    x = y = first
    seen = []
    for i in range(len(xs) - 1):
        if xs[i]:
            x = xs[i]
        elif xs[i + 1]:
            y = xs[i + 1] - i
        seen.append((x + y, x - y, x < y, x * y + i, (x < y) == (y > i)))
        both = x + y
        if both > x and not both == y:
            seen.append(both)
    return seen, x + y, type(x + y).__name__


def root(parents, x):
    while parents[x] != x:
        parents[x] = parents[parents[x]]
        x = parents[x]
    return x


@program(lambda: (12, [(0, 1), (4, 5), (1, 5), (0, 4), (11, 3)]), lambda: (3, []))
def roots_of_trees(n, edges):
    parents = np.arange(n)
    joined = 0
    for i, j in edges:
        a, b = root(parents, i), root(parents, j)
        if a != b:
            parents[max(a, b)] = min(a, b)
            joined += 1
    return parents, joined, [root(parents, i) for i in range(n)]


@program(lambda: (texts(), 4), lambda: (texts() * 0, 4), lambda: (texts(), 0))
def a_number_shown_in_an_exception(xs, limit):
    x = 0
    for i in range(len(xs)):
        if xs[i]:
            x = xs[i] + i
        if x + 1 > limit:
            raise ValueError(x + 1, x > limit, type(x + 1))
    return x


def clip_arguments(bad):
    return lambda: (np.array([2.5, bad, 3.0]), -9.0, np.inf)


@program(
    *map(clip_arguments, (7.5, -20.0, np.nan, np.inf, -1.0, 1e300)),
    lambda: (np.array([-9.5, 4.5, 300.0]), 0.0, 255.0),
)
def conversions_of_clipped_floats(xs, low, high):
    whole, roots = [], 0.0
    for i in range(len(xs)):
        x = xs[i]
        if x < low:
            x = 0.0
        elif x > high:
            x = 255.0
        roots += math.sqrt(x) + float(x)
        whole.append((int(x), round(x), round(x, 0), math.floor(x), math.ceil(x), math.trunc(x)))
    return whole, roots


@program(
    lambda: (np.array([0, 7, 2**53 + 1, 0, 9]), 5),
    lambda: (np.zeros(5, int), 5),
    lambda: (np.arange(5)[::-1].copy(), 5),
)
def floors_of_ints_of_either_class(xs, n):
    total, floors = 0, []
    for i in range(n):
        x = i + 2**53 + 1
        if xs[i]:
            x = xs[i]
        total += int(x) + round(x)
        floors.append((math.floor(x), math.ceil(x), math.sqrt(x), math.log(x)))
    return total, floors


@program(lambda: (np.zeros(5, int), 5), lambda: (np.arange(5), 5))
def what_only_pythons_ints_do(xs, n):
    total = 0.0
    for i in range(n):
        x = i
        if xs[i]:
            x = xs[i]
        total += math.trunc(x) + math.ldexp(1.0, x)
    return total


@program(
    lambda: (np.array([-9.5, 0.0, -0.0, 4.5, 300.0, np.nan, np.inf]), 0.0, 255.0),
    lambda: (np.array([-9.5, 0.0, -0.0, 4.5, 300.0, np.nan, np.inf]), -0.0, float("nan")),
    lambda: (np.array([-9.5, np.nan, 4.5]), np.float64(0.0), 255.0),
    lambda: (np.array([-9, 0, 4, 300]), 0, 255),
    lambda: (np.array([-9, 0, 4, 300], np.int32), 0, 255),
    lambda: (np.array([-9.5, 0.1, 4.5, 300.0, np.nan], np.float32), 0.1, 255.0),
    lambda: (np.array([-9.5, 0.1, 0.0, -0.0, 300.0, np.nan], np.float32), -0.0, 1e39),
    lambda: (np.array([-9.5, 0.1, 4.5, 300.0, np.nan], np.float16), 0.1, 1e6),
    lambda: (np.array([-9.5, 0.1, 4.5, 300.0, np.nan]), 0, 255),
)
def numbers_between_others(xs, low, high):
    found = []
    for i in range(len(xs)):
        x = min(max(xs[i], low), high)
        y = max(low, min(high, xs[-1 - i]))
        found += [x, y, min(x, y), max(y, x), max(x, xs[i]), min(low, x)]
    return found

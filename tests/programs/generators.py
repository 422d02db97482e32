"""Generator expressions that a builtin function uses up, in a loop of their own or as real generators."""

import math

import numpy as np

from tests.programs.harness import program


@program(
    lambda: ([1, 2, 3], 2.5),
    lambda: ((), 1),
    lambda: (np.arange(5.0), 2),
    lambda: ([1, True, 2**62, 2**62, 0.5], 2),
    lambda: (range(4), np.float32(2)),
    lambda: ([1, "x"], 2),
    lambda: (3, 2),
)
def sums(xs, a):
    return sum(x * a for x in xs if x), sum((x for x in xs), 10), sum((-0.0 for _ in xs), -0.0)


@program(
    lambda: (np.array([0.5, -1.0, 3.0]),),
    lambda: ([],),
    lambda: ([[], [1]],),
    lambda: ([np.ones(2)],),
)
def searches(xs):
    seen = []
    found = any(seen.append(k) or x for k, x in enumerate(xs))
    return found, all(seen.append(-k) or x for k, x in enumerate(xs)), seen


@program(
    lambda: ([3, -1.5, 3.0, True],),
    lambda: ([],),
    lambda: (np.array([2.0, np.nan, 1.0]),),
    lambda: (["b", "a"],),
    lambda: ([1, "a"],),
    lambda: ([2**70, 1, -(2**70)],),
)
def extrema(xs):
    return max(x for x in xs), min(x for x in xs), max((x for x in xs if x == 0), default=7)


@program(lambda: (7,), lambda: (0,), lambda: (2.5,))
def collected(n):
    lists = list(i * i for i in range(n)), tuple(i for i in range(n)), set(i % 3 for i in range(n))
    return (
        *lists,
        sorted((i % 4 for i in range(n)), key=lambda_key, reverse=True),
        frozenset(i for i in range(n)),
    )


def lambda_key(x):
    return -x


@program(lambda: ([1.5, 2], abs), lambda: ([], str), lambda: ([1, "x"], float))
def real_generators(xs, f):
    pairs = dict((x, f(x)) for x in xs)
    return pairs, math.fsum(f(x) for x in xs), max((x for x in xs), key=f)


@program(lambda: (5,), lambda: (0,))
def joined(n):
    return ",".join(str(i) for i in range(n)), np.fromiter(
        (i * 2 for i in range(n)), dtype=np.int32
    )


@program(lambda: (30,), lambda: (2,))
def within_loops(n):
    total = 0
    for i in range(n):
        total += sum(i * j for j in range(i) for k in range(2) if (j + k) % 2)
        if i > 1 and all(i % j for j in range(2, i)):
            total += 1000
    return total


@program(lambda: ([[1.0, 2.0], [3.0]],), lambda: ([[1], 2],))
def within_each_other(rows):
    return sum(sum(v for v in row) for row in rows), max(max(v for v in row) for row in rows)


@program(lambda: ([1, 0, 2],), lambda: ([2, 4],))
def errors_within(xs):
    return sum(1 / x for x in xs)


@program(lambda: ([1, [], 2],), lambda: ([2, 4],))
def errors_of_hashes(xs):
    return set(x for x in xs)


@program(lambda: ([1, 2, 3],), lambda: ([],))
def stopped(xs):
    it = iter(xs)
    return sum(next(it) for _ in range(4))


@program(lambda: (4,))
def variables_stay_outside(n):
    x = 10
    return sum(x * y for x in range(n) for y in range(x)), x

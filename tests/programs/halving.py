"""Loops in which something halves or doubles in each trip: digits, bits, searches, steps."""

import numpy as np

from tests.programs.harness import program

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = np.array([0, 1, -1, 2, MOST, LEAST, LEAST + 1, 2**40 + 5, -(2**40)])


@program(lambda: (0,), lambda: (90,), lambda: (-5,), lambda: (12.0,))
def digits(n):
    total, reversed_ones = 0, 0
    for start in range(n):
        x, r = start * start, 0
        while x > 0:
            total += x % 10
            r = r * 10 + x % 10
            x //= 10
        reversed_ones += r == start
    return total, reversed_ones


@program(
    lambda: ([0, 5, 99],),
    lambda: ([MOST, 1],),
    lambda: ([2**64, 3],),
    lambda: ([10**30, -7],),
    lambda: ([True, 8],),
)
def digits_of(numbers):
    count = 0
    for x in numbers:
        while x > 9:
            x //= 10
            count += 1
        count += x
    return count


@program(
    lambda: (2**60, np.zeros(80, np.int64)),
    lambda: (2**60, np.zeros(200, np.int64)),
    lambda: (10**6, np.zeros(80)),
)
def a_quarter_less(n, counts):
    """Has more trips than `n` has bits: what counts them is checked."""
    count = 0
    while n > 100:
        n -= n >> 2
        counts[count] += 1
        count += 1
    return n, count


@program(
    lambda: (EDGES,),
    lambda: (EDGES.astype(np.int32),),
    lambda: (EDGES.astype(np.uint64),),
    lambda: (np.arange(200),),
    lambda: (np.zeros(0, np.int64),),
    lambda: ([3, 2**62, MOST, 0, 2**70],),  # below 0 it would not end
)
def bits_by_clearing(a):
    total = 0
    for x in a:
        while x:
            x &= x - 1
            total += 1
    return total


@program(
    lambda: (EDGES,),
    lambda: (EDGES.astype(np.uint8),),
    lambda: (EDGES.astype(np.uint64),),
    lambda: (np.arange(300) % 7,),
)
def bits_by_shifting(a):
    total = 0
    for x in a:
        while x > 0:
            total += x & 1
            x >>= 1
    return total


@program(
    lambda: (np.arange(50) * 2.0, [-1.0, 0.0, 3.0, 48.0, 99.0]),
    lambda: (np.zeros(0), [1.0]),
    lambda: (np.array([np.nan, 1.0]), [0.5]),
)
def places(a, wanted):
    found = []
    for x in wanted:
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < x:
                low = middle + 1
            else:
                high = middle
        found.append(low)
    return found


@program(lambda: (1000,), lambda: (0,), lambda: (MOST,), lambda: (2**65,), lambda: (10**25,))
def steps_that_double(n):
    steps, k = 0, 1
    while k < n:
        k *= 2
        steps += 1
    s = 1
    while s < 32:
        steps ^= steps >> s
        s <<= 1
    return steps, k


@program(lambda: (3000,), lambda: (40,))
def bits_turned_around(n):
    total = 0
    for i in range(n):
        x, r = i, 0
        for _ in range(16):
            r = (r << 1) | (x & 1)
            x >>= 1
        total ^= r
    return total

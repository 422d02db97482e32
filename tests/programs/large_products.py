"""Products of ints, sums of them and their roots: near the ends of 64 bits, and beyond."""

import math

import numpy as np

from tests.programs.harness import program

MOST = 2**63 - 1


@program(
    lambda: (0, 6),
    lambda: (-5, 4),
    lambda: (2**30 - 2, 4),
    lambda: (2**31 - 3, 4),
    lambda: (-(2**31) - 1, 4),
    lambda: (3_037_000_498, 3),
    lambda: (2**40, 2),
    lambda: (-(2**62), 2),
    lambda: (2**70, 2),
)
def sums_of_squares(first, n):
    total = 0
    for a in range(first, first + n):
        for b in range(a, a + n):
            h = a * a + b * b
            if h % 3 == 1:
                total += h
            total ^= a * b
    return total


@program(lambda: (12,), lambda: (0,), lambda: (60,))
def triples(n):
    found = []
    for a in range(1, n):
        for b in range(a, n):
            h = a * a + b * b
            r = int(math.sqrt(h))
            if r * r == h and r < n:
                found.append((a, b, r))
    return found


@program(
    lambda: ([0, 1, 3, 2**53 + 1, 2**62, MOST],),
    lambda: ([MOST - 511, MOST - 512, MOST - 1024, 3_037_000_499**2, 3_037_000_499**2 - 1],),
    lambda: ([4, 2**64, 10**40],),
    lambda: ([4, -1],),
    lambda: ([2.25, 1e300, 1e-300],),
    lambda: (np.array([0, 2, MOST]),),
    lambda: (np.array([0, 2, 2**64 - 1], np.uint64),),
    lambda: (np.array([7, 255], np.uint8),),
)
def roots(numbers):
    found = []
    for x in numbers:
        if x >= 0:
            r = int(math.sqrt(x))
            found.append((r, r * r))
        else:
            found.append(int(math.sqrt(x)))
    return found

"""Indices computed from NumPy's integers, which wrap: native code tests in front of a loop that they do not."""

import numpy as np

from tests.programs.harness import program

LARGEST, LEAST = 2**63 - 1, -(2**63)


def _values(n):
    return np.arange(float(n)) * 1.5 - 2.0


def _ints(*numbers, dtype=np.int64):
    return np.array(numbers, dtype)


@program(
    lambda: (_ints(3, 5, 2, 7), _ints(4, 9, 1, 8), 12),
    lambda: (_ints(3, 0, 2), _ints(4, 9, 1), 6),
    lambda: (_ints(3, -1, 2), _ints(4, 9, 1), 6),
    lambda: (_ints(2, 1), _ints(4, 9), 3),
    lambda: (_ints(LEAST, 1), _ints(4, 9), -1),
    lambda: (_ints(LARGEST, 1), _ints(LARGEST, 9), 4),
    lambda: (_ints(), _ints(), 4),
)
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        weight = weights[i]
        value = values[i]
        for c in range(capacity, weight - 1, -1):
            candidate = best[c - weight] + value
            if candidate > best[c]:
                best[c] = candidate
    return best


@program(
    lambda: (_values(12), _ints(0, 3, 7), 4),
    lambda: (_values(12), _ints(0, 3, 9), 4),
    lambda: (_values(12), _ints(0, -3, 8), 3),
    lambda: (_values(12), _ints(-12, -13), 2),
    lambda: (_values(12), _ints(2**40, 1), 2),
    lambda: (_values(12), _ints(LARGEST, 1), 2),
    lambda: (_values(12), _ints(LARGEST, 1), 0),
    lambda: (_values(12), _ints(0, 3, 2**31 - 1, dtype=np.int32), 3),
    lambda: (_values(12), _ints(0, 3, 5, dtype=np.uint8), 3),
    lambda: (_values(300), _ints(0, 3, 254, dtype=np.uint8), 5),
    lambda: (_values(12), _ints(0, 3, 5, dtype=np.uint64), 3),
    lambda: (_values(12), _ints(0, 3, 2**64 - 1, dtype=np.uint64), 3),
    lambda: (_values(0), _ints(0), 1),
)
def sums_of_stretches(a, starts, size):
    total = 0.0
    for i in range(len(starts)):
        for j in range(size):
            total += a[starts[i] + j]
    return total


@program(
    lambda: (_ints(0, 4, 8), _ints(3, 2, 3)),
    lambda: (_ints(0, 4, 9), _ints(3, 2, 3)),
    lambda: (_ints(0, -4, 8), _ints(3, 9, 3)),
    lambda: (_ints(LEAST, 4), _ints(3, 2)),
    lambda: (_ints(LARGEST, 4), _ints(3, 2)),
    lambda: (_ints(1, 4), _ints(LARGEST, 2)),
    lambda: (_ints(1, 4, dtype=np.int16), _ints(32767, 2, dtype=np.int16)),
)
def filled(starts, sizes):
    a = np.zeros(11)
    for i in range(len(starts)):
        start = starts[i]
        end = start + sizes[i]
        for j in range(start, end):
            a[j - start + starts[i]] += i + 1
            a[end - 1] = -1.0
    return a


@program(
    lambda: (_values(24), _ints(2, 0, 3), _ints(1, 5, 2), 6),
    lambda: (_values(24), _ints(2, 0, 4), _ints(1, 5, 2), 6),
    lambda: (_values(24), _ints(-1, 0), _ints(0, 5), 6),
    lambda: (_values(24), _ints(2**62, 0), _ints(0, 5), 4),
    lambda: (_values(24), _ints(1, 2**31 - 1, dtype=np.int32), _ints(0, 1, dtype=np.int32), 2),
)
def flat_places(a, rows, columns, width):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(columns)):
            total += a[rows[i] * width + columns[j]] - a[-(rows[i] + 1)]
    return total


@program(
    lambda: (_values(9), np.int64(2)),
    lambda: (_values(9), np.int64(9)),
    lambda: (_values(9), np.int64(-3)),
    lambda: (_values(9), np.int8(120)),
    lambda: (_values(200), np.int8(120)),
    lambda: (_values(9), np.int64(LARGEST)),
    lambda: (_values(9), np.uint16(1)),
)
def shifted(a, offset):
    out = np.zeros(len(a))
    for i in range(len(a) - 2):
        out[i] = a[i + offset] - a[offset - i]
    return out


@program(
    lambda: (_values(9), _ints(1, 5), _ints(2, 0), 9),
    lambda: (_values(9), _ints(LARGEST, 5), _ints(LARGEST, 3), 9),
    lambda: (_values(9), _ints(5, LARGEST), _ints(3, LARGEST), 9),
    lambda: (_values(9), _ints(5, LEAST), _ints(3, LEAST), 9),
    lambda: (_values(9), _ints(5, 2**31 - 1, dtype=np.int32), _ints(1, 9, dtype=np.int32), 9),
)
def seen_from_starts(a, firsts, seconds, stop):
    total = 0.0
    for i in range(len(firsts)):
        first = firsts[i]
        for j in range(first + seconds[i], stop):
            total += a[j - first]
    return total


@program(
    lambda: (_values(9), _ints(1, 5, 20), 4),
    lambda: (_values(9), _ints(1, LARGEST), 4),
    lambda: (_values(9), _ints(1, -5, -10), 4),
    lambda: (_values(9), _ints(1, 2**31 - 1, dtype=np.int32), 4),
    lambda: (_values(9), _ints(1, 126, dtype=np.int8), 4),
)
def sums_inside(a, starts, size):
    total = 0.0
    for i in range(len(starts)):
        start = starts[i]
        for j in range(size):
            if start + j < len(a):
                total += a[start + j]
    return total

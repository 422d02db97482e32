"""Indices made of floats: what is no int64 is found by the check of the index, with the exception of the conversion."""

import math

import numpy as np

from tests.programs.harness import program

NAN, INFINITY = float("nan"), float("inf")


def _floats(*numbers, dtype=np.float64):
    return np.array(numbers, dtype)


@program(
    lambda: (_floats(0.1, 0.5, 0.99), 8),
    lambda: (_floats(0.1, 1.0, 0.99), 8),
    lambda: (_floats(0.1, -0.2, 0.99), 8),
    lambda: (_floats(0.1, -1.2, 0.99), 8),
    lambda: (_floats(0.1, NAN, 0.99), 8),
    lambda: (_floats(0.1, INFINITY, 0.99), 8),
    lambda: (_floats(0.1, -INFINITY, 0.99), 8),
    lambda: (_floats(0.1, 1e300, 0.99), 8),
    lambda: (_floats(0.1, -(2.0**60), 0.99), 8),
    lambda: (_floats(0.1, -(2.0**61), 0.99), 8),
    lambda: (_floats(0.1, 0.4, NAN, dtype=np.float32), 8),
    lambda: (_floats(0.1, 0.4, INFINITY, dtype=np.float16), 8),
    lambda: (_floats(NAN), 0),
)
def histogram(xs, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for x in xs:
        counts[int(x * bins)] += 1
    return counts


_EXTREMES = (-(2**63), 1 - 2**63, -(2**62), -8, -7, 0, 6, 7, 2**62, 2**63 - 2, 2**63 - 1)


@program(
    lambda: (_floats(0.1, 0.5, 0.9), 8, 1),
    lambda: (_floats(0.1, 0.5, 0.99), 8, 1),
    lambda: (_floats(0.1, 0.5, 0.99), 8, -9),
    lambda: (_floats(0.1, NAN, 0.9), 8, 1),
    lambda: (_floats(0.1, NAN, 0.9), 8, -1),
    lambda: (_floats(0.1, -INFINITY, 0.9), 8, 1),
    lambda: (_floats(0.1, -(2.0**60), 0.9), 8, 1),
    lambda: (_floats(0.1, -(2.0**60), 0.9), 8, -1),
    lambda: (_floats(0.1, -(2.0**60), 0.9), 8, 2**63 - 1),
    lambda: (_floats(0.1, 2.0**60, 0.9), 8, -(2**63)),
    lambda: (_floats(0.1, 2.0**59, 0.9), 8, 2**62 + 5),
)
def shifted_histogram(xs, bins, shift):
    counts = np.zeros(bins, dtype=np.int64)
    edge = min(max(shift, -9), 9)
    for x in xs:
        counts[int(x * bins) + edge] += 1
        counts[int(x * bins) + shift - shift] += 1
    return counts


@program(
    *[
        (lambda places=places, shift=shift: (np.arange(8.0), places, shift))
        for shift in (1, -1, 7)
        for places in [[0, 6, 3], *([0, place] for place in _EXTREMES)]
    ]
)
def shifted_items(a, places, shift):
    edge = min(max(shift, -9), 9)
    total = 0.0
    for place in places:
        total += a[place + 1] + a[place - 1] + a[edge + place] + a[edge + place - 2]
        a[place + edge] = total
    return total


@program(
    lambda: (_floats(0.0, 1.5, 2.9), _floats(0.5, 1.0, 0.0)),
    lambda: (_floats(0.0, 1.5, 3.0), _floats(0.5, 1.0, 0.0)),
    lambda: (_floats(0.0, NAN, 1.0), _floats(0.5, 5.0, 0.0)),
    lambda: (_floats(0.0, 5.0, 1.0), _floats(0.5, INFINITY, 0.0)),
    lambda: (_floats(0.0, 1.0, 1.0), _floats(0.5, -1e19, 0.0)),
)
def pixels_set(rows, columns):
    picture = np.zeros((3, 2))
    for k in range(len(rows)):
        picture[int(rows[k]), int(columns[k])] = k + 1.0
    return picture


@program(
    lambda: (_floats(0.0, 1.5, 2.9), np.zeros(3)),
    lambda: (_floats(0.0, 1e19, 2.9), np.zeros(3)),
    lambda: (_floats(0.0, NAN, 2.9), np.zeros(3)),
    lambda: (_floats(0.0, 3.0, 2.9), np.zeros(3)),
)
def noted_before(xs, out):
    total = 0
    for x in xs:
        place = int(x)
        out[0] += 1.0
        total += place + out[place]
    return total, out


@program(
    lambda: (_floats(0.0, 1.5, 2.9), np.arange(3.0)),
    lambda: (_floats(0.0, 1e19, 2.9), np.arange(3.0)),
    lambda: (_floats(0.0, -4.0, 2.9), np.arange(3.0)),
)
def looked_up_twice(xs, table):
    total = 0.0
    for x in xs:
        place = int(math.floor(x))
        if table[place] < 5.0:
            total += table[place] * place
    return total


@program(
    lambda: (_floats(0.0, 1.0), _floats(1.0, 0.0)),
    lambda: (_floats(0.0, NAN), _floats(1.0, 0.0)),
    lambda: (_floats(0.0, 1.0), _floats(1.0, INFINITY)),
    lambda: (_floats(0.0, 7.0), _floats(1.0, INFINITY)),
)
def rows_added(firsts, seconds):
    table = np.arange(6.0).reshape(2, 3)
    total = np.zeros(3)
    for k in range(len(firsts)):
        total += table[int(firsts[k])] - table[int(seconds[k])]
    return total

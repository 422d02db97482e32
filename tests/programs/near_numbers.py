"""Ints of floats that loops compute with: near 0, far away, and none at all."""

import math

import numpy as np

from tests.programs.harness import program


def image(*odd, size=24, dtype=np.float64):
    """An image of 24 rows, with some odd numbers in it."""
    made = (np.arange(size * 40) * 37.7 % 255).reshape(size, 40).astype(dtype)
    for place, number in enumerate(odd):
        made[5 + place, 7 + 9 * place] = number
    return made


@program(
    lambda: (image(),),
    lambda: (image(2.0**24, -(2.0**24) - 1),),
    lambda: (image(2.0**31, 2.0**40),),
    lambda: (image(2.0**62),),
    lambda: (image(1e300),),
    lambda: (image(3.0, math.nan),),
    lambda: (image(math.inf, dtype=np.float32),),
)
def edges(a):
    h, w = a.shape
    out = np.zeros((h, w))
    try:
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                gx = int(a[y, x + 1]) * 2 - int(a[y, x - 1]) * 2 + int(a[y + 1, x + 1])
                gy = int(a[y + 1, x]) * 2 - int(a[y - 1, x]) * 2 - int(a[y - 1, x - 1])
                out[y, x] = math.sqrt(gx * gx + gy * gy)
    except (ValueError, OverflowError) as error:
        return out, type(error), str(error)
    return out


@program(
    lambda: (image(),),
    lambda: (image(2.0**40, -3e9),),
    lambda: (image(2.0**63),),
    lambda: (image(-(2.0**62), -(2.0**62)),),
    lambda: (image(1.0, 2.0, -math.inf),),
)
def weighted_by_short_loops(a):
    h, w = a.shape
    out = np.zeros((h, w), np.int64)
    try:
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                s = 0
                for j in range(-1, 2):
                    for i in range(-1, 2):
                        s += round(a[y + j, x + i]) * i * (2 if j == 0 else 1)
                out[y, x] = abs(s)
    except (ValueError, OverflowError) as error:
        return out, type(error), str(error)
    return out


@program(
    lambda: (image(),), lambda: (image(2.0**62, 2.0**62, 2.0**62),), lambda: (image(math.nan),)
)
def a_sum_of_many(a):
    total = 0
    for x in a.ravel():
        total += int(x)
    return total


@program(
    lambda: (image().ravel(), np.zeros(960)),
    lambda: (image(-3.0, 1e10, 5.0).ravel(), np.zeros(960)),
    lambda: (image(math.nan, -3.0).ravel(), np.zeros(960)),
)
def one_of_four(x, out):
    try:
        for i in range(len(x)):
            k = int(x[i] / 64.0)
            if k == 0:
                out[i] = x[i] + 1.0
            elif k == 1:
                out[i] = x[i] * 2.0
            elif k == 2:
                out[i] = 3.0
            else:
                out[i] = x[i] - k
    except ValueError as error:
        return out, str(error)
    return out

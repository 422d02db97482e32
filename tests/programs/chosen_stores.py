"""Ifs of which each block stores at the same place."""

import math

import numpy as np

from tests.programs.harness import program


@program(
    lambda: (np.linspace(-3.0, 3.0, 50), np.zeros(50)),
    lambda: (np.array([1.0, math.nan, -2.0, 0.5]), np.ones(4)),
    lambda: (np.linspace(0.0, 3.0, 40), np.zeros(30)),
    lambda: (np.array([0.5, 2.0, -math.inf] * 9), np.zeros(27)),
)
def four_bands(x, out):
    try:
        for i in range(len(x)):
            if x[i] < -1.0:
                out[i] = math.sqrt(-x[i] - 1.0)
            elif x[i] < 0.0:
                out[i] = x[i] * 2.0
            elif x[i] < 1.0:
                out[i] = math.log(x[i])
            else:
                out[i] = 1.0
    except (ValueError, IndexError) as error:
        return out, type(error), str(error)
    return out


@program(
    lambda: (np.arange(60.0).reshape(6, 10), 31.5),
    lambda: (np.full((4, 5), math.nan), 0.0),
    lambda: (np.arange(60).reshape(6, 10)[::-1, ::2], 30),
)
def thresholded(image, t):
    h, w = image.shape
    out = np.empty((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            if image[y, x] > t:
                out[y, x] = 255
            else:
                out[y, x] = 0
    return out


@program(lambda: (np.arange(20), 9), lambda: (np.arange(300), 9), lambda: (np.arange(-5, 5), 100))
def bytes_of_ints(x, limit):
    out = np.zeros(len(x), np.uint8)
    try:
        for i in range(len(x)):
            if x[i] > limit:
                out[i] = int(x[i]) * 2
            else:
                out[i] = int(x[i])
    except OverflowError as error:
        return out, str(error)
    return out


@program(lambda: (np.arange(20.0), np.arange(20.0)), lambda: (np.arange(4.0), np.arange(3.0)))
def of_two_arrays(a, b):
    try:
        for i in range(len(a)):
            if i % 3:
                a[i] = a[i - 1] + 1.0
            else:
                a[i] = b[i]
    except IndexError as error:
        return a, str(error)
    return a, b

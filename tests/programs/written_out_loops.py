"""Loops of a few trips over arrays, each of which has types or constants of its own."""

import numpy as np

from tests.programs.harness import program


def cells(h, w, dtype=np.int64):
    return (np.arange(h * w) * 7 % 5 % 2).reshape(h, w).astype(dtype)


GRIDS = (
    lambda: (cells(7, 9),),
    lambda: (cells(6, 5, np.uint8),),
    lambda: (cells(5, 6).T * 0.5,),
    lambda: (cells(1, 4),),
    lambda: (cells(0, 4),),
    lambda: (np.arange(5),),  # AxisError
)


@program(*GRIDS)
def sum_of_rolls(u):
    return sum(np.roll(u, step, axis) for axis in (0, 1) for step in (-1, 1))


@program(*GRIDS)
def sum_of_neighbours(u):
    return sum(
        np.roll(np.roll(u, i, 0), j, 1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i != 0 or j != 0)
    )


@program(*GRIDS)
def sum_of_pairs(u):
    total = 0
    for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        total = total + np.roll(u, (dy, dx), axis=(0, 1))
    return total, dy, dx


@program(
    lambda: (cells(5, 6), 1),
    lambda: (cells(5, 6), 0),
    lambda: (cells(5, 6), 2),
    lambda: (cells(5, 6), -1),
    lambda: (cells(5, 6), 1.0),
)
def trips_that_go_on_or_leave(u, n):
    total, seen = 0, []
    for axis in (0, 1, 0):
        if axis == n:
            continue
        seen.append(axis)
        if n < 0:
            break
        total = total + np.diff(u, axis=axis).sum(axis=axis)[:4]
    else:
        seen.append("all")
    return total, seen, axis


@program(lambda: (cells(5, 6), 4), lambda: (cells(5, 6), 0), lambda: (cells(5, 6), 100))
def trips_with_effects(u, n):
    total = 0
    for k in range(-1, 2):
        for step in (1, 2):
            u[k] += n // (k * step - n + 3)
            total = total + np.roll(u, k * step, axis=0)
    return total


@program(lambda: (cells(4, 6), 0), lambda: (cells(4, 6), 3), lambda: (cells(4, 6) * 1.5, 9))
def trips_within_a_long_loop(u, n):
    for i in range(n):
        shifted = 0
        for axis in (0, 1):
            if i % 3 == axis:
                continue
            shifted = shifted - np.roll(u, 1 + axis, axis)
        u = u + shifted
    return u


@program(lambda: (cells(4, 6), "a"), lambda: (cells(4, 6), 5), lambda: (cells(4, 6), 2.5))
def trips_that_raise(u, n):
    result = None
    for axis in (1, 0, 2):
        try:
            result = np.roll(u, 1, axis) + (0 if result is None else result)
            if axis == 0:
                result = result + n
        except (ValueError, TypeError) as error:
            return result, axis, type(error).__name__
    return result


@program(lambda: (cells(4, 6), [1, 2, 3]), lambda: (cells(4, 6), (0, 5)), lambda: (cells(4, 6), ()))
def trips_of_arguments(u, steps):
    total = 0.5
    for step in steps:
        for axis in (0, 1):
            total = total * np.roll(u, step, axis=axis)
    return total


@program(lambda: (cells(4, 6), 7), lambda: (cells(3, 3) * 1.5, 2.5))
def gradients_by_axis(u, h):
    sizes = np.zeros(u.shape)
    for axis in (0, 1):
        sizes += np.gradient(u, h, axis=axis) ** 2
    means = [np.mean(u, axis=axis).sum() for axis in range(u.ndim)]
    return np.sqrt(sizes), means


@program(lambda: (3,), lambda: (2.5,), lambda: (np.float32(2),), lambda: (np.arange(3),))
def numbers_that_may_be_arrays(x):
    power, total = 1, 0
    for k in range(1, 6):
        power = power * x / k
        total = total + power
    return total


@program(*GRIDS, lambda: (np.arange(24.0).reshape(2, 3, 4),))
def gradients_along_each_axis(u):
    total = np.zeros(u.shape)
    for axis in range(u.ndim):
        total += np.gradient(u, axis=axis) ** 2
    return np.sqrt(total)


@program(*GRIDS)
def laplacian_by_pairs(u):
    total = 0
    for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        total = total + np.roll(u, (dy, dx), (0, 1))
    return total - 4 * u

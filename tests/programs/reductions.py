"""Reductions of whole arrays: axes, layouts, what is empty, loops."""

import numpy as np

from tests.programs.array_code import grid
from tests.programs.harness import program


@program(
    lambda: (grid(7, 40) / 16,),
    lambda: (grid(40, 7).T,),
    lambda: (grid(30, 30)[::2, ::-3],),
    lambda: (grid(20, 5, np.int32),),
    lambda: (grid(3, 20) > 7,),
    lambda: (grid(1, 1),),
)
def reductions_along_axes(a):
    whole = a.sum(), a.max(), a.min(), np.any(a), a.all(), a.prod(axis=(0, 1))
    rows = a.sum(axis=1), a.max(axis=-1, keepdims=True), (a * 2).min(axis=1)
    columns = a.sum(axis=0), np.max(a, axis=0), (a > 3).any(axis=0)
    return whole, rows, columns


@program(
    lambda: (grid(8, 16) / 8,),
    lambda: (grid(16, 8, np.float32).T,),
    lambda: (grid(4, 4, np.int64),),
    lambda: (np.ones((0, 3)),),
)
def means_and_spreads(a):
    centred = a - a.mean(axis=0)
    return a.mean(), a.mean(axis=1, keepdims=True), centred, a.var() >= 0, a.std(axis=0) >= 0


@program(
    lambda: (grid(3, 30), 1),
    lambda: (np.ones((3, 0)), 1),
    lambda: (np.ones((0, 20)), 0),
    lambda: (np.ones((0, 20)), 1),
)
def extrema_of_nothing_raise(a, axis):
    if axis:
        return a.max(axis=1)
    return a.min(axis=0)


@program(lambda: (grid(10, 10), 3), lambda: (grid(10, 10), 0), lambda: (grid(2, 60), 2))
def sums_in_a_loop(a, n):
    total = np.zeros(a.shape[1])
    for _ in range(n):
        total += (a * 2).sum(axis=0)
        a = a - a.max(axis=1, keepdims=True)
    return total, a


@program(
    lambda: (grid(12, 3) / 4, grid(5, 3) / 3, 2),
    lambda: (grid(40, 2, np.float32), grid(9, 2, np.float32), 1),
    lambda: (grid(3, 3) / 0.3, grid(1, 3) * 1.0, 3),
    lambda: (np.full((3, 2), np.nan), np.ones((4, 2)), 1),
    lambda: (np.ones((3, 2)), np.ones((0, 2)), 1),
)
def nearest_centres(points, centres, n):
    nearest, far = None, 0
    for _ in range(n):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        far = int(np.argmax(distances.min(axis=1)))
        centres = centres + points[far] / 8
    return nearest, far, distances.argmax(axis=0), np.argmin(distances)


@program(
    lambda: (np.arange(3000.0)[::-1], np.arange(3000.0)[::-1]),
    lambda: (np.arange(3000.0)[::3], np.arange(1000.0)),
    lambda: (np.arange(90.0)[::-5], np.arange(90.0)[::-5]),
    lambda: (np.arange(7, dtype=np.int16)[::-1], np.arange(7, dtype=np.int8)[::-1]),
    lambda: (np.arange(17, dtype=np.float32)[::2], np.arange(9, dtype=np.float32)[::-1]),
    lambda: (np.array([1.0, np.nan, -np.inf, 2.0])[::-1], np.ones(4)),
    lambda: (np.arange(3.0)[2:3][::-1], np.arange(1.0)),
    lambda: (np.arange(60.0).reshape(5, 12)[::-1, ::-1], np.arange(12.0)[::-1]),
    lambda: (np.arange(60.0).reshape(5, 12)[:, ::-2], np.arange(6.0)),
    lambda: (np.arange(60.0).reshape(5, 12).T[::-1], np.arange(5.0)[::-1]),
    lambda: (np.arange(60.0).reshape(3, 4, 5)[..., ::-1], np.arange(5.0)),
    ulp=16,
)
def strided_and_reversed(a, b):
    product = a * b
    return (
        a.sum(),
        product.sum(),
        (a - b).max(),
        a.min(axis=-1),
        product.sum(axis=-1),
        (a + 1).sum(axis=0),
    )


@program(lambda: (np.arange(20.0)[::-1],), lambda: (np.zeros(0)[::-1],), ulp=16)
def reversed_sums_and_elements(a):
    doubled = a * 2.0
    return doubled.sum(), doubled, a[1:].sum(), (a[::2] * a[::-2]).sum()


@program(lambda: (np.array([1.0, np.nan, 3.5]),), lambda: (np.arange(40.0),), ulp=16)
def a_spread_beside_another_use_of_the_array(a):
    spread = np.nanstd(-a, axis=0)
    return spread, a > 0


@program(
    lambda: (np.array([0.5, -2.0, 0.1, 7.25, 0.1]),),
    lambda: (np.array([0.5, np.nan, 0.1]),),
    lambda: (np.array([np.nan, 1.0]),),
    lambda: (np.array([-0.0, 0.0]),),
    lambda: (np.arange(20.0)[::-3],),
    lambda: (np.arange(9, dtype=np.float32) / 3,),
    lambda: (np.arange(9, dtype=np.int64) - 4,),
    lambda: (np.arange(9, dtype=np.uint8),),
    lambda: (np.array([True, False, True]),),
    lambda: (np.array([1.5]),),
    lambda: (np.array([2, 3, 4], dtype=object),),
)
def builtins_of_a_vector(x):
    return min(x), max(x), sum(x), sum(x, 2), sum(x, 0.5)


@program(lambda: (np.zeros(0),), lambda: (np.zeros(3),), lambda: (np.ones((2, 2)),))
def sum_of_a_vector(x):
    return sum(x), sum(x, 1.5), sum(x[1:], 3)


@program(lambda: (np.ones(3),), lambda: (np.ones(0),), lambda: (np.ones((2, 2)),))
def largest_of_a_vector(x):
    return max(x)


@program(
    lambda: (grid(40, 60) / 16, 20.0),
    lambda: (grid(60, 40).T / 8, 20.0),
    lambda: (grid(30, 30, np.float32)[::2, ::-3], np.float32(20)),
    lambda: (grid(40, 60, np.int64), -1),
    lambda: (grid(3, 5) / 8, np.nan),
    lambda: (np.ones((0, 3)), 0.5),
    lambda: (np.ones((3, 0)), 0.5),
)
def masks_that_are_kept_for_several_reductions(a, c):
    m = a > c
    n = ~(a < c) & m
    rows, columns, whole = m.any(axis=1), m.any(axis=0), m.all()
    return rows, columns, whole, n.all(axis=1), n.sum(axis=0), np.where(m, a, c).sum(axis=1)


@program(
    lambda: (grid(40, 60) % 3 == 0,),
    lambda: (grid(40, 60, np.uint8).T,),
    lambda: (grid(40, 60, np.int16)[::2, ::-3] - 700,),
    lambda: (np.full((300, 300), 127, np.int8),),
    lambda: (np.full((3, 70000), 65535, np.uint16),),
    lambda: (grid(2, 3, np.uint8),),
    lambda: (np.zeros((0, 3), bool),),  # RuntimeWarning
)
def means_of_bools_and_short_ints(a):
    whole, typed = a.mean(), (np.mean(a, dtype=np.float32), np.mean(a, dtype=float))
    rows, columns = a.mean(axis=1, keepdims=True), np.mean(a, axis=0)
    return whole, typed, rows, columns, (a > 1).mean(), (a != 0).mean(axis=-1)


@program(
    lambda: (grid(40, 60) / 16,),
    lambda: (grid(40, 60, np.uint8).T,),
    lambda: (grid(40, 60, np.int16)[::2, ::-3] - 700,),
    lambda: (grid(9, 8) % 3 == 0,),
    lambda: (grid(2, 3, np.float32),),
    lambda: (grid(4, 5, np.float16) / 8,),
    lambda: (grid(4, 5) * 1j,),
    lambda: (np.arange(7.0),),  # AxisError
    lambda: (np.zeros((0, 3)),),  # ValueError
    lambda: (np.zeros((3, 0), int),),  # ValueError
)
def reduce_of_functions(a):
    sums = np.add.reduce(a), np.add.reduce(a, axis=None), np.add.reduce(a, 0, None, None, True)
    typed = (
        np.add.reduce(a, axis=0, dtype=np.complex128),
        np.multiply.reduce(a[:2] % 3, dtype=complex),
    )
    truths = np.logical_or.reduce(a > 1), np.logical_and.reduce(a >= 0, axis=None)
    highs = np.maximum.reduce(a), np.maximum.reduce(a, axis=1), np.minimum.reduce(a, keepdims=True)
    return sums, typed, truths, highs, np.minimum.reduce([3, 1, 2])


@program(
    lambda: (grid(40, 60) % 3,),
    lambda: (grid(40, 60, np.uint8).T % 5,),
    lambda: (grid(40, 60)[::2, ::-3] % 4 == 1,),
    lambda: (grid(4, 5) * 1j,),
    lambda: (np.array([np.nan, -0.0, 0.0, 1.0]),),  # AxisError
    lambda: (np.zeros((0, 3)),),
)
def counts_of_what_is_not_zero(a):
    whole = np.count_nonzero(a), np.count_nonzero(a, keepdims=True), np.count_nonzero(a, (0,))
    return whole, np.count_nonzero(a > 1, axis=0), np.count_nonzero(a, axis=-1, keepdims=True)

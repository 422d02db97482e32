"""Differences, unwrapped phases, windows, places among NaNs: functions of NumPy that are made of others."""

import numpy as np

from tests.programs.harness import Bound, program


def waves(n, dtype=float):
    return (np.cumsum(np.arange(n) * 37 % 11 - 4) * 0.7 % 6.25).astype(dtype)


def with_gaps(n, dtype=float):
    a = waves(n, dtype)
    a[::3] = np.nan
    return a


class Kept(np.ndarray):
    """A subclass, which `asanyarray` keeps."""


@program(
    lambda: (waves(50),),
    lambda: (waves(50, np.float32),),
    lambda: (np.array([0.0, np.pi, 0.0, -np.pi, 3 * np.pi, np.nan, 1.0, np.inf, 2.0]),),
    lambda: (np.array([0.0, np.pi, 2 * np.pi, 3 * np.pi, 2 * np.pi, -5 * np.pi]),),
    lambda: (waves(1),),
    lambda: (waves(0),),
    lambda: (waves(30)[::-2],),
    lambda: (np.arange(12) * 5 % 7,),
    lambda: (waves(12).reshape(3, 4),),
    lambda: ([0.5, 6.0, 1.0],),
)
def unwrapped(p):
    return (
        np.unwrap(p),
        np.unwrap(p * 57.3, period=360.0),
        np.unwrap(p, axis=0),
        np.unwrap(p, discont=4),
        np.unwrap(p, 4.0),
    )


@program(
    lambda: (waves(50),),
    lambda: (waves(50, np.float32)[::2],),
    lambda: (np.arange(9, dtype=np.uint8)[::-1].copy(),),
    lambda: (waves(4, complex),),
    lambda: (waves(1),),
    lambda: (waves(0),),
    lambda: (np.array([True, False]),),  # TypeError
    lambda: (waves(12).reshape(3, 4),),
    lambda: ([1, 4, 9],),
)
def differences(a):
    return np.ediff1d(a), np.ediff1d(a, to_begin=a[:1])


@program(
    lambda: (0.5, 2.0, 7),
    lambda: (0, 3, 4),
    lambda: (1, 2, 0),
    lambda: (1, 2, 1),
    lambda: (np.float64(-1), 1, 5),
    lambda: (0.0, 400.0, 3),  # overflow
    lambda: (0.0, 1.0, -1),  # ValueError
    lambda: (np.zeros(2), 1.0, 3),
    ulp=1,
)
def evenly_spaced_logarithms(start, stop, n):
    return (
        np.logspace(start, stop, n),
        np.logspace(start, stop, num=n, base=2),
        np.logspace(start, stop, n, False),
        np.logspace(start, stop, n, True, 3.0),
    )


@program(
    lambda: (9,), lambda: (2,), lambda: (1,), lambda: (0,), lambda: (-3,), lambda: (12.0,), lambda: (200,),
    ulp=Bound(1e-15),
)  # fmt: skip
def windows(n):
    return np.hanning(n), np.hamming(n), np.blackman(n)


@program(
    lambda: (with_gaps(50),),
    lambda: (with_gaps(50, np.float32),),
    lambda: (with_gaps(50, np.float16),),
    lambda: (with_gaps(60).reshape(6, 10),),
    lambda: (with_gaps(60).reshape(6, 10).T,),
    lambda: (np.array([np.nan, np.inf, np.nan, -np.inf]),),
    lambda: (np.array([np.nan, np.inf, np.inf]),),
    lambda: (np.full(4, np.nan),),  # ValueError
    lambda: (np.array([[1.0, np.nan], [np.nan, np.nan]]),),  # ValueError along one axis
    lambda: (np.arange(5),),
    lambda: (waves(0),),  # ValueError
    lambda: ([1.0, np.nan, 0.5],),
)
def places_among_nans(a):
    found = [np.nanargmin(a), np.nanargmax(a)]
    found.append(np.nanargmax(a, axis=0))
    return found, np.nanargmin(a, axis=-1)


@program(
    lambda: (waves(5),), lambda: ([1, 2.5],), lambda: ((1, 2),), lambda: (3,), lambda: (np.arange(4).view(Kept),),
    lambda: (np.ma.array([1.0, 2.0], mask=[True, False]),),
)  # fmt: skip
def any_array(x):
    a = np.asanyarray(x)
    b = np.asanyarray(x, dtype=float)
    return a, b * 2, a is x, type(a).__name__


@program(
    lambda: (waves(20).reshape(10, 2),), lambda: (waves(20, np.float32).reshape(10, 2),), lambda: (waves(20).reshape(2, 10).T,),
    lambda: (np.zeros((0, 2)),), lambda: (np.ones((1, 2)),), lambda: (waves(20).reshape(10, 2)[::-1],),
    ulp=Bound(1e-12),
)  # fmt: skip
def area_of_a_polygon(p):
    x, y = p[:, 0], p[:, 1]
    return (
        0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))),
        np.roll(x[::-1], -2),
        np.roll(y, 3, axis=0),
    )


@program(
    lambda: (waves(6), 2, 1.5),
    lambda: (waves(6), 0, 3),
    lambda: (waves(6, np.float32), 6, 0.1),
    lambda: (waves(6)[::-2], 1, np.float64(2.5)),
    lambda: (np.arange(5), 1, 2),
    lambda: (np.arange(5), 1, 2.75),
    lambda: (np.arange(5, dtype=np.uint8), 1, 300),  # OverflowError
    lambda: (np.arange(3.0) > 1, 1, True),
    lambda: (waves(6), -1, 1.0),
    lambda: (waves(6), 7, 1.0),  # IndexError
    lambda: (waves(0), 0, 1.0),
    lambda: (waves(6).reshape(2, 3), 1, 1.0),
    lambda: (waves(6), [1, 3], 1.0),
    lambda: (waves(6), True, 1.0),
    lambda: ([1, 2], 1, 5),
)
def one_more(a, i, x):
    return np.insert(a, i, x), np.insert(a, 0, 0), np.insert(a, -1, x)


@program(
    lambda: (waves(6), 2),
    lambda: (waves(6, np.float32), 5),
    lambda: (waves(6)[::-2], 0),
    lambda: (waves(6), -2),
    lambda: (waves(6), 6),  # IndexError
    lambda: (waves(1), 0),
    lambda: (waves(0), 0),  # IndexError
    lambda: (waves(6).reshape(2, 3), 1),
    lambda: (waves(6), [1, 3]),
    lambda: (waves(6), slice(1, 3)),
    lambda: ([1, 2, 3], 1),
)
def one_less(a, i):
    return np.delete(a, i), np.delete(a, -1), np.delete(a, 0)


@program(
    lambda: (1.0, 1000.0, 4),
    lambda: (1, 256, 9),
    lambda: (0.3, 0.0001, 30),
    lambda: (np.float64(2), 3, 2),
    lambda: (2.0, 3.0, 1),
    lambda: (2.0, 3.0, 0),
    lambda: (2.0, 3.0, -1),  # ValueError
    lambda: (-1.0, -8.0, 4),
    lambda: (0.0, 8.0, 4),  # ValueError
    lambda: (np.nan, 8.0, 4),
    lambda: (1j, 8.0, 4),
    lambda: (np.ones(2), 8.0, 4),
    ulp=2,
)
def geometric(start, stop, n):
    return np.geomspace(start, stop, n), np.geomspace(start, stop, num=n), np.geomspace(stop, start)


@program(
    lambda: (waves(7),),
    lambda: (waves(7)[::-2],),
    lambda: (waves(7, np.float32),),
    lambda: (np.arange(4, dtype=np.uint8) * 80,),
    lambda: (np.arange(4) - 2**40,),
    lambda: (waves(0),),
    lambda: (np.array([True, False]),),
    lambda: (waves(4, complex),),
    lambda: (waves(6).reshape(2, 3),),  # ValueError
    lambda: ([1, 2, 3],),
)
def columns_of_powers(x):
    return (
        np.vander(x, 4),
        np.vander(x, 3, True),
        np.vander(x, N=2, increasing=True),
        np.vander(x, 1),
        np.vander(x),
    )

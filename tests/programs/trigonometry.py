"""Angles, distances, complex numbers, and NumPy's functions that are formulas: of arrays, in loops, of numbers."""

import numpy as np

from tests.programs.harness import program

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-30, 1e22, -1e30, 1e5, np.inf, -np.inf, np.nan]


def values(dtype=np.float64, start=-3.0, stop=3.0, count=11):
    return np.linspace(start, stop, count).astype(dtype)


def complexes(count=11):
    return values(count=count) + 1j * values(count=count)[::-1]


@program(
    lambda: (values(),),
    lambda: (values(np.float32),),
    lambda: (values()[::-2],),
    lambda: (values(count=12).reshape(3, 4).T,),
    lambda: (np.array(SPECIAL),),
    lambda: (np.array(SPECIAL, np.float32),),
    lambda: (np.zeros(0),),
    lambda: (2.5,),
    ulp=8,
)
def angles(x):
    return np.sin(x) * np.cos(x), np.tan(x), np.arctan(x), np.sinc(x), np.arcsinh(np.deg2rad(x))


@program(
    lambda: (values(start=-0.9, stop=0.9),),
    lambda: (values(np.float32, start=-1.0, stop=1.0),),
    lambda: (np.array(SPECIAL),),
    ulp=8,
)
def inverses(x):
    return np.arcsin(x), np.arccos(x), np.arctanh(x), np.arccosh(x + 2.0), np.cbrt(x)


@program(
    lambda: (values(), values()[::-1]),
    lambda: (values(np.float32), values(np.float32)[::-1]),
    lambda: (np.array(SPECIAL), np.array(SPECIAL)[::-1]),
    lambda: (values(), 0.0),
    lambda: (values(count=3)[:, None], values(count=4)),
    lambda: (np.float64(0.3), np.float64(-0.4)),
    ulp=4,
)
def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


@program(
    lambda: (complexes(),),
    lambda: (complexes().astype(np.complex64),),
    lambda: (complexes()[::-3],),
    lambda: (complexes(12).reshape(3, 4).T,),
    lambda: (np.complex128(1 + 2j),),
    ulp=16,
)
def complex_functions(z):
    return (
        np.exp(z),
        np.sqrt(z),
        np.abs(z),
        np.angle(z),
        np.angle(z, deg=True),
        np.exp(1j * np.abs(z)),
    )


@program(
    lambda: (values(count=37), values(count=37)[::-1]),
    lambda: (values(np.float32, count=37), values(np.float32, count=37)),
    lambda: (np.array([1e300, 1.0, np.nan]), np.array([1.0, 2.0, 3.0])),
    ulp=32,
)
def great_circles(latitude, longitude):
    total = 0.0
    for i in range(len(latitude) - 1):
        a = np.sin((latitude[i + 1] - latitude[i]) / 2) ** 2
        b = np.cos(latitude[i]) * np.cos(latitude[i + 1])
        c = np.sin((longitude[i + 1] - longitude[i]) / 2) ** 2
        total += 2 * np.arcsin(np.sqrt(min(a + b * c, 1.0)))
    return total


@program(lambda: (values(count=7), 20), ulp=64)
def rotations_in_place(angle, steps):
    x, y = np.cos(angle), np.sin(angle)
    for _ in range(steps):
        c, s = np.cos(0.1), np.sin(0.1)
        x, y = c * x - s * y, s * x + c * y
        x /= np.hypot(x, y)
        y /= np.hypot(x, y)
    return x, y


@program(
    lambda: (values(),),
    lambda: (values(np.float32),),
    lambda: (np.array(SPECIAL),),
    lambda: (values(count=12).reshape(3, 4).T,),
    lambda: (np.arange(5),),
)
def formulas(x):
    rounded = np.round(x, 1), np.round(x), np.around(x, -1)
    return rounded, np.isclose(x, x * 1.000001), np.nan_to_num(x), np.allclose(x, x + 1e-9)


@program(
    lambda: (values(),),
    lambda: (values(np.float32),),
    lambda: (values()[::2],),
    lambda: (values(count=12).reshape(3, 4),),
    lambda: (values(count=1),),
    ulp=64,
)
def derived(x):
    steps = np.diff(x)
    return steps, np.linalg.norm(x, axis=-1), np.linalg.norm(x), np.sum(np.diff(x, axis=0) ** 2)


@program(
    lambda: (values(), np.arange(4.0), np.arange(4.0) ** 2),
    lambda: (values(), np.arange(12.0)[::2], np.arange(6.0)),
    lambda: ([0.5, np.nan, 7.0], np.arange(2.0), np.array([1.0, np.inf])),
    lambda: (values(), np.arange(3.0), np.arange(4.0)),
    lambda: (values(), np.zeros(0), np.zeros(0)),
)
def table_look_ups(xs, points, found):
    total, places = [], []
    for x in xs:
        total.append(np.interp(x, points, found))
        places.append((np.searchsorted(points, x), points.searchsorted(x, side="right")))
    return total, places

"""Functions that come as arguments, and in tuples, lists, dicts, closures and attributes: their bodies are inlined."""

import functools
import math
from types import SimpleNamespace

import numpy as np

from tests.programs.harness import program


def squared_distance(x, y):
    s = 0.0
    for k in range(x.shape[0]):
        t = x[k] - y[k]
        s += t * t
    return s


def taxicab(x, y, scale=1.0):
    return scale * np.sum(np.abs(x - y))


def square(x):
    return x * x


def cubic(x, a=2.0, *, b=5.0):
    return x * x * x - a * x - b


def slope(x):
    return 3.0 * x * x - 2.0


def noted(x, log=[]):  # noqa: B006
    if x > 2:
        raise ValueError(f"too large: {x}")
    return 1 / x


class Line:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k * x + 1

    def __call__(self, x):
        return self.k - x


def make_scaled(k):
    return lambda x: k * x


def make_adding(k):
    def inner(x, y=k):
        return x + y * k

    return inner


SCALED = make_scaled(3)


def points(n):
    return np.sin(np.arange(3.0 * n)).reshape(n, 3)


@program(
    lambda: (points(5), points(4), squared_distance),
    lambda: (points(5), points(4), taxicab),
    lambda: (points(3), points(2), lambda x, y: x[0] * y[1]),
    lambda: (points(0), points(4), squared_distance),
)
def pairwise(x, y, distance):
    out = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = distance(x[i], y[j])
    return out


@program(
    lambda: (cubic, slope, 2.0),
    lambda: (functools.partial(cubic, b=4.0), slope, 2.0),
    lambda: (cubic, lambda x: 0.0 * x, 2.0),
    lambda: (square, None, 2.0),
)
def newton(f, slope_of, x):
    for _ in range(30):
        y = f(x)
        if abs(y) < 1e-12:
            break
        x -= y / slope_of(x)
    return x


@program(
    lambda: (square, 0.0, 1.0, 10),
    lambda: (math.sin, 0.0, 1.0, 10),
    lambda: (np.exp, 0.0, 1.0, 10),
    lambda: (make_scaled(2), 0.0, 1.0, 10),
    lambda: (make_scaled(2.5), 0.0, 1.0, 10),
    lambda: (make_adding(3), 0, 1, 10),
    lambda: (Line(2).at, 0.0, 1.0, 10),
    lambda: (Line(2), 0.0, 1.0, 10),
    lambda: (noted, 0.5, 2.5, 10),
    lambda: (noted, 0, 0, 10),
    lambda: (functools.partial(pow, 2), 0.0, 1.0, 4),
    lambda: (5, 0.0, 1.0, 4),
    lambda: (cubic, 0.0, 1.0, 0),
)
def simpson(f, a, b, n):
    h = (b - a) / max(n, 1)
    s = 0
    for i in range(n + 1):
        s += (1 if i in (0, n) else 4 if i % 2 else 2) * f(a + i * h)
    return s * h / 3


@program(
    lambda: ((square, slope), 6),
    lambda: ([square, cubic, make_scaled(2), slope], 6),
    lambda: ([make_scaled(k) for k in range(3)], 6),
    lambda: ([lambda x: x, lambda x: -x, square, cubic, slope, noted], 2),
    lambda: ([], 3),
)
def all_of(functions, n):
    total = 0
    for i in range(n):
        for f in functions:
            total += f(i)
    return total


@program(
    lambda: ({"f": square, "g": slope}, 5),
    lambda: ({"f": noted, "g": slope}, 5),
    lambda: ({"g": square}, 5),
)
def from_a_dict(table, n):
    out = []
    for i in range(n):
        out.append(table["g"](i) + table["f"](i + 1.0))
    return out


@program(
    lambda: (SimpleNamespace(f=square), 5),
    lambda: (SimpleNamespace(f=SCALED), 5),
    lambda: (Line(2), 5),
)
def from_an_attribute(holder, n):
    f = holder.f
    return [f(i) + holder.f(i) for i in range(n)]


@program(
    lambda: (square, slope, 6), lambda: (square, make_scaled(2), 6), lambda: (noted, square, 6)
)
def changes_during_the_call(f, g, n):
    total = 0
    for i in range(1, n):
        total += f(i)
        if i % 2:
            f, g = g, f
    return total


def step(f, x, h):
    return x + h * f(x)


def solve(f, x, h, n):
    for _ in range(n):
        x = step(f, x, h)
    return x


@program(lambda: (square, 0.5, 4), lambda: (make_scaled(-0.5), 0.5, 4), lambda: (noted, 0.5, 9))
def through_several_levels(f, x, n):
    return solve(f, x, 0.1, n), solve(lambda y: f(y) + 1, x, 0.01, 3)


def composed(f, g, x):
    return f(lambda y: g(y) + 1, x)


def twice(f, x):
    return f(f(x))


@program(lambda: (twice, square, 3), lambda: (twice, make_scaled(2), 3), lambda: (twice, noted, 1))
def functions_of_functions(f, g, n):
    return [composed(f, g, i) for i in range(n)] + [f(g, i) for i in range(1, n)]


@program(lambda: (5,), lambda: (5, slope), lambda: (3, noted))
def as_a_default(n, f=square):
    return [f(i + 1) for i in range(n)]


def rest(*args, **kwargs):
    return sum(args) + sum(kwargs.values())


@program(lambda: (rest, 4), lambda: (cubic, 4), lambda: (square, 2))
def with_names(f, n):
    out = []
    for i in range(n):
        out.append(f(i, a=1.0, b=2.0) if i % 2 else f(i, 3.0, b=i))
    return out


def counted_down(n, f):
    return f(n) + countdown(n - 1, f) if n else 0


@program(lambda: (3, square), lambda: (3, noted), lambda: (2, make_scaled(3)))
def countdown(n, f):
    total = 0
    for i in range(n):
        total += f(i + 1) + counted_down(i, f)
    return total


def halves(n):
    while n > 1:
        yield n
        n //= 2


@program(lambda: (halves, 40), lambda: (range, 4), lambda: (lambda n: [n], 4))
def sum_of_items(items_of, n):
    total = 0
    for i in range(n):
        for item in items_of(i):
            total += item
    return total


@program(lambda: (square, [1, 2, 3]), lambda: (square, np.arange(5.0)), lambda: (noted, [1, 2, 3]))
def caught(f, xs):
    out = []
    for x in xs:
        try:
            out.append(f(x))
        except ValueError as error:
            out.append(str(error))
    return out


@program(
    lambda: (np.arange(9.0), np.where, np.median),
    lambda: (np.arange(9.0), np.where, np.std),
    lambda: (np.arange(9.0), np.where, np.sum),
    lambda: (np.arange(9), np.where, len),
    lambda: (np.arange(9.0), lambda c, x, y: x, np.max),
    lambda: (np.arange(9.0), np.where, None),  # TypeError
    lambda: (np.zeros(0), np.where, np.max),  # ValueError
)
def functions_of_numpy_as_arguments(a, choose, reduce):
    found = [f(a + k) for k in range(3) for f in (np.sum, np.mean, reduce)]
    return choose(a > 2, a, 0.5), found, reduce(a)

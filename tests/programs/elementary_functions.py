"""Exponentials, logarithms, powers and their like: of arrays, in loops, of numbers."""

import numpy as np

from tests.programs.harness import program

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, 700.0, -800.0, 1e5, np.inf, -np.inf, np.nan]


def values(dtype=np.float64, start=-3.0, stop=3.0, count=11):
    return np.linspace(start, stop, count).astype(dtype)


@program(
    lambda: (values(),),
    lambda: (values(np.float32),),
    lambda: (values()[::-2],),
    lambda: (values(count=12).reshape(3, 4).T,),
    lambda: (np.array(SPECIAL),),
    lambda: (np.array(0.75),),
    lambda: (np.zeros(0),),
    lambda: (2.5,),
    ulp=8,
)
def softplus(x):
    with_log = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
    return with_log, np.logaddexp(x, 0.5), np.logaddexp2(0.25, x), np.expm1(x), np.exp2(x)


@program(
    lambda: (values(),),
    lambda: (values(np.float32),),
    lambda: (np.array(SPECIAL, np.float32),),
    lambda: (values(count=24).reshape(2, 3, 4)[:, ::2],),
    ulp=8,
)
def hyperbolic(x):
    return np.sinh(x), np.cosh(x), np.tanh(x), 0.5 * x * (1 + np.tanh(0.8 * (x + 0.04 * x**3)))


@program(
    lambda: (values(start=0.01),),
    lambda: (values(np.float32, start=0.01),),
    lambda: (np.abs(np.array(SPECIAL)),),
    lambda: (3,),
    ulp=4,
)
def logarithms(x):
    return np.log(x), np.log2(x), np.log10(x), np.log1p(x)


@program(
    lambda: (values(start=0.1), 2.5),
    lambda: (values(np.float32, start=0.1), np.float32(-1.5)),
    lambda: (values(), 0.5),
    lambda: (values(start=0.1), values(count=11)),
    lambda: (np.array(SPECIAL), 0.5),
    lambda: (np.array(SPECIAL), np.array(SPECIAL)[::-1]),
    lambda: (np.float64(2.5), np.float64(0.5)),
    ulp=4,
)
def powers(x, y):
    return x**y, x**2, x**3, x**0.5, x**7, np.power(x, 1.5)


@program(lambda: (values(), 1.5), lambda: (values(np.float32), 2.0), ulp=4)
def powers_in_place(x, y):
    a = x.copy()
    a **= 2
    b = a + 1
    b **= y
    return a, b


@program(lambda: (values(count=37),), lambda: (values(np.float32, count=37),), ulp=8)
def sums_in_loops(a):
    total = 0.0
    for i in range(len(a)):
        total += 1.0 / (1.0 + np.exp(-a[i]))
    log = 0.0
    for x in a:
        log = log + np.log1p(x * x) * np.cosh(x)
    return total, log


@program(
    lambda: (values(count=20).reshape(4, 5),),
    lambda: (values(np.float32, count=20).reshape(4, 5),),
    ulp=8,
)
def softmax_in_loops(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j] - largest)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@program(lambda: (np.float64(0.5), 30), lambda: (0.25, 30), ulp=64)
def one_after_the_other(x, n):
    for _ in range(n):
        x = np.exp(-x) + np.log(1.0 + x**1.5)
    return x

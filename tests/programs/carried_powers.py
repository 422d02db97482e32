"""Powers of a float in loops whose exponents go up or down with the trips."""

import math

import numpy as np

from tests.programs.harness import program

ODD = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e-310, 1e308, -2.5, 1 + 2**-52)


@program(
    lambda: (1.01, -100, 200),
    lambda: (0.97, 5, 60),
    lambda: (-1.5, -40, 100),
    lambda: (3.0, -800, 1500),
    lambda: (0.5, 1000, 100),
    lambda: (2.5, 2**24 - 10, 40),
    lambda: (1.0 + 1e-9, 2**32 - 20, 40),
    lambda: (1.0 + 1e-9, -(2**23), 40),
    lambda: (2.0, 0, 0),
    lambda: (2.0, 1000, 60),
    lambda: (0.0, -3, 30),
    *[lambda x=x: (x, 0, 40) for x in ODD],
)
def powers(u, first, n):
    out = np.zeros(n)
    try:
        for i in range(n):
            out[i] = u ** (first + i)
    except (OverflowError, ZeroDivisionError) as error:
        return out, type(error), str(error)
    return out


@program(
    lambda: (100.0, 105.0, 1.0, 0.05, 0.2, 50),
    lambda: (100.0, 95.0, 2.0, 0.01, 0.9, 120),
    lambda: (100.0, 95.0, 2.0, 0.01, 1e-5, 20),
)
def american_option(s, k, t, r, sigma, n):
    dt = t / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(r * dt) - d) / (u - d)
    discount = math.exp(-r * dt)
    values = np.zeros(n + 1)
    for i in range(n + 1):
        values[i] = max(0.0, k - s * u**i * d ** (n - i))
    for step in range(n - 1, -1, -1):
        for i in range(step + 1):
            hold = discount * (p * values[i + 1] + (1.0 - p) * values[i])
            values[i] = max(hold, k - s * u ** (2 * i - step))
    return values


@program(
    lambda: ([3.0, -1.0, 0.25, 7.0] * 8, 1.25),
    lambda: ([1.0] * 40, -0.75),
    lambda: ([2.0] * 30, 0.0),
)
def polynomial(coefficients, x):
    total = 0.0
    for k in range(len(coefficients)):
        total += coefficients[k] * x**k
    return total


@program(
    lambda: (np.linspace(-1.0, 5.0, 40), 0.05),
    lambda: (np.zeros(20), -1.0),
    lambda: (np.ones(20), 1e300),
)
def present_value(payments, rate):
    value = 0.0
    try:
        for t in range(len(payments)):
            if payments[t] > 0.0:
                value += payments[t] / (1.0 + rate) ** (t + 1)
    except (OverflowError, ZeroDivisionError) as error:
        return type(error), str(error)
    return value


@program(
    lambda: (np.concatenate([[-100.0], np.full(40, 4.0)]), np.float64(0.1)),
    lambda: (np.ones(30), np.float64(-1.0)),
    lambda: (np.ones(30), np.float64(-2.5)),
    lambda: (np.ones(60), np.float64(1e200)),
    lambda: (np.ones(30), np.float64("nan")),
)
def discounted_by_a_number_of_numpy(payments, rate):
    value = slope = 0.0
    with np.errstate(all="ignore"):
        for i in range(len(payments)):
            p = (1.0 + rate) ** i
            value += payments[i] / p
            slope -= i * payments[i] / (p * (1.0 + rate))
    return value, slope

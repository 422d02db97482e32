"""Prices of options and series of prices."""

from __future__ import annotations

import math

import numpy as np

from array_programs.program import ArrayProgram


def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * poly
    return np.where(x > 0, 1.0 - tail, tail)


def black_scholes(spot, strike, time, rate, volatility):
    root = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * time)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    return call, put


def normal_cdf_loops(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = 0.3989422804014327 * math.exp(-0.5 * x * x) * poly
    return 1.0 - tail if x > 0 else tail


def black_scholes_loops(spot, strike, time, rate, volatility):
    call = np.empty_like(spot)
    put = np.empty_like(spot)
    for i in range(spot.size):
        root = volatility * math.sqrt(time[i])
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility**2) * time[i]) / root
        d2 = d1 - root
        discounted = strike[i] * math.exp(-rate * time[i])
        call[i] = spot[i] * normal_cdf_loops(d1) - discounted * normal_cdf_loops(d2)
        put[i] = discounted * normal_cdf_loops(-d2) - spot[i] * normal_cdf_loops(-d1)
    return call, put


def black_scholes_numexpr(numexpr):
    def cdf(x):
        k = numexpr.evaluate("1.0 / (1.0 + 0.2316419 * abs(x))")
        poly = "k*(0.319381530 + k*(-0.356563782 + k*(1.781477937 + k*(-1.821255978 + k*1.330274429))))"
        tail = numexpr.evaluate(f"0.3989422804014327 * exp(-0.5*x*x) * {poly}")
        return numexpr.evaluate("where(x > 0, 1.0 - tail, tail)")

    def black_scholes(spot, strike, time, rate, volatility):
        root = numexpr.evaluate("volatility * sqrt(time)")
        d1 = numexpr.evaluate("(log(spot / strike) + (rate + 0.5 * volatility**2) * time) / root")
        d2 = numexpr.evaluate("d1 - root")
        discounted = numexpr.evaluate("strike * exp(-rate * time)")
        a, b, c, d = cdf(d1), cdf(d2), cdf(-d2), cdf(-d1)
        call = numexpr.evaluate("spot * a - discounted * b")
        return call, numexpr.evaluate("discounted * c - spot * d")

    return black_scholes


def options(n):
    rng = np.random.default_rng(1)
    return (rng.uniform(10, 50, n), rng.uniform(10, 50, n), rng.uniform(0.1, 3, n), 0.02, 0.3)


def asian_option(normals, spot, strike, rate, volatility, years):
    """Monte Carlo price of a call on the mean of a path."""
    steps = normals.shape[0]
    dt = years / steps
    drift = (rate - 0.5 * volatility**2) * dt
    moves = drift + volatility * np.sqrt(dt) * normals
    paths = spot * np.exp(np.cumsum(moves, axis=0))
    payoff = np.maximum(paths.mean(axis=0) - strike, 0.0)
    return np.exp(-rate * years) * payoff.mean()


def asian_option_loops(normals, spot, strike, rate, volatility, years):
    steps, count = normals.shape
    dt = years / steps
    drift = (rate - 0.5 * volatility**2) * dt
    scale = volatility * np.sqrt(dt)
    log_price = np.zeros(count)
    total = np.zeros(count)
    for t in range(steps):
        for i in range(count):
            log_price[i] += drift + scale * normals[t, i]
            total[i] += spot * np.exp(log_price[i])
    mean = 0.0
    for i in range(count):
        mean += max(total[i] / steps - strike, 0.0)
    return np.exp(-rate * years) * (mean / count)


def draws(n):
    steps = min(50, n)
    normals = np.random.default_rng(2).standard_normal((steps, max(n // steps, 1)))
    return normals, 100.0, 105.0, 0.03, 0.2, 1.0


def moving_average(prices, window):
    sums = np.cumsum(prices)
    sums[window:] = sums[window:] - sums[:-window]
    return sums[window - 1 :] / window


def moving_average_loops(prices, window):
    result = np.empty(prices.size - window + 1)
    total = 0.0
    for i in range(window):
        total += prices[i]
    result[0] = total / window
    for i in range(window, prices.size):
        total += prices[i] - prices[i - window]
        result[i - window + 1] = total / window
    return result


def moving_average_jax(jax):
    jnp = jax.numpy

    def moving_average(prices, window):
        sums = jnp.cumsum(prices)
        sums = sums.at[window:].set(sums[window:] - sums[:-window])
        return sums[window - 1 :] / window

    return moving_average


def series(n):
    return np.random.default_rng(3).normal(100.0, 5.0, max(n, 8)), 7


PROGRAMS = (
    ArrayProgram(
        black_scholes, options, 100_000, loops=black_scholes_loops, in_numexpr=black_scholes_numexpr
    ),
    ArrayProgram(asian_option, draws, 500_000, loops=asian_option_loops),
    ArrayProgram(
        moving_average,
        series,
        200_000,
        loops=moving_average_loops,
        in_jax=moving_average_jax,
        static=(1,),
    ),
)

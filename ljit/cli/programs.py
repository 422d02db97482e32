"""The programs of the demonstration: plain numeric Python as people write it, with their inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PROGRAMS", "Program", "mandelbrot", "mandelbrot_view"]


@dataclass(frozen=True, slots=True)
class Program:
    """A function, its input (made afresh for each call) and how exact its result must be.

    `tolerance` is relative; 0 asks for the same bits. Only programs with transcendental functions of
    arrays have another one, since NumPy's own are not correctly rounded either.
    """

    name: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    against: str = "CPython"
    tolerance: float = 0.0


def mandelbrot(xs: Any, ys: Any, limit: Any) -> Any:
    out = np.zeros((ys.size, xs.size), dtype=np.int64)
    for j in range(ys.size):
        for i in range(xs.size):
            z = c = complex(xs[i], ys[j])
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[j, i] = n
    return out


def mandelbrot_view(width: int, height: int, limit: int) -> tuple[Any, ...]:
    """Give the arguments for a view of the Seahorse Valley."""
    x, y, size = -0.7436, 0.1318, 0.012
    xs = np.linspace(x - size, x + size, width)
    ys = np.linspace(y - size * height / width, y + size * height / width, height)
    return xs, ys, limit


def n_body(bodies: Any, pairs: Any, steps: Any, dt: Any) -> Any:
    """Move bodies, lists [x, y, z, vx, vy, vz, mass], and give the energy."""
    for _ in range(steps):
        for i, j in pairs:
            a = bodies[i]
            b = bodies[j]
            dx = a[0] - b[0]
            dy = a[1] - b[1]
            dz = a[2] - b[2]
            square = dx * dx + dy * dy + dz * dz
            magnitude = dt / (square * math.sqrt(square))
            a[3] -= dx * b[6] * magnitude
            a[4] -= dy * b[6] * magnitude
            a[5] -= dz * b[6] * magnitude
            b[3] += dx * a[6] * magnitude
            b[4] += dy * a[6] * magnitude
            b[5] += dz * a[6] * magnitude
        for body in bodies:
            body[0] += dt * body[3]
            body[1] += dt * body[4]
            body[2] += dt * body[5]
    energy = 0.0
    for body in bodies:
        energy += 0.5 * body[6] * (body[3] ** 2 + body[4] ** 2 + body[5] ** 2)
    for i, j in pairs:
        a = bodies[i]
        b = bodies[j]
        square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
        energy -= a[6] * b[6] / math.sqrt(square)
    return energy


def planets() -> list[list[float]]:
    """Give the sun and the giant planets: positions in AU, velocities in AU a year, 4 pi^2 = sun."""
    sun = 4 * math.pi * math.pi
    rows = [
        [4.84143144, -1.16032004, -0.10362204, 0.00166008, 0.00769901, -0.00006905, 9.54791938e-4],
        [8.34336671, 4.12479856, -0.40352342, -0.00276743, 0.00499853, 0.00002304, 2.85885981e-4],
        [12.8943696, -15.1111514, -0.22330758, 0.00296460, 0.00237847, -0.00002966, 4.36624404e-5],
        [15.3796971, -25.9193146, 0.17925877, 0.00268068, 0.00162824, -0.00009516, 5.15138902e-5],
    ]
    bodies = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, sun]]
    for row in rows:
        velocity = [v * 365.24 for v in row[3:6]]
        bodies.append([*row[:3], *velocity, row[6] * sun])
    for axis in range(3):
        bodies[0][3 + axis] = -sum(b[3 + axis] * b[6] for b in bodies) / sun
    return bodies


def n_body_input(steps: int) -> tuple[Any, ...]:
    """Give the solar system, all pairs of bodies, and the steps to take."""
    return planets(), [(i, j) for i in range(5) for j in range(i + 1, 5)], steps, 0.01


def matrix_entry(i: Any, j: Any) -> Any:
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def spectral_norm(n: Any, rounds: Any) -> Any:
    u = [1.0] * n
    v = [0.0] * n
    t = [0.0] * n
    for _ in range(rounds):
        for source, target in ((u, v), (v, u)):
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += matrix_entry(i, j) * source[j]
                t[i] = total
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += matrix_entry(j, i) * t[j]
                target[i] = total
    product = 0.0
    square = 0.0
    for i in range(n):
        product += u[i] * v[i]
        square += v[i] * v[i]
    return math.sqrt(product / square)


def heat_equation(u: Any, steps: Any, alpha: Any) -> Any:
    """Let heat flow on a plate: an explicit five-point stencil."""
    rows, columns = u.shape
    v = u.copy()
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                flow = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                v[i, j] = u[i, j] + alpha * flow
        u, v = v, u
    return u


def plate(size: int) -> np.ndarray:
    """Give a cold plate with one hot edge."""
    u = np.zeros((size, size))
    u[0, :] = 100.0
    return u


def normal_distribution(x: Any) -> Any:
    """Give the cumulative normal distribution (Abramowitz and Stegun, 26.2.17)."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    below = np.exp(-0.5 * x * x) * 0.3989422804014327 * tail
    return np.where(x > 0.0, 1.0 - below, below)


def black_scholes(price: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    """Give the value of call options, all at once."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discount = strike * np.exp(-rate * years)
    return price * normal_distribution(d1) - discount * normal_distribution(d2)


def options(count: int) -> tuple[Any, ...]:
    """Give a book of options with prices, strikes and terms in usual ranges."""
    random = np.random.default_rng(2)
    price = random.uniform(10.0, 50.0, count)
    strike = random.uniform(10.0, 50.0, count)
    years = random.uniform(0.5, 2.0, count)
    return price, strike, years, 0.02, 0.3


def edit_distance(a: Any, b: Any) -> Any:
    """Give the Levenshtein distance of two sequences of codes."""
    previous = [0] * (len(b) + 1)
    current = [0] * (len(b) + 1)
    for j in range(len(b) + 1):
        previous[j] = j
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            best = previous[j] if a[i] == b[j] else previous[j] + 1
            if previous[j + 1] + 1 < best:
                best = previous[j + 1] + 1
            if current[j] + 1 < best:
                best = current[j] + 1
            current[j + 1] = best
        previous, current = current, previous
    return previous[len(b)]


def sequences(length: int) -> tuple[Any, ...]:
    """Give two related strands of DNA as codes."""
    random = np.random.default_rng(3)
    a = random.integers(0, 4, length)
    b = np.where(random.uniform(size=length) < 0.8, a, random.integers(0, 4, length))
    return a, b[: length - length // 10]


def longest_collatz(limit: Any) -> Any:
    """Give the start below `limit` with the longest Collatz sequence."""
    best, longest = 1, 0
    for start in range(1, limit):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best, longest


def smooth(image: Any, kernel: Any) -> Any:
    """Convolve an image with a small kernel, leaving out the border."""
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for p in range(kernel.shape[0]):
                for q in range(kernel.shape[1]):
                    total += image[i + p, j + q] * kernel[p, q]
            out[i, j] = total
    return out


def image_and_kernel(size: int) -> tuple[Any, ...]:
    """Give a random image and a 5x5 box."""
    return np.random.default_rng(4).uniform(size=(size, size)), np.full((5, 5), 0.04)


PROGRAMS = (
    Program("mandelbrot", mandelbrot, lambda: mandelbrot_view(120, 90, 200)),
    Program("n-body", n_body, lambda: n_body_input(20_000)),
    Program("spectral norm", spectral_norm, lambda: (130, 10)),
    Program("heat equation", heat_equation, lambda: (plate(90), 40, 0.2)),
    Program("Black-Scholes", black_scholes, lambda: options(1_000_000), "NumPy", 1e-12),
    Program("edit distance", edit_distance, lambda: sequences(600)),
    Program("Collatz", longest_collatz, lambda: (30_000,)),
    Program("convolution", smooth, lambda: image_and_kernel(100)),
)

"""Loops that draw random numbers one at a time, against CPython and, where it is installed, Numba.

All three draw in the same order; ljit's numbers are Python's and NumPy's own (Numba's are those of streams of its own,
except for Generators). Exits with status 1 if Monte Carlo pi is not 20 times as fast as under CPython.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pairing import measure

import ljit

TARGET = 20.0


def pi_by_random(n):
    inside = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / n


def pi_by_generator(n, rng):
    inside = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / n


def uniform(n):
    total = 0.0
    for _ in range(n):
        total += random.uniform(1, 6)
    return total


def randint(n):
    total = 0
    for _ in range(n):
        total += random.randint(1, 6)
    return total


def standard_normal(n, rng):
    total = 0.0
    for _ in range(n):
        total += rng.standard_normal()
    return total


def integers(n, rng):
    total = 0
    for _ in range(n):
        total += rng.integers(1, 7)
    return total


def legacy_rand(n):
    total = 0.0
    for _ in range(n):
        total += np.random.rand()
    return total


def legacy_randn(n):
    total = 0.0
    for _ in range(n):
        total += np.random.randn()
    return total


def legacy_randint(n):
    total = 0
    for _ in range(n):
        total += np.random.randint(1, 7)
    return total


RNG = np.random.default_rng(1)
CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (pi_by_random, ()),
    (pi_by_generator, (RNG,)),
    (uniform, ()),
    (randint, ()),
    (standard_normal, (RNG,)),
    (integers, (RNG,)),
    (legacy_rand, ()),
    (legacy_randn, ()),
    (legacy_randint, ()),
)


def by_numba(function: Callable[..., Any]) -> Callable[..., Any] | None:
    try:
        import numba
    except ImportError:
        return None
    return numba.njit(function)  # type: ignore[no-any-return]


def run(function: Callable[..., Any], n: int, args: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(n, *args)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--trips", type=int, default=200_000)
    options = parser.parse_args()
    few = options.trips // 20
    missed = []
    print(
        f"{'one trip of':16} {'CPython':>10} {'ljit':>9} {'ratio':>8}   {'Numba':>9} {'ratio':>6}"
    )
    for function, args in CASES:
        compiled = ljit.jit(function, strict=True)
        for _ in range(3):
            compiled(few, *args)
        pair = measure(run(function, few, args), run(compiled, few, args), options.rounds)
        each = pair.first / few * 1e9, pair.second / few * 1e9
        line = f"{function.__name__:16} {each[0]:7.1f} ns {each[1]:6.2f} ns {pair.ratio:7.1f}x"
        other = by_numba(function)
        if other is not None:
            other(few, *args)
            n = options.trips
            versus = measure(run(other, n, args), run(compiled, n, args), options.rounds)
            line += f"   {versus.first / n * 1e9:6.2f} ns {versus.ratio:5.1f}x"
        print(line)
        if function.__name__.startswith("pi") and pair.ratio < TARGET:
            missed.append(function.__name__)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())

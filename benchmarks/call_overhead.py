"""What a call costs: ``f(x, y)`` on floats, and ``x * y + x`` on arrays of 4 elements.

Targets: a native call costs no more than the undecorated function's; the small expression at most a fifth of
what NumPy takes. Exits with status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np
from pairing import measure, settle

import ljit


def on_floats(x, y):
    return x * y + x


def on_arrays(x, y):
    return x * y + x


def repeat(function, x, y, times):
    """Give a function that makes `times` calls with little between them."""

    def calls():
        for _ in numbers:
            function(x, y)

    numbers = [None] * times
    return calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=200_000, help="calls in one run")
    options = parser.parse_args()
    missed = []
    cases = (
        ("f(x, y) on floats", on_floats, 2.0, 3.0, 1.0),
        ("x*y+x on float64[4]", on_arrays, np.arange(4.0), np.ones(4), 5.0),
    )
    print(f"{'a call of':22} {'plain':>11}  {'ljit':>11}  {'ratio':>9}")
    for name, function, x, y, target in cases:
        compiled = ljit.jit(function)
        for _ in range(3):
            compiled(x, y)
        settle(compiled, partial(compiled, x, y))
        plain = repeat(function, x, y, options.calls)
        native = repeat(compiled, x, y, options.calls)
        pair = measure(plain, native, options.rounds)
        each = (pair.first / options.calls * 1e9, pair.second / options.calls * 1e9)
        verdict = "ok" if pair.ratio >= target else "MISSED"
        print(
            f"{name:22} {each[0]:8.1f} ns  {each[1]:8.1f} ns  {pair.ratio:8.2f}x  target >= {target:.0f}x: {verdict}"
        )
        if pair.ratio < target:
            missed.append(name)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

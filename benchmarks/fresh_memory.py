"""What the memory of large results costs: calls whose result is dropped, or kept for a while, against NumPy and Numba.

Prints the time of a call, and how often it touched a page for the first time. The functions take turns.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

import ljit

try:
    import numba
except ImportError:
    numba = None

KEPT_BYTES = 200_000_000


def expression(a, b):
    return a * b + a - b * 2.0


def page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def dropping(function, args) -> Callable[[], None]:
    return lambda: function(*args)


def keeping(function, args) -> Callable[[], None]:
    """Keep some results, then drop all of them."""
    results: list[np.ndarray] = []
    count = max(2, min(12, KEPT_BYTES // args[0].nbytes))

    def call() -> None:
        results.append(function(*args))
        if len(results) > count:
            results.clear()

    return call


def measure(n: int, rounds: int) -> None:
    args = np.random.rand(n), np.random.rand(n)
    functions = {"ljit": ljit.jit(expression), "numpy": expression}
    if numba is not None:
        functions["numba"] = numba.njit(expression)
    calls = {}
    for name, function in functions.items():
        for _ in range(4):
            function(*args)
        calls[name, "dropped"] = dropping(function, args)
        calls[name, "kept"] = keeping(function, args)
    repeats = max(1, 2_000_000 // n)
    times: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    faults = dict.fromkeys(calls, 0)
    for call in calls.values():
        for _ in range(14):  # all that is ever kept was kept once
            call()
    for _ in range(rounds):
        for key, call in calls.items():
            before, start = page_faults(), time.process_time()
            for _ in range(repeats):
                call()
            times[key].append((time.process_time() - start) / repeats)
            faults[key] += page_faults() - before
    for (name, fate), seconds in times.items():
        middle = statistics.median(seconds)
        count = faults[name, fate] / rounds / repeats
        print(f"{n:9d} {name:6} {fate:8} {middle * 1e6:10.1f} us   {count:8.1f} page faults")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10**5, 10**6, 10**7])
    options = parser.parse_args()
    for n in options.sizes:
        measure(n, options.rounds)


if __name__ == "__main__":
    main()

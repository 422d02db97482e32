"""10^6 calls must leave reference counts and memory flat, also when each of them raises.

Exits with status 1 if a reference count changed, Python's allocations grew, or the process did.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from pathlib import Path

import numpy as np
from pairing import settle

import ljit
from ljit import config

NEVER = 10**9  # of LJIT_QUICK_RUNS: code that is not optimised is looked at

ALLOWED_BYTES = 64_000  # Python's own allocations: caches of the interpreter, not of calls
ALLOWED_PAGES = 2_000_000  # resident set: what the allocator keeps


def scalars(x, n):
    total = x
    for i in range(n):
        total = total * 0.5 + i
    return total


def arrays(x, y):
    z = x * y + x
    z[0] = y[1]
    return z


def views(x, y):
    a = x[1:]
    b = y[:-1]
    return a + b, x


def large_arrays(x, y):
    z = np.cumsum(x * y)
    return z * 2.0 + x


def lists(xs, y):
    total = 0.0
    for x in xs:
        total += x * y
    return [total, xs, (total, y)]


def big_integers(x, n):
    for _ in range(n):
        x = x * x
    return x


def strings(x, y):
    return f"{x} {y}"


def raises_in_the_middle(xs, i):
    total = 0.0
    copy = xs * 2.0
    for k in range(i):
        total += copy[k]
    return total


def divides(x, y):
    pair = [x, y]
    return pair[0] / pair[1]


def cases():
    a, b = np.arange(4.0), np.ones(4)
    c = np.ones(40_000)
    return (
        (large_arrays, (c, c)),
        (scalars, (1.5, 3)),
        (arrays, (a, b)),
        (views, (a, b)),
        (lists, ([1.0, 2.5, 1e300], 2.0)),
        (big_integers, (3, 8)),
        (strings, (1.5, 2)),
        (raises_in_the_middle, (a, 7)),
        (divides, (1.5, 0.0)),
    )


def call_often(function, args, times):
    for _ in range(times):
        try:
            function(*args)
        except (IndexError, ZeroDivisionError):
            pass


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def counts(args) -> list[int]:
    items = [x for a in args for x in (a if isinstance(a, list) else [a])]
    return [sys.getrefcount(x) for x in (*args, *items, None, True, float, np.ndarray)]


def check(function, args, calls) -> list[str]:
    compiled = ljit.jit(function)
    call_often(compiled, args, 2000)
    if config.settings().quick_runs < NEVER:
        settle(compiled, lambda: call_often(compiled, args, 1000))
    gc.collect()
    before, resident = counts(args), resident_bytes()
    call_often(compiled, args, calls)
    gc.collect()
    after, grown = counts(args), resident_bytes() - resident
    tracemalloc.start()
    call_often(compiled, args, 100)
    start = tracemalloc.get_traced_memory()[0]
    call_often(compiled, args, calls // 20)
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    drift = max(abs(x - y) for x, y in zip(before, after, strict=True))
    print(
        f"{function.__name__:22} references {drift:+5d}  traced {traced:+8d} B  resident {grown:+10d} B"
    )
    problems = []
    if drift > 20:  # None and classes are counted too: other code holds a few
        problems.append(f"{function.__name__}: reference counts drift by {drift}")
    if traced > ALLOWED_BYTES:
        problems.append(f"{function.__name__}: {traced} bytes more")
    if grown > ALLOWED_PAGES:
        problems.append(f"{function.__name__}: the process grew by {grown} bytes")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    options = parser.parse_args()
    problems = [
        p
        for function, args in cases()
        for p in check(function, args, options.calls // (1 if function is not large_arrays else 50))
    ]
    print("\n".join(problems) or "nothing leaks")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

"""Elementary functions by themselves: the largest error found, and the time of an element against NumPy's.

    python benchmarks/elementary_functions.py [NAME...]

Errors are in units in the last place, against long doubles, over operands of all sizes (a long double is within a
thousandth of such a unit). Times are of loops over 10,000 elements between -0.9 and 0.9, or 1.1 and 2 where the
function asks for it, each the best of runs that take turns.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from ljit.codegen import mathlib
from ljit.testing.elementary import BINARY, NUMPY, bound_loop, errors_in_ulp, evaluate, exact

COUNT = 200_000
POWERS = 100_000  # of which the exact values come from mpmath
ELEMENTS = 10_000
ROUNDS = 40
DTYPES = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}


def operands_of_all_sizes(dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    limits = np.finfo(dtype)
    sign = rng.choice([-1.0, 1.0], COUNT)
    kinds = (
        sign * 2.0 ** rng.uniform(limits.minexp + 1, limits.maxexp - 1, COUNT),
        sign * 2.0 ** rng.uniform(-limits.nmant, 10, COUNT),
        rng.uniform(-1, 1, COUNT),
        rng.uniform(-20, 20, COUNT),
        rng.uniform(-0.75, 0.75, COUNT) * limits.maxexp,
        1 + sign * 2.0 ** rng.uniform(-limits.nmant, 0, COUNT),
        rng.integers(0, 2**30, COUNT) * (np.pi / 2),
    )
    return np.concatenate(kinds).astype(dtype)


def largest_error(name: str, dtype: np.dtype) -> float:
    rng = np.random.default_rng(1)
    xs = [operands_of_all_sizes(dtype, rng)]
    if name in BINARY:
        xs.append(rng.permutation(xs[0]))
    if name == "pow":
        return largest_error_of_pow(xs)
    with np.errstate(all="ignore"):
        wide = ufunc(name)(*(x.astype(np.longdouble) for x in xs))
        usable = np.isfinite(wide.astype(dtype)) & (wide != 0)
    errors = errors_in_ulp(evaluate(name, *xs)[usable], wide[usable])
    return float(errors.max())


def largest_error_of_pow(xs: list[np.ndarray]) -> float:
    """With exponents that make results of all sizes. NumPy's long doubles are not exact enough here."""
    x = np.abs(xs[0])
    limits = np.finfo(x.dtype)
    with np.errstate(all="ignore"):
        logs = np.log2(x.astype(float))
        rng = np.random.default_rng(2)
        y = rng.uniform(limits.minexp - limits.nmant, limits.maxexp, len(x)) / logs
    y = y.astype(x.dtype)
    with np.errstate(all="ignore"):
        results = np.power(x, y)
    usable = np.flatnonzero(np.isfinite(results) & (results != 0) & (x != 1) & np.isfinite(y))
    chosen = rng.choice(usable, POWERS, replace=False)
    x, y = x[chosen], y[chosen]
    return float(errors_in_ulp(evaluate("pow", x, y), exact("pow", x, y)).max())


def times(name: str, dtype: np.dtype) -> tuple[float, float]:
    """Nanoseconds an element, here and in NumPy."""
    low, high = (1.1, 2.0) if name in ("acosh", "log", "log2", "log10", "pow") else (-0.9, 0.9)
    rng = np.random.default_rng(2)
    xs = [rng.uniform(low, high, ELEMENTS).astype(dtype) for _ in range(1 + (name in BINARY))]
    out, others = np.empty_like(xs[0]), np.empty_like(xs[0])
    loop = bound_loop(name, others, *xs)
    best = [1.0, 1.0]
    for _ in range(ROUNDS):
        start = time.perf_counter()
        loop()
        middle = time.perf_counter()
        ufunc(name)(*xs, out=out)
        end = time.perf_counter()
        best = [min(best[0], middle - start), min(best[1], end - middle)]
    return best[0] / ELEMENTS * 1e9, best[1] / ELEMENTS * 1e9


def ufunc(name: str) -> np.ufunc:
    found: np.ufunc = NUMPY.get(name) or getattr(np, name)
    return found


def main() -> None:
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    names = sorted(
        {name for name, _ in mathlib.declared()} & set(chosen or dict(mathlib.declared()))
    )
    print("| function | error, float64 | ns | NumPy's ns | error, float32 | ns | NumPy's ns |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in names:
        cells = []
        for dtype in DTYPES.values():
            if (name, "double" if dtype.itemsize == 8 else "float") in mathlib.declared():
                here, numpy = times(name, dtype)
                cells += [f"{largest_error(name, dtype):.2f}", f"{here:.1f}", f"{numpy:.1f}"]
            else:
                cells += ["", "", ""]
        print(f"| {ufunc(name).__name__} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

"""Compute the polynomials of ljit/codegen/mathlib: minimax approximations by Remez' algorithm, in mpmath.

    python benchmarks/math_coefficients.py [NAME...]

prints each polynomial's coefficients, rounded to the type they are used in, and its largest error (relative to what
the polynomial's value means for the function's result), with exact coefficients and with rounded ones.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence

import numpy as np
from mpmath import mp, mpf

mp.dps = 60

Function = Callable[[mpf], mpf]


def remez(f: Function, weight: Function, a: mpf, b: mpf, degree: int) -> list[mpf]:
    """Coefficients c of the polynomial p that makes max |weight * (p - f)| on [a, b] smallest."""
    count = degree + 2
    nodes = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    best: list[mpf] = []
    least = mp.inf
    for _ in range(8):
        rows = [[x**k for k in range(degree + 1)] for x in nodes]
        for i, x in enumerate(nodes):
            rows[i].append((-1) ** i / weight(x))
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in nodes]))
        coefficients = list(solution)[:-1]
        nodes = _extrema(f, weight, coefficients, count, a, b)
        sizes = [abs(_error(f, weight, coefficients, x)) for x in nodes]
        if max(sizes) < least:
            best, least = coefficients, max(sizes)
        if max(sizes) < min(sizes) * 1.01:
            break
    return best


def _error(f: Function, weight: Function, coefficients: Sequence[mpf], x: mpf) -> mpf:
    return weight(x) * (mp.polyval(coefficients[::-1], x) - f(x))


def _extrema(
    f: Function, weight: Function, coefficients: Sequence[mpf], count: int, a: mpf, b: mpf
) -> list[mpf]:
    """Where the error is largest between its changes of sign: so many of these places, and the largest one of all."""
    steps = 24 * count
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * i / steps) for i in range(steps + 1)]
    errors = [_error(f, weight, coefficients, x) for x in grid]
    runs = itertools.groupby(range(steps + 1), key=lambda i: errors[i] > 0)
    peaks = [max(run, key=lambda i: abs(errors[i])) for _, run in runs]
    while len(peaks) > count:
        del peaks[0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1]
    return [grid[i] for i in peaks]


def largest_error(f: Function, weight: Function, coefficients: Sequence, a: mpf, b: mpf) -> mpf:
    points = [a + (b - a) * i / 500 for i in range(501)]
    return max(abs(_error(f, weight, [mpf(c) for c in coefficients], x)) for x in points)


def _near(x: mpf) -> mpf:
    """`x` itself unless it is so near 0 that a quotient has no digits left."""
    return x if abs(x) > mpf("1e-15") else mpf("1e-15")


def _exp_rest(r: mpf) -> mpf:
    r = _near(r)
    return (mp.expm1(r) - r) / r**2


def _exp_weight(r: mpf) -> mpf:
    return (r**2 + mpf("1e-7")) * mp.exp(-r)


def _small_exp_weight(r: mpf) -> mpf:
    return r**2 + mpf("4e-5")


def _log_rest(r: mpf) -> mpf:
    r = _near(r)
    return (mp.log1p(r) - r) / r**2


def _atanh_rest(z: mpf) -> mpf:
    """``(2 * atanh(s) / s - 2) / s**2`` of ``z = s**2``: log((1 + s) / (1 - s)) = s * (2 + z * rest)."""
    s = mp.sqrt(_near(z))
    return (2 * mp.atanh(s) / s - 2) / s**2


def _sinh_rest(z: mpf) -> mpf:
    r = mp.sqrt(_near(z))
    return (mp.sinh(r) / r - 1) / r**2


def _cosh_rest(z: mpf) -> mpf:
    r = mp.sqrt(_near(z))
    return (mp.cosh(r) - 1) / r**2


def _linear(z: mpf) -> mpf:
    """The weight where `z` times what is approximated is added to about 1."""
    return z + mpf("1e-4")


def _pow_rest(z: mpf) -> mpf:
    """What `_atanh_rest` has behind 2/3, over z."""
    if z < mpf("1e-10"):
        return sum(2 * z**k / (2 * k + 5) for k in range(8))
    return (_atanh_rest(z) - mpf(2) / 3) / z


def _root(z: mpf) -> mpf:
    return mp.sqrt(max(z, mpf("1e-20")))


def _odd_rest(f: Function) -> Function:
    """``(f(r) - r) / r**3`` of ``z = r**2``."""

    def rest(z: mpf) -> mpf:
        r = _root(z)
        return (f(r) - r) / r**3

    return rest


def _cos_rest(z: mpf) -> mpf:
    r = _root(z)
    return (mp.cos(r) - 1 + r**2 / 2) / r**4


def _even_atanh_rest(z: mpf) -> mpf:
    s = _root(z)
    return (2 * mp.atanh(s) - 2 * s) / s**3


def _mostly_linear(z: mpf) -> mpf:
    return z + mpf("0.04")


def _near_linear(r: mpf) -> mpf:
    return abs(r) + mpf("0.002")


def _mostly_square(z: mpf) -> mpf:
    return (z + mpf("0.06")) ** 2


ZERO = mpf(0)
QUARTER_PI_SQUARED = (mp.pi / 4 * mpf("1.00001")) ** 2
TAN_PI_8_SQUARED = (mp.sqrt(2) - 1) ** 2 * mpf("1.0001")
QUARTER = mpf(1) / 4
_SIN, _ATAN, _ASIN = map(_odd_rest, (mp.sin, mp.atan, mp.asin))
HALF_LOG_2 = mp.log(2) / 2 * mpf("1.0001")
LOG_2_32 = mp.log(2) / 32 * mpf("1.001")
HALF_LOG_2_SQUARED = HALF_LOG_2**2
ATANH_END = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")
#: what is approximated, what its error means for the result, where, the degree, the dtype
POLYNOMIALS: dict[str, tuple[Function, Function, mpf, mpf, int, type]] = {
    "exp": (_exp_rest, _exp_weight, -HALF_LOG_2, HALF_LOG_2, 10, np.float64),
    "expf": (_exp_rest, _exp_weight, -HALF_LOG_2, HALF_LOG_2, 5, np.float32),
    "exp with tables": (_exp_rest, _small_exp_weight, -LOG_2_32, LOG_2_32, 5, np.float64),
    "sinh": (_sinh_rest, _linear, ZERO, HALF_LOG_2_SQUARED, 4, np.float64),
    "sinhf": (_sinh_rest, _linear, ZERO, HALF_LOG_2_SQUARED, 2, np.float32),
    "cosh": (_cosh_rest, _linear, ZERO, HALF_LOG_2_SQUARED, 5, np.float64),
    "coshf": (_cosh_rest, _linear, ZERO, HALF_LOG_2_SQUARED, 2, np.float32),
    "log": (_atanh_rest, _linear, ZERO, ATANH_END, 6, np.float64),
    "logf": (_atanh_rest, _linear, ZERO, ATANH_END, 2, np.float32),
    "log with tables": (_log_rest, _near_linear, -mpf("0.0364"), mpf("0.0395"), 8, np.float64),
    "sin": (_SIN, _mostly_linear, ZERO, QUARTER_PI_SQUARED, 6, np.float64),
    "sinf": (_SIN, _mostly_linear, ZERO, QUARTER_PI_SQUARED, 3, np.float64),
    "cos": (_cos_rest, _mostly_square, ZERO, QUARTER_PI_SQUARED, 5, np.float64),
    "cosf": (_cos_rest, _mostly_square, ZERO, QUARTER_PI_SQUARED, 3, np.float64),
    "atan": (_ATAN, _mostly_linear, ZERO, TAN_PI_8_SQUARED, 10, np.float64),
    "atanf": (_ATAN, _mostly_linear, ZERO, TAN_PI_8_SQUARED, 4, np.float64),
    "asin": (_ASIN, _mostly_linear, ZERO, QUARTER, 12, np.float64),
    "asinf": (_ASIN, _mostly_linear, ZERO, QUARTER, 5, np.float64),
    "atanh": (_even_atanh_rest, lambda _: mpf(1), ZERO, ATANH_END, 6, np.float64),
    "atanhf": (_even_atanh_rest, lambda _: mpf(1), ZERO, ATANH_END, 3, np.float64),
    "pow": (_pow_rest, lambda z: z**2 + mpf("1e-5"), ZERO, ATANH_END, 7, np.float64),
}


def main() -> None:
    for name in sys.argv[1:] or POLYNOMIALS:
        f, weight, a, b, degree, dtype = POLYNOMIALS[name]
        exact = remez(f, weight, a, b, degree)
        rounded = [float(dtype(mp.nstr(c, 40))) for c in exact]
        errors = [largest_error(f, weight, c, a, b) for c in (exact, rounded)]
        bits = ", ".join(f"2**{float(mp.log(error, 2)):.1f}" for error in errors)
        print(f"# {name}: degree {degree}, errors {bits}")
        for c in rounded:
            print(f"    {c!r},")


if __name__ == "__main__":
    main()

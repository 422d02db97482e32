"""Functions of the C library raise in native code where CPython does: each is asked only what it can fail with."""

import math

import pytest

import ljit
from tests.programs.harness import compare

FUNCTIONS = """
    acos acosh asin atanh cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh tan
""".split()
VALUES = [
    *(0.0, -0.0, 0.5, 1.0, -1.0, 1.0000000000000002, -1.0000000000000002, 2.0, 5e-324, -5e-324),
    *(708.0, 709.79, 710.5, 711.0, -711.0, 1023.99, 1024.0, -1076.0, 1e308, -1e308),
    *(math.inf, -math.inf, math.nan, math.pi / 2),
]


def outcome(function, x):
    try:
        return function(x, 3)
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if hasattr(math, n)])
def test_native_functions_raise_where_cpython_does(name):
    function = getattr(math, name)

    def summed(x, n):
        total = 0.0
        for _ in range(n):
            total += function(x)
        return total

    f = ljit.jit(summed)
    for _ in range(3):
        f(0.75 if name != "acosh" else 1.75, 3)
    assert f"math::{name}" in str(f.graph_for(0.75, 3))
    for x in VALUES:
        assert compare(outcome(summed, x), outcome(f, x)) is None, x


@pytest.mark.parametrize("name", ["cosh", "exp", "log", "log2", "sin"])
def test_what_is_not_finite_before_stays_in_native_code(name):
    function = getattr(math, name)

    def last(x, n):
        y = 0.0
        for _ in range(n):
            y = function(x)
        return y

    f = ljit.jit(last)
    for _ in range(3):
        f(0.75, 3)
    values = [math.nan] if name == "sin" else [math.nan, math.inf]
    for x in values:
        assert compare(last(x, 3), f(x, 3)) is None, x
    assert [s.bailouts for s in f.specializations] == [0]

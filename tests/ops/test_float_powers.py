"""Whole powers and roots of floats are C's, bit for bit, where rounding is a near thing, too."""

import re

import numpy as np
import pytest

import ljit


def squares(xs, out):
    for i in range(len(xs)):
        out[i] = float(xs[i]) ** 2


def cubes(xs, out):
    for i in range(len(xs)):
        out[i] = float(xs[i]) ** 3


def sixth_powers(xs, out):
    for i in range(len(xs)):
        out[i] = float(xs[i]) ** 6


def reciprocals(xs, out):
    for i in range(len(xs)):
        out[i] = float(xs[i]) ** -1


def roots(xs, out):
    for i in range(len(xs)):
        out[i] = abs(float(xs[i])) ** 0.5


#: exponents of two between which the numbers are: results near 1, and where less is known of the C library
SPANS = [(-1, 1), (-16, 16), (7.9, 8.1), (15.9, 16.1), (-40, 40), (-160, 160)]


@pytest.mark.parametrize("function", [squares, cubes, sixth_powers, reciprocals, roots])
def test_powers_are_those_of_the_c_library(function):
    f = ljit.jit(function)
    rng = np.random.default_rng(3)
    for low, high in SPANS:
        xs = np.exp2(rng.uniform(low, high, 20_000)) * rng.choice([-1.0, 1.0], 20_000)
        expected, given = np.empty_like(xs), np.empty_like(xs)
        function(xs, expected)
        for _ in range(3):
            f(xs, given)
            assert given.tobytes() == expected.tobytes()


@pytest.mark.parametrize("function", [squares, cubes, reciprocals, roots])
def test_powers_at_the_limits_of_what_is_known(function):
    f = ljit.jit(function)
    near = [
        np.nextafter(2.0**k, to) for k in (-300, -16, -8, 0, 8, 16, 300) for to in (0.0, np.inf)
    ]
    xs = np.array([*near, *(2.0**k for k in (-16, -8, 8, 16)), 1e-300, 1e100, 5e-324])
    xs = xs if function is not reciprocals else xs[:-1]
    expected, given = np.empty_like(xs), np.empty_like(xs)
    function(xs, expected)
    for _ in range(4):
        f(xs, given)
        assert given.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("function", "masks"), [(squares, 0), (cubes, 1), (roots, 0)])
def test_powers_that_are_not_negative_are_looked_at_as_they_are(function, masks):
    f = ljit.jit(function)
    xs = np.linspace(0.5, 2.0, 50)
    for _ in range(3):
        f(xs, np.empty_like(xs))
    text = f.dump_llvm()
    found = re.findall(rf"and i64 %v\d+, {2**63 - 1}\n.*call double @llvm.fma", text)
    assert len(found) == masks


def carried(u, first, step, out):
    for i in range(len(out)):
        out[i] = u ** (first + step * i)


def carried_downwards(u, first, step, out):
    for i in range(len(out)):
        out[i] = (1 + u) ** (first - i)


@pytest.mark.parametrize("function", [carried, carried_downwards])
def test_carried_powers_are_those_of_the_c_library(function):
    f = ljit.jit(function)
    rng = np.random.default_rng(4)
    spreads = [1e-12, 1e-6, 1e-4, 1e-3, 0.01, 0.1]
    bases = [float(x) for spread in spreads for x in 1 + spread * rng.uniform(-1, 1, 4)]
    for u in (*bases, -1.001, 1.5, 1e-30, 1e30, 2.0, 1.0):
        for first, step in [(0, 1), (-300, 2), (2**20, 1), (2**24 + 1, 1)]:
            expected, given = np.zeros(1000), np.zeros(1000)
            try:
                with np.errstate(all="ignore"):
                    function(u, first, step, expected)
            except OverflowError as error:
                with pytest.raises(OverflowError, match=re.escape(str(error))):
                    f(u, first, step, given)
            else:
                with np.errstate(all="ignore"):
                    f(u, first, step, given)
            assert given.tobytes() == expected.tobytes()

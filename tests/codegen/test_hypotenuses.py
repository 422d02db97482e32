"""Comparisons of absolute values of complex arrays with constants are decided exactly, without a square root."""

import math
from fractions import Fraction

import numpy as np
import pytest

import ljit

CIRCLE = np.exp(1j * np.random.default_rng(1).uniform(0, 2 * math.pi, 2000))
PARTS = (0.0, -0.0, 3.0, -4.0, 5e-324, 1e-200, 1e200, math.inf, -math.inf, math.nan)
SPECIAL = np.array([complex(a, b) for a in PARTS for b in PARTS])


def orders_of_one(z):
    return np.abs(z) <= 1.0, np.abs(z) < 1.0, np.abs(z) > 1.0, np.abs(z) >= 1.0


def orders_of_five(z):
    return np.abs(z) <= 5.0, np.abs(z) < 5.0, np.abs(z) > 5.0, np.abs(z) >= 5.0


def orders_of_tiny(z):
    return np.abs(z) <= 1e-200, np.abs(z) < 1e-200, np.abs(z) > 1e-200, np.abs(z) >= 1e-200


def compiled(function, z):
    native = ljit.jit(function)
    for _ in range(3):
        result = native(z)
    assert native.specializations[0].state == "native"
    return result


def is_at_most(z, bound):
    """Whether the modulus, rounded to a double, is at most `bound`."""
    middle = (Fraction(bound) + Fraction(math.nextafter(bound, math.inf))) / 2
    squares = Fraction(z.real) ** 2 + Fraction(z.imag) ** 2
    is_even = math.frexp(bound)[0] * 2**53 % 2 == 0
    return squares < middle**2 or (is_even and squares == middle**2)


@pytest.mark.parametrize(("function", "bound"), [(orders_of_one, 1.0), (orders_of_five, 5.0)])
def test_a_modulus_next_to_the_bound_is_on_the_side_of_its_rounded_value(function, bound):
    z = CIRCLE * bound
    at_most, below, above, at_least = compiled(function, z)
    assert at_most.tolist() == [is_at_most(x, bound) for x in z]
    assert below.tolist() == [is_at_most(x, math.nextafter(bound, 0.0)) for x in z]
    assert (above == ~at_most).all()
    assert (at_least == ~below).all()


@pytest.mark.parametrize("function", [orders_of_one, orders_of_five, orders_of_tiny])
def test_special_operands_compare_as_in_numpy(function):
    with np.errstate(all="ignore"):
        expected = function(SPECIAL)
    for found, wanted in zip(compiled(function, SPECIAL), expected, strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def escapes(points, most):
    out = np.zeros(len(points), np.int64)
    for i in range(len(points)):
        z, n = 0j, 0
        while abs(z) <= 2 and n < most:
            z = z * z + points[i]
            n += 1
        out[i] = n
    return out


def inside(points):
    return [(abs(z) <= 5, 5 > abs(z), abs(z) == 5, 5 != abs(z)) for z in points]


def test_bounds_that_are_ints_compare_as_floats():
    points = CIRCLE[:203].tolist()
    native = ljit.jit(escapes)
    for _ in range(3):
        assert native(points, 40).tolist() == escapes(points, 40).tolist()
    near = [*points, *(complex(5 * z.real, 5 * z.imag) for z in points), 3 + 4j, 5j, complex("nan")]
    assert ljit.jit(inside)(near) == inside(near)


def test_no_modulus_is_computed_where_eight_points_are_followed_at_once():
    points = CIRCLE[:200].copy()
    native = ljit.jit(escapes)
    for _ in range(3):
        assert native(points, 40).tolist() == escapes(points, 40).tolist()
    assert (
        native.dump_llvm(optimized=True).count("call double @hypot") <= 1
    )  # of the trips left over

"""Polynomials over unknown ints: what they give for numbers is what the same sums of numbers give."""

from __future__ import annotations

import itertools

import pytest

import ljit.ops  # noqa: F401
from ljit.ir import Graph
from ljit.ir.linear import Atom, Linear
from ljit.types import INT

PARAMS = [Graph("f").block.add_param(name, INT) for name in "xyz"]
ATOMS = [Atom(order, value, (), -3, 4) for order, value in enumerate(PARAMS)]
X, Y, Z = map(Linear.of, ATOMS)
POLYNOMIALS = [
    Linear(),
    Linear(-5),
    X,
    X * 2 - Y + 3,
    X * X - 4 * X,
    X * Y - Y * Z * 6 + 12,
    (X + Y) * (X - Y) * 3,
]
POINTS = list(itertools.product((-3, 0, 1, 4), repeat=3))


def at(polynomial: Linear, point: tuple[int, ...]) -> int:
    given = dict(zip(ATOMS, map(Linear, point), strict=True))
    result = polynomial.substitute(given)
    assert not result.terms
    return result.constant


@pytest.mark.parametrize("a", POLYNOMIALS, ids=repr)
@pytest.mark.parametrize("b", POLYNOMIALS, ids=repr)
def test_sums_and_products_are_those_of_numbers(a: Linear, b: Linear) -> None:
    for point in POINTS:
        x, y = at(a, point), at(b, point)
        assert at(a + b, point) == x + y
        assert at(a - b, point) == x - y
        assert at(a * b, point) == x * y
        assert at(a.less(3, b, own=2), point) == 2 * x - 3 * y


@pytest.mark.parametrize("a", POLYNOMIALS, ids=repr)
def test_numbers_stand_on_either_side(a: Linear) -> None:
    for point in POINTS:
        x = at(a, point)
        assert [at(r, point) for r in (a + 7, 7 + a, a - 7, 7 - a)] == [x + 7, 7 + x, x - 7, 7 - x]
        assert [at(r, point) for r in (a * 3, 3 * a, a * 1, a * 0, -a)] == [3 * x, 3 * x, x, 0, -x]


@pytest.mark.parametrize("a", POLYNOMIALS, ids=repr)
def test_a_reduced_fact_holds_where_the_fact_holds(a: Linear) -> None:
    for constant in range(-7, 8):
        fact = a + constant
        for point in POINTS:
            assert (at(fact, point) >= 0) == (at(fact.reduced(), point) >= 0)


def test_a_fact_is_divided_by_what_all_terms_share() -> None:
    assert (X * 2 + Y * 4 + 3).reduced() == X + Y * 2 + 1
    assert (X * 2 + Y * 3 + 5).reduced() == X * 2 + Y * 3 + 5


@pytest.mark.parametrize("a", POLYNOMIALS, ids=repr)
def test_values_lie_within_the_bounds(a: Linear) -> None:
    low, high = a.bounds()
    values = [at(a, point) for point in itertools.product(range(-3, 5), repeat=3)]
    assert low <= min(values)
    assert high >= max(values)


def test_bounds_of_single_terms_are_reached() -> None:
    assert (X * 2 - Y + 3).bounds() == (2 * -3 - 4 + 3, 2 * 4 + 3 + 3)
    assert (X * X).bounds() == (0, 16)
    assert (X * Y).bounds() == (-12, 16)


def test_equal_polynomials_are_one_key() -> None:
    assert X * Y + 2 == 2 + Y * X
    assert hash(X * Y + 2) == hash(2 + Y * X)
    assert X - X == Linear()
    assert X != Y


def test_a_cofactor_is_what_an_atom_is_multiplied_with() -> None:
    assert (X * Y * 3 + X * 2 + Z).cofactor(ATOMS[0]) == Y * 3 + 2
    assert Z.cofactor(ATOMS[0]) == Linear()
    assert (X * X).cofactor(ATOMS[0]) is None


def test_a_polynomial_shows_its_terms() -> None:
    assert repr(X * 2 + 3) == "3 + 2*x0"
    assert repr(Linear()) == "0"

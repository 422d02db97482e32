"""Products of complex arrays have NumPy's bits: its loops for odd layouts round otherwise than those with vectors."""

from functools import partial

import numpy as np
import pytest

import ljit
from ljit.config import overridden

DTYPES = [np.complex64, np.complex128]
SIZES = [1, 2, 9, 40]
ROUNDS = 6  # other numbers in each: some products round equally


def product(x, y):
    return x * y + x


def square(x, y):
    return np.square(x) - y


def in_place(x, y):
    x *= y
    x += y
    return x


def squared_in_place(x, y):
    x *= x
    np.square(x, out=x)
    return x - y


def into_an_operand(x, y):
    np.multiply(x, y, out=y)
    return y


def into_another(x, y):
    out = np.empty_like(x)
    np.multiply(x, y, out)
    return out


def by_one_of_them(x, y):
    x *= y[0]
    return x


FUNCTIONS = [product, square, in_place, squared_in_place, into_an_operand, into_another]
FUNCTIONS.append(by_one_of_them)


def advance(psi, potential, dt):
    psi *= np.exp(-1j * potential * dt)
    return psi


def numbers(rng, n, dtype, step):
    """So many, in an array that is written to."""
    base = rng.normal(size=(2, n * abs(step)))
    return (base[0] + 1j * base[1]).astype(dtype)[::step][:n]


def operands(rng, n, dtype, steps):
    return [numbers(rng, n, dtype, step) for step in steps]


def check(plain, compiled, make):
    for _ in range(ROUNDS):
        given, again = make(), make()
        for x, y in zip(given, again, strict=True):
            y[...] = x
        pairs = [(compiled(*given), plain(*again)), *zip(given, again, strict=True)]
        for found, expected in pairs:
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("plain", FUNCTIONS)
def test_each_size_and_each_direction(plain, dtype):
    rng = np.random.default_rng(7)
    for n in SIZES:
        for steps in ((1, 1), (1, -1), (-1, -1), (2, 1), (-2, 3)):
            if n > 1 or min(steps) > 0:  # NumPy goes by strides that mean nothing, too
                make = partial(operands, rng, n, dtype, steps)
                with overridden(quick_runs=0):
                    check(plain, ljit.jit(plain), make)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("plain", FUNCTIONS)
def test_code_for_all_sizes_meets_one_element(plain, dtype):
    rng, compiled = np.random.default_rng(8), ljit.jit(plain)
    for n in (50, 60, 1, 70, 1):
        check(plain, compiled, partial(operands, rng, n, dtype, (1, 1)))


@pytest.mark.parametrize("view", [np.flipud, np.fliplr, np.flip, np.transpose])
def test_rows_that_go_backwards(view):
    rng, compiled = np.random.default_rng(9), ljit.jit(product)

    def make():
        x, y = (numbers(rng, 63, np.complex64, 1).reshape(7, 9) for _ in range(2))
        return view(x), y.reshape(view(x).shape)

    check(product, compiled, make)


def test_products_in_place_are_native():
    psi, potential = np.ones(100, complex), np.linspace(0, 1, 100)
    compiled = ljit.jit(advance)
    for _ in range(3):
        compiled(psi, potential, 0.1)
    assert "boxed" not in compiled.explain() and "Python" not in compiled.explain()


def products_of_numbers(x, y):
    out = np.empty_like(x)
    for i in range(len(x)):
        product = x[i]
        product *= y[i]
        out[i] = product
    return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_multiplied_in_place_as_numpys_numbers_are(dtype):
    rng = np.random.default_rng(10)
    check(
        products_of_numbers,
        ljit.jit(products_of_numbers),
        partial(operands, rng, 200, dtype, (1, 1)),
    )

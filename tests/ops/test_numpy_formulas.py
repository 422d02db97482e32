"""Functions of NumPy that are formulas on each element give NumPy's bits, types and strides in all layouts."""

from __future__ import annotations

import numpy as np
import pytest

import ljit


def rounded(a):
    return np.round(a)


def rounded_and_more(a):
    return np.round(a, 2) + 1.0


def rounded_by_the_method(a):
    return a.round(decimals=3)


def rounded_to_tens(a):
    return np.around(a, -1)


def close(a):
    return np.isclose(a, a * 1.000001)


def close_with_tolerance(a):
    return np.isclose(a, a * 1.001, rtol=1e-2, equal_nan=True)


def close_to_a_number(a):
    return np.isclose(a, 0.125)


def without_nan(a):
    return np.nan_to_num(a)


def with_replacements(a):
    return np.nan_to_num(a, nan=-1.0, posinf=5)


def sinc(a):
    return np.sinc(a)


def angle(z):
    return np.angle(z)


def angle_in_degrees(z):
    return np.angle(z, deg=True)


REAL = [rounded, rounded_and_more, rounded_by_the_method, rounded_to_tens, close, close_with_tolerance,
        close_to_a_number, without_nan, with_replacements, sinc]  # fmt: skip
VALUES = np.concatenate([
    np.random.default_rng(0).normal(size=50) * 100,
    [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, 0.005, 2.675, 1e-9, 0.125],
])  # fmt: skip
LAYOUTS = {
    "contiguous": lambda a: a,
    "strided": lambda a: a[::2],
    "transposed": lambda a: a.reshape(-1, 2).T,
    "scalar": lambda a: a[3],
}


def check(function, operand, exact):
    compiled = ljit.jit(function)
    with np.errstate(all="ignore"):
        for _ in range(4):
            found = compiled(operand)
        wanted = function(operand)
    assert type(found) is type(wanted)
    assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
    if exact:
        np.testing.assert_array_equal(found, wanted, strict=True)
        assert (np.signbit(found) == np.signbit(wanted)).all() or found.dtype == bool
    else:
        np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(wanted.dtype).eps, strict=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", REAL)
def test_formulas_of_real_numbers(function, dtype, layout):
    check(function, LAYOUTS[layout](VALUES.astype(dtype)), exact=function is not sinc)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("function", [angle, angle_in_degrees])
def test_angles_of_complex_numbers(function, dtype, layout):
    numbers = np.empty(len(VALUES), dtype)
    numbers.real, numbers.imag = VALUES, VALUES[::-1]
    check(function, LAYOUTS[layout](numbers), exact=False)


def test_they_are_part_of_loop_nests():
    def f(a):
        return np.round(a * 3.0, 1) + np.nan_to_num(a)

    compiled = ljit.jit(f)
    a = np.linspace(-1.0, 1.0, 100)
    for _ in range(4):
        compiled(a)
    text = str(compiled.graph_for(a))
    assert text.count("prim::Map") == 1
    assert compiled(a).tolist() == f(a).tolist()


@pytest.mark.parametrize("function", [without_nan, with_replacements])
def test_ints_have_no_nan_and_are_copied(function):
    for dtype in "?bBhHiIlL":
        a = (np.arange(12) * 37 % 11).astype(dtype)
        for operand in (a, a[::2], a.reshape(3, 4).T, a[3]):
            compiled = ljit.jit(function)
            for _ in range(3):
                found, wanted = compiled(operand), function(operand)
                assert (type(found), found.dtype, found.strides) == (
                    type(wanted),
                    wanted.dtype,
                    wanted.strides,
                )
                np.testing.assert_array_equal(found, wanted)
                assert not np.shares_memory(found, operand)
        assert "calls Python" not in compiled.explain()

"""Differences, norms, integrals and closeness, made of views, elementwise ops and sums, are what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import ljit


def differences(a):
    return np.diff(a)


def differences_of_rows(a):
    return np.diff(a, axis=0)


def second_differences(a):
    return np.diff(a, n=2)


def differences_ever_again(a):
    return np.diff(a, n=3, axis=0)


def differences_from_a_number_on(a):
    return np.diff(a, prepend=0)


def differences_with_ends(a):
    return np.diff(a, 2, -1, 1.5, a[:2])


def differences_up_to_an_end(a):
    return np.diff(a, append=a[-1:])


def differences_from_nothing_on(a):
    return np.diff(a, prepend=None)


def integral_along_columns(a):
    return np.trapezoid(a, axis=0)


def integral_of_rows_over_points(a):
    return np.trapezoid(a, np.arange(float(a.shape[-1])) ** 2)


def integral_of_columns_over_points(a):
    return np.trapezoid(a, np.arange(float(a.shape[0])) ** 2, axis=0)


def integral_in_the_middle(a):
    return np.trapezoid(a, np.arange(6.0), 1.0, 1)


def squared_differences(a):
    return np.sum(np.diff(a) ** 2)


def all_close(a):
    return np.allclose(a, a * 1.000001)


def all_close_with_tolerance(a):
    return np.allclose(a, a + 1.0, atol=10.0)


def norm(a):
    return np.linalg.norm(a)


def norms_of_rows(a):
    return np.linalg.norm(a, axis=-1)


def norms_of_columns(a):
    return np.linalg.norm(a, axis=0)


def normalized_rows(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def norm_of_a_matrix(a):
    return np.linalg.norm(a, axis=(0, 1))


def integral(a):
    return np.trapezoid(a)


def integral_over_points(a):
    return np.trapezoid(a, a * 2)


def integral_with_step(a):
    return np.trapezoid(a, dx=0.1)


FUNCTIONS = [differences, differences_of_rows, second_differences, squared_differences, all_close,
             all_close_with_tolerance, norm, norms_of_rows, norms_of_columns, normalized_rows, norm_of_a_matrix, integral,
             integral_over_points, integral_with_step, differences_ever_again, differences_from_a_number_on, differences_with_ends,
             differences_up_to_an_end, integral_along_columns, integral_of_rows_over_points,
             integral_of_columns_over_points, integral_in_the_middle]  # fmt: skip
LAYOUTS = {
    "contiguous": lambda a: a,
    "strided": lambda a: a[::2],
    "matrix": lambda a: a.reshape(12, 20),
    "transposed": lambda a: a.reshape(12, 20).T,
    "cube": lambda a: a.reshape(4, 6, 10),
    "empty": lambda a: a[:0],
    "one": lambda a: a[:1],
}
VALUES = np.random.default_rng(0).normal(size=240) * 10


def outcome(function, operand):
    with np.errstate(all="ignore"):
        try:
            return function(operand)
        except Exception as error:
            return error


CASES = [(np.float64, layout) for layout in LAYOUTS]
CASES += [(dtype, "matrix") for dtype in (np.float32, np.int64, np.complex128)]


@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_types_and_strides_are_numpy_s(function, dtype, layout):
    operand = LAYOUTS[layout](VALUES.astype(dtype))
    wanted = outcome(function, operand)
    compiled = ljit.jit(function)
    for _ in range(4):
        found = outcome(compiled, operand)
    assert type(found) is type(wanted)
    if isinstance(wanted, Exception):
        assert str(found) == str(wanted)
    elif isinstance(wanted, bool):
        assert found is wanted
    else:
        assert (found.dtype, found.shape, found.strides) == (
            wanted.dtype,
            wanted.shape,
            wanted.strides,
        )
        eps = np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
        is_sum = wanted.ndim == 0 or function.__name__.startswith("integral")
        size = 1e5 * eps if is_sum else 0  # parts cancel
        np.testing.assert_allclose(found, wanted, rtol=20 * eps, atol=size)


def test_a_norm_has_the_bits_of_numpy_s():
    compiled = ljit.jit(norm)
    for _ in range(4):
        found = compiled(VALUES)
    assert found == np.linalg.norm(VALUES)


def test_sums_of_differences_are_one_loop_nest():
    compiled = ljit.jit(squared_differences)
    for _ in range(4):
        compiled(VALUES)
    assert str(compiled.graph_for(VALUES)).count("prim::Map") == 1


def test_none_is_not_left_out():
    compiled = ljit.jit(differences_from_nothing_on)
    for _ in range(3):
        with pytest.raises(TypeError, match="NoneType"):
            compiled(VALUES)


@pytest.mark.parametrize(
    ("function", "layout"),
    [
        (second_differences, "contiguous"),
        (differences_from_a_number_on, "contiguous"),
        (differences_with_ends, "strided"),
        (integral_along_columns, "matrix"),
        (integral_of_columns_over_points, "cube"),
    ],
)
def test_they_are_native(function, layout):
    compiled, operand = ljit.jit(function), LAYOUTS[layout](VALUES)
    for _ in range(3):
        compiled(operand)
    assert "calls Python: np" not in compiled.explain()

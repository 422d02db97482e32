"""gradient, average, select, polyval, clip with one bound and others give NumPy's values, types, strides and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ljit
from tests.ops.test_numpy_manipulation import outcome


def gradients(a):
    return (
        np.gradient(a, axis=0),
        np.gradient(a, 0.5, axis=-1),
        np.gradient(a[0], 2),
        np.gradient(a[0]),
    )


def gradients_along_all_axes(a):
    x, y = np.gradient(a)
    return x, y, *np.gradient(a, 0.1), *np.gradient(a, 2, 0.25)


def gradient_of_too_few(a):
    return np.gradient(a[:1], axis=0)


def gradient_at_places(a):
    return np.gradient(a[0], np.arange(20.0))


def averages(a):
    return (
        np.average(a),
        np.average(a, weights=a * a + 1),
        np.average(a[0], weights=np.arange(20.0)),
    )


def averages_along_an_axis(a):
    return np.average(a, axis=0), np.average(a, 1, np.arange(20.0))


def average_with_weights_of_nothing(a):
    return np.average(a, weights=a * 0)


def average_with_weights_of_other_sizes(a):
    return np.average(a, weights=a[:1])


def choices(a):
    return (
        np.select([a > 5, a > 0], [a, a * 2], -1.0),
        np.select([a > 0], [a]),
        np.select((a > 0,), (1.5,), a),
    )


def choices_of_numbers(a):
    return np.select([a > 5, a > 0], [1, 2], 0), np.select([a > 5, a[0] > 0], [a, 1.0])


def choices_of_an_int(a):
    return np.select([a > 5, a > 0], [1, a], 2)


def choice_by_what_is_not_bool(a):
    return np.select([a], [a])


def polynomials(a):
    return (
        np.polyval([1.0, -2.0, 3.0], a),
        np.polyval((1, 2), a),
        np.polyval(np.arange(3.0), a),
        np.polyval([], a),
        np.polyval([1, -2, 3], a),
        np.polyval([1, -2, 3], 0.5),
        np.polyval([0.5, 2], a[0, 0]),
        np.polyval([0.5, 2], 3),
    )


def without_fractions(a):
    return np.fix(a), np.fix(a * 0.1)


def bounded(a):
    return (
        np.clip(a, 0, None),
        np.clip(a, None, 1),
        a.clip(0.5, None),
        np.clip(a, a[0], None),
        np.clip(a, a_min=0, a_max=None),
    )


def bounded_by_nothing(a):
    return np.clip(a, None, None)


def conjugates(a):
    return a.conj(), a.conjugate(), np.real(a), a.conj() * a


def filled(a):
    b = a.copy()
    b.fill(3)
    b[:, ::2].fill(1)
    return b, b.fill(0)


def filled_with_what_does_not_fit(a):
    b = a.copy()
    b.fill(1e300)
    return b


def halves(a):
    x, y = np.hsplit(a, 2)
    p, q = np.vsplit(a, 2)
    r, s = np.hsplit(a[0], 2)
    return x, y, p, q, r, s


def rows_of_a_vector(a):
    return np.vsplit(a[0], 2)


FUNCTIONS = [gradients, gradients_along_all_axes, gradient_of_too_few, gradient_at_places, averages,
             averages_along_an_axis, average_with_weights_of_nothing, average_with_weights_of_other_sizes, choices,
             choices_of_numbers, choices_of_an_int, choice_by_what_is_not_bool, polynomials, without_fractions, bounded,
             bounded_by_nothing, conjugates, filled, filled_with_what_does_not_fit, halves, rows_of_a_vector]  # fmt: skip
LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.reshape(20, 12).T,
    "empty": lambda a: a[:0],
}
MATRIX = np.random.default_rng(0).normal(size=(12, 20)) * 10
MATRIX[2, 3:6] = np.nan, np.inf, -0.0
CASES = [(np.float64, layout) for layout in LAYOUTS]
CASES += [
    (t, "contiguous") for t in (np.float32, np.float16, np.complex64, np.int8, np.uint32, np.bool_)
]


def assert_close(found, wanted):
    """Sums may be made in another order."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple | list):
        for x, y in zip(found, wanted, strict=True):
            assert_close(x, y)
    elif isinstance(wanted, Exception):
        assert str(found) == str(wanted)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.strides == wanted.strides or not wanted.size
        eps = np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" and not wanted.ndim else 0
        # sums to one number add up in another order than NumPy's; all else has its bits
        np.testing.assert_allclose(found, wanted, rtol=20 * eps)
    else:
        assert found == wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dtype", "layout"), CASES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_types_and_errors_are_numpy_s(function, dtype, layout):
    with np.errstate(all="ignore"):
        operand = LAYOUTS[layout](MATRIX.astype(dtype))
        wanted = outcome(function, operand)
        compiled = ljit.jit(function)
        for _ in range(3):
            assert_close(outcome(compiled, operand), wanted)


def test_what_is_native_calls_nothing():
    operand = np.random.default_rng(1).normal(size=(12, 20))
    for function in (
        gradients,
        gradients_along_all_axes,
        choices,
        bounded,
        conjugates,
        filled,
        halves,
    ):
        compiled = ljit.jit(function)
        for _ in range(3):
            compiled(operand)
        assert "calls Python: np" not in compiled.explain(), function.__name__


def test_what_numpy_warns_of_is_warned_of():
    """As NumPy 2.5 does of `np.fix`."""

    def warnings_of(function):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(3):
                function(MATRIX)
        return [(w.category, str(w.message)) for w in seen]

    assert warnings_of(ljit.jit(without_fractions)) == warnings_of(without_fractions)


def piecewise(a):
    return np.select([a < 0, a < 1], [-a, a * a], np.sqrt(a))


def test_choices_are_one_loop_nest():
    compiled, operand = ljit.jit(piecewise), np.abs(MATRIX[4:])
    for _ in range(3):
        np.testing.assert_array_equal(compiled(operand), piecewise(operand))
    assert str(compiled.graph_for(operand)).count("prim::Map") == 1

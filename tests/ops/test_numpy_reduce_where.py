"""Reductions with `where` and `initial` give what NumPy gives, its errors and warnings; calls bind as Python binds them."""

import warnings

import numpy as np
import pytest

import ljit
from tests.ops.layouts import LAYOUTS

RNG = np.random.default_rng(8)
DTYPES = [
    "float64",
    "float32",
    "float16",
    "complex128",
    "int8",
    "int64",
    "uint16",
    "uint64",
    "bool",
]


def totals(a, m):
    return (
        a.sum(where=m),
        np.prod(a, where=m),
        np.sum(a, where=m, initial=3),
        np.any(a, where=m),
        a.all(where=m),
    )


def totals_along(a, m):
    return (
        np.sum(a, axis=0, where=m),
        a.prod(axis=1, where=m, keepdims=True),
        np.sum(a, -1, where=m, initial=2),
        np.any(a, axis=0, where=m),
        np.all(a, axis=-1, where=m, keepdims=True),
    )


def extrema(a, m):
    return (
        np.max(a, where=m, initial=1),
        a.min(where=m, initial=1),
        np.max(a, axis=0, where=m, initial=0),
        a.min(axis=1, where=m, initial=7, keepdims=True),
    )


def first_values(a, _):
    return (
        a.sum(initial=5),
        np.max(a, initial=3),
        np.min(a, axis=0, initial=-0.0),
        np.prod(a, axis=1, initial=2),
        a.max(initial=0, where=True),
    )


def averages(a, m):
    return np.mean(a, where=m), a.std(where=m), np.var(a, where=m, ddof=1)


def averages_along(a, m):
    return a.mean(axis=0, where=m), np.std(a, axis=1, where=m, keepdims=True), np.var(a, 0, where=m)


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = function(*args)
        except (ValueError, TypeError, OverflowError) as error:
            results = (repr(error),)
    texts = {str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)}
    return results, {x for x in texts if "slice" in x or "freedom" in x}  # arithmetic does not warn


def compare(function, *args_list):
    compiled = ljit.jit(function)
    for args in args_list:
        (wanted, noted), (found, heard) = outcome(function, *args), outcome(compiled, *args)
        assert heard == noted
        for x, y in zip(found, wanted, strict=True):
            assert type(x) is type(y)
            if isinstance(y, str):
                assert x == y
                continue
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            tolerance = {"e": 2e-2, "f": 2e-5, "F": 2e-5, "d": 1e-12, "D": 1e-12}.get(
                y.dtype.char, 0
            )
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
            if y.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(x), np.signbit(y))
    return compiled


def numbers(shape, dtype):
    if dtype == "bool":
        return RNG.random(shape) < 0.5
    low = 0 if dtype[0] == "u" else -4
    return (RNG.integers(low, 5, shape) + (0.5 if dtype[0] in "fc" else 0)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function", [totals, totals_along, extrema, first_values, averages, averages_along]
)
def test_masks_and_first_values(function, dtype):
    a = numbers((6, 10), dtype)
    mask = RNG.random((6, 10)) < 0.6
    mask[:, :3] |= np.eye(6, 3, dtype=bool)
    nothing, all_but_a_column = np.zeros_like(mask), np.arange(10) != 3
    cases = [(layout(a), layout(mask)) for layout in LAYOUTS]
    cases += [
        (a, nothing),
        (a, all_but_a_column),
        (a, mask),
        (a[:0], mask[:0]),
        (a[:1], mask),
        (a, mask[:, :1]),
    ]
    cases += [(a, True), (a, np.int64(1)), (a, mask.astype(int)), (a[:3], mask)]
    compare(function, *cases, *cases[:3])


@pytest.mark.parametrize(
    "function", [totals, totals_along, extrema, first_values, averages, averages_along]
)
def test_they_are_native(function):
    a, mask = numbers((50, 20), "float64"), RNG.random((50, 20)) < 0.6
    for array in (a, a[:, ::-1]):
        compiled = compare(function, *((array, mask),) * 3)
        assert "calls Python: np" not in compiled.explain()


def test_vectors_with_gaps_are_native():
    a = numbers((60,), "float64")[::2]
    compiled = compare(
        lambda a, m: (a.max(initial=0), a.sum(where=m), np.mean(a, where=m)), *((a, a > 0),) * 3
    )
    assert "calls Python: np" not in compiled.explain()


def test_signs_of_zeros():
    a, mask = np.array([-0.0, 1.0, -0.0]), np.array([True, False, True])
    compare(
        lambda a, m: (a.sum(where=m), a.sum(initial=-0.0), a.sum(where=~m & m)), *((a, mask),) * 3
    )


def test_other_first_values():
    a = np.arange(5)
    for first in (1.5, None, np.float32(2), 2**70, 1j, True, np.int8(3)):
        compare(lambda a, x: (np.sum(a, initial=x), np.max(a, initial=x)), *((a, first),) * 3)
        compare(
            lambda a, x: (a.sum(initial=x), np.min(a, initial=x)), *((a.astype("f4"), first),) * 3
        )


def test_parameters_have_numpy_s_order():
    """The result's array comes before `keepdims`."""
    a, out = np.ones((3, 4)), np.zeros(4)
    for function in (
        lambda a, out: (np.sum(a, 0, None, True),),
        lambda a, out: (np.sum(a, 0, None, out),),
        lambda a, out: (a.max(0, True),),
        lambda a, out: (np.max(a, 0, out), out),
        lambda a, out: (np.std(a, 0, None, out, 1, False),),
        lambda a, out: (np.any(a, 0, None, True),),
        lambda a, out: (np.median(a, 0, None, False, True),),
        lambda a, out: (np.argmax(a, 0, True),),
        lambda a, out: (np.add(out, out, out, out > 1),),
        lambda a, out: (np.any(a, 0, None, True, a > 1),),
    ):
        compare(function, *((a, out),) * 3)


def signs(a, m):
    return (
        np.sum(a, where=m),
        np.sum(a, axis=0, where=m),
        np.mean(a, where=m, axis=1),
        np.sum(a, where=m, initial=-0.0),
        np.sum(a, where=m, initial=0.0),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_sums_of_negative_zeros_have_numpys_signs(dtype):
    compiled = ljit.jit(signs)
    for a in (np.full((2, 3), -0.0, dtype), np.zeros((2, 0), dtype)):
        for m in (np.ones(a.shape, bool), np.zeros(a.shape, bool), np.indices(a.shape)[1] > 0):
            for _ in range(3):
                assert repr(compiled(a, m)) == repr(signs(a, m))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2, 3), (40, 2)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_from_negative_zero_on_have_numpys_signs(dtype, shape):
    def sums(a, x):
        return np.sum(a, initial=x), np.sum(a, axis=0, initial=x), a.sum(-1, initial=x)

    compiled, a = ljit.jit(sums), np.full(shape, -0.0, dtype)
    for x in (1.5, -0.0, 0.0, np.float32(-0.0), 0):
        for _ in range(2):
            assert repr(compiled(a, x)) == repr(sums(a, x))


@pytest.mark.parametrize("shape", [(1,), (3,), (9,), (1, 2), (2, 1), (2, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_sums_of_a_few_negative_zeros_are_zero(dtype, shape):
    """Of the sizes that were seen first, for which there is code of its own."""

    def sums(a):
        return np.sum(a), a.sum(axis=0), np.mean(a), np.mean(a, axis=-1), np.sum(a + a)

    compiled = ljit.jit(sums)
    a = np.full(shape, complex(-0.0, -0.0) if dtype[0] == "c" else -0.0).astype(dtype)
    for _ in range(3):
        assert repr(compiled(a)) == repr(sums(a))


@pytest.mark.filterwarnings("ignore")
def test_products_of_complex_numbers_begin_with_the_first_value():
    def product(a, x):
        return np.prod(a, initial=x)

    compiled = ljit.jit(product)
    for a in (np.zeros(0, complex), np.full(2, complex(-0.0, -0.0))):
        for x in (np.nan, np.inf, -0.0, 1.0, complex(-0.0, -0.0)):
            for _ in range(3):
                assert repr(compiled(a, x)) == repr(product(a, x))


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("total", [np.int64, np.float32, bool])
def test_totals_of_masks_may_have_another_dtype(dtype, total):
    def totals(a, m):
        return (
            np.sum(a, dtype=total, where=m),
            a.sum(axis=1, dtype=total, where=m, keepdims=True),
            a.prod(axis=0, dtype=total, where=m),
        )

    shapes = [(2, 3), (4, 3), (3, 0), (6, 10)]
    compare(totals, *[(numbers(x, dtype), numbers(x, "bool")) for x in shapes])

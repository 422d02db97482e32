"""The last elements of rows are a vector with a mask, where much is done with each, and rows are not put together."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.engine import vector_bytes

PLACES = np.array([3, -5, 1, 1, 2])
WIDTHS = (1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 129, 200, 1100)

FUNCTIONS = {
    "sum": lambda a, c: np.exp(a - c).sum(axis=1),
    "all": lambda a, c: (np.exp(-a) * np.log(a + c)).sum(),
    "extrema": lambda a, c: ((np.sin(a) * np.cos(a)).max(axis=-1), np.exp(a - c).min(axis=1)),
    "product": lambda a, c: np.sqrt(1 + np.exp(-9 * a * c)).prod(axis=1) / 2,
    "beside an array": lambda a, c: (np.exp(a), np.exp(a).sum(axis=1, keepdims=True)),
    "softmax": lambda a, c: (
        np.exp(a - a.max(axis=1, keepdims=True))
        / np.exp(a - a.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    ),
    "rows in turns": lambda a, c: (
        np.exp(a - a.max(axis=1)[:, None]),
        np.log(a + c) * a.sum(axis=1)[:, None],
    ),
    "columns": lambda a, c: ((np.exp(a) * np.log(a + c)).sum(axis=0), np.tanh(a - c).max(axis=0)),
    "one element for a row": lambda a, c: np.log(1 / (1 + np.exp(-a)) + c),
    "rows of a table": lambda a, c: a[PLACES] * np.log(1 / (1 + np.exp(-a))),
    "sums of rows of a table": lambda a, c: (a[PLACES] * np.log(1 / (1 + np.exp(-a)))).sum(axis=1),
    "bools": lambda a, c: (
        np.exp(a) * np.log(a + 1) > c + 3,
        (np.exp(a) * np.log(a + 1) > c + 3).any(axis=1),
        np.where(a > c, np.exp(-a) * np.log(a), 0).sum(axis=0),
    ),
    "bytes": lambda a, c: (
        np.sqrt(1 + np.exp((a * 90).astype(np.uint8) / 255.0)) * np.log(c + 1),
        ((a * 90).astype(np.uint8) * 3 % 7 // 2 * (c * 9).astype(np.uint8) + 5).sum(axis=1),
        ((a * 9).astype(np.int16) * 3 % 7 // 2 * 5 % 3).max(axis=0),
    ),
    "stored": lambda a, c: stored(a.copy(), np.exp(a) * np.log(a + c) - a / (c + 3)),
    "ints beside columns": lambda a, c: (
        (a.astype(np.int32) * 3 + c.astype(np.int32)) ** 2 % 7 * 5 // (1 + c.astype(np.int32))
    ),
    "ints": lambda a, c: ((a.astype(np.int32) * 3 + 1) ** 2 % 7 * 5 - 3).sum(axis=1),
}


def stored(b, x):
    b[1:] = np.sqrt(b[:-1] + x[1:] * x[1:]) / (1 + abs(b[1:, :1]) + b[1:])
    return b


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_of_any_length(name, dtype):
    function = FUNCTIONS[name]
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for width in WIDTHS:
            a = np.random.default_rng(width).random((5, width)).astype(dtype) + dtype_of(dtype, 1)
            c = a[:, :1].copy()
            for x in (a, np.repeat(a, 2, axis=1)[:, ::2], a[:, ::-1], np.asfortranarray(a)):
                assert_close(f(x, c), function(x, c), dtype)


def dtype_of(dtype, value):
    return np.dtype(dtype).type(value)


def assert_close(found, wanted, dtype):
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for x, y in pairs:
        assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
        # NumPy's functions and ours differ by some units in the last place, and sums have another order
        np.testing.assert_allclose(x, y, rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_behind_the_mask_are_in_no_result():
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda a: (np.log(a).sum(axis=1), (1 / np.exp(a)).max(axis=1)))
        for width in (3, 13, 70):
            rows = np.full((4, width + 9), np.nan)
            rows[:, :width] = 2.0
            inside = rows[:, :width]
            for _ in range(2):
                total, most = f(inside.copy())
                # all addends are alike: an element more or less is a part in 70 at least
                np.testing.assert_allclose(total, width * np.log(2.0), rtol=1e-14)
                np.testing.assert_allclose(most, np.exp(-2.0), rtol=1e-14)
            inside[1, width - 1] = np.nan
            total, most = f(inside)
            assert (
                np.isnan(total).tolist() == np.isnan(most).tolist() == [False, True, False, False]
            )


@pytest.mark.parametrize(
    ("function", "has_masks"),
    [
        (lambda a: (np.exp(a) * np.log(a)).sum(axis=1), True),
        (lambda a: (np.exp(a) * np.log(a)).sum(axis=0), True),
        (lambda a: np.exp(a) * np.log(a + a[:, 0, None]), True),
        (lambda a: a[np.arange(20)] * np.log(1 + np.exp(a)), True),
        (lambda a: np.exp(a) * np.log(a) > a[:, 0, None], True),
        (lambda a: (a > 0.5) & (a < a[:, 0, None]) | (a == 0) & (a != 3), False),
        (lambda a: np.exp(a * 1j) * np.log(a[:, 0, None]), False),
        (lambda a: np.exp(a) * np.log(a), False),  # rows are put behind one another
        (lambda a: np.exp(a - a.max(axis=1)[:, None]), True),  # rows take turns
        (lambda a: a - a.max(axis=1)[:, None], False),
        (lambda a: np.exp(a[0]) * np.log(a[0]), False),
        (lambda a: (a + 1).sum(axis=1), False),
        (lambda a: (a + 1).sum(axis=0) - a[:, :1], False),
        (lambda a: (np.exp(a[0]) * np.log(a[0])).sum(), False),
        (lambda a: a[:, 1:] - a[:, :-1], False),
    ],
)
def test_masks_are_for_rows_of_which_much_is_computed(function, has_masks):
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for _ in range(3):
            f(np.ones((20, 30)))
    text = f.dump_llvm(np.ones((20, 30)), optimized=False)
    assert ("vectorize.predicate.enable" in text) == (has_masks and vector_bytes() == 64)


@pytest.mark.skipif(vector_bytes() != 64, reason="there are no vectors with masks")
@pytest.mark.parametrize(("dtype", "most"), [("float32", 64), ("float64", 32), ("uint8", 64)])
def test_masks_are_for_fewer_elements_than_four_vectors_take(dtype, most):
    with config.overridden(quick_runs=0):
        f = ljit.jit(
            (lambda a: a[:, 1:] - a[:, :-1])
            if dtype == "uint8"
            else (lambda a: np.exp(a) * np.log(a + a[:, 0, None]))
        )
        a = np.ones((20, 40), dtype)
        for _ in range(3):
            f(a)
    text = f.dump_llvm(a, optimized=False)
    assert set(re.findall(r"and i64 %[\w.]+, (-(?:16|32|64|128|256))\b", text)) == {f"-{most}"}


@pytest.mark.skipif(vector_bytes() != 64, reason="there are no vectors with masks")
def test_both_loops_are_written_once():
    """LLVM wrote the main loop once for each thing that is the same in all rows, and all trips of the other one."""

    def gradients(a, c):
        g = 2 * a[1:-1, 1:-1] + a[2:, 1:-1] - c[:-2, 1:-1] - 2 * c[1:-1, 2:]
        h = 2 * c[1:-1, :-2] - a[:-2, 2:] + a[2:, :-2]
        lengths = np.sqrt(g * g + h * h)
        return lengths, lengths.max()

    a = np.random.default_rng(0).random((20, 70))
    with config.overridden(quick_runs=0):
        f = ljit.jit(gradients)
        for _ in range(3):
            lengths, longest = f(a, a)
    expected, most = gradients(a, a)
    np.testing.assert_array_equal(lengths, expected)
    assert longest == most
    text = f.dump_llvm(a, a, optimized=True)
    assert len(re.findall(r"call <8 x double> @llvm.sqrt", text)) < 8  # fourteen


BYTES = {
    "views": lambda a, r, c, k: a[:, 1:] - a[:, :-1],
    "a row": lambda a, r, c, k: (a * r + a) & 3,
    "a column": lambda a, r, c, k: np.where(a > c, a - c, c - a),
    "a row that is repeated": lambda a, r, c, k: np.broadcast_to(r, a.shape) - 3,
    "a column that is repeated": lambda a, r, c, k: np.broadcast_to(c, a.shape) - a,
    "a number": lambda a, r, c, k: a[:, 1:] + k,
    "bools": lambda a, r, c, k: (a[:, 1:] > 3) & (a[:, :-1] < r[1:]) | (c == 4),
    "quotients": lambda a, r, c, k: (a[:, 1:] // c, a[:, 1:] % 7),
    "floats in between": lambda a, r, c, k: a[:, 1:] > 2.5,
    "backwards": lambda a, r, c, k: a[:, ::-1] | r,
}


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", BYTES)
def test_rows_of_bytes_of_any_length(name, dtype):
    function = BYTES[name]
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for width in WIDTHS:
            drawn = np.random.default_rng(width).integers(1, 100, (9, width)).astype(dtype)
            for a in (drawn, np.repeat(drawn, 2, axis=1)[:, ::2], np.asfortranarray(drawn)):
                args = a, a[0].copy(), a[:, :1].copy(), 7
                assert_same(f(*args), function(*args))


def test_a_number_that_is_no_byte_leaves_rows_of_bytes():
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda a, k: a[:, 1:] + k)
        for width in (3, 70):
            a = np.ones((9, width), np.uint8)
            for _ in range(3):
                assert f(a, 7).tolist() == [[8] * (width - 1)] * 9
            with pytest.raises(OverflowError, match="700 out of bounds for uint8"):
                f(a, 700)


def assert_same(found, wanted):
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for x, y in pairs:
        assert (type(x), x.dtype, x.shape, x.strides) == (type(y), y.dtype, y.shape, y.strides)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("function", "has_masks"),
    [
        (lambda a: a[:, 1:] - a[:, :-1], True),
        (lambda a: (a > 3) & (a < a[:, 0, None]) | (a == 0) & (a != 3), True),
        (lambda a: a[:, 1:] + a[0, 0], True),
        (lambda a: a + 1, False),  # all is one row
        (lambda a: np.add(a[:, 1:], 1, out=a[:, :-1]), False),
        (lambda a: a[:, 1:] + np.int16(3), False),  # words
        (lambda a: (a[:, 1:] + 1).sum(axis=0), False),
    ],
)
def test_masks_are_for_fresh_rows_of_bytes(function, has_masks):
    a = np.ones((20, 30), np.uint8)
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for _ in range(3):
            f(a)
    text = f.dump_llvm(a, optimized=False)
    assert ("vectorize.predicate.enable" in text) == (has_masks and vector_bytes() == 64)

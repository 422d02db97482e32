"""Arrays that are updated in place stay in the order in memory that they were made in."""

import itertools

import numpy as np
import pytest

import ljit


def combined(a, b):
    y = a * 2.0
    y += b
    y -= b[0]
    return y


def in_columns(a, b):
    y = np.zeros(a.shape, order="F")
    y += a
    y *= b
    return y


def zeros_like_the_first(a, b):
    y = np.zeros_like(a)
    y += b
    return y


def copied(a, b):
    y = a.copy(order="K")
    y += b
    y *= 2.0
    return y.T


def _matrices(rows, columns):
    """Equal in shape, each in another order in memory."""
    m = np.arange(float(rows * columns)).reshape(rows, columns)
    wide = np.arange(4.0 * rows * columns).reshape(2 * columns, 2 * rows)
    return [m, np.asfortranarray(m), wide[::2, ::2].T, m[::-1], np.asfortranarray(m)[:, ::-1]]


@pytest.mark.parametrize("function", [combined, in_columns, zeros_like_the_first, copied])
def test_updates_keep_the_order_of_their_targets(function):
    """One function sees all orders and sizes, so that its types do not tell them."""
    fast = ljit.jit(function)
    sizes = [(3, 4), (8, 3), (5, 1)]
    calls = [pair for n, m in sizes for pair in itertools.product(_matrices(n, m), repeat=2)]
    for a, b in 2 * calls:
        expected, found = function(a, b), fast(a, b)
        np.testing.assert_array_equal(found, expected)
        assert found.strides == expected.strides, (a.strides, b.strides)

"""Planes of a few elements: their rows are put behind one another, where results are fresh and there are many planes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config

SHAPES = (
    (40, 2, 4), (40, 4, 2), (16, 3, 10), (17, 1, 5), (100, 10, 10), (15, 2, 4), (3, 50, 3), (2, 20, 3, 4)
)  # fmt: skip


def expressions(a, b):
    return a * b - a, a[::-1] + b, a < b[..., ::-1], a[:, 1:] + b[:, 1:], a / 2


def views(a):
    """The array, and such with gaps around planes, between elements, and in other orders."""
    padded = np.pad(a, [(0, 1)] * a.ndim)
    return (
        a,
        padded[tuple(slice(0, n) for n in a.shape)],
        np.repeat(a, 2, axis=-1)[..., ::2],
        np.repeat(a, 2, axis=1)[:, ::2],
        np.asfortranarray(a),
        np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2),
        a[::-1],
        np.broadcast_to(a[:1], a.shape),
    )


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_planes_of_any_layout(dtype):
    f = ljit.jit(expressions)
    with config.overridden(quick_runs=0):
        for shape in SHAPES:
            a = (np.arange(np.prod(shape)) % 11 + 1).astype(dtype).reshape(shape)
            for x in views(a):
                for y in (a[::-1].copy(), views(a)[1]):
                    for found, wanted in zip(f(x, y), expressions(x, y), strict=True):
                        assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
                        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "are_packed"),
    [
        (lambda a: a + a[:, ::-1], True),
        (lambda a: np.add(a, 1, out=a), False),
        (lambda a: a.sum(axis=0), False),
        (lambda a: a[0] + a[0, ::-1], False),
    ],
)
def test_fresh_results_of_three_axes_ask_for_the_size_of_planes(function, are_packed):
    a = np.ones((50, 4, 6))[:, 1:, 1:]
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for _ in range(3):
            f(a)
    asked = re.search(r"icmp sle i64 \S+, 128\b", f.dump_llvm(a, optimized=False))
    assert (asked is not None) == are_packed

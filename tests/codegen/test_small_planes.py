"""Planes of a few elements: their rows are put behind one another, where results are fresh and there are many planes.

Planes that are combined with each other are rows down the axis.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config
from tests.codegen.harness import steps

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
                        assert (found.dtype, steps(found)) == (wanted.dtype, steps(wanted))
                        np.testing.assert_array_equal(found, wanted)


def shared(a, plane):
    row = plane[0]
    return np.clip(a, 1, plane), a * plane + plane, np.where(a > row, plane, a[::-1] + row)


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_a_plane_that_all_planes_share(dtype):
    f = ljit.jit(shared)
    with config.overridden(quick_runs=0, cold_calls=0):
        for shape in ((5, 2, 4), (3, 3, 3), *SHAPES[:-1]):
            a = (np.arange(np.prod(shape)) % 11).astype(dtype).reshape(shape)
            for x in views(a):
                for y in (a[1].copy(), a[1], views(a)[1][-1], np.asfortranarray(a[1])):
                    for found, wanted in zip(f(x, y), shared(x, y), strict=True):
                        np.testing.assert_array_equal(found, wanted)


def reductions(a, b):
    sums = a.sum(axis=0), a[..., ::-1].sum(axis=0), (a - b).sum(axis=(0, 1)), a.mean(axis=-3)
    return *sums, a.max(axis=0), a[..., ::2].min(axis=0), (a > b).any(axis=0), a.all(axis=0)


def kept(a, b):
    t = a * b
    return t, t.sum(axis=0), t.max(axis=-3)


MORE_SHAPES = (600, 2, 7), (30, 16, 5), (5, 20, 9), (20, 20, 4, 4), (3, 30, 2, 9), (2, 3, 4, 5, 6)


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("function", [reductions, kept])
def test_planes_of_any_layout_that_are_combined(dtype, function):
    f = ljit.jit(function)
    with config.overridden(quick_runs=0, cold_calls=0):
        for shape in (*MORE_SHAPES, *SHAPES):
            a = (np.arange(np.prod(shape)) % 11 % 7).astype(dtype).reshape(shape)
            for x in views(a):
                for y in (x[::-1], a + np.dtype(dtype).type(1)):
                    for found, wanted in zip(f(x, y), function(x, y), strict=True):
                        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "are_packed"),
    [
        (lambda a: a + a[:, ::-1], True),
        (lambda a: np.add(a, 1, out=a), False),
        (lambda a: a.sum(axis=0), False),  # a loop down the axis does as well
        (lambda a: a.sum(axis=1), False),
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

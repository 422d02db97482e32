"""Array functions called with one shape after the other, many of which have axes of one element or none.

Native code is made for the first ones; the others get it as it is. `FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_shapes.py`
runs other seeds than CI does.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from tests.programs.harness import check_calls

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:2").split(":"))
CALLS = 14
SIZES = (1, 1, 3, 4, 40, 0)


def sums_of_products(a, x):
    a[...] = x
    return a, (a * x).sum(axis=-1), (a + x).sum(axis=0)


def extrema(a, x):
    products = a * x + 1  # no -0.0: which zero is the largest is not defined
    return products.max(axis=(0, -1), initial=-9.0), (a - x).min(axis=0, initial=9.0)


def centred(a, x):
    return a - x.sum(axis=-1, keepdims=True)


def chosen(a, x):
    return np.where(a > x, a, x * 2), (a > x).any(axis=-1), (x > 3).all(axis=0)


def joined(a, x):
    y = a + x
    return np.concatenate((y, y * 2), axis=0), np.stack((y, y - x), axis=-1)


def scanned(a, x):
    return np.cumsum(a * x, axis=-1), np.cumsum(a + x, axis=0)


def parts(a, x):
    return ((a - x)[1:, ..., ::-1] * 2).copy(), a.T + x.T, (a.T - x.T).sum(axis=0)


def updated(a, x):
    a[1:] += 2
    a *= x
    return a, a.astype(np.float32) + x


def copied(a, x):
    b = np.empty_like(a)
    b[...] = x + 1
    return b, x.T.copy(), np.ascontiguousarray(a.T), a.ravel() * 2


def spread(a, x):
    return a[..., None] * x[..., None, :]


FUNCTIONS = (
    sums_of_products,
    extrema,
    centred,
    chosen,
    joined,
    scanned,
    parts,
    updated,
    copied,
    spread,
)


def array(shape: tuple[int, ...], layout: int) -> np.ndarray:
    """Small whole numbers, so that sums are exact."""
    values = np.arange(float(np.prod(shape))).reshape(shape) % 7 - 2
    if layout == 1:
        return np.repeat(values, 2, axis=-1)[..., ::2]
    if layout == 2:
        return np.asfortranarray(values)
    return values[..., ::-1] if layout == 3 else values


def arguments(seed: int, rank: int, call: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that broadcast to the shape of the first one."""
    r = random.Random(seed * 1000 + rank * 100 + call)
    shape = tuple(r.choice(SIZES) for _ in range(rank))
    given = tuple(1 if r.random() < 0.3 else size for size in shape)
    return array(shape, r.choice((0, 0, 0, 1, 2, 3))), array(given, r.choice((0, 0, 0, 1, 2, 3)))


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_shapes_that_change_agree_with_numpy(
    function: Callable[..., Any], rank: int, seed: int
) -> None:
    calls = [partial(arguments, seed, rank, call) for call in range(CALLS)]
    with config.overridden(quick_runs=0):
        check_calls(function, ljit.jit(function), calls)

"""Arrays that lie the other way around, beside others: eight rows of theirs are put side by side at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config

SHAPES = [(1, 1), (3, 70), (70, 3), (8, 64), (16, 65), (66, 133), (150, 9), (2, 2100)]


def store(a: np.ndarray, b: np.ndarray) -> None:
    a[...] = b.T


def store_to_it(a: np.ndarray, b: np.ndarray) -> None:
    b.T[...] = a


def plus(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b.T


def in_place(a: np.ndarray, b: np.ndarray) -> None:
    a += b.T


def where_rows_wait(a: np.ndarray, b: np.ndarray) -> None:
    a[1:] = a[:-1] + b.T[1:]


def formula(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a < b.T, a * b.T, b.T - a[:1]) * a + b.T


def sums(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
    return (a * b.T).sum(axis=0), (a * b.T).sum(axis=1), a - b.T


def columns(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a - b[:1].T) * (b[::2][:1].T + a[:1])


def stacks(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[None] + np.swapaxes(b[None], 1, 2)


def copies(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
    return a.T.copy(), b[:, ::-1].T.copy(), b[::2].T.copy(), a[:, ::3].copy()


def layouts(b: np.ndarray) -> list[np.ndarray]:
    gaps = np.repeat(b, 2, axis=0)[::2], np.repeat(b, 2, axis=1)[:, ::2]
    return [b, *gaps, np.ascontiguousarray(b[::-1])[::-1], np.asfortranarray(b)]


def equal(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(equal, x, y))
    if x is None or y is None:
        return x is y
    return (x.dtype, x.shape, x.strides) == (y.dtype, y.shape, y.strides) and np.array_equal(x, y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "complex128"])
@pytest.mark.parametrize(
    "function",
    [store, store_to_it, plus, in_place, where_rows_wait, formula, sums, columns, stacks, copies],
)
def test_expressions_of_arrays_that_lie_the_other_way_around(
    function: Callable[..., Any], dtype: str
) -> None:
    compiled = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for n, m in SHAPES * 2:
            first = (np.arange(n * m).reshape(n, m) % 11).astype(dtype)
            second = (np.arange(n * m).reshape(m, n) % 7).astype(dtype)
            for wanted_b, b in zip(layouts(second), layouts(second), strict=True):
                wanted_a, a = first.copy(), first.copy()
                wanted, got = function(wanted_a, wanted_b), compiled(a, b)
                assert equal(wanted, got)
                assert equal(wanted_a, a)
                assert equal(wanted_b, b)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 130])
def test_an_array_becomes_its_own_transpose(n: int) -> None:
    def turn(a: np.ndarray) -> None:
        a[...] = a.T

    compiled = ljit.jit(turn)
    with config.overridden(quick_runs=0):
        for _ in range(4):
            a = np.arange(float(n * n)).reshape(n, n)
            wanted = a.T.copy()
            compiled(a)
            assert np.array_equal(a, wanted)

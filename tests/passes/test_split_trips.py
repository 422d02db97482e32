"""Loops in which one trip stores what all trips read do what they do in CPython, whichever trip it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit


def shortest_paths(d: Any) -> None:
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through


def eliminated(d: Any) -> None:
    n = len(d)
    for k in range(n):
        for i in range(n):
            if i != k:
                for j in range(n):
                    d[i, j] -= d[i, k] * d[k, j]


def summed_from(d: Any) -> Any:
    n, total = len(d), 0.5
    for k in range(n):
        for i in range(n):
            for j in range(2, n - 1):
                d[i, j - 1] = d[i, k] * 0.5 + d[i, j] * 0.25
                total += d[i, j - 1]
    return total


SPLIT = [shortest_paths, eliminated, summed_from]


def read_again(d: Any) -> None:
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = d[i, k] * 0.5 + 1.0
                d[i, j] += d[i, k] * 0.25


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("function", [*SPLIT, read_again])
def test_each_size_gives_what_cpython_gives(function: Callable[..., Any], dtype: type) -> None:
    compiled = ljit.jit(function)
    for n in (4, 9, 0, 1, 2, 3, 8, 17, 33):
        for _ in range(2):
            given = (np.random.default_rng(n).normal(size=(n, n)) * 4).astype(dtype)
            expected = given.copy()
            with np.errstate(all="ignore"):
                result = function(expected)
            assert compiled(given) == result
            assert np.array_equal(given, expected, equal_nan=True)
    if function in SPLIT:
        assert "of_parts" in str(compiled.graph_for(np.ones((4, 4), dtype)))

"""Nests need no arrays of `arange` and `linspace`: same bits as NumPy, whatever else needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit


def counted(x: Any, n: Any, step: Any) -> Any:
    k = np.arange(n)
    t = np.arange(n) * step
    both = np.linspace(0.5, step, n)
    return (
        x * np.arange(x.size),
        np.sqrt(np.arange(n) + 0.5),
        np.arange(0, n, step) + 1,
        np.arange(3, 3 + n) - np.arange(n, 0, -1),
        k * 2 + k,
        k,
        t * t + np.sqrt(t),
        np.linspace(0, step, n) ** 2,
        np.linspace(1.0, n, n, endpoint=False) + 1,
        both + both[::-1],
        (x[:, None] * np.arange(3)).sum(axis=0),
        np.abs(np.linspace(-1, 1, x.size)) * x,
    )


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return [(type(x), x.dtype, x.shape, x.tobytes()) for x in function(*args)]
    except (ValueError, ZeroDivisionError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("step", [0.25, 2, 0.1])
def test_counted_vectors(step: float) -> None:
    x, compiled = np.arange(40) / 8, ljit.jit(counted)
    cases = [(x, 7), (x, 40), (x[:1], 1), (x[:0], 0), (x[::2], 2), (x, -3), (x, 1)]
    for values, n in cases[:1] * 2 + cases * 2:
        assert outcome(compiled, values, n, step) == outcome(counted, values, n, step)


def test_nests_need_no_counted_vectors() -> None:
    def wave(x: Any, step: float) -> Any:
        return x * np.sqrt(np.arange(x.size) * step) + np.linspace(0.0, 1.0, x.size)

    compiled, x = ljit.jit(wave), np.ones(20)
    for _ in range(3):
        assert compiled(x, 0.5).tolist() == wave(x, 0.5).tolist()
    text = str(compiled.graph_for(x, 0.5))
    assert text.count("prim::Map") == 1
    assert "np::arange(" not in text
    assert "np::linspace(" not in text


def test_a_vector_that_does_not_fit_raises() -> None:
    def product(x: Any, n: int) -> Any:
        return x * np.arange(n)

    compiled, x = ljit.jit(product), np.ones(5)
    for n in (5, 5, 1, 5):
        assert compiled(x, n).tolist() == product(x, n).tolist()
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(x, 4)

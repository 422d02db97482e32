"""Nests need no arrays of `arange` and `linspace`: same bits as NumPy, whatever else needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config


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
def test_counted_vectors_have_numpys_elements(step: float) -> None:
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


DTYPES = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]
GIVEN: list[tuple[Any, ...]] = [
    (0,), (1,), (2,), (100,), (-3,), (2.5,), (5, 100, 7), (100, 5, -7), (0, 300), (-5, 5), (0.5, 5), (0, 4, 0.25),
    (1.0, 9.0, 0.1), (9.0, 1.0, -0.3), (250, 260), (2**31 - 2, 2**31 + 5), (2**53 + 1, 2**53 + 9, 1.0), (2**53 + 1, 2**53 + 9, 1), (65000, 65600, 100),
    (3, 0.5), (1e39, 4e39, 1e39), (0, 1, 0), (np.int64(3), 12), (np.float64(0.5), 4, np.int64(1)), (np.int64(70),),
    (2**63 - 3, 2**63 - 1), (0, 2.0**62, 2.0**61), (float("nan"), 3.0), (0.0, float("inf")), (-0.0, 2.0),
]  # fmt: skip


def ranges(dtype: str) -> Callable[..., Any]:
    def make(start: Any, stop: Any = None, step: Any = None) -> Any:
        numbers = np.arange(start, stop, step, dtype=dtype)
        return numbers, numbers + np.arange(start, stop, step)

    return make


def any_outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return [(type(x), x.dtype, x.shape, x.tobytes()) for x in function(*args)]
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_ranges_of_each_dtype(dtype: str) -> None:
    function = ranges(dtype)
    compiled = ljit.jit(function)
    for given in GIVEN * 2:
        assert any_outcome(compiled, *given) == any_outcome(function, *given), given
    compiled = ljit.jit(function)
    for _ in range(3):
        compiled(1, 100, 3)
    assert "calls Python: np" not in compiled.explain()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_evenly_spaced_numbers_of_each_dtype(dtype: str) -> None:
    def spaced(start: Any, stop: Any, n: int) -> Any:
        return (
            np.linspace(start, stop, n, dtype=dtype),
            np.linspace(start, stop, n, False, dtype=dtype) + 1,
        )

    compiled = ljit.jit(spaced)
    for given in [
        (0, 100, 7),
        (0.5, 90.7, 33),
        (100.0, 1.5, 50),
        (3, 3, 4),
        (0, 1, 0),
        (2, 9, 1),
        (1e39, 2e39, 4),
    ]:
        for _ in range(2):
            assert any_outcome(compiled, *given) == any_outcome(spaced, *given), given
    compiled = ljit.jit(spaced)
    for _ in range(3):
        compiled(1.5, 100.0, 13)
    assert "calls Python: np" not in compiled.explain()


def filled(n: int) -> Any:
    return (
        np.full(n, 2.5),
        np.ones((n // 2, 2), np.int16),
        np.full(n, 1 - 2j),
        np.arange(n),
        np.arange(n, dtype=np.uint8),
        np.linspace(0, 1, n),
    )


def test_large_arrays_are_filled_to_the_end() -> None:
    with config.overridden(quick_runs=0):
        compiled = ljit.jit(filled)
        for n in (3, 3, 0, 1, 32769, 65535, 65537, 70001, 262145, 524289, 600000):
            assert outcome(compiled, n) == outcome(filled, n)

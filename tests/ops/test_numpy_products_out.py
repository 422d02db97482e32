"""Products that are stored into a given array change that array, and nothing else, as NumPy does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard


def matmul_into(a, b, c):
    return np.matmul(a, b, out=c)


def matmul_by_place(a, b, c):
    return np.matmul(a, b, c)


def dot_into(a, b, c):
    return np.dot(a, b, out=c)


def dot_by_method(a, b, c):
    return a.dot(b, c)


def in_place(a, b, c):
    c @= b
    return c


FUNCTIONS = [matmul_into, matmul_by_place, dot_into, dot_by_method, in_place]
each = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


def outcome(function: Callable[..., object], arrays: tuple[np.ndarray, ...]) -> object:
    """What a call gives, which of the arrays that is, and what they are afterwards."""
    try:
        result = function(*arrays)
        found: object = [result is x for x in arrays]
    except Exception as error:
        found = type(error), str(error)
    return found, [(x.dtype, x.tolist()) for x in arrays]


def makers() -> dict[str, Callable[[], tuple[np.ndarray, ...]]]:
    def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
        return (np.arange(np.prod(shape)).reshape(shape) % 7 - 2).astype(dtype)

    def same() -> tuple[np.ndarray, ...]:
        a = numbers(4, 4)
        return a, a, a

    def views() -> tuple[np.ndarray, ...]:
        whole = numbers(9, 4)
        return whole[:4], whole[2:6], whole[5:]

    return {
        "plain": lambda: (numbers(4, 4), numbers(4, 4) + 1, np.full((4, 4), 9.0)),
        "float32": lambda: tuple(numbers(5, 5, dtype="float32") for _ in range(3)),
        "int16": lambda: tuple(numbers(5, 5, dtype="int16") for _ in range(3)),
        "bool": lambda: tuple(numbers(3, 3, dtype="bool") for _ in range(3)),
        "complex": lambda: tuple(numbers(3, 3, dtype="complex128") * 1j for _ in range(3)),
        "one array": same,
        "views of one": views,
        "turned": lambda: (numbers(4, 4).T, numbers(4, 4), numbers(4, 4).T),
        "with gaps": lambda: (numbers(4, 4), numbers(4, 4), numbers(8, 8)[::2, ::2]),
        "a vector": lambda: (numbers(4), numbers(4, 4), numbers(4)),
        "two vectors": lambda: (numbers(4), numbers(4), numbers(1)),
        "stacks": lambda: (numbers(2, 3, 3), numbers(2, 3, 3), numbers(2, 3, 3)),
        "a stack and a matrix": lambda: (numbers(2, 3, 3), numbers(3, 3), numbers(2, 3, 3)),
        "nothing": lambda: (numbers(0, 4), numbers(4, 4), numbers(0, 4)),
        "more rows": lambda: (numbers(1, 4), numbers(4, 4), numbers(3, 4)),
        "fewer columns": lambda: (numbers(3, 4), numbers(4, 4), numbers(3, 1)),
        "operands do not fit": lambda: (numbers(3, 4), numbers(3, 4), numbers(3, 4)),
        "another dtype": lambda: (numbers(3, 3), numbers(3, 3), numbers(3, 3, dtype="float32")),
        "a narrower kind": lambda: (numbers(3, 3), numbers(3, 3), numbers(3, 3, dtype="int64")),
        "read-only": lambda: (numbers(3, 3), numbers(3, 3), np.broadcast_to(numbers(3), (3, 3))),
    }


@each
def test_products_into_arrays(function: Callable[..., object]) -> None:
    compiled = ljit.jit(function)
    for name, make in makers().items():
        for _ in range(4):
            assert outcome(compiled, make()) == outcome(function, make()), name


@each
def test_what_fails_is_left_to_numpy_before_anything_is_stored(function) -> None:
    compiled = ljit.jit(function)
    make = makers()["plain"]
    for _ in range(3):
        compiled(*make())
    compiled.graph_for(*make())
    checks = 0
    for check in fail_each_guard(compiled):
        assert outcome(compiled, make()) == outcome(function, make()), check
        checks += 1
    assert checks > 0


@each
def test_the_product_is_native(function: Callable[..., object]) -> None:
    compiled, make = ljit.jit(function), makers()["plain"]
    for _ in range(4):
        compiled(*make())
    assert "np::positive_into" in str(compiled.graph_for(*make()))

"""``ufunc.reduceat`` of vectors: NumPy's values, dtypes and errors, whatever order the indices have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit.runtime.worth import runs_boxed


def added(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts)


def multiplied(a: Any, starts: Any) -> Any:
    return np.multiply.reduceat(a, starts)


def greatest(a: Any, starts: Any) -> Any:
    return np.maximum.reduceat(a, starts)


def least(a: Any, starts: Any) -> Any:
    return np.minimum.reduceat(a, starts)


def added_as_doubles(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts, dtype=np.float64)


def outcome(function: Callable[..., Any], a: Any, starts: Any) -> Any:
    try:
        found = function(a, starts)
    except (IndexError, TypeError) as error:
        return type(error), str(error)
    signs = np.signbit(found).tolist() if found.dtype.kind == "f" else []
    return type(found), found.dtype, found.shape, found.tolist(), signs


def some(size: int, dtype: str) -> Any:
    """Numbers whose sums and products are exact in any order."""
    return np.resize(np.array([1, 2, 1, 0, 1, 1, 2, 1, 3, 1], dtype), size)


STARTS = [[0], [0, 3, 4], [4, 1, 1, 9], [9, 0], [0, 9, 2, 5, 5]]
ALL = [added, multiplied, greatest, least, added_as_doubles]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u1", "?", "c16"])
def test_segments_of_vectors(function: Any, dtype: str) -> None:
    if function is added_as_doubles and dtype == "c16":
        pytest.skip("discards imaginary parts, with a warning")
    compiled, a = ljit.jit(function), some(10, dtype)
    for starts in [np.array(s) for s in STARTS[:1] * 2 + STARTS]:
        for x in (a, a[::-1], np.repeat(a, 3)[::3], -a if dtype in ("f8", "f4") else a):
            assert outcome(compiled, x, starts) == outcome(function, x, starts)


@pytest.mark.parametrize("function", ALL[:4])
def test_zeros_keep_their_signs_and_nans_stay(function: Any) -> None:
    compiled = ljit.jit(function)
    for size in (3, 3, 3000):
        a, starts = np.full(size, -0.0), np.array([0, 1])
        assert outcome(compiled, a, starts) == outcome(function, a, starts)
    for at in range(6):
        a, starts = np.arange(6.0), np.array([0, 4])
        a[at] = np.nan
        assert np.array_equal(compiled(a, starts), function(a, starts), equal_nan=True)


def test_sums_of_long_segments_are_exact() -> None:
    compiled, rng = ljit.jit(added), np.random.default_rng(1)
    a, starts = rng.random(200_000), np.array([0, 70_000, 70_003])
    for _ in range(3):
        found = compiled(a, starts)
    for total, first, last in zip(found, starts, [*starts[1:], a.size], strict=True):
        assert abs(total - math.fsum(a[first:last])) <= 4 * np.spacing(total)


@pytest.mark.parametrize("starts", [[-1], [0, 10], [3, -2, 5], [11, 0]])
def test_indices_outside_raise(starts: list[int]) -> None:
    compiled, a = ljit.jit(added), np.arange(10.0)
    for _ in range(3):
        assert compiled(a, np.array([0, 5])).tolist() == [10.0, 35.0]
    for _ in range(2):
        assert outcome(compiled, a, np.array(starts)) == outcome(added, a, np.array(starts))


def test_no_segments_and_no_elements() -> None:
    compiled, none = ljit.jit(added), np.array([], np.int64)
    for a, starts in [(np.ones(3), none)] * 3 + [(np.ones(0), none), (np.ones(0), np.array([0]))]:
        assert outcome(compiled, a, starts) == outcome(added, a, starts)


def test_what_is_not_a_vector_is_left_to_numpy() -> None:
    compiled = ljit.jit(added)
    for a, starts in [
        (np.arange(6.0).reshape(2, 3), np.array([0, 1])),
        (np.arange(6.0), [0, 2]),
        (np.arange(6.0), np.array([0.0, 2.0])),
        (np.arange(6.0), np.array([0, 2], np.uint64)),
        (np.arange(6.0), np.array([0, 2], np.int32)),
        (np.arange(6.0), np.array([[0, 2]])),
    ]:
        for _ in range(3):
            try:
                expected: Any = added(a, starts).tolist()
            except (TypeError, ValueError) as error:
                with pytest.raises(type(error)):
                    compiled(a, starts)
            else:
                assert compiled(a, starts).tolist() == expected


def test_segments_are_native() -> None:
    compiled = ljit.jit(added)
    a, starts = np.arange(10.0), np.array([0, 5])
    for _ in range(3):
        compiled(a, starts)
    nodes = [n for n in compiled.graph_for(a, starts).walk() if n.op.name == "np::add_reduceat"]
    assert [runs_boxed(node) for node in nodes] == [False]


def along_whole_numbers(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts, axis=-1)


def along_a_bool(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts, axis=False)


def along_a_float(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts, axis=0.0)


def along_all(a: Any, starts: Any) -> Any:
    return np.add.reduceat(a, starts, axis=None)


@pytest.mark.parametrize("function", [along_whole_numbers, along_a_bool, along_a_float, along_all])
def test_an_axis_is_a_whole_number(function: Any) -> None:
    compiled, a, starts = ljit.jit(function), np.arange(9.0), np.array([0, 3])
    for _ in range(3):
        assert outcome(compiled, a, starts) == outcome(function, a, starts)

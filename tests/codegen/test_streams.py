"""Results larger than a core's own cache, whose lines are asked for ahead: all elements are there, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit

ASKS = "noduplicate"


def scaled(a):
    return a * a + 1


def two_results(a):
    return a > 3, a.astype(np.float64)


def outer_sum(a):
    return a[:, None] + a[None, :]


def into(out, a):
    out[:] = a - 1


def with_a_check(a):
    return (a * 1.5).astype(np.int64)


def native(function: Callable[..., Any], *args: Any) -> Any:
    compiled = ljit.jit(function)
    for _ in range(3):
        compiled(*args)
    assert compiled.specializations[0].state == "native"
    return compiled


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("count", [131072, 524288, 524289, 600007])
def test_elements_of_large_results(dtype: str, count: int) -> None:
    a = np.arange(count).astype(dtype)
    compiled = native(scaled, a)
    assert ASKS in compiled.dump_llvm()
    for x in (a, a[:-1], a[5:], a[:1000], a[:0], a[::2]):
        found, wanted = compiled(x), scaled(x)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(700, 701), (5, 170001), (350001, 3), (90, 60, 171)])
def test_rows_of_large_results(shape: tuple[int, ...]) -> None:
    a = np.arange(float(np.prod(shape)), dtype=np.float32).reshape(shape)
    whole = native(scaled, a)
    both = native(two_results, a)
    for x in (a, a[1:-1], a[..., 1:], a.T, a[..., ::2]):
        np.testing.assert_array_equal(whole(x), scaled(x))
        for found, wanted in zip(both(x), two_results(x), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def test_broadcast_operands_and_destinations() -> None:
    v = np.arange(777.0)
    np.testing.assert_array_equal(native(outer_sum, v)(v), outer_sum(v))
    a, room = np.arange(200_000.0), np.zeros(200_002)
    compiled = native(into, room[1:-1], a)
    room[:] = 7
    compiled(room[1:-1], a)
    assert (room[0], room[-1]) == (7, 7)
    np.testing.assert_array_equal(room[1:-1], a - 1)
    compiled(room[1:], room[:-1])
    assert room[:3].tolist() == [7, 6, -2]
    assert room[-1] == a[-1] - 2


def test_casts_that_are_checked_behind_a_stretch() -> None:
    a = np.arange(200_000, dtype=np.float64)
    compiled = native(with_a_check, a)
    np.testing.assert_array_equal(compiled(a), with_a_check(a))
    a[77_777] = np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(compiled(a), with_a_check(a))


def test_functions_of_small_arrays_do_not_ask() -> None:
    assert ASKS not in native(scaled, np.arange(1000.0)).dump_llvm()

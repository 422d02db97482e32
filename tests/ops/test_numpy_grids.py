"""Grids of ints, whole or open, and arrays that are unpacked along their first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Types, dtypes, shapes, elements and strides (along axes of some) of all arrays that a call gives; or what it raises."""
    try:
        return [described(x) for x in function(*args)]
    except (ValueError, TypeError, IndexError) as error:
        return type(error), str(error)


def described(x: Any) -> Any:
    if isinstance(x, tuple):
        return [described(item) for item in x]
    steps = [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]
    return type(x), x.dtype, x.shape, steps, x.tobytes()


def same(function: Callable[..., Any], *cases: tuple[Any, ...]) -> None:
    compiled = ljit.jit(function)
    for case in cases[:1] * 2 + cases * 2:
        found, wanted = ([np.copy(x) if np.ndim(x) else x for x in case] for _ in range(2))
        assert outcome(compiled, *found) == outcome(function, *wanted)
        for x, y in zip(found, wanted, strict=True):
            assert np.array_equal(x, y)


def whole_grids(h: Any, w: Any) -> Any:
    y, x = np.mgrid[0:h, 0:w]
    i, j = np.indices((h, w))
    whole = np.mgrid[1:h, :w]
    z, v, u = np.indices((2, h, w))
    y += 1
    first, second = np.mgrid[:h, 2:w]
    first += second
    return y * 10 + x, (i - j) ** 2 < 5, whole, whole[0] + 1, z * v - u, y, first, second


def open_grids(h: Any, w: Any) -> Any:
    y, x = np.ogrid[:h, 2:w]
    return y, x, y * x, np.ogrid[0:h, 0:2, 1:w], (y - 1.5) ** 2 + x


def other_grids(h: Any, w: Any) -> Any:
    y, x = np.mgrid[0:h:2, 0:w]
    v, u = np.mgrid[0 : 1 : h * 1j, 0:w]
    return (
        y + x,
        v * u,
        np.mgrid[0:h],
        np.mgrid[0.0:h, 0:w],
        np.ogrid[0:w],
        np.indices((h, w), sparse=True),
    )


@pytest.mark.parametrize("function", [whole_grids, open_grids, other_grids])
def test_grids_are_those_of_numpy(function: Callable[..., Any]) -> None:
    same(
        function,
        (3, 4),
        (5, 3),
        (1, 2),
        (4, 2),
        (0, 3),
        (3, -1),
        (-2, 3),
        (np.int64(2), 3),
        (2.5, 3),
    )


def test_nests_need_no_grids_in_memory() -> None:
    def circle(h: int, w: int, r: int) -> Any:
        y, x = np.mgrid[0:h, 0:w]
        return (y - h // 2) ** 2 + (x - w // 2) ** 2 < r * r

    compiled = ljit.jit(circle)
    for size in (4, 5, 9):
        assert compiled(size, 7, 3).tolist() == circle(size, 7, 3).tolist()
    text = str(compiled.graph_for(4, 7, 3))
    assert text.count("prim::Map") == 1
    assert "np::stack" not in text


def parts_of_rows(m: Any) -> Any:
    x, y = m
    x[...] = y[::-1] + 1
    a, b = m.T[:2]
    a += x[: len(a)].sum()
    ((p, q), r) = m[:, :2]
    return x, y.copy(), a * 2, b - a, p, q, r + 1, m


def test_arrays_are_unpacked_into_views() -> None:
    m = np.arange(8.0).reshape(2, 4)
    same(
        parts_of_rows, (m,), (m.astype(np.int16),), (np.asfortranarray(m),), (np.zeros((2, 0)),), (np.ones((2, 2)),),
        (m[:1],), (np.ones((3, 2)),), (np.ones((2, 1)),), (m[0],),
    )  # fmt: skip


def test_points_are_unpacked_natively() -> None:
    def lengths(points: Any) -> Any:
        x, y, z = points.T
        return np.sqrt(x * x + y * y + z * z)

    compiled, points = ljit.jit(lengths), np.random.default_rng(4).random((20, 3))
    for _ in range(3):
        assert compiled(points).tolist() == lengths(points).tolist()
    (info,) = compiled.specializations
    assert (info.state, info.bailouts) == ("native", 0)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        compiled(points[:, :2])


def test_items_of_a_stack_are_its_parts_if_nothing_else_sees_them() -> None:
    def pairs(a: Any, b: Any) -> Any:
        x, y = np.stack((a + b, a - b))
        both = np.stack((a * 2, b * 2))
        u, v = both
        u += 1
        kept = a * b
        p, q = np.stack((kept, kept))
        p += 1
        return x * y, v, both, p, q, kept

    a = np.arange(3.0)
    same(pairs, (a, a + 1), (a[:1], a[1:2]), (a[:0], a[:0]))


def test_stacks_of_grids_are_computed_in_their_place() -> None:
    def grids(x: Any, y: Any, z: Any) -> Any:
        u, v = np.meshgrid(x, y)
        both = np.stack((u * v, u - v), axis=-1)
        pairs = np.stack((x[:, None] + y, x[:, None] * y), axis=1)
        wide = np.stack((x[:, None] + (z + np.arange(4)), x[:, None] * (z + np.arange(4))))
        return both, pairs, wide, np.stack((x[:, None] + y[None] * z[:, None], x[:, None] * y))

    a, b, one = np.arange(3.0), np.arange(5, dtype=np.float32), np.ones(1)
    same(grids, (a, b, one), (b, a, one), (a[:0], b, one), (a[::-2], b[:1], one), (a, b, a))


def test_a_grid_of_ints_has_no_parts_in_memory() -> None:
    indices = ljit.jit(lambda h, w: np.indices((h, w)))
    assert "np::stack" not in str(indices.graph_for(3, 4))

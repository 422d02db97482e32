"""Copies of arrays of three axes, in every order of axes: values, strides, and an array of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

import ljit

SHAPES = ((2, 3, 4), (40, 5, 33), (33, 64, 3), (1, 7, 130), (0, 3, 4), (130, 1, 2), (9, 1, 64))


def copied(a):
    return a.copy()


def flattened(a):
    return a.flatten()


def written(a):
    return np.copy(a, order="C")


def views(shape: tuple[int, ...], dtype: str) -> Iterator[np.ndarray]:
    a = np.arange(np.prod(shape) * 2).astype(dtype).reshape(*shape[:2], 2 * shape[2])
    for order in permutations(range(3)):
        turned = a[..., : shape[2]].transpose(order)
        yield from (turned, a[..., ::2].transpose(order), turned[::-1], turned[:, ::-1, ::-1])


@pytest.mark.parametrize("function", [copied, flattened, written])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_three_axes_in_every_order(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for shape in SHAPES * 2:
        for a in views(shape, dtype):
            found, wanted = compiled(a), function(a)
            assert (found.dtype, found.shape, found.strides) == (
                wanted.dtype,
                wanted.shape,
                wanted.strides,
            )
            assert found.tobytes() == wanted.tobytes()
            assert found.base is None
            assert not np.shares_memory(found, a)
    assert any(s.state == "native" for s in compiled.specializations)

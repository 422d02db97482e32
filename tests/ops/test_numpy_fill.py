"""``a.fill(x)``, and numbers stored to elements with gaps: values, what does not fit, and what lies in the gaps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.test_numpy_index_arrays import check, is_native

VALUES = (
    1,
    -1,
    300,
    2**40,
    2.5,
    -1e300,
    float("nan"),
    True,
    np.float32(2.5),
    np.int64(-7),
    np.uint8(200),
)


def filled(a, x):
    a.fill(x)
    return a


def stored(a, x):
    a[...] = x
    return a


def views(dtype: str) -> Iterator[np.ndarray]:
    for n in (0, 1, 3, 4, 5, 300):
        a = np.ones(3 * n + 6, dtype)
        yield from (a[:n], a[: 2 * n : 2], a[: 3 * n : 3][::-1])
        yield from (a.reshape(3, -1)[:, ::2], a.reshape(3, -1)[::2, ::-1], a.reshape(3, -1).T)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [filled, stored])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "bool", "float32", "complex128"])
def test_numbers_are_stored_in_every_layout(function, dtype: str) -> None:
    for value in VALUES:
        # the bases show what lies in the gaps
        cases = [(a, value) if a.base is None else (a, value, a.base) for a in views(dtype)]
        for rank in (1, 2):
            some = [case for case in cases if case[0].ndim == rank]
            check(lambda a, x, base=None: (function(a, x), base)[0], some)


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_ints_that_fit_are_filled_natively(dtype: str) -> None:
    assert is_native(check(filled, [(np.zeros(n, dtype)[::2], 7) for n in (4, 600)]))

"""``ufunc.outer`` of vectors, natively, and of other operands as NumPy does it."""

from __future__ import annotations

import numpy as np
import pytest

import ljit

UFUNCS = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.equal, np.less]
UFUNCS += [np.less_equal, np.greater, np.greater_equal]
MATRIX = np.arange(12, dtype=np.int32).reshape(3, 4)
CASES = [
    (np.arange(1.0, 5.0), np.arange(2.0, 9.0)),
    (np.arange(4, dtype=np.float32), np.arange(1, 3)),
    (MATRIX[:, 1], MATRIX[2]),
    (MATRIX[::-1, 1], MATRIX[:, 0]),
    (np.arange(0.0), np.arange(3.0)),
    (np.array([True, False]), np.array([False, True])),
    (MATRIX, np.arange(1, 3)),
    (2.0, np.arange(1, 3)),
]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_values_types_and_order(ufunc):
    def table(a, b):
        return ufunc.outer(a, b)

    compiled = ljit.jit(table)
    for a, b in CASES:
        for _ in range(3):
            try:
                wanted = table(a, b)
            except TypeError as error:
                with pytest.raises(TypeError, match=str(error)[:20]):
                    compiled(a, b)
                continue
            found = compiled(a, b)
            assert (type(found), found.dtype, found.shape) == (
                type(wanted),
                wanted.dtype,
                wanted.shape,
            )
            assert (found.strides, found.tobytes()) == (wanted.strides, wanted.tobytes())
    assert "getattr" not in str(compiled.graph_for(*CASES[0]))


def test_a_table_that_is_only_reduced_is_not_made():
    def least(a, b):
        return np.subtract.outer(a, b).min(axis=1)

    compiled = ljit.jit(least)
    a, b = CASES[0]
    for _ in range(3):
        assert compiled(a, b).tobytes() == least(a, b).tobytes()
    graph = str(compiled.graph_for(a, b))
    assert "reduce=('np::minimum',)" in graph
    assert "subtract_outer" not in graph

"""What is read of ``np.finfo`` and ``np.iinfo`` of known dtypes is a constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ir import Effect


def of_floats(a: Any) -> Any:
    count = 0
    for i in range(a.size):
        if abs(a[i]) > np.finfo(a.dtype).eps:
            count += 1
    return count


def of_ints(a: Any) -> Any:
    count = 0
    for i in range(a.size):
        if a[i] < np.iinfo(np.int32).max:
            count += 1
    return count


@pytest.mark.parametrize("function", [of_floats, of_ints])
def test_no_python_code_runs(function):
    with config.overridden(cold_calls=False):
        compiled = ljit.jit(function, num_profiled_runs=1)
        a = np.array([0.5, 1e-20, 1e10])
        assert [compiled(a) for _ in range(3)] == [2, 2, 2]
        assert not any(n.effects & Effect.CALL for n in compiled.graph_for(a).walk())

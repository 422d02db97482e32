"""Functions with `fastmath` that others call: their floats may be reordered, those of the caller are not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit


@ljit.jit(fastmath=True)
def dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


def sums(x, y, out):
    last = 0.0
    for i in range(x.shape[0]):
        out[i] = dot(x[i], y)
        last += out[i] / 3.0
    return last


def test_the_sum_of_a_callee_with_fastmath_is_made_of_vectors_that_of_its_caller_is_in_order():
    f = ljit.jit(sums, num_profiled_runs=1)
    rng = np.random.default_rng(0)
    x, y, out = rng.random((50, 100)), rng.random(100), np.zeros(50)
    for _ in range(40):
        last = f(x, y, out)
    assert out == pytest.approx(x @ y)
    in_order = np.float64(0.0)
    for value in out:
        in_order += value / 3.0
    assert last == in_order
    text = f.dump_llvm()
    assert re.search(r"fadd reassoc .*double", text)
    assert re.search(r"fadd double", text)
    assert not re.search(r"fdiv reassoc", text)
    assert "vector.reduce.fadd" in f.dump_llvm(optimized=True)

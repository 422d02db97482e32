"""Attributes are looked up before arguments run, and yet end as the ops that they stand for."""

from __future__ import annotations

import numpy as np

import ljit


@ljit.jit
def append_product(n):
    out = [1.0]
    for i in range(n):
        out.append(i * 0.5)
    return out, np.sqrt(2.0 * n)


def test_a_method_with_computed_arguments_becomes_its_own_op():
    for _ in range(3):
        out, root = append_product(3)
    assert out == [1.0, 0.0, 0.5, 1.0]
    assert type(root) is np.float64
    assert root == np.sqrt(6.0)
    text = str(append_product.graph_for(3))
    assert "py::list_append" in text
    assert "np::sqrt" in text
    assert "py::getattr" not in text

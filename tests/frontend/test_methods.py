"""Attributes are looked up before arguments run, and yet end as the ops that they stand for."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

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


NO_CLASS = (
    (RuntimeError, re.escape("super(): empty __class__ cell"))
    if sys.version_info < (3, 12)
    else (NameError, "cannot access free variable '__class__'")
)


class CallsTooEarly(type):
    def __new__(cls, name, bases, namespace):
        error, message = NO_CLASS
        with pytest.raises(error, match="^" + message):
            namespace["length"](5)
        return super().__new__(cls, name, bases, namespace)


@pytest.mark.parametrize("decorate", [lambda function: function, ljit.jit(strict=True)])
def test_super_has_no_class_until_that_is_made(decorate):
    class Made(list, metaclass=CallsTooEarly):
        @decorate
        def length(self):
            return super().__len__()

    assert Made([1, 2]).length() == 2


def test_another_function_of_the_name_super_is_called(monkeypatch):
    class Made(list):
        @ljit.jit(strict=True)
        def length(self):
            return super().__len__()

    monkeypatch.setitem(globals(), "super", lambda: "text")
    for _ in range(3):
        assert Made([1, 2]).length() == 4
    monkeypatch.undo()
    for _ in range(3):
        assert Made([1, 2]).length() == 2

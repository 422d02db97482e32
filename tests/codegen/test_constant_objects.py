"""Constants are the objects that they are in CPython: none is made for each use."""

import numpy as np
import pytest

import ljit

HALF = np.float64(0.5)


def number(_flag):
    return 0.5


def numpys_number(_flag):
    return HALF


def pair(_flag):
    return (None, "a", 1.5)


def large(_flag):
    return 2**40


def one_of_two(flag):
    return (1.5, "x") if flag else None


def put_into_list(flag):
    items = [None]
    items[0] = "no" if flag is None else (None, 2.5)
    return items[0]


@pytest.mark.parametrize(
    "function",
    [number, numpys_number, pair, large, one_of_two, put_into_list],
    ids=lambda f: f.__name__,
)
def test_a_constant_is_one_object(function):
    compiled = ljit.jit(function)
    results = [compiled(True) for _ in range(4)]
    assert compiled.specializations
    assert results[2] is results[3]
    assert type(results[3]) is type(function(True))
    assert results[3] == function(True)

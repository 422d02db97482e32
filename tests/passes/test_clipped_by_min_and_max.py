"""`min` and `max` of numbers that may be Python's or NumPy's are computed once, without a branch on the class."""

import numpy as np
import pytest

import ljit
from tests.programs.harness import compare


def clipped(xs, out):
    for i in range(len(xs)):
        out[i] = int(min(max(xs[i] * 1.5, 0.0), 255.0))


def numbers(dtype, special=()):
    xs = np.linspace(-40.0, 200.0, 37).astype(dtype)
    for place, value in special:
        xs[place] = value
    return xs, np.zeros(37, np.uint8)


def outcome(function, args):
    try:
        return function(*args), args
    except ValueError as error:
        return str(error), args


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8"])
def test_what_is_stored_is_what_the_program_stores(dtype):
    f = ljit.jit(clipped)
    for special in ([], [], [], [(5, 3 * 10**4)], [(7, -(10**4))], []):
        assert compare(*(outcome(g, numbers(dtype, special)) for g in (clipped, f))) is None


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_numbers_that_are_none_raise_in_their_trip(dtype):
    f = ljit.jit(clipped)
    for special in ([], [], [], [(20, np.nan)], [(3, np.inf)], [(20, np.nan)], []):
        assert compare(*(outcome(g, numbers(dtype, special)) for g in (clipped, f))) is None


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_there_is_no_branch_on_the_class(dtype):
    f = ljit.jit(clipped)
    for _ in range(3):
        f(*numbers(dtype))
    graph = str(f.graph_for(*numbers(dtype)))
    assert "py::min" in graph
    assert "prim::type_is" not in graph
    assert "checks='in front'" in graph

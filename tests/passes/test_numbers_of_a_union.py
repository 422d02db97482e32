"""Loops over numbers that are of one type or another have their checks in front, as neither way asks for its type."""

import itertools
import math

import numpy as np
import pytest

import ljit
import ljit.codegen
from ljit import config
from tests.programs.harness import compare


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    """Vectors of 64 bytes, for what passes decide: shorter ones have no ints of 64 bits that are made of floats."""
    monkeypatch.setattr(ljit.codegen, "vector_bytes", lambda: 64)


def clipped(xs, out):
    for i in range(len(xs)):
        v = xs[i] * 2
        if v < 0.0:
            v = 0.0
        if v > 255.0:
            v = 255.0
        out[i] = int(v)


def clipped_by_ints(xs, out):
    for i in range(len(xs)):
        v = xs[i] * 2
        if v < 0:
            v = 0
        if v > 255:
            v = 255
        out[i] = int(v)


def outcome(function, args):
    try:
        return function(*args), args
    except (ValueError, OverflowError) as error:
        return str(error), args


def numbers(dtype, special=()):
    xs = np.linspace(-40.0, 200.0, 37).astype(dtype)
    for place, value in special:
        xs[place] = value
    return xs, np.zeros(37, np.uint8)


@pytest.mark.parametrize("function", [clipped, clipped_by_ints])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_what_is_clipped_by_conditions_is_what_the_program_clips(function, dtype):
    f = ljit.jit(function)
    odd = [(5, np.inf)], [(7, -np.inf)], [(9, -0.0)], [(20, np.nan)], [], [(3, np.nan)]
    for special in ([], [], [], *odd, []):
        assert compare(*(outcome(g, numbers(dtype, special)) for g in (function, f))) is None


@pytest.mark.parametrize("function", [clipped, clipped_by_ints])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_no_type_is_asked_for_in_the_loop(function, dtype):
    f = ljit.jit(function)
    for _ in range(3):
        f(*numbers(dtype))
    graph = str(f.graph_for(*numbers(dtype)))
    assert "prim::guard" not in graph
    assert "checks='in front'" in graph


def added_up(xs, k):
    s = 0
    for i in range(len(xs)):
        x = xs[i] if i > 0 else k
        if x < 20:
            x = 0
        s += int(x) * 3
    return s


def looked_up(xs, k):
    counts, found = np.zeros(300, np.int64), []
    for i in range(len(xs)):
        x = xs[i] if xs[i] > 5 else 3
        counts[x] += x
        found.append(min(max(x, k), 50))
    return counts, found


@pytest.mark.parametrize("function", [added_up, looked_up])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8"])
def test_ints_that_may_be_of_fewer_bits_are_those_of_the_program(function, dtype):
    f = ljit.jit(function)
    xs = np.random.default_rng(6).integers(0, 100, 300).astype(dtype)
    for k in (7, 7, 7, 0, -40, 99, 2**40):
        assert compare(*(outcome(g, (xs, k)) for g in (function, f))) is None
        f.graph_for(xs, k)
    assert "np::number[type=np.int64]" in str(f.graph_for(xs, 7))


# -- values ----------------------------------------------------------------------------------------

FLOATS = 0.1, float(np.float32(0.1)), -0.0, 2.0**24 + 1, 1e39, math.inf, math.nan
INTS = 0, 2**24 + 1, 2**53 + 1, -(2**53) - 1


def compared(xs, out, low, high):
    for i in range(len(xs)):
        v = xs[i]
        if v < low:
            v = low
        is_high = v > high or v == 0.1
        if is_high or v <= -16777217:
            v = high
        out[i] = int(v)


def computed(xs, out, low, high):
    for i in range(len(xs)):
        v = xs[i]
        if v >= high or v != v:
            v = high
        w = abs(-v * 3 + 0.1) - low
        if w > 1e6:
            w = 16777217.0
        out[i] = int(w + v)


def elements(dtype):
    if dtype == "i8":
        return np.array([0, 1, 2**24, 2**24 + 1, 2**53, 2**53 + 1, -(2**53) - 1])
    with np.errstate(over="ignore"):
        return np.array([0.1, -0.0, 1.0, -3.5, 2.0**24, -(2.0**24), 2.0**53]).astype(dtype)


def given(dtype, special, low, high):
    xs = np.concatenate((elements(dtype), elements(dtype)[::-1]))
    for place, value in special:
        xs[place] = value
    return xs, np.zeros(len(xs), np.int64), low, high


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [compared, computed])
@pytest.mark.parametrize("dtype", ["f4", "f2", "f8", "i8"])
def test_all_numbers_are_what_they_are_in_python(function, dtype):
    with config.overridden(cold_calls=False, quick_runs=0):
        f, raising = ljit.jit(function), ljit.jit(function)  # its loop is kept as it is
        odd = [[]] if dtype == "i8" else [[], [(3, np.nan)], [(6, np.inf)], [(9, -np.inf)]]
        for limits in itertools.product((*FLOATS, *INTS), (*FLOATS, *INTS, np.float32(0.1))):
            for special in odd:
                expected = outcome(function, given(dtype, special, *limits))
                made = raising if isinstance(expected[0], str) else f
                assert compare(expected, outcome(made, given(dtype, special, *limits))) is None
        if dtype == "f4":
            assert "np::member" in str(f.graph_for(*given(dtype, [], 0.1, 5.0)))


def test_numbers_of_three_types_are_asked_for_them():
    def mixed(xs, out):
        for i in range(len(xs)):
            v = xs[i]
            if v < 0.0:
                v = 0
            elif v > 255.0:
                v = 254.5
            if v > 99.75:
                v = 99
            out[i] = int(v)

    f = ljit.jit(mixed)
    for dtype in ("f4", "f4", "f4", "f8", "f4"):
        assert compare(*(outcome(g, numbers(dtype)) for g in (mixed, f))) is None

"""Floats that a program clips become ints, and elements of short dtypes, without a check; what may fail fails in its trip."""

import math
import re

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def brightness(pixels, alpha, beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            v = alpha * pixels[i, j] + beta
            if v < 0.0:
                v = 0.0
            elif v > 255.0:
                v = 255.0
            out[i, j] = int(v)
    return out


def clipped_twice(pixels, alpha, beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            v = (float(pixels[i, j]) - 128.0) * alpha + beta
            if v < 0.0:
                v = 0.0
            if v > 255.0:
                v = 255.0
            out[i, j] = v
    return out


def clipped_by_extrema(pixels, alpha, beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            out[i, j] = round(min(max(pixels[i, j] * alpha - beta, 0.0), 255.0))
    return out


def stored_by_cases(pixels, alpha, beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            v = pixels[i, j] * alpha + beta
            if not v >= 0.0:
                out[i, j] = 1
            elif v < 256.0:
                out[i, j] = int(v)
            else:
                out[i, j] = 2
    return out


def scaled(pixels, alpha, beta):
    out = np.zeros(pixels.shape, np.int64)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            out[i, j] = int(pixels[i, j] * alpha + beta)
    return out


def gray(pixels, _alpha, _beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        for j in range(pixels.shape[1]):
            r, g, b = pixels[i, j], pixels[i - 1, j], pixels[i, j - 1]
            out[i, j] = int(0.299 * r + 0.587 * g + 0.114 * b)
    return out


def gradient(pixels, _alpha, _beta):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(1, pixels.shape[0]):
        for j in range(1, pixels.shape[1]):
            x = int(pixels[i, j]) - int(pixels[i, j - 1])
            y = int(pixels[i, j]) - int(pixels[i - 1, j])
            m = math.sqrt(x * x + y * y)
            if m > 255.0:
                m = 255.0
            out[i, j] = int(m)
    return out


def pixels():
    return (np.arange(8 * 40) * 7 % 256).astype(np.uint8).reshape(8, 40)


def outcome(function, *args):
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except (ValueError, OverflowError) as error:
            return type(error), str(error)


FUNCTIONS = (brightness, clipped_twice, clipped_by_extrema, stored_by_cases, scaled, gray, gradient)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_is_checked_in_the_loops(function):
    f = ljit.jit(function)
    for alpha, beta in ((1.3, -20.0), (0.5, 3.0), (-2.0, 255.0)):
        assert compare(function(pixels(), alpha, beta), f(pixels(), alpha, beta)) is None
    text = str(f.graph_for(pixels(), 1.3, -20.0))
    conversions = [line for line in text.splitlines() if re.search(r"= py::(int|round)\W", line)]
    of_floats = [line for line in conversions if "in_32_bits" in line]
    assert of_floats or function is clipped_twice
    assert text.count("np::setitem[") == text.count("'stored')") or function is scaled
    assert "checks='made'" not in text
    for _ in fail_each_guard(f):
        assert compare(function(pixels(), 1.3, -20.0), f(pixels(), 1.3, -20.0)) is None


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300, 2.0**40, -1e80])
def test_arguments_that_are_no_ordinary_numbers_do_what_they_do(function, bad):
    f = ljit.jit(function)
    f(pixels(), 1.3, -20.0), f(pixels(), 1.3, -20.0)
    for _ in range(3):
        for args in ((bad, 1.0), (1.0, bad), (bad, -bad), (1.3, -20.0)):
            expected = outcome(function, pixels(), *args)
            assert compare(expected, outcome(f, pixels(), *args)) is None


def whole_parts(xs, low, high):
    out = np.zeros(len(xs), np.int8)
    for i in range(len(xs)):
        x = xs[i]
        if low <= x < high:
            out[i] = int(x)
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bounds_are_exact_to_the_last_bit(dtype):
    edges = [-128.0, -129.0, 127.0, 128.0, 0.0, -0.0, math.nan, math.inf, 5.5]
    near = [np.nextafter(dtype(x), dtype(y)) for x in edges for y in (-math.inf, math.inf)]
    xs = np.array([*edges, *near], dtype)

    def least(xs):
        out = np.zeros(len(xs), np.int8)
        for i in range(len(xs)):
            if -129.0 < xs[i] < 128.0:
                out[i] = int(xs[i])
        return out

    def too_far(xs):
        out = np.zeros(len(xs), np.int8)
        for i in range(len(xs)):
            if -129.0 <= xs[i] <= 127.5:
                out[i] = int(xs[i])
        return out

    for function in (least, too_far):
        f = ljit.jit(function)
        for _ in range(4):
            assert compare(outcome(function, xs), outcome(f, xs)) is None
    assert "'stored'" in str(ljit.jit(least).graph_for(xs))
    assert "'stored'" not in str(ljit.jit(too_far).graph_for(xs))
    f = ljit.jit(whole_parts)
    for low, high in ((-128.0, 128.0), (-129.0, 127.0), (0.0, 300.0)) * 3:
        assert compare(outcome(whole_parts, xs, low, high), outcome(f, xs, low, high)) is None


def indexed(table, xs):
    total = 0.0
    for i in range(len(xs)):
        k = int((xs[i] + 1e300) - 1e300) if 0.0 <= xs[i] <= 1.0 else 0
        total += table[k]
    return total


def test_where_floats_are_reordered_nothing_is_known_of_them():
    f = ljit.jit(indexed, fastmath=True)
    xs, table = np.linspace(0.0, 1.0, 9), np.array([2.0])
    plain = ljit.jit(indexed)
    for _ in range(3):
        assert compare(plain(table, xs), indexed(table, xs)) is None
        outcome(f, table, xs * 0.5)
    assert "in_32_bits" in str(plain.graph_for(table, xs))
    assert "in_32_bits" not in str(f.graph_for(table, xs))


def means_of_windows(pixels, weight, first):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(1, pixels.shape[0] - 1):
        for j in range(1, pixels.shape[1] - 1):
            total = first
            for k in range(-1, 2):
                for m in range(-1, 2):
                    total += pixels[i + k, j + m] * weight
            out[i, j] = int(min(max(total, 0.0), 255.0))
    return out


def errors_that_are_carried(pixels, weight, first):
    out = np.zeros(pixels.shape, np.uint8)
    for i in range(pixels.shape[0]):
        error = first
        for j in range(pixels.shape[1]):
            error = pixels[i, j] * weight + error
            if error < 0.0:
                continue
            if error > 500.0:
                error -= 255.0
                if j > 30:
                    break
            out[i, j] = int(min(error, 255.0))
    return out


@pytest.mark.parametrize("function", [means_of_windows, errors_that_are_carried])
def test_sums_of_numbers_that_loops_carry_are_numbers(function):
    f = ljit.jit(function)
    for weight, first in ((0.125, 0.0), (-0.5, 3.0), (0.3, 9.0)) * 2:
        assert compare(function(pixels(), weight, first), f(pixels(), weight, first)) is None
    assert "'stored')" in str(f.graph_for(pixels(), 0.125, 0.0))
    for args in ((math.nan, 0.0), (0.5, math.inf), (1e300, -1e300), (math.inf, -math.inf)) * 2:
        assert compare(outcome(function, pixels(), *args), outcome(f, pixels(), *args)) is None


def length(xs):
    total = 0.0
    for i in range(len(xs)):
        total += xs[i] * xs[i]
    return math.sqrt(total)


def difference(xs):
    total = 0.0
    for i in range(len(xs)):
        total -= xs[i] * xs[i]
        total = xs[i] - total
    return math.sqrt(total)


def test_what_grows_is_not_below_what_it_began_with():
    xs = np.array([3.0, -4.0])
    assert "math::sqrt[proven=('nonnegative',)]" in str(ljit.jit(length).graph_for(xs))
    assert "math::sqrt(" in str(ljit.jit(difference).graph_for(xs))
    for function in (length, difference):
        f = ljit.jit(function)
        for given in (xs, xs * math.nan, -xs, xs[:0], xs * math.inf) * 2:
            assert compare(outcome(function, given), outcome(f, given)) is None


def bounded_in_some_trips(xs, limit):
    """The condition is about the term of this trip, not about those before it."""
    total, out = 0.0, np.zeros(len(xs), np.uint8)
    for i in range(len(xs)):
        x = xs[i]
        total += x
        if 0.0 <= x <= limit and x < 2.0:
            out[i] = int(max(total, 0.0))
    return out


def doubled(xs, limit):
    total, out = limit, np.zeros(len(xs), np.uint8)
    for i in range(len(xs)):
        total = total * 2.0 + 1.0
        out[i] = int(min(total, 255.0) if total == total else 0.0)
    return out


@pytest.mark.parametrize("function", [bounded_in_some_trips, doubled])
def test_what_holds_in_one_trip_says_nothing_of_others(function):
    f = ljit.jit(function)
    samples = [
        [1.0, 0.5, 1.0],
        [1.0, 0.5, 300.0, 0.25],
        [1.0, math.nan, 1.0],
        [math.inf, 1.0, -math.inf, 0.5],
    ]
    for xs in [np.array(x) for x in samples] * 2:
        for limit in (1.0, math.inf, 2.0**62):
            assert compare(outcome(function, xs, limit), outcome(f, xs, limit)) is None

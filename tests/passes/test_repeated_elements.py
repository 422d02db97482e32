"""Elements that a loop reads again in each trip are tested in front of it: so sums of them can be clipped without checks."""

import math
import re

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def filtered(image, weights):
    out = np.zeros(image.shape, np.uint8)
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0.0
            for j in range(3):
                for i in range(3):
                    s += weights[j, i] * image[y + j - 1, x + i - 1]
            if s < 0.0:
                s = 0.0
            if s > 255.0:
                s = 255.0
            out[y, x] = int(s)
    return out


def written_out(image, weights):
    out = np.zeros(image.shape, np.uint8)
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = weights[0, 0] * image[y - 1, x - 1] + weights[0, 1] * image[y - 1, x]
            s += weights[0, 2] * image[y - 1, x + 1] + weights[1, 0] * image[y, x - 1]
            s += weights[1, 1] * image[y, x] + weights[1, 2] * image[y, x + 1]
            s += weights[2, 0] * image[y + 1, x - 1] + weights[2, 1] * image[y + 1, x]
            s += weights[2, 2] * image[y + 1, x + 1]
            out[y, x] = int(min(max(s, 0.0), 255.0))
    return out


def image():
    return (np.arange(9 * 40) * 7 % 256).astype(np.uint8).reshape(9, 40)


def weights(dtype=np.float64):
    return np.array([[1, 2, 1], [2, -4, 2], [1, 2.5, 1]], dtype) / dtype(8)


def outcome(function, *args):
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except (ValueError, OverflowError) as error:
            return type(error), str(error)


def conversions(f, *args):
    return re.findall(r"= py::int\W.*", str(f.graph_for(*args)))


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(filtered, np.float64), (written_out, np.float64), (written_out, np.float32)],
)
def test_nothing_is_checked_in_the_loops(function, dtype):
    f = ljit.jit(function)
    for _ in range(3):
        expected = function(image(), weights(dtype))
        assert compare(expected, f(image(), weights(dtype))) is None
    found = conversions(f, image(), weights(dtype))
    assert found and all("'fits'" in line for line in found)
    for _ in fail_each_guard(f):
        assert compare(expected, f(image(), weights(dtype))) is None


@pytest.mark.parametrize("function", [filtered, written_out])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300, -1e80])
def test_weights_that_are_no_ordinary_numbers_do_what_they_do(function, bad):
    f = ljit.jit(function)
    f(image(), weights()), f(image(), weights())
    with_bad = weights()
    with_bad[1, 2] = bad
    for _ in range(3):
        for given in (with_bad, weights(), weights()[::-1, ::-1], weights().T):
            expected = outcome(function, image(), given)
            assert compare(expected, outcome(f, image(), given)) is None


def test_long_filters_are_looked_at_in_the_loop():
    def function(xs, taps):
        out = np.zeros(len(xs) - len(taps), np.int16)
        for i in range(len(out)):
            s = 0.0
            for k in range(len(taps)):
                s += taps[k] * xs[i + k]
            out[i] = int(min(max(s, -100.0), 100.0))
        return out

    f = ljit.jit(function)
    xs = (np.arange(600) * 37 % 101).astype(np.int16)
    for size in (8, 8, 300, 8, 300, 300, 8):
        taps = np.cos(np.arange(size))
        assert compare(function(xs, taps), f(xs, taps)) is None


def test_what_the_loop_writes_to_may_be_the_array():
    def function(xs, taps, out):
        for i in range(len(xs) - 3):
            s = 0.0
            for k in range(3):
                s += taps[k] * xs[i + k]
            out[i] = s
            xs[i] = int(min(max(s, -100.0), 100.0))

    f = ljit.jit(function)
    xs = np.arange(40) * 37 % 101
    for is_shared in (False, False, False, True, True, False, True):
        results = []
        for g in (function, f):
            out = np.zeros(60)
            out[:3] = 0.25, 0.5, math.nan if is_shared else 0.0
            given, taps = xs.copy(), out[:3] if is_shared else np.array([0.25, 0.5, 1e3])
            if is_shared:
                taps[2] = 2.0
                out = out[1:]
            results.append((outcome(g, given, taps, out), given, taps, out))
        assert compare(*results) is None


def test_weights_that_the_loop_changes_are_checked():
    def function(xs, taps):
        total = 0
        for i in range(len(xs) - 3):
            s = 0.0
            for k in range(3):
                s += taps[k] * xs[i + k]
            total += int(min(max(s, -100.0), 100.0))
            taps[i % 3] *= 1e20
        return total

    f = ljit.jit(function)
    xs = np.arange(60) * 37 % 101
    for _ in range(4):
        for size in (8, 60):
            expected = outcome(function, xs[:size], np.array([0.25, 0.5, -1.0]))
            assert compare(expected, outcome(f, xs[:size], np.array([0.25, 0.5, -1.0]))) is None


def sums_of_ints(image, weights):
    out = np.zeros(image.shape, np.uint8)
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0
            for j in range(3):
                for i in range(3):
                    s += int(weights[j, i]) * int(image[y + j - 1, x + i - 1])
            out[y, x] = min(max(s // 8, 0), 255)
    return out


def int_weights(bad=0, dtype=np.int64):
    found = np.array([[1, 2, 1], [2, -4, 2], [1, 3, 1]], dtype)
    found[1, 2] += bad
    return found


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint32])
def test_sums_of_ints_and_weights_that_are_near_0_are_not_checked(dtype):
    f, given = ljit.jit(sums_of_ints), abs(int_weights()).astype(dtype)
    expected = sums_of_ints(image(), given)
    for _ in range(3):
        assert compare(expected, f(image(), given)) is None
    text = str(f.graph_for(image(), given))
    found = re.findall(r"= py::(?:mul|iadd)\W.*", text)
    assert found and all("'fits'" in line for line in found)
    # nine products of 8 and 32 bits fit as they are
    assert text.count("np::are_within") == (1 if dtype is np.int64 else 0)
    for _ in fail_each_guard(f):
        assert compare(expected, f(image(), given)) is None


@pytest.mark.parametrize("bad", [2**20, 2**20 + 1, -(2**40), 2**62, -(2**63), 2**63 - 3])
def test_weights_far_from_0_are_ints_that_outgrow_int64(bad):
    f = ljit.jit(sums_of_ints)
    f(image(), int_weights()), f(image(), int_weights())
    for _ in range(3):
        for given in (int_weights(bad), int_weights(), int_weights(bad).T, int_weights(bad)[::-1]):
            expected = sums_of_ints(image(), given)
            assert compare(expected, f(image(), given)) is None

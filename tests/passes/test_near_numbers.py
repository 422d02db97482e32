"""Floats that loops make ints of are checked to be near 0, where nothing else has to be checked then."""

import math
import re

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare
from tests.programs.near_numbers import a_sum_of_many, edges, image, weighted_by_short_loops


def made(function, *args):
    f = ljit.jit(function)
    for _ in range(3):
        assert compare(function(*args), f(*args)) is None
    return f, str(f.graph_for(*args))


@pytest.mark.parametrize("function", [edges, weighted_by_short_loops], ids=lambda f: f.__name__)
def test_no_sum_or_product_is_checked_until_a_float_is_far_away(function):
    f, text = made(function, image())
    assert "prim::near" in text
    lines = re.findall(r"= py::(?:int|round|add|sub|mul)\W.*", text)
    assert lines and all("'fits'" in line for line in lines)
    expected = function(image())
    for _ in fail_each_guard(f):
        assert compare(expected, f(image())) is None
    for odd in (-(2.0**33), 2.0**62, math.nan):
        for _ in range(3):
            assert compare(function(image(odd)), f(image(odd))) is None
    assert "prim::near" not in str(f.graph_for(image()))
    assert compare(expected, f(image())) is None


def hashed(a):
    h = 1
    for i in range(len(a)):
        h = (h * 31 + int(a[i])) % 1000003
        if h == 7:
            h = int(a[i]) * h * h * h
    return h


@pytest.mark.parametrize("function", [a_sum_of_many, hashed], ids=lambda f: f.__name__)
def test_where_sums_and_products_are_checked_all_the_same_no_float_is(function):
    _, text = made(function, image().ravel())
    assert "prim::near" not in text


def indices(x, counts):
    for i in range(len(x)):
        counts[int(x[i]) + 1] += 1
    return counts


def test_an_index_refuses_what_is_far_away_itself():
    _, text = made(indices, image().ravel(), np.zeros(300, np.int64))
    assert "prim::near" not in text


def quotients(x, out):
    for i in range(len(x)):
        k = int(x[i])
        out[i] = k * k if i % 3 else k // 3
    return out


@pytest.mark.parametrize("limit", [2**24, 2**24 + 1, 2**31, -(2**24) - 1])
def test_what_is_just_near_and_just_not_gives_the_same(limit):
    f, text = made(quotients, image().ravel(), np.zeros(960, np.int64))
    assert "prim::near[most=16777216" in text
    x = image(float(limit)).ravel()
    for _ in range(3):
        out = np.zeros(960, np.int64)
        assert compare(quotients(x, out.copy()), f(x, out.copy())) is None


def edges_between(a, out, low, high):
    for y in range(low, high):
        for x in range(1, a.shape[1] - 1):
            gx = int(a[y - 1, x + 1]) + 2 * int(a[y, x + 1]) + int(a[y + 1, x + 1])
            gx -= int(a[y - 1, x - 1]) + 2 * int(a[y, x - 1]) + int(a[y + 1, x - 1])
            out[y, x] = gx * gx
    return out


def grey(rows=16, far=None):
    a = (np.arange(rows * 12.0) * 37 % 256).reshape(rows, 12)
    if far is not None:
        a[-1, 5] = far
    return a


def told(function, a, shared, low, high):
    a = a.copy()
    out = a[1:] if shared else np.zeros(a.shape)
    try:
        return function(a, out, low, high), a
    except (ValueError, OverflowError, IndexError) as error:
        return type(error), str(error), a, out


def test_arrays_whose_elements_are_read_again_are_looked_at_as_a_whole():
    f, text = made(edges_between, grey(), np.zeros((16, 12)), 1, 15)
    assert text.count("np::are_all_within") == 1
    assert text.count("prim::near") == text.count("prim::near[most=16777216, proven=('inside',)]")
    for _ in fail_each_guard(f):
        for rows in (16, 3, 2, 1):
            given = grey(rows), False, 1, rows - 1
            assert compare(told(edges_between, *given), told(f, *given)) is None


@pytest.mark.parametrize(
    "far", [2.0**24, 2.0**24 + 1, -(2.0**40), 2.0**62, 1e300, math.nan, -math.inf]
)
@pytest.mark.parametrize("high", [15, 5, 2])
def test_elements_that_are_far_away_count_where_they_are_read(far, high):
    f = ljit.jit(edges_between)
    f(grey(), np.zeros((16, 12)), 1, 15), f(grey(), np.zeros((16, 12)), 1, 15)
    for _ in range(4):
        for a in (grey(far=far), grey(), grey(far=far)[::-1], grey(400, far)):
            for shared in (False, True):
                given = a, shared, 1, high
                assert compare(told(edges_between, *given), told(f, *given)) is None
    text = str(f.graph_for(grey(), np.zeros((16, 12)), 1, 15))
    assert "np::are_all_within" not in text


def edges_of_columns(a, out, columns):
    for y in range(1, a.shape[0] - 1):
        for x in range(1, columns):
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + 2 * int(a[y + 1, x])
            out[y, x] = gx * gx
    return out


def of_columns(function, a, columns):
    out = np.zeros((a.shape[0], columns))
    return function(a, out, columns)


def test_arrays_of_which_loops_read_a_small_part_are_not_looked_at_as_a_whole():
    narrow, wide = grey(), np.tile(grey(), 60)
    f, text = made(edges_of_columns, narrow, np.zeros((16, 11)), 11)
    assert "np::are_all_within" in text
    for a, columns in [(narrow, 11), (narrow, 1), (wide, 4), (wide, 1), (wide, 700), (wide, 4)]:
        assert compare(of_columns(edges_of_columns, a, columns), of_columns(f, a, columns)) is None
    text = str(f.graph_for(wide, np.zeros((16, 4)), 4))
    assert "np::are_all_within" not in text


def edges_until(a, out):
    y = 1
    while y < a.shape[0] - 1:
        for x in range(1, y % 8 + 2):
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + 2 * int(a[y + 1, x])
            out[y, x] = gx * gx
        y += 1
    return out


def test_arrays_are_not_looked_at_in_front_of_loops_whose_trips_are_not_known_there():
    f, text = made(edges_until, grey(), np.zeros((16, 12)))
    assert "np::are_all_within" not in text
    assert compare(edges_until(grey(), np.zeros((16, 12))), f(grey(), np.zeros((16, 12)))) is None


def first_edge(a, out, limit):
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + 2 * int(a[y + 1, x])
            if gx > limit:
                return y, x
            out[y, x] = gx
    return None


def edges_up_to(a, out, limit):
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + 2 * int(a[y + 1, x])
            if gx > limit:
                break
            out[y, x] = gx
    return out


def edges_of_few_rows(a, out, limit):
    for y in range(1, a.shape[0] - 1):
        if a[y, 0] > limit:
            for x in range(1, a.shape[1] - 1):
                out[y, x] = int(a[y, x + 1]) - int(a[y, x - 1]) + 2 * int(a[y + 1, x])
    return out


@pytest.mark.parametrize("function", [first_edge, edges_up_to, edges_of_few_rows])
def test_arrays_are_not_looked_at_in_front_of_loops_that_may_have_few_trips(function):
    f = ljit.jit(function)
    for limit in (400, 400, 400, 10, 400, 100, 10):
        given = np.zeros((16, 12))
        assert compare(function(grey(), given.copy(), limit), f(grey(), given, limit)) is None
    assert "np::are_all_within" not in str(f.graph_for(grey(), np.zeros((16, 12)), 400))


def weighted_sum(a, w):
    total = 0
    for i in range(len(a)):
        total += int(a[i]) * w
    return total


def of_positive_products(a, w):
    total = more = 0
    for i in range(len(a)):
        if a[i] > 1.0:
            total += int(a[i]) * int(a[i])
        else:
            more -= int(a[i]) * w
    return total, more


def sum_of_int32(a, w):
    total = 0
    for i in range(len(a)):
        total += int(a[i]) * w
    return total


FLOATS = np.random.default_rng(3).uniform(-1e6, 1e6, 9001)


@pytest.mark.parametrize("function", [weighted_sum, of_positive_products], ids=lambda f: f.__name__)
def test_products_of_near_numbers_are_added_up_without_checks(function):
    f, text = made(function, FLOATS, -7)
    assert "prim::near[most=16777216" in text
    lines = re.findall(
        r"= py::(?:mul|iadd|isub)\W.*", text.split("checks='made'")[1].split("-> (")[0]
    )
    assert lines and all("'fits'" in line for line in lines)
    assert "py::rshift" not in text  # no sum of upper halves
    expected = function(FLOATS, -7)
    for _ in fail_each_guard(f):
        assert compare(expected, f(FLOATS, -7)) is None


@pytest.mark.parametrize("function", [weighted_sum, of_positive_products], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "odd", [2.0**24, 2.0**24 + 1, -(2.0**40), 2.0**62, 2.0**63, math.inf, math.nan]
)
def test_numbers_that_are_far_away_count_in_sums(function, odd):
    f, _ = made(function, FLOATS, 3)
    a = FLOATS.copy()
    a[[5, 4096, -1]] = odd
    for array in (a, a[6:], FLOATS[:0], a):
        assert compare(told_sum(function, array), told_sum(f, array)) is None


def told_sum(function, a, w=3):
    try:
        return function(a, w)
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("weight", [2**20 - 1, 2**20, 2**26 + 1, -(2**31), 2**40, -(2**63), 2**70])
@pytest.mark.parametrize("function", [weighted_sum, sum_of_int32], ids=lambda f: f.__name__)
def test_weights_of_any_size_give_what_they_give(function, weight):
    a = FLOATS if function is weighted_sum else np.full(9001, -(2**31), np.int32)
    f, _ = made(function, a, 3)
    for w in (weight, -3, weight):
        assert compare(function(a, w), f(a, w)) is None


def test_ints_of_32_bits_times_a_weight_are_added_up_as_they_are():
    a = np.arange(-5000, 5000, dtype=np.int32)
    _, text = made(sum_of_int32, a, 3)
    assert "test=((524288,), (-1, 1))" in text
    assert "py::rshift" not in text


def weighted_windows(image, weights):
    s = 0
    for y in range(image.shape[0]):
        for x in range(image.shape[1] - 4):
            t = 0
            for k in range(5):
                t += int(image[y, x + k]) * int(weights[k])
            s += t
    return s


def test_windows_of_ints_of_32_bits_are_added_up_without_checks():
    a = np.random.default_rng(5).integers(-(2**31), 2**31, (9, 300)).astype(np.int32)
    f, text = made(weighted_windows, a, np.array([1, -2, 3, 4, -5]))
    assert "np::are_within" in text
    lines = re.findall(r"= py::(?:mul|iadd)\W.*", text.split("np::int64")[0])
    assert len(lines) > 1 and all("'fits'" in line for line in lines)
    for most in (2**20, 2**20 + 1, -(2**40), 2**62, -(2**63)):
        weights = np.array([1, -2, 3, 4, most])
        for given in (a, a[:0], a[:, :4], np.full((3, 5000), -(2**31), np.int32)):
            assert compare(weighted_windows(given, weights), f(given, weights)) is None


def weighted_sum(a, weight):
    total = 0
    for i in range(len(a)):
        total += int(a[i]) * weight
    return total


def test_what_is_made_of_a_refused_float_before_anybody_looks_is_no_poison():
    f, text = made(weighted_sum, image().ravel(), 3)
    assert "prim::near" in text and "py::mul[proven=('fits'" in text
    products = re.findall(r"= mul (.*)", f.dump_llvm())
    assert products and not any("nsw" in product for product in products)

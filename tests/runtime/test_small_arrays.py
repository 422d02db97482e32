"""Sizes of small arrays are compiled for; other sizes share one more version."""

import numpy as np

import ljit
from ljit.profile import Observation
from ljit.types import ArrayType


def scaled(x, y):
    return x * y + x


def total(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


def types_of(compiled):
    return [tuple(map(str, info.types)) for info in compiled.specializations]


def test_a_thousand_shapes_make_two_compiles():
    compiled = ljit.jit(scaled)
    for n in range(1, 1001):
        x = np.arange(float(n))
        assert np.array_equal(compiled(x, x), scaled(x, x))
        assert np.array_equal(compiled(x, x), scaled(x, x))
    assert sum(info.compiles for info in compiled.specializations) <= 3
    assert types_of(compiled) == [("Float64(1)", "Float64(1)"), ("Float64(*)", "Float64(*)")]


def test_sizes_that_change_while_profiling_are_not_used():
    compiled = ljit.jit(scaled, num_profiled_runs=2)
    for n in (3, 4, 3, 4):
        assert np.array_equal(compiled(np.ones(n), np.ones(n)), np.full(n, 2.0))
    assert types_of(compiled) == [("Float64(*)", "Float64(*)")]


def test_sizes_are_not_used_where_they_are_no_help():
    compiled = ljit.jit(total)
    for n in (3, 3, 4, 50):
        assert compiled(np.ones(n)) == n
    assert types_of(compiled) == [("Float64(*)",)]
    assert sum(info.compiles for info in compiled.specializations) == 1


def test_rows_of_vectors_have_a_known_last_size():
    def first_and_last(rows):
        return rows[0] + rows[-1]

    compiled = ljit.jit(first_and_last)
    for n in (9, 9, 30):
        assert np.array_equal(compiled(np.ones((n, 3))), np.full(3, 2.0))
    assert types_of(compiled) == [("Float64(*, 3)",)]


def test_columns_have_a_known_last_size_where_rows_are_gone_along():
    def totals(rows, row):
        return ((rows - row) ** 2).sum(axis=1)

    compiled = ljit.jit(totals)
    for shape in ((70, 1), (70, 1), (90, 1), (70, 5), (70, 5), (80, 1), (40, 1), (1, 1)):
        rows = np.arange(float(np.prod(shape))).reshape(shape)
        assert np.array_equal(compiled(rows, rows[3:4, 0]), totals(rows, rows[3:4, 0]))
        assert np.array_equal(compiled(rows, rows[-1]), totals(rows, rows[-1]))
    assert ("Float64(*, 1)", "Float64(1)") in types_of(compiled)


def test_a_last_size_that_stays_the_same_is_known_behind_small_arrays():
    def products(rows, row):
        return (rows * row).sum(axis=1)

    def assert_types(*wanted):
        assert types_of(compiled) == [(f"Float64({x})", "Float64(3)") for x in wanted]

    def call(n, row):
        rows = np.arange(float(n * row.size)).reshape(n, row.size)
        assert np.array_equal(compiled(rows, row), products(rows, row))

    row = np.arange(3.0)
    compiled = ljit.jit(products, num_profiled_runs=2)
    for n in (2, 3, 40, 4, 1):
        call(n, row)
    assert_types("*, 3")
    compiled = ljit.jit(products)
    for n in (2, 2, 2, 2, 40, 3, 40, 50, 1):
        call(n, row)
        _ = compiled.specializations  # who looks at them has small functions compiled
    assert_types("2, 3", "*, 3")
    for size in (7, 5, 9):
        call(30, np.arange(float(size)))
    assert len(compiled.specializations) == 3


def test_short_rows_have_a_known_size_where_nests_go_along_them_or_take_columns():
    def centred(rows):
        return rows - rows.mean(axis=0)

    def sums(rows):
        return (rows * rows).sum(axis=1)

    def products(rows):
        return rows[:, 0] * rows[:, 1] + rows[:, 0]

    for function in (centred, sums, products):
        compiled = ljit.jit(function)
        for n in (9, 9, 30):
            rows = np.arange(n * 3.0).reshape(n, 3) % 4.0
            assert np.array_equal(compiled(rows), function(rows))
        assert types_of(compiled) == [("Float64(*, 3)",)]


def test_views_of_views_of_short_rows_have_a_known_size():
    def steps(rows):
        return np.diff(rows[1:, 1:-1], axis=0)

    def column(rows):
        return rows[1:-1, 1:-1].copy()

    for function in (steps, column):
        compiled = ljit.jit(function)
        for n in (9, 9, 30):
            rows = np.arange(n * 3.0).reshape(n, 3) % 4.0
            assert np.array_equal(compiled(rows), function(rows))
        assert types_of(compiled) == [("Float64(*, 3)",)]


def test_rows_in_one_piece_need_no_known_size():
    compiled = ljit.jit(scaled)
    for m in (3, 3, 2, 5):
        assert np.array_equal(compiled(np.ones((9, m)), np.ones((9, m))), np.full((9, m), 2.0))
    assert types_of(compiled) == [("Float64(*, *)", "Float64(*, *)")]


def test_observations_keep_sizes_that_stay_the_same():
    seen = Observation()
    seen.see(np.ones((2, 3)))
    assert seen.sized_type() == ArrayType(np.dtype(float), (2, 3))
    seen.see(np.ones((100, 3)))
    assert seen.sized_type() == ArrayType(np.dtype(float), (None, 3))
    seen.see(np.ones((100, 2)))
    assert seen.sized_type() == seen.type

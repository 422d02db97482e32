"""In which order a nest goes through the axes of arrays that lie in memory otherwise."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.builder import FALSE, TRUE, ModuleBuilder, integer
from ljit.codegen.nests.memory_order import (
    exchange_condition,
    memory_order,
    repeated_condition,
    reversed_condition,
    single_condition,
)


def is_reversed(
    *strides: tuple[int, ...], sizes: tuple[int, ...] = (4, 5, 6), is_first_inner: bool = True
) -> bool:
    e = SimpleNamespace(f=ModuleBuilder("test").function("test", "void", ()))
    operands = [
        SimpleNamespace(
            sizes=[integer("i64", n) for n in sizes], strides=[integer("i64", n) for n in steps]
        )
        for steps in strides
    ]
    space = operands[0].sizes
    condition = reversed_condition(e, space, operands, is_first_inner=is_first_inner)
    assert condition.constant is not None
    return bool(condition.constant)


@pytest.mark.parametrize(
    ("strides", "expected"),
    [
        ((240, 48, 8), False),
        ((8, 32, 160), True),
        ((8, 240, 48), True),
        ((48, 240, 8), False),
        ((240, 8, 48), False),
        ((-8, 240, 48), True),
    ],
)
def test_the_inner_loop_has_the_shorter_steps(strides, expected):
    assert is_reversed(strides) == expected
    assert is_reversed(strides, (0, 0, 8)) == expected
    assert not is_reversed(strides, (240, 48, 8))
    assert not is_reversed(strides, sizes=(1, 1, 6))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((1, 7, 9, 2), True), ((7, 9, 2, 1), True), ((1, 7, 1, 2), True), ((1, 7, 1, 1), False)],
)
def test_axes_of_one_element_do_not_say_where_the_shorter_steps_are(sizes, expected):
    for order, is_fortran in (("F", True), ("C", False)):
        strides = np.empty(sizes, order=order).strides
        assert is_reversed(strides, sizes=sizes) == (expected and is_fortran)
        without_first = sizes[0] > 1 and expected and is_fortran
        assert is_reversed(strides, sizes=sizes, is_first_inner=False) == without_first


@pytest.mark.parametrize("shape", [(60, 64, 1), (1, 60, 64), (60, 1, 64), (1, 700, 1)])
def test_sums_of_arrays_with_axes_of_one_element_go_along_memory(shape):
    """Where they go otherwise, some round otherwise."""
    f = ljit.jit(lambda a: (a * 3).sum())
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for seed in range(12):
            x = np.random.default_rng(seed).random(shape[::-1], np.float32)
            general = np.ones((4, 5, 6), np.float32).T
            assert f(general) == 360
            assert f(x.T) == f(x)


def test_last_axes_of_one_element_are_seen_where_no_array_says_how_far_its_elements_are_apart():
    f = ModuleBuilder("test").function("test", "void", ("i64", "i64"))
    e, (size, step), unit = SimpleNamespace(f=f), f.params, integer("i64", 8)
    loose, near = (SimpleNamespace(strides=[step, x]) for x in (step, unit))
    sizes = [integer("i64", 5), integer("i64", 1)]
    assert single_condition(e, sizes, [loose], [1]) is TRUE
    assert single_condition(e, sizes, [loose], [0, 1]) is FALSE
    assert single_condition(e, [size, size], [loose], [1]).constant is None
    assert single_condition(e, sizes, [loose, near], [1]) is FALSE


ONES = [(4, 5, 6), (4, 5, 1), (4, 1, 1), (1, 5, 1), (1, 1, 1), (4, 1, 6)]


def test_arrays_with_one_element_along_last_axes_in_code_for_more():
    def combine(a, b):
        sums = a.sum(axis=0), a.sum(axis=1), a.sum(axis=-1), a.sum(axis=(0, 2)), a.sum(axis=(1, 2))
        return (
            *sums,
            a * b,
            (a - b).sum(),
            a.sum(axis=(0, 1)),
            a[0].sum(axis=1),
            a[:, 0].sum(axis=0),
        )

    f = ljit.jit(combine)
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for shape in (ONES[0], *ONES):
            a = np.arange(8.0 * np.prod(shape)).reshape([2 * n for n in shape])[::2, ::2, ::2]
            for b in (a, np.asfortranarray(a), a[::-1], a.swapaxes(0, 1).copy().swapaxes(0, 1)):
                for found, wanted in zip(f(a, b), combine(a, b), strict=True):
                    np.testing.assert_array_equal(found, wanted)
                    kept = [n > 1 for n in found.shape]
                    strides = zip(found.strides, wanted.strides, kept, strict=True)
                    assert all(x == y for x, y, counts in strides if counts)


@pytest.mark.parametrize(
    ("axis", "shapes"),
    [
        (0, ((30, 5), (100, 1))),
        (-1, ((30, 5), (100, 1))),
        ((0, 1), ((8, 9, 5), (8, 64, 1))),
        ((1, 2), ((8, 9, 5), (64, 1, 1))),
    ],
)
def test_code_for_longer_rows_is_made_anew_for_single_columns(axis, shapes):
    def combine(a):
        return a.sum(axis=axis), a.max(axis=axis), (a * a).mean(axis=axis), (a > 0.5).any(axis=axis)

    f = ljit.jit(combine)
    with config.overridden(quick_runs=0):
        for shape in (shapes[0], *shapes, *shapes, shapes[1]):
            a = np.random.default_rng(1).random(shape)
            for found, wanted in zip(f(a), combine(a), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-15, strict=True)
        assert f.explain().count("many rows have one element") == 1
        assert "1 bailout" in f.explain()


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_neighbouring_axes_that_are_reduced_are_gone_through_in_the_order_of_memory(order):
    def combine(a):
        pairs = (
            a.sum(axis=(0, 1)),
            a.max(axis=(1, 2)),
            a.min(axis=(0, 2)),
            a.sum(axis=(1, 2), keepdims=True),
        )
        return (
            *pairs,
            (a - 1).any(axis=(0, 1)),
            a[None].sum(axis=(0, 1)),
            a[..., None].sum(axis=(1, 2, 3)),
        )

    f = ljit.jit(combine)
    with config.overridden(quick_runs=0):
        for shape in ((4, 5, 6), (2, 3, 40), (40, 3, 2), (3, 1, 2), (1, 7, 1), (20, 1, 1)):
            for a in (np.arange(2.0 * np.prod(shape)).reshape(shape[0], -1, shape[2])[:, ::2],):
                x = a.transpose(order)
                for _ in range(2):
                    for found, wanted in zip(f(x), combine(x), strict=True):
                        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 2), (0,), (1,), (2,)])
def test_whichever_axes_are_reduced_all_are_put_into_the_order_of_memory(axes):
    planes = np.ones((6, 5, 40)).transpose(1, 2, 0)
    f = ljit.jit(lambda a: a.max(axis=axes))
    with config.overridden(quick_runs=0):
        text = f.dump_llvm(planes) if f(planes) is not None else ""
    exchanges = 3 * 3  # a size, and a stride of the source and of the result, for each pair of axes
    assert text.count("select i1") > 4 * exchanges


@pytest.mark.parametrize("quick_runs", [0, 10**6])
def test_what_is_reduced_behind_no_last_axis_but_one_of_a_single_element(quick_runs):
    """Such a last axis cannot be told from a reduced one, but is not all that is combined."""
    f = ljit.jit(lambda a, b: (a * b).sum(axis=1))
    with config.overridden(quick_runs=quick_runs, cold_calls=0, profiled_sizes=False):
        for shape in ((9, 20, 30), (9, 20, 30), (1, 8, 2)):
            a = (np.arange(np.prod(shape)) % 7.0).reshape(shape).T
            b = (np.arange(a.size) % 5.0).reshape(a.shape)
            np.testing.assert_array_equal(f(a, b), (a * b).sum(axis=1))


@pytest.mark.parametrize("axes", [0, 1, 2, (0, 2)])
def test_reductions_of_views_are_written_for_the_two_places_of_a_reduced_axis(axes):
    f = ljit.jit(lambda a: a.sum(axis=axes))
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for _ in range(2):
            f(np.ones((6, 5, 40)).transpose(1, 2, 0))
        assert f.dump_llvm().count("define internal void @nest.") == 2


PARTS = (0,), (1,), (2,), (3,), (0, 1), (0, 2), (1, 3), (2, 3), (0, 1, 2), (0, 2, 3), (1, 2, 3)


@pytest.mark.parametrize("quick_runs", [0, 10**6])
@pytest.mark.parametrize("axes", PARTS)
def test_some_of_four_axes_in_any_order_are_reduced(axes, quick_runs):
    def combine(a, b):
        sums = a.sum(axis=axes), (a * b).sum(axis=axes, keepdims=True), (a > b).any(axis=axes)
        t = a + b
        return *sums, (b - a).max(axis=axes), (a * b[..., :1]).min(axis=axes), t, t.sum(axis=axes)

    f = ljit.jit(combine)
    shapes = (4, 3, 5, 9), (1, 7, 20, 2), (2, 1, 9, 1), (1, 1, 30, 4), (1, 12, 1, 1)
    orders = (0, 1, 2, 3), (3, 2, 1, 0), (3, 1, 2, 0), (1, 2, 3, 0), (2, 0, 3, 1)
    with config.overridden(quick_runs=quick_runs, cold_calls=0, profiled_sizes=False):
        for shape, order in itertools.product(shapes, orders):
            b = np.arange(2.0 * np.prod(shape)).reshape(*shape[:-1], -1)[..., ::2] % 11 - 4
            a = np.ascontiguousarray(b.transpose(order)).transpose(np.argsort(order))
            for x in (a, a[::-1], a[..., ::-1], np.broadcast_to(a[:1], a.shape)):
                for found, wanted in zip(f(x, b), combine(x, b), strict=True):
                    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                    np.testing.assert_array_equal(found, wanted)


FOUR = [(4, 3, 5, 9), (9, 1, 4, 3), (1, 9, 2, 10), (10, 2, 1, 1), (2, 2, 2, 2)]


@pytest.mark.parametrize(
    "order", [(3, 2, 1, 0), (1, 0, 3, 2), (2, 3, 0, 1), (0, 3, 1, 2), (3, 0, 2, 1)]
)
def test_four_axes_and_arrays_whose_elements_are_side_by_side_along_the_first_ones(order):
    def combine(a, b):
        sums = a.sum(), (a - b).max(), (a * b).sum(axis=(0, 1, 2, 3), keepdims=True), a[:, 0].min()
        c = b.copy()
        c[...] = a
        return *sums, b * a, b[-1] - a[-1], c, np.ascontiguousarray(a), np.array(b[:, ::-1] + a)

    f = ljit.jit(combine)
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for shape in FOUR:
            b = np.arange(2.0 * np.prod(shape)).reshape(*shape[:-1], -1)[..., ::2].copy()
            a = np.ascontiguousarray(b.transpose(order)).transpose(np.argsort(order))
            for _ in range(2):
                for found, wanted in zip(f(a, b), combine(a, b), strict=True):
                    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(40, 3, 50), (5, 6, 4, 7)])
def test_outer_axes_with_the_shortest_steps_are_tiles_with_the_last_one(shape):
    """The nest over the sum has rows along the axis that is looked for at run time."""
    b = np.ones(shape)
    f, g = (ljit.jit(h) for h in (lambda x, y: x * y, lambda x, y: (x * y).sum(axis=0)))
    with config.overridden(quick_runs=0):
        texts = [
            h.dump_llvm(np.asfortranarray(b), b)
            for h in (f, g)
            if h(np.asfortranarray(b), b) is not None
        ]
    looks = [len(re.findall(r"icmp sge i64 %\w+, 8$", text, re.MULTILINE)) for text in texts]
    assert looks == [len(shape) - 2, 0]


def test_sizes_of_last_axes_count_where_some_columns_are_stored_to_and_where_rows_of_one_have_gaps():
    def store(a, b):
        a[..., 1:] = 0

    def store_rows(a, b):
        a[1:] = 0

    def multiply(a, b):
        return a * b

    rows, single = np.ones((50, 3)), np.ones((50, 7, 1))
    for f, a, is_sized in (
        (store, rows, True),
        (store_rows, rows, False),
        (multiply, rows, False),
        (multiply, single, False),
        (multiply, np.asfortranarray(single), True),
    ):
        compiled = ljit.jit(f)
        for _ in range(3):
            compiled(a, a)
        sized = f"*, {a.shape[-1]}"
        assert (sized in str(compiled.graph_for(a, a)).partition("\n")[0]) == is_sized, f


@pytest.mark.parametrize(
    "shape", [(6, 7, 1), (1, 6, 7), (6, 1, 7), (5, 1, 6, 7), (1, 1, 5, 6), (1, 8, 1)]
)
def test_arrays_in_fortran_order_give_such_whatever_axes_have_one_element(shape):
    a = np.asfortranarray(np.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape))
    for b in (a, a.copy("C"), a[:1]):
        f = ljit.jit(lambda a, b: a * b + a)
        for _ in range(4):
            found, wanted = f(a, b), a * b + a
            np.testing.assert_array_equal(found, wanted)
            kept = [
                x == y
                for x, y, n in zip(found.strides, wanted.strides, shape, strict=True)
                if n > 1
            ]
            assert all(kept)
        assert "1 compile in" in str(f.explain())


def test_axes_that_are_known_to_have_one_element_are_left_out():
    f = ljit.jit(lambda a: (a[:, None] * 2).sum(axis=(1, 2)))
    g = ljit.jit(lambda a: (a * 2).sum(axis=1))
    a = np.arange(1000.0).reshape(20, 50)
    with config.overridden(quick_runs=0):
        for _ in range(3):
            np.testing.assert_array_equal(f(a), g(a))
        texts = [h.dump_llvm(a, optimized=False) for h in (f, g)]
    assert texts[0].count(", !llvm.loop") == texts[1].count(", !llvm.loop") > 0


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (lambda a: a.max(axis=0), lambda a: a.reshape(len(a), -1).max(axis=0)),
        (lambda a: a.sum(axis=(1, 2)), lambda a: a.reshape(len(a), -1).sum(axis=1)),
        (lambda a: a.min(axis=(0, 1)), lambda a: a.reshape(-1, a.shape[2]).min(axis=0)),
    ],
    ids=["first", "last", "two first"],
)
def test_neighbours_without_gaps_are_one_axis(wide, narrow):
    f, g = ljit.jit(wide), ljit.jit(narrow)
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for shape in ((9, 20, 30), (9, 20, 30), (3, 1, 70), (1, 8, 2)):
            a = (np.arange(np.prod(shape)) % 7.0).reshape(shape)
            np.testing.assert_array_equal(f(a).ravel(), g(a))
        loops = [h.dump_llvm().count(", !llvm.loop") for h in (f, g)]
    assert loops[0] == loops[1] > 0


def test_neighbours_of_sizes_that_are_partly_known_are_one_axis():
    def combine(a):
        b = a[:, None] * np.ones((1, 3))
        return b.sum(axis=(0, 1)), (b - 1).max(axis=0), b[:, :1].sum(axis=1), a.sum()

    f = ljit.jit(combine)
    with config.overridden(quick_runs=0):
        for size in (7, 7, 100, 1, 2000, 1):
            for found, wanted in zip(
                f(np.arange(size) + 1.0), combine(np.arange(size) + 1.0), strict=True
            ):
                np.testing.assert_array_equal(found, wanted)


def test_the_order_of_rows_whose_elements_are_surely_nearest_is_known():
    f = ModuleBuilder("test").function("test", "void", ("i64", "i64", "i64"))
    rows, far, factor = f.params
    e = SimpleNamespace(f=f)
    unit, row = integer("i64", 8), integer("i64", 24)
    strides = [f.mul(rows, row), f.mul(factor, row), unit]
    operand = SimpleNamespace(sizes=[rows, rows, integer("i64", 3)], strides=strides)
    assert memory_order(e, 3, [operand]).is_fortran is FALSE
    operand.strides = [f.mul(rows, row), far, unit]  # may be one byte
    assert memory_order(e, 3, [operand]).is_fortran.constant is None


@pytest.mark.parametrize("axes", [*itertools.permutations(range(3))])
def test_cubes_in_any_order(axes):
    def step(a, b):
        a += 1
        a *= b
        b[...] = a[::-1] + 2
        return a.sum(axis=0), a.max(axis=-1), (a * b).sum(axis=1), a.sum(), a.argmax(), a > b

    f = ljit.jit(step)
    with config.overridden(quick_runs=0):
        for shape in ((9, 20, 30), (9, 20, 30), (3, 1, 70), (1, 8, 2), (0, 2, 3)):
            results = []
            for function in (f, step):
                a = (np.arange(np.prod(shape)) % 7.0).reshape(shape).transpose(axes)
                b = (np.arange(a.size) % 5.0).reshape(a.shape)
                try:
                    results.append([*function(a, b), a, b])
                except ValueError as error:
                    results.append([str(error)])
            for found, wanted in zip(*results, strict=True):
                np.testing.assert_array_equal(found, wanted)
                assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)


@pytest.mark.parametrize("axes", [*itertools.permutations(range(3))])
def test_cubes_that_are_written_in_place_in_any_order(axes):
    def add(a, b):
        a += b

    def move_on(a, b):
        a[1:] = a[:-1] + b
        a[:, 1:] -= a[:, :-1]
        a[..., :-1] = a[..., 1:]

    def total(a, b):
        return a.sum(), (a * b).max(), (a > b).any()

    for function in (add, move_on, total):
        f = ljit.jit(function)
        with config.overridden(quick_runs=0):
            for shape in ((9, 20, 30), (9, 20, 30), (300, 3, 3), (1, 8, 2)):
                results = []
                for g in (f, function):
                    a = (np.arange(np.prod(shape)) % 7).astype(np.int16).reshape(shape)
                    a = a.transpose(axes)
                    results.append((g(a, a[:1, :1].copy()), a))
                assert results[0][0] == results[1][0]
                np.testing.assert_array_equal(results[0][1], results[1][1])


def test_axes_are_exchanged_where_all_that_steps_along_both_says_so():
    e = SimpleNamespace(f=ModuleBuilder("test").function("test", "void", ()))

    def is_exchanged(*strides: tuple[int, int]) -> bool:
        sizes = [integer("i64", 9)] * 2
        operands = [
            SimpleNamespace(sizes=sizes, strides=[integer("i64", n) for n in steps])
            for steps in strides
        ]
        condition = exchange_condition(e, operands, 0, 1)
        assert condition.constant is not None
        return bool(condition.constant)

    assert is_exchanged((1, 2000))
    assert is_exchanged((1, 2000), (0, 8), (-8, 900))
    assert not is_exchanged((2000, 1))
    assert not is_exchanged((1, 2000), (24, 8))
    assert not is_exchanged((0, 8))


def test_an_axis_along_which_nothing_steps_goes_outside_of_a_longer_one():
    e = SimpleNamespace(f=ModuleBuilder("test").function("test", "void", ()))

    def is_turned(sizes: tuple[int, int], *strides: tuple[int, int]) -> bool:
        refs = [integer("i64", n) for n in sizes]
        operands = [
            SimpleNamespace(sizes=refs, strides=[integer("i64", n) for n in steps])
            for steps in strides
        ]
        condition = repeated_condition(e, refs, operands, 0, 1)
        assert condition.constant is not None
        return bool(condition.constant)

    assert is_turned((900, 5), (8, 0))
    assert is_turned((900, 5), (8, 0), (0, 0), (-4, 0))
    assert not is_turned((5, 900), (8, 0))
    assert not is_turned((900, 5), (0, 0))
    assert not is_turned((900, 5), (8, 0), (40, 8))
    assert not is_turned((900, 5), (0, 8))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
def test_sums_of_columns_that_are_repeated_go_down_the_columns(dtype):
    def totals(a):
        return np.clip(a * 2, 1, 7).sum(), (a > 3).any(), a.max()

    f = ljit.jit(totals)
    with config.overridden(quick_runs=0):
        for shape in ((900, 5), (900, 5), (3, 70), (1, 1), (40, 3, 5), (6, 50, 5), (3, 4, 5)):
            for axes in itertools.product((False, True), repeat=len(shape)):
                own = [n if is_own else 1 for n, is_own in zip(shape, axes, strict=True)]
                column = (np.arange(np.prod(own)) % 5).astype(dtype).reshape(own)
                a = np.broadcast_to(column, shape)
                for found, wanted in zip(f(a), totals(a), strict=True):
                    assert (type(found), found) == (type(wanted), wanted)


def in_order(shape, order) -> np.ndarray:
    """An array whose axes lie in memory in this order."""
    a = np.arange(float(np.prod(shape))).reshape([shape[axis] for axis in order]) % 11 - 4
    return a.transpose(np.argsort(order))


def steps(a: np.ndarray) -> tuple[object, ...]:
    """What there is to see of the order of an array; steps along axes of one element say nothing."""
    strides = [step for step, size in zip(a.strides, a.shape, strict=True) if size != 1]
    return strides, a.flags.c_contiguous, a.flags.f_contiguous, a.flags.owndata, a.base is None


def scaled(a):
    return a * 2.0 + 1.0


def several(a):
    t = np.abs(a)
    return t, a > 0, t.astype(np.float32), t.copy("K"), np.zeros_like(t)


def with_a_row(a):
    return a - a[:1, :1], a * a[..., -1:], 1.0 / (a + 10.0)


def again_and_again(a):
    for _ in range(4):
        a = a * 0.5 + 1.0
    return a


def with_rows_kept(a):
    return a.max(axis=1, keepdims=True) + a


@pytest.mark.parametrize("quick_runs", [0, 10**6])
@pytest.mark.parametrize("function", [scaled, several, with_a_row, again_and_again, with_rows_kept])
def test_results_lie_in_any_order_of_axes(function, quick_runs):
    f = ljit.jit(function)
    shapes = (2, 3, 4), (5, 1, 7), (3, 9, 20), (2, 3, 1, 5), (4, 3, 2, 6)
    with config.overridden(quick_runs=quick_runs, cold_calls=0, profiled_sizes=False):
        for shape in shapes:
            for order in itertools.permutations(range(len(shape))):
                a = in_order(shape, order)
                for x in (a, a[..., ::-1], a[1:]):
                    found, wanted = f(x), function(x)
                    pairs = (
                        zip(found, wanted, strict=True)
                        if type(wanted) is tuple
                        else [(found, wanted)]
                    )
                    for mine, own in pairs:
                        assert (mine.dtype, mine.shape) == (own.dtype, own.shape)
                        np.testing.assert_array_equal(mine, own)
                        assert steps(mine) == steps(own) or not own.size
    assert sum(s.bailouts for s in f.specializations) < 10  # sizes that broadcast


def swapped_inner():
    return np.ones((2, 3, 4)).transpose(0, 2, 1) * 2.0


def swapped_outer():
    return np.ones((2, 3, 4)).transpose(1, 0, 2) * 2.0


def rotated():
    a = np.zeros((2, 3, 4)).transpose(2, 0, 1)
    a[...] = 3.0
    return a * 2.0


def in_fortran_order():
    return np.ones((2, 3, 4)).transpose(2, 1, 0) * 2.0


@pytest.mark.parametrize("quick_runs", [0, 10**6])
@pytest.mark.parametrize("function", [swapped_inner, swapped_outer, rotated, in_fortran_order])
def test_an_order_of_axes_that_is_known_when_code_is_made(function, quick_runs):
    f, wanted = ljit.jit(function), function()
    with config.overridden(quick_runs=quick_runs, cold_calls=0):
        for _ in range(3):
            found = f()
            np.testing.assert_array_equal(found, wanted, strict=True)
            assert found.strides == wanted.strides


def test_operands_in_two_orders_give_the_one_of_NumPy():
    f = ljit.jit(lambda a, b: a + b)
    orders = [*itertools.permutations(range(3))]
    with config.overridden(cold_calls=0, profiled_sizes=False):
        for (shape, other), first, second in itertools.product(
            (((4, 3, 5), (4, 3, 5)), ((4, 3, 5), (4, 1, 5)), ((1, 3, 5), (4, 3, 1))), orders, orders
        ):
            a, b = in_order(shape, first), in_order(other, second)
            found, wanted = f(a, b), a + b
            np.testing.assert_array_equal(found, wanted)
            assert steps(found) == steps(wanted)


def test_a_picture_whose_colours_come_first_is_one_nest():
    def prepared(image, mean):
        planes = image.transpose(2, 0, 1) / 255.0
        return (planes - mean[:, None, None]) * 4.0

    f = ljit.jit(prepared)
    image, mean = np.arange(360, dtype=np.uint8).reshape(12, 10, 3), np.array([0.4, 0.5, 0.6])
    with config.overridden(cold_calls=0):
        for _ in range(3):
            np.testing.assert_array_equal(f(image, mean), prepared(image, mean))
    assert str(f.graph_for(image, mean)).count("prim::Map") == 1
    assert f(image, mean).strides == prepared(image, mean).strides

"""Loop nests in another order give what the program's order gives."""

import importlib.util
import random

import numpy as np
import pytest

import ljit
from ljit.passes.loops import strips


def product(a, b, c):
    for j in range(b.shape[1]):
        for k in range(a.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


def diagonal_moves(a, b, c):
    for j in range(a.shape[1] - 1):
        for i in range(1, a.shape[0]):
            a[i, j] += b[i, j] * a[i - 1, j + 1]


def blocks_of_rows(a, b, c):
    n = a.shape[0] // 2
    for j in range(a.shape[1]):
        for i in range(n):
            a[i, j] = a[i + n, j] + b[i, j]


def rows_that_meet(a, b, c):
    for i in range(1, a.shape[0]):
        for j in range(i, a.shape[1]):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def tables():
    return tuple(np.sin(np.arange(k, k + 144)).reshape(12, 12) for k in (0, 150, 300))


@pytest.mark.parametrize(
    ("function", "is_reordered"),
    [(product, True), (diagonal_moves, False), (blocks_of_rows, True), (rows_that_meet, True)],
)
def test_a_nest_is_reordered_where_that_is_legal(function, is_reordered):
    f = ljit.jit(function)
    for _ in range(3):
        expected, given = tables(), tables()
        function(*expected)
        f(*given)
        assert all(map(np.array_equal, expected, given))
    assert ("reordered=True" in str(f.graph_for(*tables()))) is is_reordered


def test_arrays_that_overlap_keep_the_order():
    f = ljit.jit(product)
    for _ in range(3):
        f(*tables())
    for _ in range(5):
        (expected, *_), (a, b, _) = tables(), tables()
        product(expected, b, expected)
        f(a, b, a)
        assert np.array_equal(a, expected)
    (info,) = f.specializations
    assert info.compiles == 2 and info.state == "native"


def scaled(a):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] *= 1.5


def test_a_loop_of_hardly_any_trips_is_not_left_inside():
    f = ljit.jit(scaled)
    for shape in [(90, 20)] * 3 + [(300, 3)] * 4:
        a = np.ones(shape)
        f(a)
        assert (a == 1.5).all()
    (info,) = f.specializations
    assert info.compiles == 2 and info.state == "native"


def upper_triangle(a):
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def test_the_last_rows_of_a_triangle_do_not_count_as_hardly_any_trips():
    f = ljit.jit(upper_triangle)
    for n in (20, 20, 20, 90, 90, 90):
        expected, given = (np.sin(np.arange(n * n)).reshape(n, n) * 0.01 for _ in "ab")
        upper_triangle(expected)
        f(given)
        assert np.array_equal(expected, given)
    (info,) = f.specializations
    assert info.compiles == 1 and info.state == "native"


def rows_first(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]


def sums_in_a_variable(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def one_row_of_sums(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[0, j] = s


@pytest.mark.parametrize("function", [product, rows_first, sums_in_a_variable, one_row_of_sums])
@pytest.mark.parametrize("m", [0, 1, 7, 8, 9, 16, 21])
def test_products_in_strips_are_those_of_python(function, m, monkeypatch):
    monkeypatch.setattr(strips, "_CACHE", 64)  # strips of the least size
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    f = ljit.jit(function)
    for _ in range(3):
        a, b, expected = np.cos(np.arange(40 * m)), np.sin(np.arange(9 * m)), np.ones((9, 9))
        a, b, given = (
            a.reshape(-1, m)[:9].copy() if m else np.ones((9, 0)),
            b.reshape(m, 9),
            np.ones((9, 9)),
        )
        function(a, b, expected)
        f(a, b, given)
        assert np.array_equal(expected, given)


def columns_of_a_triangle(a, b, c):
    for j in range(a.shape[0]):
        for i in range(j, a.shape[0]):
            c[i, 0] += a[i, j] * b[j, 0]


def trailing_triangle(a, b, c):
    for k in range(a.shape[0]):
        for j in range(k + 1, a.shape[0]):
            for i in range(j, a.shape[0]):
                a[i, j] -= a[i, k] * a[j, k]


def solutions(a, b, c):
    for column in range(a.shape[0]):
        for i in range(a.shape[0]):
            for k in range(i):
                b[i, column] -= a[i, k] * b[k, column]


def band_below_the_diagonal(a, b, c):
    for j in range(a.shape[0]):
        for i in range(j - 2, j + 1):
            if i >= 0:
                a[i, j] = a[i, j] * 0.5 + b[i, j]


def substitution_by_columns(a, b, c):
    for j in range(a.shape[0]):
        for i in range(j + 1, a.shape[0]):
            b[i, 0] -= a[i, j] * b[j, 0]


@pytest.mark.parametrize("n", [0, 1, 2, 12])
@pytest.mark.parametrize(
    ("function", "is_reordered"),
    [
        (columns_of_a_triangle, True),
        (trailing_triangle, True),
        (solutions, True),
        (band_below_the_diagonal, True),
        (substitution_by_columns, False),
    ],
)
def test_bounds_that_depend_on_other_loops_are_kept_in_another_order(function, is_reordered, n):
    f = ljit.jit(function)
    for size in (12, n, n):
        expected, given = ([np.ascontiguousarray(t[:size, :size]) for t in tables()] for _ in "ab")
        function(*expected)
        f(*given)
        assert all(map(np.array_equal, expected, given))
    assert ("uneven=True" in str(f.graph_for(*tables()))) is is_reordered


def far_triangle(a, low, high):
    for j in range(low, high):
        for i in range(j, high):
            a[i - low, j - low] += 1.0


def test_bounds_that_sums_might_not_fit_leave_the_nest_to_the_interpreter():
    f = ljit.jit(far_triangle)
    for low in (3, 3, 3, 2**63 - 8, -(2**63), 5):
        a = np.zeros((6, 6))
        f(a, low, low + 6)
        assert np.array_equal(a, np.tri(6))


NAMES = "ijk"


def random_index(chooser, names):
    v = chooser.choice(names)
    return chooser.choice(
        [v, v, v, f"{v} + 1", f"{v} - 1", f"{v} + 2", f"23 - {v}", f"2 * {v} - 3"]
    )


def random_access(chooser, names):
    indices = [random_index(chooser, names) for _ in range(2)]
    if chooser.random() < 0.5:
        indices = list(reversed(names[:2]))
    return f"{chooser.choice('aab')}[{', '.join(indices)}]"


def random_nest(chooser):
    names = list(NAMES[: chooser.choice([2, 2, 3])])
    bounds = [f"range(2, {19 + chooser.randrange(2)})" for _ in names]
    for position in range(1, len(names)):
        if chooser.random() < 0.4:
            outer = chooser.choice(names[:position])
            offset = chooser.choice(["", " + 1", " - 2"])
            bounds[position] = chooser.choice(
                [f"range(2, {outer}{offset})", f"range({outer}{offset}, 19)"]
            )
    lines = ["def f(a, b):"]
    for depth, (name, bound) in enumerate(zip(names, bounds, strict=True)):
        lines.append(f"{'    ' * (depth + 1)}for {name} in {bound}:")
    for _ in range(chooser.choice([1, 1, 2])):
        parts = [random_access(chooser, names) for _ in range(chooser.choice([1, 2]))]
        target = random_access(chooser, names)
        lines.append(
            f"{'    ' * (len(names) + 1)}{target} = 0.5 * {target} + 0.25 * {' * '.join(parts)}"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(24))
def test_random_nests_give_what_python_gives(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(strips, "_CACHE", 64)  # strips of the least size
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    path = tmp_path / "nest.py"
    path.write_text(random_nest(random.Random(seed)))
    spec = importlib.util.spec_from_file_location("nest", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = ljit.jit(module.f)
    for _ in range(3):
        expected, given = [
            [np.cos(np.arange(k, k + 1600)).reshape(40, 40) for k in (0, 1700)] for _ in "ab"
        ]
        module.f(*expected)
        compiled(*given)
        assert all(map(np.array_equal, expected, given)), path.read_text()

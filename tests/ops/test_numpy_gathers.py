"""Loop nests take elements and rows at places that arrays of ints name: what NumPy gives, its errors and strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ljit
from tests.codegen.harness import steps


def taken_in_nests(m: Any, rows: Any, columns: Any) -> Any:
    return (
        m[rows, columns] * 2,
        (m[rows, columns] - m[columns, rows]).max(),
        np.take(m[0], rows) + 1,
    )


@pytest.mark.parametrize("dtype", ["float64", "int16", "complex64"])
def test_nests_take_elements_at_rows_and_columns(dtype: str) -> None:
    rng = np.random.default_rng(8)
    m = (rng.integers(-99, 99, (9, 9)) * (1 - 0.5j if dtype == "complex64" else 1)).astype(dtype)
    rows, columns = rng.integers(-9, 9, 20), rng.integers(-9, 9, 20)
    cases = [
        (rows, columns), (rows[::-1], columns[::2].repeat(2)), (rows, columns[:1]), (rows[:1], columns),
        (rows, columns + 9), (rows - 9, columns), (rows, columns[:7]), (rows[:0], columns[:0]),
        (rows.astype(np.int8), columns.astype(np.uint16) % 9), (rows > 2, columns), (rows, columns * 1.0),
    ]  # fmt: skip
    for form in (m, m[::-1], np.asfortranarray(m), np.repeat(m, 2, axis=1)[:, ::2]):
        compiled = ljit.jit(taken_in_nests)
        for i, j in cases * 2:
            assert outcome_of_nests(compiled, form, i, j) == outcome_of_nests(
                taken_in_nests, form, i, j
            )


def taken_by_grids(m: Any, rows: Any, columns: Any) -> Any:
    m[:1] += 1
    return (
        m[rows, columns],
        m[rows, columns] * 2 + m[columns, rows],
        (m[rows, columns] * rows).sum(axis=0),
        m[rows, columns].T - m[rows, columns].T.copy(),
    )


def test_nests_take_elements_at_places_that_broadcast() -> None:
    rng = np.random.default_rng(9)
    m, i, j = rng.integers(-9, 9, (9, 9)) / 4, rng.integers(-9, 9, 6), rng.integers(-9, 9, 5)
    full = rng.integers(-9, 9, (6, 5))
    cases = [
        (i[:, None], j[None, :]), (i[None, :], j[:, None]), (i[:, None], j), (full, j), (full, full[::-1].copy()),
        (np.asfortranarray(full), j), (full[:, ::2], j[::2]), (full[:0], j), (i[:, None], j[None, :] + 20),
        (i[:, None] - 20, j[None, :]), (full, j[:3]), (full[:, :1].astype(np.int8), j.astype(np.uint8) % 9),
        (full[None], j), (np.full((1, 1), 8), j[None, :]), (i[:0, None], j + 20),
    ]  # fmt: skip
    for form in (m, np.repeat(m.T, 2, axis=1)[::-1, ::2]):
        compiled = ljit.jit(taken_by_grids)
        for rows, columns in cases[:1] + cases * 2:
            same_in_nests(compiled, taken_by_grids, form, rows, columns)


def same_in_nests(compiled: Any, function: Any, m: Any, *args: Any) -> None:
    found, wanted = m.copy(order="K"), m.copy(order="K")
    assert outcome_of_nests(compiled, found, *args) == outcome_of_nests(function, wanted, *args)
    assert np.array_equal(found, wanted)


def taken_by_rows(m: Any, rows: Any, w: Any) -> Any:
    e = m[rows] * 2
    m[rows] = e
    return (m[rows] + w, (m[rows] - m[rows[::-1]]).max(axis=-1), np.abs(m[rows] * w), e)


@pytest.mark.parametrize(("dtype", "width"), [("float64", 40), ("float64", 1), ("int16", 3)])
def test_nests_take_rows(dtype: str, width: int) -> None:
    rng = np.random.default_rng(10)
    m = rng.integers(-3, 3, (9, width)).astype(dtype)
    i = rng.integers(-9, 9, 6)
    w, pairs = rng.random((6, width)), rng.integers(-9, 9, (6, 2))
    cases = [
        (i, w), (i, w[:, :1]), (i, w[0]), (i, np.asfortranarray(w)), (i[:1], w), (i.astype(np.int8), w), (i + 9, w),
        (i - 9, w), (pairs, w[:, None]), (pairs.T, w[0]), (np.asfortranarray(pairs), w[0]), (i[:0], w[:0]),
        (i[::2], w[::2]), (i[:4], w), (i[:, None], w),
    ]  # fmt: skip
    for form in (m, m[::-1]):
        compiled = ljit.jit(taken_by_rows)
        for rows, weights in cases[:1] + cases * 2:
            same_in_nests(compiled, taken_by_rows, form, rows, weights)


def test_means_of_rows_need_no_rows_in_memory() -> None:
    def bag(m: Any, index: Any) -> Any:
        return m[index].mean(axis=-2), m[index].mean(axis=0), m[index, index].mean(axis=0)

    rng = np.random.default_rng(11)
    m = rng.integers(-9, 9, (9, 4)) * 1.0
    compiled = ljit.jit(bag)
    for shape in [(6, 3), (6, 3), (1, 4), (5, 1), (6, 3)]:
        same_in_nests(compiled, bag, m, rng.integers(-4, 4, shape))
    text = str(compiled.graph_for(m, rng.integers(-4, 4, (6, 3))))
    assert text.count("np::element_at") == 3
    assert "np::getitem(%m" not in text


def outcome_of_nests(function: Any, *args: Any) -> Any:
    try:
        return [(type(x), x.dtype, x.shape, steps(x), x.tobytes()) for x in function(*args)]
    except (IndexError, ValueError) as error:
        return type(error), str(error)


def test_elements_at_places_are_no_array_of_their_own() -> None:
    def loss(p: Any, labels: Any) -> Any:
        return np.abs(p[np.arange(len(labels)), labels] - 1.0).max()

    p, labels = np.random.default_rng(2).random((20, 5)), np.arange(20) % 5
    compiled = ljit.jit(loss)
    for _ in range(3):
        assert compiled(p, labels) == loss(p, labels)
    text = str(compiled.graph_for(p, labels))
    assert "np::element_at" in text
    assert "np::getitem" not in text


def test_what_a_nest_takes_is_read_before_it_is_overwritten() -> None:
    def shifted(m: Any, rows: Any, columns: Any) -> Any:
        m[0] = m[rows, columns] * 2
        m[:, 1] += m[columns, rows]
        return m

    rows, columns = np.array([1, 0, 0, 2]), np.array([0, 1, 2, 0])
    compiled = ljit.jit(shifted)
    for _ in range(3):
        x, y = (np.arange(16.0).reshape(4, 4) for _ in range(2))
        assert compiled(x, rows, columns).tolist() == shifted(y, rows, columns).tolist()


def taken_by_columns(m: Any, rows: Any, columns: Any) -> Any:
    before = m[rows]
    m[0] += 1
    both = m[rows]
    return (
        m[:, columns] * 2,
        before[:, columns] - 1,
        (m[:, columns] - 1).max(axis=1),
        np.abs(both[:, columns]).sum(axis=0),
        both.sum(axis=0) + both[:, columns].max(),
    )


def taken_by_columns_and_weighted(m: Any, rows: Any, columns: Any, w: Any) -> Any:
    m[0] += 1
    return m[rows][:, columns] + w, m[rows][:, columns].astype(np.float32)[None] * w


@pytest.mark.parametrize("size", [9, 70])
def test_nests_take_columns_in_the_order_of_numpy(size: int) -> None:
    rng = np.random.default_rng(12)
    m = rng.integers(-99, 99, (size, size)) / 4
    i, j = rng.integers(-size, size, 6), rng.integers(-size, size, size + 5)
    full = rng.integers(-9, 9, (6, size + 5)) / 2
    common = [
        (i, j, full), (i[:1], j, full), (i, j[:1], full), (i + size, j, full), (i, j - size, full), (i, j[:0], full[:, :0]),
        (i[:0], j, full[:0]), (i, j, full[:4]), (i, j, np.asfortranarray(full)),
    ]  # fmt: skip
    masks = [(i, j > 0, 1.5), (i % 3 > 0, j, full)]
    layouts = [
        (i, j, 1.5), (i, j, full[0]), (i, j, full[:, :1]), (i, j[:1], full[:, :1]),
        (i, j[::-1], full[::-1, ::-1]), (i[::2], j, full[::2]), (i.astype(np.int8), j.astype(np.int16), full),
    ]  # fmt: skip
    with_gaps = np.repeat(m, 2, axis=1)[::-1, ::2]
    for form, others in ((m, masks + layouts), (np.asfortranarray(m), []), (with_gaps, masks[:1])):
        compiled, weighted = ljit.jit(taken_by_columns), ljit.jit(taken_by_columns_and_weighted)
        for rows, columns, w in common[:1] + (common + others) * 2:
            same_in_nests(compiled, taken_by_columns, form, rows, columns)
            same_in_nests(weighted, taken_by_columns_and_weighted, form, rows, columns, w)


def test_columns_of_rows_are_no_arrays_of_their_own() -> None:
    def shrunk(image: Any, y: Any, x: Any) -> Any:
        return image[y][:, x] * 0.5 + image[y][:, x] * 0.25

    image, y, x = (
        np.random.default_rng(2).random((20, 30)),
        np.arange(0, 20, 2),
        np.arange(0, 30, 3),
    )
    compiled = ljit.jit(shrunk)
    for _ in range(3):
        found, wanted = compiled(image, y, x), shrunk(image, y, x)
        assert (found.tobytes("A"), found.strides) == (wanted.tobytes("A"), wanted.strides)
    text = str(compiled.graph_for(image, y, x))
    assert text.count("np::element_at") == 2
    assert "np::getitem(%image" not in text


def test_columns_are_stored_where_they_belong() -> None:
    def stored(m: Any, columns: Any, out: Any) -> Any:
        out[...] = m[:, columns] * 2
        m[:, 1:4] += m[:, columns]
        return m[:, columns] + out

    columns = np.array([2, 0, 1])
    compiled = ljit.jit(stored)
    for order in "CFCF":
        x, y = (np.arange(20.0).reshape(4, 5) for _ in range(2))
        a, b = (np.zeros((4, 3), order=order) for _ in range(2))
        found, wanted = compiled(x, columns, a), stored(y, columns, b)
        assert (found.tolist(), x.tolist(), a.tolist()) == (wanted.tolist(), y.tolist(), b.tolist())
        assert found.strides == wanted.strides


def taken_at_computed_places(a: Any, table: Any, y: Any, x: Any, out: Any) -> Any:
    y0, x0 = np.floor(y).astype(np.int64), x.astype(np.int32)
    fy, fx = y - y0, x - x0
    out[...] = table[x0 * 2] + fx
    return (
        a[y0, x0] * (1 - fy) + a[y0 + 1, x0] * fy,
        a[y0, x0 - 1],
        (table[(fx * 8).astype(np.uint8)] * fy).sum(),
        table[y0 % 3].max(),
        y0,
        out,
    )


def test_nests_check_places_that_they_compute() -> None:
    rng = np.random.default_rng(13)
    a, table = rng.integers(-9, 9, (9, 11)) / 2, rng.integers(-9, 9, 24) * 1.0
    y, x = rng.integers(0, 7 * 64, (6, 40)) / 64, rng.integers(0, 10 * 64, (6, 40)) / 64
    cases = [
        (a, table, y, x),
        (a, table, -y - 1, -x - 1),
        (a, table, y[:, :1], x[:, :1]),
        (a, table, y[0], x[0]),
    ]
    for k, place in enumerate([(0, 0), (3, 7), (5, 39)]):
        bad = y.copy()
        bad[place] = [8.0, -11.0, np.nan][k]
        cases.append((a, table, bad, x))
        cases.append((a, table, y, 2 * bad + x))
    cases += [
        (a, table[:16], y, x), (a[:0], table, y, x), (a, table[:0], y, x), (a[:, :0], table, y[:0], x[:0]),
        (a[::-1], table[::-1], y, x), (np.asfortranarray(a), table, y, x), (a, table, y.T, x.T), (a, table, y[::2], x[::2]),
        (a, table, y[:, :1], x), (a, table, y[:3], x),
    ]  # fmt: skip
    compiled = ljit.jit(taken_at_computed_places)
    with np.errstate(invalid="ignore"):
        for image, values, rows, columns in cases[:1] * 3 + cases * 2:
            found, wanted = (np.zeros(columns.shape) for _ in range(2))
            results = [
                outcome_of_nests(f, image, values, rows, columns, out)
                for f, out in ((compiled, found), (taken_at_computed_places, wanted))
            ]
            assert results[0] == results[1]
            assert found.tobytes() == wanted.tobytes()


def test_computed_places_are_no_arrays() -> None:
    def zoomed(image: Any, y: Any, x: Any) -> Any:
        rows, columns = (
            (y * 0.5).astype(np.int64),
            np.clip(x.astype(np.int64), 0, image.shape[1] - 1),
        )
        return image[rows, columns]

    image, y, x = np.arange(600.0).reshape(20, 30), np.linspace(0, 39, 50), np.linspace(-9, 40, 50)
    compiled = ljit.jit(zoomed)
    for _ in range(3):
        assert compiled(image, y, x).tolist() == zoomed(image, y, x).tolist()
    text = str(compiled.graph_for(image, y, x))
    assert "np::element_inside" in text
    assert text.count("prim::Map") == 1
    assert compiled(image, -y, x).tolist() == zoomed(image, -y, x).tolist()
    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 with size 20"):
        compiled(image, y + 1.5, x)

"""``m[np.ix_(rows, columns)]``: read and stored natively, with NumPy's errors and layouts."""

import numpy as np
import pytest

import ljit

ROWS = [np.array(x, np.int64) for x in ([4, 0, 2], [-1, 1], [3], [], [2, 2, -5, 0])]
MATRICES = [
    np.arange(30.0).reshape(5, 6),
    np.arange(30).reshape(6, 5).T,
    np.arange(60).reshape(5, 12)[::-1, ::2],
]


def read(m, rows, columns):
    return m[np.ix_(rows, columns)]


def stored(m, rows, columns, x):
    m[np.ix_(rows, columns)] = x
    m[np.ix_(columns, rows)] += 1
    return m


def same(a, b):
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and np.array_equal(a, b)
    )


def test_elements_of_a_grid():
    compiled = ljit.jit(read)
    for m in MATRICES:
        for rows in ROWS:
            for columns in (*ROWS, ROWS[0][::-1], ROWS[4][::2]):
                for _ in range(2):
                    found, expected = compiled(m, rows, columns), read(m, rows, columns)
                    assert same(found, expected) or (
                        found.size < 2 and np.array_equal(found, expected)
                    )
    assert "calls Python" not in compiled.explain()


def test_elements_along_three_axes():
    a, i = np.arange(60).reshape(3, 4, 5), np.array([2, -1, 0])
    compiled = ljit.jit(lambda a, i: (a[np.ix_(i, i[:2], i)], a[i[:, None, None], i[:, None], i]))
    for _ in range(3):
        found, other = compiled(a, i)
        assert same(found, a[np.ix_(i, i[:2], i)])
        assert same(other, a[i[:, None, None], i[:, None], i])


@pytest.mark.parametrize("x", [2.5, 7, np.float32(1.5), "matrix", "ints", "row", "number of one"])
def test_stores_to_a_grid(x):
    compiled = ljit.jit(stored)
    values = {"row": np.arange(3.0), "number of one": np.ones((1, 1))}
    for m in MATRICES[:1]:
        for rows in ROWS[:3]:
            columns = ROWS[0]
            given = values.get(x, x) if isinstance(x, str) else x
            if isinstance(x, str) and x not in values:
                given = np.arange(rows.size * 3.0 if x == "matrix" else rows.size * 3).reshape(
                    -1, 3
                )
            for _ in range(3):
                a, b = m.copy(), m.copy()
                assert same(compiled(a, rows, columns, given), stored(b, rows, columns, given))
                assert same(a, b)


def test_values_of_the_array_itself_are_read_before_any_is_stored():
    def turned(m, i):
        m[np.ix_(i, i)] = m[:3, :3].T
        m[np.ix_(i, i)] = m[np.ix_(i[::-1], i)]

    compiled, i = ljit.jit(turned), np.array([0, 2, 1])
    for _ in range(3):
        a, b = MATRICES[0].copy(), MATRICES[0].copy()
        compiled(a, i)
        turned(b, i)
        assert same(a, b)


@pytest.mark.parametrize("wrong", [7, -7, 6, 2**40])
def test_places_that_are_not_there_raise_before_anything_is_stored(wrong):
    compiled = ljit.jit(stored)
    for rows in (np.array([0, 1]), np.array([1, wrong]), np.array([0, 1])):
        a, b = MATRICES[0].copy(), MATRICES[0].copy()
        try:
            stored(b, rows, rows, 5.0)
        except IndexError as error:
            with pytest.raises(IndexError) as caught:
                compiled(a, rows, rows, 5.0)
            assert str(caught.value) == str(error)
        else:
            compiled(a, rows, rows, 5.0)
        assert same(a, b)

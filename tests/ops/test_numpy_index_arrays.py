"""Masks and arrays of ints as indices give what NumPy gives: values, dtypes, strides, errors and their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ljit
from tests.ops.layouts import DTYPES, filled

INDEX_DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SIZES = (0, 1, 5, 31, 32, 33, 64, 100, 127, 128, 129, 300, 1000)


def at(a: Any, index: Any) -> Any:
    return a[index]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        x = function(*args)
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        return type(error), str(error)
    return [
        (type(y), y.dtype, y.shape, y.strides, y.tobytes(), y.base is None)
        for y in (x, *(z for z in args if isinstance(z, np.ndarray)))
    ]


def check(function: Callable[..., Any], cases: list[tuple[Any, ...]]) -> Any:
    """All cases, twice: they have the same types, so that native code runs them."""
    compiled = ljit.jit(function)
    for case in cases * 2:
        assert outcome(compiled, *case) == outcome(function, *case), case
    return compiled


def is_native(compiled: Any) -> bool:
    return any(s.state == "native" for s in compiled.specializations)


def masks(shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(7)
    for share in (0.0, 0.03, 0.5, 0.9, 1.0):
        yield rng.random(shape) < share
    blocks = np.zeros(shape, bool)
    blocks.reshape(-1)[40:200] = True
    yield blocks


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_where_a_mask_holds(dtype: str) -> None:
    compiled = check(at, [(filled((n,), dtype), m) for n in SIZES for m in masks((n,))])
    assert is_native(compiled)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_a_matrix_where_a_mask_holds(dtype: str) -> None:
    shapes = ((0, 3), (1, 1), (5, 7), (40, 33))
    check(at, [(filled(s, dtype), m) for s in shapes for m in masks(s)])


def test_masks_and_vectors_in_other_layouts() -> None:
    def strided(a: np.ndarray, m: np.ndarray) -> np.ndarray:
        return a[::-2][m]

    def of_columns(a: np.ndarray, m: np.ndarray) -> np.ndarray:
        return a.T[m.T], a[:, 1][m[:, 1]]

    check(strided, [(filled((n,), "float32"), m) for n in SIZES for m in masks(((n + 1) // 2,))])
    a = filled((40, 33), "int16")
    for m in masks((40, 33)):
        compiled = ljit.jit(of_columns)
        for _ in range(3):
            for x, y in zip(compiled(a, m), of_columns(a, m), strict=True):
                assert x.tolist() == y.tolist()
                assert x.strides == y.strides


def test_columns_that_ints_name_of_matrices_in_other_layouts() -> None:
    def columns(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        return a[:, i]

    i = np.array([2, -1, 0, 0, 5])
    for rows in (0, 1, 31, 33, 70):
        a = filled((rows, 12), "float64")
        forms = (a, np.asfortranarray(a), a[::-1], a[:, ::2], np.asfortranarray(a)[::2])
        compiled = check(columns, [(x, j) for x in forms for j in (i, i[:0])])
        assert is_native(compiled)
        assert [compiled(x, i).strides for x in forms] == [columns(x, i).strides for x in forms]


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
def test_rows_that_ints_name_of_matrices_in_other_layouts(dtype: str) -> None:
    def rows(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        return a[i]

    def taken(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        return np.take(a, i, axis=0)

    indices = [np.array([2, -1, 0, 0, 3]), np.array([], int), np.array([[1, 0], [3, -4]], np.int8)]
    for width in (0, 1, 7, 8, 21, 600):
        a = filled((4, 2 * width), dtype)
        forms = (a[:, ::2], a[:, ::-2], a[:, :width], np.asfortranarray(a), a[::-1], a[:, ::2].T)
        pairs = [(x, i) for x in forms for i in indices if len(x) >= 4]
        for function in (rows, taken):
            assert is_native(check(function, pairs))
    for outside in (4, -5):
        with pytest.raises(IndexError, match="out of bounds"):
            ljit.jit(rows)(a[:, ::2], np.array([0, outside]))


def test_rows_of_matrices_in_other_layouts_that_are_stored() -> None:
    def moved(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        a[i] = a[i[::-1]]
        return a[i] + a[i, ...]

    compiled = ljit.jit(moved)
    i, a = np.array([2, -1, 0]), filled((4, 14), "int32")
    for _ in range(3):
        for make in (lambda x: x[:, ::2], lambda x: x[:, ::-2], lambda x: x[:, :7], lambda x: x.T):
            one, other = a.copy(), a.copy()
            found, wanted = compiled(make(one), i), moved(make(other), i)
            assert (found.tolist(), found.strides) == (wanted.tolist(), wanted.strides)
            assert one.tolist() == other.tolist()


def test_bytes_of_masks_that_are_neither_0_nor_1() -> None:
    m = np.array([0, 1, 2, 255, 0, 128] * 30, np.uint8).view(bool)
    a = np.arange(float(len(m)))
    compiled = ljit.jit(at)
    for _ in range(3):
        assert compiled(a, m).tolist() == a[m.view(np.uint8) != 0].tolist()


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_elements_that_ints_name(dtype: str) -> None:
    rng = np.random.default_rng(3)
    cases = []
    for n in (1, 2, 7, 100):
        low = -n if dtype.startswith("i") else 0
        for count in (0, 1, 3, 4, 5, 50):
            cases.append((filled((n,), "int16"), rng.integers(low, n, count).astype(dtype)))
    assert is_native(check(at, cases))
    check(at, [(a.astype(np.uint8), i.reshape(1, -1)) for a, i in cases])
    check(at, [(a[::-1], i) for a, i in cases])
    check(at, [(a, np.repeat(i, 3)[::3]) for a, i in cases])


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_and_rows_of_every_dtype(dtype: str) -> None:
    rng = np.random.default_rng(4)
    index = rng.integers(-6, 6, 23)
    check(at, [(filled((6,), dtype), index)])
    matrices = [filled(shape, dtype) for shape in ((6, 17), (6, 8), (6, 40), (6, 0))]
    check(at, [(a, index) for a in matrices])
    check(
        at, [(filled((6, 3), dtype), index[:20].reshape(4, 5)), (filled((6, 2, 5), dtype), index)]
    )


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_blocks_of_indices_with_one_that_is_negative_or_outside(dtype: str) -> None:
    rng, cases = np.random.default_rng(3), []
    size = min(300, int(np.iinfo(dtype).max))
    a = np.arange(size * 3.0)
    for count in (15, 16, 17, 255, 256, 257, 272, 1000):
        index = rng.integers(0, size, count).astype(dtype)
        for place, value in ((0, -1), (count // 2, -size), (count - 1, -size - 1), (3, size)):
            with np.errstate(all="ignore"):
                other = index.copy()
                other[place] = np.array(value).astype(dtype)
            cases += [(a[:size], index), (a[:size], other), (a[: 2 * size : 2], other)]
            cases += [(a.reshape(size, 3), other), (a.reshape(-1, 1)[:size], other[::2])]
            cases += [(a[:size][::-1], index), (a[: 2 * size : 2], index)]
    by_rank: dict[tuple[int, ...], list[tuple[Any, ...]]] = {}
    for case in cases:
        by_rank.setdefault((case[0].ndim, *(x.flags.c_contiguous for x in case)), []).append(case)
    for some in by_rank.values():
        check(at, some)
        check(lambda a, index: np.take(a, index, axis=0), some)


@pytest.mark.filterwarnings(
    "ignore:Out of bound index found:DeprecationWarning"
)  # NumPy before 2.3
def test_what_there_is_not_raises_what_numpy_raises() -> None:
    a, rows = np.arange(3.0), np.arange(6.0).reshape(3, 2)
    good = [(a, np.array([0, 2]))]
    bad = [np.array([0, 3]), np.array([-4]), np.array([0] * 9 + [7, 0])]
    check(at, good + [(a, index) for index in bad])
    check(at, [(rows, np.array([1, 0])), *((rows, index) for index in bad)])
    check(at, [(np.zeros((2, 0)), np.array([1])), (np.zeros((2, 0)), np.array([5]))])
    check(at, [(np.zeros(0), np.zeros(0, int)), (np.zeros(0), np.array([0]))])
    check(at, [(a, a > 1), (a, np.array([True, False])), (a, np.ones(4, bool))])
    check(at, [(rows, rows > 1), (rows, np.ones((2, 3), bool)), (rows, np.ones((3, 1), bool))])


def test_an_index_beyond_int64_wraps_as_in_numpy() -> None:
    index = np.array([2**64 - 1, 0], np.uint64)
    check(at, [(np.arange(5), index), (np.arange(5), index - np.uint64(9))])


# -- stores ----------------------------------------------------------------------------------------


def put(a: Any, index: Any, value: Any) -> Any:
    b = a.copy()
    b[index] = value
    return b


def put_backwards(a: Any, index: Any, value: Any) -> Any:
    b = a.copy()
    b[::-2][index] = value
    return b


def put_both(a: Any, mask: Any, value: Any, index: Any, other: Any) -> Any:
    b, c = a.copy(), a.copy()
    b[mask] = value
    c[index] = other
    return np.concatenate((b, c))


NUMBERS = (1, 300, 2.5, np.nan, np.float32(0.5))
SOME_DTYPES = ("bool", "int8", "uint64", "float32", "complex128")


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_stored_where_a_mask_holds_and_at_places(dtype: str) -> None:
    rng = np.random.default_rng(5)
    arrays = [filled((n,), dtype) for n in (1, 40, 129)]
    places = [rng.integers(-len(a), len(a), 9) for a in arrays]
    for x in (*NUMBERS, filled((1,), dtype)[0]):
        pairs = zip(arrays, places, strict=True)
        check(put_both, [(a, m, x, i, x) for a, i in pairs for m in masks(a.shape)])


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_vectors_are_stored_where_a_mask_holds_and_at_places(dtype: str) -> None:
    rng = np.random.default_rng(6)
    for other in {dtype, "int16"}:
        cases = []
        for a in [filled((n,), dtype) for n in (1, 40, 129)]:
            index, values = rng.integers(-len(a), len(a), 9), filled((9,), other, 1)
            for m in masks(a.shape):
                cases.append((a, m, filled((int(m.sum()),), other, 1), index, values))
        check(put_both, cases)
    check(put_both, [(a, m, np.repeat(v, 2)[::2], i, w[::-1]) for a, m, v, i, w in cases])


def test_stores_to_every_second_element() -> None:
    arrays = [filled((n,), "int32") for n in (1, 40, 129)]
    check(put_backwards, [(a, m[::-2].copy(), 3) for a in arrays for m in masks(a.shape)])
    check(put_backwards, [(filled((9,), "int32"), np.array([0, -1, 3, 0]), filled((4,), "int32"))])


def test_the_last_of_equal_places_wins() -> None:
    index = np.array([2, 0, 2, -1, 2, 3])
    check(put, [(np.zeros(4), index, np.arange(6.0)), (np.zeros(4), index[::-1], np.arange(6.0))])


def test_stores_that_fail_raise_what_numpy_raises_and_change_nothing() -> None:
    a = np.arange(4.0)
    check(
        put, [(a, np.array([0, 4]), 1.0), (a, np.array([0, 1]), 1.0), (a, np.array([-5, 1]), 1.0)]
    )
    check(put, [(a, np.array([0, 1]), np.ones(k)) for k in (0, 1, 2, 3)])
    check(put, [(a, a > 1, np.ones(k)) for k in (0, 1, 2, 3)])
    check(put, [(a, np.ones(k, bool), 1.0) for k in (4, 3, 5)])
    check(put, [(a.reshape(2, 2), np.ones(s, bool), 1.0) for s in ((2, 2), (2, 1), (1, 2))])
    check(put, [(a.astype(np.uint8), a > 1, x) for x in (1, 300, -1)])

    def several(a: np.ndarray, index: np.ndarray) -> np.ndarray:
        a[0] = 10
        a[index] = 5
        a[1] = 20
        return a

    compiled = ljit.jit(several)
    for index in [np.array([1, 2])] * 3 + [np.array([1, 7])] * 3:
        x, y = np.zeros(4), np.zeros(4)
        assert outcome(compiled, x, index) == outcome(several, y, index)
        assert x.tolist() == y.tolist()


def test_stores_from_the_array_itself_are_as_if_all_were_read_first() -> None:
    def shifted(a: np.ndarray) -> np.ndarray:
        mask = np.array([False, True, True, True, False, False])
        a[mask] = a[:3]
        a[np.array([1, 2, 3])] = a[:3]
        a[a > 2] = 7
        return a

    def of_itself(m: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m[m] = False
        n[n] = 0
        n[1:][n[:-1] > 2] = 9
        return m, n

    def of_neighbours(m: np.ndarray) -> np.ndarray:
        m[1:][m[:-1]] = True
        return m

    check(lambda: shifted(np.arange(6)), [()])
    check(lambda: of_itself(np.arange(70) % 3 == 1, np.arange(70) % 50)[0], [()])
    check(lambda: of_itself(np.arange(70) % 3 == 1, np.arange(70) % 50)[1], [()])
    check(lambda: of_neighbours(np.arange(90) % 41 == 0), [()])


def test_arrays_that_cannot_be_written_to() -> None:
    a = np.arange(3.0)
    a.flags.writeable = False

    def stored(a: np.ndarray, index: np.ndarray) -> np.ndarray:
        a[index] = 1
        return a

    check(stored, [(a, a > 1), (a, a > 7)])
    check(stored, [(a, np.array([0]))])


# -- rows and places -------------------------------------------------------------------------------

ROWS = np.array([3, -1, 0, 8, 8, -9])
COLUMNS = np.array([0, 4, -5, 2, 2, 1])
BEYOND = np.array([0, 9, 1, 1, 1, 1])


def matrices(dtype: str) -> list[np.ndarray]:
    a = filled((9, 5), dtype)
    return [a, np.asfortranarray(a), filled((9, 10), dtype)[:, ::2], filled((9, 5, 3), dtype)]


@pytest.mark.parametrize("dtype", SOME_DTYPES)
def test_rows_where_a_mask_holds(dtype: str) -> None:
    def rows(a: np.ndarray, m: np.ndarray) -> Any:
        return np.concatenate((a[m], a[m, :], a[m, ...]))

    compiled = ljit.jit(rows)
    for a in matrices(dtype):
        for m in (*masks((9,)), np.ones(8, bool), np.ones(10, bool)):
            for _ in range(2):
                assert outcome(compiled, a, m) == outcome(rows, a, m)


@pytest.mark.parametrize("dtype", SOME_DTYPES)
def test_elements_at_rows_and_columns(dtype: str) -> None:
    def at_places(a: np.ndarray, i: np.ndarray, j: np.ndarray) -> Any:
        return np.concatenate((a[i, j], a[i, 1], a[-1, j], a.T[j, i]))

    a, fortran, strided, _ = matrices(dtype)
    cases = [(a, ROWS, COLUMNS), (a, ROWS[:0], COLUMNS[:0]), (a, BEYOND, COLUMNS)]
    check(at_places, [*cases, (a, COLUMNS, BEYOND), (a, ROWS, COLUMNS[:3]), (a, ROWS, COLUMNS[:1])])
    check(at_places, [(fortran, ROWS, COLUMNS), (strided, ROWS.astype(np.int8), COLUMNS[::-1])])


def test_rows_of_every_width() -> None:
    def rows(a: np.ndarray, i: np.ndarray) -> Any:
        b = a.copy()
        b[i] = a[i[::-1]]
        b[i[:2]] = a[0]
        return np.concatenate((b, a[i], np.take(a, i, axis=0), a.take(i, 0)))

    compiled = ljit.jit(rows)
    for width in (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 511, 512, 513):
        a = (np.arange(9 * width) % 251).astype(np.uint8).reshape(9, width)
        for _ in range(2):
            assert outcome(compiled, a, ROWS) == outcome(rows, a, ROWS), width


@pytest.mark.parametrize("value", [2, np.float32(1.5), 1j, np.nan])
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_stored_in_rows_and_at_places(value: Any) -> None:
    def stored(a: Any, i: Any, j: Any, m: Any, x: Any) -> Any:
        b, c, d = a.copy(), a.copy(), a.copy()
        b[i] = x
        c[i, j] = x
        d[m] = x
        return np.concatenate((b, c, d))

    mask = np.arange(9) % 3 == 1
    for a in (filled((9, 5), "float64"), filled((9, 5), "int16")):
        check(stored, [(a, ROWS, COLUMNS, mask, value), (a, BEYOND, COLUMNS, mask, value)])
        check(stored, [(a, ROWS, COLUMNS, mask[:8], value), (a, ROWS, COLUMNS[:1], mask, value)])


@pytest.mark.filterwarnings("ignore")
def test_arrays_are_stored_in_rows_and_at_places() -> None:
    def stored(a: Any, i: Any, j: Any, rows: Any, row: Any, xs: Any) -> Any:
        b, c, d = a.copy(), a.copy(), a.copy()
        b[i] = rows
        b[i[:2]] += row
        c[i, :] = row
        d[i, j] = xs
        d[j, 0] -= xs
        return np.concatenate((b, c, d))

    for dtype in ("float64", "int64"):
        a, xs = filled((9, 5), "float64"), np.arange(6).astype(dtype)
        rows = filled((6, 5), dtype)
        cases = [(a, ROWS, COLUMNS, rows, rows[0], xs), (a, ROWS, COLUMNS, rows[:1], rows[0], xs)]
        check(stored, [*cases, (a, ROWS, COLUMNS, rows, rows[0, :1], xs)])
        check(stored, [(a, ROWS, COLUMNS, rows[::-1], rows[:5, 0], xs[::-1])])


def test_stores_of_rows_of_the_array_itself() -> None:
    def permuted(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        b = a.copy()
        b[i] = b[:6]
        b[i, 0] = b[:6, 1]
        return b

    check(permuted, [(filled((9, 5), "float64"), ROWS)])


@pytest.mark.filterwarnings("ignore:Calling nonzero on 0d arrays:DeprecationWarning")  # NumPy 2.0
def test_places_where_elements_are_not_zero() -> None:
    def found(a: np.ndarray) -> Any:
        return np.stack((np.flatnonzero(a), np.nonzero(a)[0], np.where(a)[0], a.nonzero()[-1]))

    check(found, [(m,) for n in SIZES for m in masks((n,))])
    for dtype in ("uint64", "complex128"):
        check(found, [(filled((40,), dtype),)])
    check(found, [(filled((4, 10), "float64"),), (filled((4, 10), "bool").T,), (np.array(True),)])


# -- accumulations ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_updates_at_places() -> None:
    def updated(a: Any, i: Any, v: Any, x: Any) -> Any:
        b, c, d = a.copy(), a.copy(), a.copy()
        np.add.at(b, i, v)
        np.maximum.at(c, i, x)
        np.subtract.at(d, i, x)
        return np.concatenate((b, c, d))

    for dtype in ("float64", "float32", "int8", "complex128"):
        a, v = filled((9,), dtype), filled((6,), dtype, 2)
        cases = [(a, ROWS, v, 3), (a, BEYOND, v, 3), (a, ROWS, v[:1], 2), (a, ROWS, v[:2], 1)]
        check(updated, cases)
    check(updated, [(filled((9,), "int16"), ROWS, 2, 1.5), (filled((9,), "int16"), ROWS, 2, 300)])
    check(
        updated, [(filled((18,), "float32")[::2], ROWS[::-1], filled((12,), "float32")[::2], 1.5)]
    )


@pytest.mark.skipif(
    not hasattr(np.add, "__dict__"), reason="this NumPy's ufuncs take no attributes"
)
def test_a_ufunc_whose_at_is_replaced() -> None:
    def updated(a: Any, i: Any) -> Any:
        return np.multiply.at(a, i, 2.0)

    compiled = ljit.jit(updated)
    a = np.ones(4)
    for _ in range(3):
        assert compiled(a, np.array([1, 1])) is None
    assert a.tolist() == [1, 64, 1, 1]
    try:
        np.multiply.at = lambda *_args: 5  # type: ignore[method-assign, assignment]
        assert compiled(a, np.array([1, 1])) == 5
    finally:
        del np.multiply.at  # type: ignore[method-assign]
    assert compiled(a, np.array([0])) is None
    assert a.tolist() == [2, 64, 1, 1]


def test_counts_of_numbers() -> None:
    def counted(x: Any) -> Any:
        return np.bincount(x)

    for dtype in INDEX_DTYPES:
        arrays = [np.arange(n, dtype=dtype) ** 2 % 7 for n in (1, 5, 100)]
        check(counted, [(x,) for x in (*arrays, arrays[-1][::-2], arrays[0][:0])])
    check(counted, [(np.array([3, 1]),), (np.array([-1, 1]),), (np.arange(4).reshape(2, 2),)])


def test_counts_with_weights_and_a_least_length() -> None:
    def counted(x: Any, weights: Any, n: Any) -> Any:
        return np.bincount(x, weights, minlength=n)

    x = np.arange(50) ** 2 % 7
    w = np.random.default_rng(3).normal(size=50) * 10.0 ** np.arange(-25, 25)
    cases = [
        (x, w, 3), (x, w, 20), (x, w[::-1], np.int8(9)), (x.astype(np.uint8), w.astype(np.float32), 0),
        (x, np.arange(50), 8), (x, w > 0, 8), (x, w[:9], 8), (x, w, -1), (x[:0], w[:0], 4), (x, w * 1j, 3),
        (x, w[:, None], 3), (x - 1, w, 3), (x, None, 9), (x, w, 2.0), (x, w, True), (x[::2], w[::2], 8),
    ]  # fmt: skip
    for case in cases:
        check(counted, [case])
    check(counted, cases[:2] * 2 + cases)
    counting = ljit.jit(lambda x, w: np.bincount(x, weights=w, minlength=len(x)))
    for _ in range(3):
        assert counting(x, w).tobytes() == np.bincount(x, w, 50).tobytes()
    assert "py::call" not in str(counting.graph_for(x, w))


def before_an_axis(a: Any, index: Any) -> Any:
    return a[index, None]


def behind_an_axis(a: Any, index: Any) -> Any:
    return a[None, index]


def between_axes(a: Any, index: Any) -> Any:
    return a[index, None, :]


def twice_beside_an_axis(a: Any, index: Any) -> Any:
    return a[None, index, None] * 2


def beside_columns(a: Any, index: Any) -> Any:
    return a[:, None, index]


@pytest.mark.parametrize(
    "function", [before_an_axis, behind_an_axis, between_axes, twice_beside_an_axis, beside_columns]
)
def test_new_axes_beside_an_array(function: Callable[..., Any]) -> None:
    def seen(f: Callable[..., Any], *args: Any) -> Any:
        found = outcome(f, *args)  # axes of one element have strides of their own
        return [(*x[:3], *x[4:]) if isinstance(x, tuple) else x for x in found]

    for a in (np.arange(6.0), np.arange(30).reshape(6, 5), np.arange(90.0).reshape(6, 5, 3)):
        indices = [np.array([0, 2, -1]), np.array([[0, 1], [2, 2]]), np.arange(6) % 2 == 0, a > 3]
        indices += [np.array([], int), np.array([1, 9]), np.zeros(6, bool), np.ones(7, bool)]
        compiled = ljit.jit(function)
        for index in indices * 3:
            assert seen(compiled, a, index) == seen(function, a, index), index


def test_an_array_beside_new_axes_is_native() -> None:
    a = np.arange(40.0)
    compiled = check(lambda a, mask: (a[mask, None] * a[None, mask]).sum(), [(a, a > 5)])
    assert "getitem" not in compiled.dump_llvm()
    (specialization,) = compiled.specializations
    assert (specialization.state, specialization.bailouts) == ("native", 0)

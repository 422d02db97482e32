"""Stores to columns, and stores spelled as calls (put, putmask, copyto), do what NumPy does; where it raises, they raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ljit
from tests.ops.layouts import filled
from tests.ops.test_numpy_index_arrays import check, is_native

DTYPES = ("int8", "complex64")
NUMBERS = (300, 2.5, np.float32(0.5))
COLUMNS = np.array([3, -1, 0, 2, 2, -5])
BEYOND = np.array([0, 5, 1, 1, 1, 1])


def outcome(function: Any, *args: Any) -> Any:
    """What a call gives, or raises, and what became of its arguments, one of which may be another's view."""
    args = tuple(
        x.copy("K") if isinstance(x, np.ndarray) and x.flags.writeable else x for x in args
    )
    try:
        result = function(*args)
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        result = type(error), str(error)
    arrays = [
        (x.dtype, x.shape, repr(x) if x.dtype.hasobject else x.tobytes())
        for x in args
        if isinstance(x, np.ndarray)
    ]
    return repr(result), arrays


def same(function: Any, cases: list[tuple[Any, ...]]) -> Any:
    compiled = ljit.jit(function)
    for case in cases * 2:
        assert outcome(compiled, *case) == outcome(function, *case), case
    return compiled


# -- columns ---------------------------------------------------------------------------------------


def stored_in_columns(a: Any, columns: Any, values: Any) -> Any:
    b = a.copy()
    b[:, columns] = values
    b[..., columns] += values
    return b


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_stored_in_columns(dtype: str) -> None:
    matrices = [filled((9, 5), dtype), filled((0, 5), dtype), filled((1, 5), dtype)]
    mask = np.array([True, False, True, True, False])
    for x in NUMBERS:
        check(stored_in_columns, [(a, i, x) for a in matrices for i in (COLUMNS, BEYOND)])
        check(stored_in_columns, [(a, m, x) for a in matrices for m in (mask, mask[:4], ~mask)])


@pytest.mark.parametrize("other", ["int16", "float64"])
@pytest.mark.filterwarnings("ignore")
def test_arrays_are_stored_in_columns(other: str) -> None:
    a, values, row = filled((9, 5), "int16"), filled((9, 6), other, 1), filled((6,), other, 1)
    check(stored_in_columns, [(a, i, values) for i in (COLUMNS, BEYOND, COLUMNS[:5])])
    check(stored_in_columns, [(a, COLUMNS, x) for x in (values[::-1], values[:1])])
    check(stored_in_columns, [(filled((9, 10), "int16")[:, ::2], COLUMNS[::-1], values.T.copy().T)])
    check(stored_in_columns, [(np.asfortranarray(a), COLUMNS.astype(np.uint8) % 5, row[::-1])])


def test_columns_of_more_axes() -> None:
    def stored(a: Any, columns: Any, values: Any) -> Any:
        b = a.copy()
        b[..., columns] = values
        b[:, :, columns[:2]] = 7
        return b

    a, values = filled((4, 3, 5), "float32"), filled((4, 3, 6), "float32", 1)
    check(stored, [(a, i, values) for i in (COLUMNS, BEYOND)])
    check(stored, [(a, COLUMNS, values.astype(np.float64)), (a, COLUMNS, values[:1].astype(float))])
    check(stored, [(a, COLUMNS, values.transpose(1, 0, 2).copy().transpose(1, 0, 2))])
    check(stored, [(a, COLUMNS, values[0, 0])])


def test_the_last_of_equal_columns_wins() -> None:
    a, values = np.zeros((3, 5)), np.arange(18.0).reshape(3, 6)
    check(stored_in_columns, [(a, COLUMNS, values), (a, COLUMNS[::-1], values)])


def test_columns_of_the_array_itself_are_read_first() -> None:
    def swapped(a: Any, columns: Any) -> Any:
        a[:, columns] = a[:, :2]
        a[:, columns] = a[::-1, :2]
        a[:, columns] = a[0, :2]
        return a

    def index_within(a: Any) -> Any:
        a[:, a[0]] = 9
        return a

    same(swapped, [(np.arange(10.0).reshape(2, 5), np.array([1, 0]))] * 2)
    same(index_within, [(np.arange(9).reshape(3, 3),)] * 2)


def test_columns_of_arrays_that_cannot_be_written_to() -> None:
    def stored(a: Any, columns: Any) -> None:
        a[:, columns] = 1.0

    a = np.zeros((2, 3))
    a.flags.writeable = False
    same(stored, [(a, np.array([0, 2])), (a, np.array([0, 5]))])


# -- put -------------------------------------------------------------------------------------------


def put(a: Any, index: Any, values: Any) -> Any:
    b = a.copy()
    c = a.copy()
    return np.put(b, index, values), c.put(index, values), b, c


def put_in(a: Any, index: Any, values: Any) -> Any:
    return np.put(a, index, values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_put_of_numbers_and_vectors(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for shape in ((40,), (2, 3, 4)):
        a = filled(shape, dtype)
        index = rng.integers(-a.size, a.size, 9)
        for x in NUMBERS:
            same(put, [(a, index, x), (a, index[:0], x), (a, index + a.size, x)])
        for other in (dtype, "int16"):
            values = filled((9,), other, 1)
            same(put, [(a, index, values), (a, index[::-1], values), (a, index, values[::-1])])


def test_put_is_native() -> None:
    a, index = np.zeros(9), np.array([3, -1, 3])
    assert is_native(same(put_in, [(a, index, np.arange(3.0)), (a, index, np.arange(3.0, 6.0))]))
    assert is_native(same(put_in, [(a, index, 2.5)] * 2))


@pytest.mark.filterwarnings("ignore")
def test_put_with_odd_operands() -> None:
    a, index, values = np.zeros(7), np.array([3, -1, 0]), np.arange(3.0)
    for count in (0, 1, 2, 3, 4):  # values are repeated
        same(put_in, [(a, index, np.arange(float(count)))] * 2)
    for odd in (
        index.astype(np.uint64), index.astype(">i8"), index > 0, index.astype(float), 2, [1, 2], (),
        index.reshape(3, 1), np.array(2), np.array([7]), np.array([-8, 1]),
    ):  # fmt: skip
        same(put_in, [(a, index, values), (a, odd, values), (a, odd, values)])
        same(put_in, [(a, odd, 1.0)] * 2)
    for target in (
        np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((4, 6))[:, ::2], np.zeros(9)[::-2],
        np.zeros(7, ">f8"), np.zeros(()), np.zeros(0), np.zeros(7, "O"), [1, 2, 3], np.zeros(7, "U3"),
        np.zeros(7, np.float16), np.ma.zeros(7),
    ):  # fmt: skip
        same(put_in, [(target, index[:1], values[:1])] * 2)
        same(put_in, [(target, index, 1.0)] * 2)
    for x in (
        None,
        "a",
        300,
        -1,
        1e400,
        2**70,
        1j,
        [1.0, 2.0, 3.0],
        values.astype(">f8"),
        values.reshape(3, 1),
    ):
        same(put_in, [(a, index, x)] * 2)
        same(put_in, [(np.zeros(7, np.int8), index, x)] * 2)
    a.flags.writeable = False
    same(put_in, [(a, index, 1.0)] * 2)


def test_put_with_modes() -> None:
    def wrapped(a: Any, index: Any) -> Any:
        np.put(a, index, 1.0, mode="wrap")
        np.put(a, index, 2.0, "clip")
        np.put(a, index[:1] % 3, 2.0, "raise")
        a.put(index % 4, 3.0, mode="raise")

    same(wrapped, [(np.zeros(4), np.array([3, 9, -7]))] * 2)


def test_put_from_the_array_itself() -> None:
    def shifted(a: Any, index: Any) -> Any:
        np.put(a, index, a[:3])
        return a

    def by_itself(a: Any) -> Any:
        np.put(a, a[:3], 1)
        return a

    same(shifted, [(np.arange(6.0), np.array([1, 2, 3]))] * 2)
    same(by_itself, [(np.arange(6),)] * 2)


# -- putmask and copyto ----------------------------------------------------------------------------


def masked(a: Any, mask: Any, values: Any) -> Any:
    b, c = a.copy(), a.copy()
    return np.putmask(b, mask, values), np.copyto(c, values, where=mask), b, c


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_stores_under_a_mask(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for shape in ((70,), (6, 7)):
        a, mask = filled(shape, dtype), rng.random(shape) < 0.5
        for x in (*NUMBERS, 1j):
            same(masked, [(a, mask, x), (a, ~mask, x)])
        for other in (dtype, "int16"):
            values = filled(shape, other, 1)
            same(masked, [(a, mask, values), (a, ~mask, values), (a, mask, values[::-1])])


def test_stores_under_a_mask_are_native() -> None:
    def put_masked(a: Any, mask: Any, values: Any) -> None:
        np.putmask(a, mask, values)

    def copied(a: Any, mask: Any, values: Any) -> None:
        np.copyto(a, values, where=mask)

    a, mask = np.zeros(9), np.arange(9) % 3 > 0
    for function in (put_masked, copied):
        assert is_native(same(function, [(a, mask, np.arange(9.0))] * 2))
        assert is_native(same(function, [(a, mask, 2.5)] * 2))


@pytest.mark.filterwarnings("ignore")
def test_stores_under_odd_masks_and_of_odd_values() -> None:
    a, mask, values = np.zeros((2, 3)), np.arange(6).reshape(2, 3) % 2 > 0, np.ones((2, 3))
    for odd in (
        mask[:1],
        mask[0],
        mask.astype(int),
        mask.T,
        mask[:, ::-1],
        True,
        mask.tolist(),
        mask[0, 0],
    ):
        same(masked, [(a, mask, values), (a, odd, values), (a, odd, values)])
        same(masked, [(a, odd, 1.0)] * 2)
    for x in (
        values[:1],
        values[0],
        values.T,
        values[:, ::-1],
        values.astype(">f8"),
        "x",
        None,
        2**70,
        [],
    ):
        same(masked, [(a, mask, values), (a, mask, x), (a, mask, x)])
        same(masked, [(a.astype(np.int8), mask, x)] * 2)
    for target in (a.T, a[:, ::-1], a.astype(">f8"), np.zeros(()), a.astype("O"), a.tolist()):
        same(lambda a, m: np.putmask(a, m, 1.0), [(target, mask)] * 2)
        same(lambda a, m: np.copyto(a, 1.0, where=m), [(target, mask)] * 2)
    a.flags.writeable = False
    same(lambda a, m: np.putmask(a, m, 1.0), [(a, mask)] * 2)
    same(lambda a, m: np.copyto(a, 1.0, where=m), [(a, mask)] * 2)


def test_stores_under_a_mask_of_the_array_itself() -> None:
    def of_itself(m: Any, a: Any) -> Any:
        np.putmask(m, m, False)
        np.copyto(a[1:], a[:-1], where=a[1:] > 2)
        np.putmask(a[:-1], a[1:] > 3, a[1:])
        np.copyto(a, a[::-1], where=a > 1)
        return m, a

    same(of_itself, [(np.arange(9) % 2 > 0, np.arange(9.0))] * 2)


def copied_to(a: Any, values: Any) -> Any:
    return np.copyto(a, values), a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_copies_into_arrays(dtype: str) -> None:
    for shape in ((70,), (6, 7)):
        a = filled(shape, dtype)
        for x in (*NUMBERS, 1j, 300, -1, 2**70, [1] * shape[-1], (1,) * shape[-1]):
            same(copied_to, [(a, x)] * 2)
        for other in (dtype, "int16", "float32"):
            values = filled(shape, other, 1)
            rows = (values[:1], values[..., ::-1], values[None], values[..., 1:])
            same(copied_to, [(x, v) for v in (values, *rows) for x in (a, a[..., ::-1], a.T)])


def test_copies_into_arrays_are_native() -> None:
    a = np.zeros((3, 4))
    assert is_native(same(copied_to, [(a, np.arange(12).reshape(3, 4))] * 3))
    assert is_native(same(copied_to, [(a, 2)] * 3))

    def of_itself(a: Any) -> Any:
        np.copyto(a[1:], a[:-1])
        return a

    same(of_itself, [(np.arange(9.0),)] * 3)


def test_copies_with_other_castings() -> None:
    def copied(a: Any, mask: Any, b: Any) -> Any:
        np.copyto(a, b, where=mask)
        np.copyto(a, b, casting="unsafe")
        np.copyto(a, b, "unsafe", mask)
        np.copyto(a + 1, b, where=None)
        np.copyto(a, b)

    mask = np.array([True, False])
    same(copied, [(np.zeros(2, int), mask, np.ones(2))] * 2)
    same(copied, [(np.zeros(2), mask, np.ones(2))] * 2)

"""Where masks hold, which elements are among others, and stores to diagonals."""

import numpy as np

from tests.programs.harness import program


def mask(*shape, dtype=bool):
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) * 7 % 5 < 2).astype(dtype)


def numbers(n, dtype=float):
    return (np.arange(n) * 37 % 11 - 4).astype(dtype)


@program(
    lambda: (mask(40),),
    lambda: (mask(5, 9),),
    lambda: (mask(9, 5).T,),
    lambda: (mask(3, 4, 5),),
    lambda: (mask(2, 3, 1, 4),),
    lambda: (mask(8, 6)[::2],),
    lambda: (mask(4, 5, dtype=float),),
    lambda: (mask(4, 5, dtype=np.uint8),),
    lambda: (mask(4, 5, dtype=complex),),
    lambda: (mask(3, 0),),
    lambda: (mask(0, 3),),
    lambda: (np.zeros((2, 2), bool),),
    lambda: (np.array(True),),
    lambda: ([[True, False], [False, True]],),
)
def places(a):
    return np.argwhere(a), np.nonzero(a), np.where(a)


@program(
    lambda: (mask(5, 9),),
    lambda: (mask(4, 4, dtype=np.int16),),
    lambda: (mask(3, 0),),  # ValueError
)
def box_around(a):
    rows, columns = np.nonzero(a)
    rows[:] += 1
    return rows.min(), rows.max(), columns.min(), columns.max(), rows.mean(), columns, rows


@program(
    lambda: (numbers(30, np.int64), numbers(5, np.int64)),
    lambda: (numbers(30, np.int32), numbers(5, np.int64)),
    lambda: (numbers(30, np.int64), numbers(5, np.int32)),
    lambda: (numbers(30), numbers(5)),
    lambda: (numbers(30), numbers(5, np.int64)),
    lambda: (numbers(30, np.int64), numbers(5) + 0.5),
    lambda: (numbers(30).reshape(5, 6), numbers(5)),
    lambda: (numbers(30).reshape(5, 6).T, numbers(5)),
    lambda: (numbers(30)[::-2], numbers(9)[::2]),
    lambda: (np.array([np.nan, 1.0, np.inf, -0.0]), np.array([0.0, np.nan, np.inf])),
    lambda: (numbers(4), numbers(0)),
    lambda: (numbers(0), numbers(4)),
    lambda: (numbers(4), numbers(4).reshape(2, 2)),
    lambda: (np.array([2**62 + 1, 2**62]), np.array([2**62])),
    lambda: (numbers(4, np.int64), [1, 3]),
    lambda: (numbers(4, np.int64), {1, 3}),
    lambda: (numbers(4, np.int64), 3),
    lambda: (3.0, numbers(4)),
    lambda: (mask(5), mask(2)),
)
def among(a, b):
    return np.isin(a, b), np.isin(a, b, invert=True), np.isin(a, b, True), np.isin(b, [1, 2])


@program(
    lambda: (numbers(30).reshape(5, 6), 7),
    lambda: (numbers(30).reshape(2, 3, 5), 29),
    lambda: (numbers(5), 4),
    lambda: (numbers(5), np.int64(0)),
    lambda: (numbers(5), np.int32(2)),
    lambda: (numbers(5), 5),  # ValueError
    lambda: (numbers(5), -1),  # ValueError
    lambda: (numbers(6).reshape(2, 3), True),
    lambda: (numbers(6).reshape(2, 3), np.arange(3)),
    lambda: (numbers(0).reshape(0, 3), 0),  # ValueError
)
def place_of(a, k):
    return np.unravel_index(k, a.shape), np.unravel_index(np.argmax(a), a.shape)


@program(
    lambda: (numbers(16).reshape(4, 4), np.inf),
    lambda: (numbers(15).reshape(5, 3), 1),
    lambda: (numbers(15).reshape(3, 5), -0.0),
    lambda: (numbers(15).reshape(3, 5).T, 2.5),
    lambda: (numbers(48).reshape(8, 6)[::2, ::-1], 2.5),
    lambda: (numbers(9, np.int64).reshape(3, 3), 7),
    lambda: (numbers(9, np.int64).reshape(3, 3), 7.9),
    lambda: (numbers(9, np.uint8).reshape(3, 3), 300),  # OverflowError
    lambda: (numbers(9, np.uint8).reshape(3, 3), True),
    lambda: (numbers(9, complex).reshape(3, 3), 1j),
    lambda: (numbers(9).reshape(3, 3), np.float32(0.1)),
    lambda: (numbers(9).reshape(3, 3), np.arange(3)),
    lambda: (numbers(0).reshape(0, 3), 1),
    lambda: (numbers(0).reshape(3, 0), 1),
    lambda: (numbers(27).reshape(3, 3, 3), 1),
    lambda: (numbers(5), 1),  # ValueError
    lambda: (np.broadcast_to(1.0, (3, 3)), 1),  # ValueError
)
def with_diagonal(a, x):
    np.fill_diagonal(a, x)
    b = a * 2
    np.fill_diagonal(b, 0, True)
    np.fill_diagonal(b[1:], x)
    return a, b, np.fill_diagonal(b, x)

"""Loop nests whose inner loops sum floats: several trips of the outer loop may run side by side."""

import numpy as np

from tests.programs.harness import program


def table(n, m, dtype=float):
    return (np.arange(n * m).reshape(n, m) % 7 * 0.3 - 0.7).astype(dtype)


@program(
    lambda: (table(5, 6), table(6, 19), np.zeros((5, 19))),
    lambda: (table(2, 3), table(3, 8), np.zeros((2, 8))),
    lambda: (table(2, 3), table(3, 7), np.zeros((2, 7))),
    lambda: (table(2, 0), table(0, 9), np.ones((2, 9))),
    lambda: (table(3, 4), table(4, 0), np.ones((3, 0))),
    lambda: (table(3, 4), table(4, 18), np.ones((3, 17))),
    lambda: (table(3, 4), table(3, 18), np.ones((3, 18))),
    lambda: (table(3, 4), table(4, 18), np.ones((2, 18))),
    lambda: (table(3, 4)[::-1], table(17, 4).T, np.ones((17, 3)).T),
    lambda: (table(3, 4, "f4"), table(4, 17, "f4"), np.ones((3, 17))),
    lambda: (table(3, 4, complex), table(4, 17, complex) * 1j, np.ones((3, 17), complex)),
)
def product_of_matrices(a, b, c):
    n, m = a.shape
    p = b.shape[1]
    for i in range(n):
        for j in range(p):
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def overlapping(offset, n=24):
    memory = np.linspace(-1.0, 1.0, 4 * n)
    return memory[:n], memory[offset : offset + n]


@program(
    lambda: overlapping(0),
    lambda: overlapping(1),
    lambda: overlapping(7),
    lambda: overlapping(24),
    lambda: (overlapping(9)[1], overlapping(9)[0]),
    lambda: (np.arange(9.0), np.arange(9.0)[::-1]),
)
def sums_of_what_was_stored(source, target):
    for j in range(len(target)):
        s = 0.25
        for k in range(len(source)):
            s = s * 0.5 + source[k]
        target[j] = s


@program(lambda: overlapping(3), lambda: overlapping(12), lambda: overlapping(40))
def polynomials_in_place(coefficients, xs):
    for i in range(len(xs)):
        r = 0.0
        for c in coefficients:
            r = r * xs[i] + c
        xs[i] = r
    return xs


@program(
    lambda: (table(12, 30), table(3, 5)),
    lambda: (table(3, 12), table(3, 5)),
    lambda: (table(4, 40), table(1, 1)),
)
def convolution(image, kernel):
    n, m = image.shape
    h, w = kernel.shape
    out = np.zeros((n - h + 1, m - w + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for y in range(h):
                for x in range(w):
                    s += image[i + y, j + x] * kernel[y, x]
            out[i, j] = s
    return out


@program(lambda: (table(9, 21), 0.1), lambda: (table(4, 5), -9.0), lambda: (table(0, 21), 0.0))
def sums_of_some(a, limit):
    out = np.empty(a.shape[1])
    for j in range(a.shape[1]):
        s = 0.0
        t = 1.0
        for i in range(a.shape[0]):
            if a[i, j] > limit:
                s += a[i, j]
            else:
                t = t * 0.5
        out[j] = s - t
    return out


@program(lambda: (40, 3), lambda: (40, 60), lambda: (20, 17), lambda: (7, 0))
def a_division_by_zero_in_one_of_the_trips(n, pole):
    out = [0.0] * n
    for j in range(n):
        s = 0.0
        for k in range(5):
            s += 1.0 / float(j * 5 + k - pole)
        out[j] = s
    return out


@program(lambda: (np.zeros(30), 40), lambda: (np.zeros(30), 30), lambda: (np.zeros(30), 8))
def stores_up_to_the_end(out, n):
    for j in range(n):
        s = 0.0
        for k in range(4):
            s += j * 0.5 + k
        out[j] = s
    return out


@program(lambda: (table(20, 6), [3, 1, 4] * 7, 20), lambda: (table(20, 6), [3, 1, 9] * 7, 20))
def indices_from_a_list(a, columns, n):
    out = np.zeros(n)
    for j in range(n):
        s = 0.0
        for i in range(6):
            s += a[j, i] * a[j, columns[i]]
        out[j] = s
    return out


@program(lambda: (np.arange(24.0).reshape(24, 1) / 7, 6), lambda: (np.ones((17, 2)), 3))
def the_same_row_is_read_and_written(a, n):
    for j in range(a.shape[0]):
        s = 0.0
        for _ in range(n):
            s = s * 0.9 + a[j, 0]
        a[j, 0] = s
    return a


def view(n, low=-1.9, high=1.0, dtype=float):
    return np.linspace(low, high, n).astype(dtype)


@program(
    lambda: (view(19), view(5, -1, 1), 30),
    lambda: (view(16, -2.0, 2.0), view(5, -1, 1), 30),  # -2 stays at 2 for ever
    lambda: (view(8), view(0), 30),
    lambda: (view(8), view(3), 0),
    lambda: (view(8), view(3), 2**62),
    lambda: (np.array([0.3, np.inf, np.nan, -np.inf, 3.0, 1e155, 1.0, 0.0, 2.0]), view(2), 30),
    lambda: (np.array([0.3, 0.2, 1e200, 3.0, 1e155, 1.0, 0.0, 2.0]), view(2, 0.0, 1e200), 30),
    lambda: (np.array([3.0] * 6 + [1.7e308, 2.0]), np.array([1.7e308]), 30),  # OverflowError of abs
    lambda: (view(17, dtype="f4"), view(3, dtype="f4"), 30),
    lambda: (view(9), view(3), 2.5),
    lambda: (view(9), view(3), True),
)
def escape_times(xs, ys, limit):
    if limit > 2**60:
        limit = 25
    out = np.zeros((ys.size, xs.size), dtype=np.int64)
    for j in range(ys.size):
        for i in range(xs.size):
            z = c = complex(xs[i], ys[j])
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[j, i] = n
    return out


@program(
    lambda: (np.linspace(0.5, 90.0, 21), 1e-9),
    lambda: (np.linspace(0.5, 90.0, 8), 1e-3),
    lambda: (np.array([2.0, 0.0, 3.0, np.nan, 5.0, np.inf, 7.0, 8.0, 1e300]), 1e-9),
    lambda: (np.arange(1, 18), 1e-9),
    lambda: (np.arange(1, 18).astype("f4"), 1e-3),
)
def roots_by_newton(values, tolerance):
    roots = np.empty(len(values))
    for i in range(len(values)):
        a = values[i]
        x = a * 0.5 + 0.5
        trips = 0
        while abs(x * x - a) > tolerance and trips < 40:
            x = (x + a * (1.0 / (x + 0.0))) * 0.5
            trips += 1
        roots[i] = x
    return roots


@program(
    lambda: (np.linspace(1.0, 1.2, 16), 50),
    lambda: (np.linspace(1.0, 1.2, 16), 2**62),
    lambda: (np.linspace(1.0, 1.2, 9), 2**63 - 1),
    lambda: (np.linspace(1.0, 1.2, 9), 2**63),
)
def ints_that_outgrow_a_word(factors, limit):
    lasts = [0] * len(factors)
    sums = np.zeros(len(factors))
    for i in range(len(factors)):
        x = 1
        y = 1.0
        while x < limit and y < 1e4:
            x = x * 3 + 1
            y = y * factors[i] + 0.5
        sums[i] = y + x
        lasts[i] = x
    return sums, lasts


@program(lambda: (np.linspace(-3.0, 9.0, 25), 12.0), lambda: (np.linspace(-3.0, 9.0, 25), -4.0))
def conditions_that_choose(xs, limit):
    ends = np.zeros((xs.size, 2))
    for i in range(xs.size):
        x = xs[i]
        y = 0.25
        while x < limit and y < 40.0:
            y += x * x if x > 0.0 else -x
            x += 1.5
        ends[i, 0] = x
        ends[i, 1] = y
    return ends


def zeros(n, m, dtype=float, offset=0.0):
    return np.full((n, m), offset, dtype)


@program(
    lambda: (table(3, 4), table(4, 19), zeros(3, 19)),
    lambda: (table(3, 4), table(4, 18), zeros(3, 17)),  # IndexError behind some stores
    lambda: (table(3, 4, "f4"), table(4, 17, "f4"), zeros(3, 17, "f4")),
    lambda: (table(3, 4), table(4, 17), zeros(3, 17, "f4")),
    lambda: (table(4, 3).T, table(17, 4).T, zeros(17, 3).T),
    lambda: (table(12, 12),) * 3,
    lambda: (table(12, 12), table(12, 12)) * 2,
)
def product_summed_in_memory(a, b, c=None, d=None):
    c = b if c is None else c
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@program(
    lambda: (table(5, 21), zeros(5, 21)),
    lambda: (table(5, 21), zeros(4, 21)),
    lambda: (table(5, 21), zeros(5, 20)),
    lambda: (table(5, 21),) * 2,
    lambda: (table(6, 21)[:-1], table(6, 21)[1:]),
    lambda: overlapping_tables(1),
    lambda: overlapping_tables(21),
    lambda: overlapping_tables(22),
    lambda: (np.ones((5, 21)), np.broadcast_to(np.zeros(21), (5, 21))),
    lambda: (np.ones((5, 21)), np.lib.stride_tricks.as_strided(np.zeros(30), (5, 21), (8, 8))),
)
def columns_one_by_one(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = a[i, j] * 2.0 + b[i, j]
    return b


def overlapping_tables(offset):
    memory = np.linspace(-1.0, 1.0, 200)
    return memory[:105].reshape(5, 21), memory[offset : offset + 105].reshape(5, 21)


@program(lambda: (table(7, 20), np.zeros(20)), lambda: (table(7, 20), np.ones(19)))
def sums_of_columns_in_memory(a, sums):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            sums[j] += a[i, j]
    return sums


@program(lambda: (table(7, 20),), lambda: (table(2, 16),), lambda: (table(1, 16),))
def rows_that_depend_on_the_row_above(a):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] = a[i, j] + 0.5 * a[i - 1, j]
    return a


@program(lambda: (table(7, 20),), lambda: (table(3, 17),))
def columns_that_depend_on_the_column_before(a):
    for j in range(1, a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] = a[i, j] + 0.5 * a[i, j - 1]
    return a


@program(lambda: (table(7, 20),), lambda: (table(3, 17),))
def rows_seen_through_views(a):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            row = a[i]
            a[i, j] = row[0] + row[j] * 0.5
    return a


@program(lambda: (table(4, 19), zeros(4, 19, offset=0.5)), lambda: (table(4, 8), zeros(4, 8)))
def sums_that_start_in_memory(a, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = c[i, j]
            for k in range(a.shape[0]):
                s += a[k, j]
            c[i, j] = s
    return c


def spaced(n, step, dtype=float):
    """A vector whose elements are `step` elements apart in memory."""
    memory = (np.arange(n * abs(step) + 1) * 3 % 50).astype(dtype)
    return memory[::step][:n]


@program(
    *(
        lambda n=n, step=step, dtype=dtype: (
            spaced(n, step, dtype),
            spaced(n, step, dtype),
            spaced(n, -step, dtype),
        )
        for n in (0, 1, 3, 4, 5, 1030)
        for step, dtype in ((1, "f8"), (2, "i4"), (-1, "u1"), (-3, "c16"))
    ),
    lambda: (np.zeros((4, 9))[::-1, ::-1], np.ones((4, 9))[::-1, ::-1], spaced(9, -2)),
    lambda: (np.zeros((9, 4)).T[:, ::-1], np.ones((4, 9))[:, ::-1], spaced(9, -1)),
    lambda: (lambda x: (x[:-1], x[1:], x[::-1][1:]))(spaced(9, -1)),
    lambda: (lambda x: (x[1:], x[:-1], x[:-1]))(spaced(2000, -1)),
    lambda: (lambda x: (x[1:], x[:-1], x[:-1]))(spaced(2000, 3)),
)
def stores_along_any_strides(a, b, c):
    a[...] = b
    first = a.tolist()
    a += c
    second = a.tolist()
    a += 1
    a[...] = (a - c) * 2
    b[...] = 7
    return first, second, a.max() if a.size else None, a.sum()


@program(
    lambda: (np.arange(7, dtype=np.int32),),
    lambda: (np.arange(7, dtype=np.uint8)[::2],),
    lambda: (np.arange(7, dtype=np.int8).reshape(1, 7),),
    lambda: (np.arange(7.0),),
)
def small_ints_beside_arrays_of_narrow_ones(a):
    a += 1
    b = a + 100
    a *= 3
    a -= 250  # does not fit all of them: an OverflowError
    return a, b, a < 2, a | 5


@program(lambda: (np.arange(6) + 1, 2), lambda: (np.arange(6), 2), lambda: (np.arange(6), 0))
def only_checked(a, n):
    for _ in range(n):
        kept = 7 // a  # nobody needs it, but it may warn
    return a + n


@program(
    *(
        lambda n=n, step=step, dtype=dtype: (
            spaced(n, step, dtype),
            spaced(n, 1, dtype),
            spaced(n, -step, dtype),
        )
        for n in (600, 256, 255, 3, 1, 0)
        for step, dtype in ((2, "f8"), (3, "i4"), (-1, "u1"), (-2, "c16"), (5, "i2"))
    ),
    lambda: (spaced(600, 2), np.ones(1), spaced(600, -1)),
    lambda: (np.ones((4, 1)), spaced(300, 2), spaced(1, 1)),
    lambda: (np.ones((300, 4)).T, spaced(300, 2), np.ones((4, 600))[:, ::-2]),
    lambda: (np.ones((300, 4)).T[::-1, 1:], spaced(299, 1), np.ones((299, 4)).T),
    lambda: (np.broadcast_to(np.ones(1), (5, 300)), spaced(300, -3), np.ones((5, 1))),
    lambda: (
        np.ones((3, 4, 300)).transpose(2, 0, 1),
        np.ones((3, 4)),
        np.ones((300, 3, 8))[..., ::2],
    ),
)
def fresh_results_at_any_strides(a, b, c):
    total = a + b * c
    out = np.ones(total.shape[::-1], dtype=total.dtype).T
    np.multiply(total, c, out=out)
    return total, total.strides, a - c, abs(c), np.where(a > b, a, c), out


def counted(n, m):
    return np.arange(n * m).reshape(n, m) % 7.0


@program(
    lambda: (np.ones((5, 3)), np.ones((5, 3)).T.copy().T),
    lambda: (counted(40, 1), counted(1, 40).T),
    lambda: (counted(1, 700).T, counted(700, 1)),
    lambda: (counted(700, 1), np.broadcast_to(np.ones((1, 1)), (700, 1))),
    lambda: (counted(700, 1), np.lib.stride_tricks.as_strided(np.ones(2), (700, 1), (0, 8))),
    lambda: (counted(1, 700), counted(700, 1)),
    lambda: (np.repeat(counted(700, 1), 2, axis=1)[:, :1], counted(700, 1)),
)
def columns_that_are_all_there_is(a, b):
    return a + b, (a * b).sum(), (a - b).max(axis=0), (a + b).min(axis=1), (a > b).any(axis=-1)


@program(
    lambda: (np.ones((1, 3)), counted(700, 3)),
    lambda: (counted(700, 3), counted(700, 3)),
    lambda: (counted(1, 3), counted(700, 3)),
    lambda: (counted(700, 3), counted(1, 3)),
)
def columns_of_rows_that_are_broadcast(a, b):
    return a[..., 0] + b[..., 1], (a[..., 2] * b[..., 0]).sum()


def rows_and_a_column(dtype):
    return (np.arange(3 * 301) % 17).reshape(3, 301).astype(dtype), np.array([[2], [3], [5]], dtype)


@program(
    lambda: rows_and_a_column(np.float64),
    lambda: rows_and_a_column(np.complex128),
    lambda: rows_and_a_column(np.int64),
    lambda: rows_and_a_column(np.float32),
    lambda: rows_and_a_column(np.int8),
    lambda: (rows_and_a_column(np.float64)[0], np.ones((3, 301))),
    lambda: (rows_and_a_column(np.float64)[0][:, ::-2], np.ones((3, 1))),
)
def rows_that_are_weighted(x, w):
    total = (x * w).sum(axis=1)
    spread = (x * w + w) * (w - x) * w - x * x * w
    return total, spread, (x[:1] * w).sum()

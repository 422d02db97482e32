"""Loop nests that go through arrays in other orders than memory does: legal to reorder, or not."""

import math

import numpy as np

from tests.programs.harness import program


def table(n, m):
    return np.sin(np.arange(n * m)).reshape(n, m)


@program(
    lambda: (table(5, 6), table(6, 19), np.zeros((5, 19))),
    lambda: (table(2, 0), table(0, 9), np.ones((2, 9))),
    lambda: (table(3, 4), table(4, 18), np.ones((3, 17))),
    lambda: (table(3, 4), table(3, 18), np.ones((3, 18))),
    lambda: (table(3, 4), table(4, 18), np.ones((2, 18))),
    lambda: (table(3, 4).T.copy().T, table(17, 4).T, np.ones((3, 17))),
    lambda: (table(3, 4), table(4, 17), np.ones((17, 3)).T),
)
def product_by_columns(a, b, c):
    for j in range(b.shape[1]):
        for k in range(a.shape[1]):
            for i in range(a.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@program(lambda: (table(5, 5), table(5, 5), np.ones((5, 5))))
def product_in_place(a, b, c):
    for j in range(5):
        for k in range(5):
            for i in range(5):
                a[i, j] += a[i, k] * b[k, j]
    return a


def overlapping(offset):
    memory = np.cos(np.arange(200.0))
    return memory[:48].reshape(6, 8), memory[offset : offset + 48].reshape(6, 8)


@program(*[lambda k=k: overlapping(k) for k in (0, 1, 7, 8, 9, 47, 48, 90)])
def columns_of_arrays_that_may_overlap(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = 0.5 * a[i, j] + b[i, j]


@program(lambda: (table(7, 9),), lambda: (table(7, 20),), lambda: (table(1, 1),))
def from_above(a):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] += 0.5 * a[i - 1, j]


@program(lambda: (table(7, 9),), lambda: (table(7, 20),))
def from_above_and_the_right(a):
    for j in range(a.shape[1] - 1):
        for i in range(1, a.shape[0]):
            a[i, j] += 0.5 * a[i - 1, j + 1]


@program(lambda: (table(7, 9),), lambda: (table(7, 20),))
def from_above_and_the_left(a):
    for j in range(1, a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] += 0.5 * a[i - 1, j - 1]


@program(lambda: (table(9, 9),), lambda: (table(20, 20),))
def from_the_other_side(a):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            a[i, j] = 0.5 * a[j, i] + 0.25


@program(lambda: (table(9, 9),), lambda: (table(20, 20),))
def from_the_last_row(a):
    n = a.shape[0]
    for j in range(a.shape[1]):
        for i in range(n):
            a[i, j] = 0.5 * a[n - 1 - i, j] + 0.25


@program(lambda: (table(9, 18),), lambda: (table(20, 40),))
def into_every_second_column(a):
    for j in range(a.shape[1] // 2):
        for i in range(a.shape[0]):
            a[i, 2 * j] = a[i, 2 * j + 1] + 1.0


@program(lambda: (table(9, 9), np.zeros(17)), lambda: (table(20, 20), np.zeros(39)))
def diagonals(a, sums):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            sums[i + j] = 0.5 * sums[i + j] + a[i, j]


@program(
    lambda: (table(9, 9), np.arange(9) % 4, np.zeros((9, 9))),
    lambda: (table(9, 9), np.arange(9) % 20, np.zeros((9, 9))),
    lambda: (table(9, 9), np.arange(9) - 4, np.zeros((9, 9))),
    lambda: (table(9, 9), np.arange(9) * 2, np.zeros((9, 9))),
)
def rows_by_index(a, rows, out):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            out[rows[i], j] = a[i, j] + 0.5 * out[rows[i], j]


@program(lambda: (table(6, 7),), lambda: (table(20, 30),))
def the_last_one_counts(a):
    last = np.zeros(2)
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            last[0] = a[i, j]
    return last


@program(lambda: (table(6, 7), np.zeros((6, 7))), lambda: (table(20, 30), np.ones((20, 30))))
def under_a_condition(a, b):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            if a[i, j] > b[i, j]:
                b[i, j] = a[i, j] * 2.0
            elif a[i, j] < -0.5:
                b[i, j] -= 1.0


@program(lambda: (table(6, 7), np.zeros((6, 7))), lambda: (table(20, 30), np.ones((20, 30))))
def variables_of_the_loops_later(a, b):
    i = j = -1
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = a[i, j] * 2.0
    return i, j


@program(lambda: (table(6, 7), np.zeros((6, 7)), 0.0), lambda: (table(6, 7), np.zeros((6, 7)), 2.0))
def divisions(a, b, x):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] = (i + j) / x + a[i, j]


@program(lambda: (np.arange(24).reshape(2, 3, 4) * 0.5, np.zeros((2, 3, 4))))
def three_axes(a, b):
    for k in range(a.shape[2]):
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                b[i, j, k] += a[i, j, k] * (i + 2 * j - k)


@program(lambda: (table(12, 12),), lambda: (table(25, 25),))
def lu_decomposition(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] = a[i, j] / (a[j, j] + 3.0)
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@program(
    lambda: (table(5, 19), np.ones(19)),
    lambda: (table(0, 19), np.ones(19)),
    lambda: (table(5, 19), np.ones(18)),
    lambda: (table(5, 19).astype("f4"), np.ones(19, "f4")),
    lambda: (table(5, 19).astype("f4"), np.ones(19)),
    lambda: (table(5, 19), np.ones(19, "f4")),
    lambda: (table(5, 19), np.ones(19, complex)),
    lambda: ((table(5, 19) * 100).astype("i8"), np.ones(19, "i8")),
    lambda: ((table(5, 19) * 100).astype("i4"), np.ones(19, "i4")),
    lambda: ((table(5, 19) * 100).astype("i4"), np.ones(19)),
    lambda: (-np.zeros((5, 19)), np.ones(19)),
    lambda: (lambda a: (a, a[3]))(table(5, 19)),
)
def sums_of_columns(a, sums):
    for j in range(a.shape[1]):
        s = 0
        for i in range(a.shape[0]):
            s += a[i, j]
        sums[j] = s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(0, 19), np.ones(19)))
def sums_that_do_not_begin_with_nothing(a, sums):
    for j in range(a.shape[1]):
        s = 0.1
        for i in range(a.shape[0]):
            s += a[i, j] * 0.3
        sums[j] = s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(0, 19), np.ones(19)))
def products_and_sums(a, sums):
    for j in range(a.shape[1]):
        s = 2
        for i in range(a.shape[0]):
            s = s * 3 + a[i, j]
        sums[j] = s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(20, 19), np.ones(19)))
def sums_of_sums(a, sums):
    for j in range(1, a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j] * sums[j - 1]
        sums[j] = s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(20, 19), np.ones(19)))
def one_sum_for_all(a, sums):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        sums[0] = s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(20, 19), np.ones(19)))
def sums_seen_behind_the_loops(a, sums):
    s = 0.0
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        sums[j] = s
    return s


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(20, 19), np.ones(19)))
def sums_stored_twice(a, sums):
    for j in range(a.shape[1] - 1):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        sums[j] = s
        sums[j + 1] = s * 0.5


@program(lambda: (table(5, 19), np.ones(19)), lambda: (table(20, 19), np.ones(19)))
def sums_of_rows_below(a, sums):
    for j in range(a.shape[0]):
        s = 0.0
        for i in range(j, a.shape[0]):
            s += a[i, j] - j
        sums[j] = s


@program(
    lambda: (table(5, 20), table(20, 7), np.zeros((5, 7))),
    lambda: (table(2, 0), table(0, 9), np.ones((2, 9))),
    lambda: (table(0, 4), table(4, 9), np.ones((2, 9))),
    lambda: (table(3, 4), table(4, 18), np.ones((3, 17))),
    lambda: (table(3, 4), table(4, 17), np.ones((17, 3)).T),
)
def product_by_rows(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]


@program(
    lambda: (table(5, 20), table(20, 7), np.zeros((5, 7))),
    lambda: (table(2, 0), table(0, 9), np.ones((2, 9))),
    lambda: (table(3, 4), table(4, 18), np.ones((3, 17))),
)
def product_of_sums(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@program(lambda: (table(5, 20), table(20, 7), np.zeros(7)))
def last_row_of_sums(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[j] = s


@program(lambda: (table(6, 5), table(6, 5)))
def arrays_that_change_places(a, b):
    for _ in range(4):
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                b[i, j] = 0.5 * a[i, j] + 1.0
        a, b = b, a
    return a, b


@program(lambda: (np.arange(9), 5, 11), lambda: (np.zeros(6), 4, 3), lambda: (np.arange(5.0), 5, 1))
def places_found_behind_searches(a, n, k):
    """The `else:` of a loop is no trip of it; what is stored there is checked in front of the loop around."""
    for t in range(n):
        for i in range(3):
            if a[i] < t - 99:
                break
        else:
            j = (k + t) % 3
            a[t + j] += 1
    return a


def _with_one_that_does_not_fit(n, m, value):
    made = np.arange(n * m).reshape(n, m) % 100
    made[n // 5, m // 2] = value
    return made, np.full((n, m), 99, np.int32)


@program(
    lambda: _with_one_that_does_not_fit(20, 30, 5),
    lambda: _with_one_that_does_not_fit(20, 30, 2**40),
    lambda: _with_one_that_does_not_fit(20, 30, -(2**31)),
)
def columns_of_narrower_integers(a, out):
    """An int64 that no int32 is ends the loops in the midst of them: they keep their order."""
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            out[i, j] = a[i, j]
    return out


@program(
    lambda: (np.arange(60, dtype=np.uint8).reshape(6, 10), np.zeros((6, 10), np.uint8)),
    lambda: (np.full((5, 5), 255, np.uint8), np.zeros((5, 5), np.uint8)),
)
def bytes_of_gradients(image, out):
    """A root of a sum of squares, limited to a byte, needs no check."""
    for y in range(image.shape[0] - 1):
        for x in range(image.shape[1] - 1):
            across = int(image[y, x + 1]) - 2 * int(image[y, x])
            down = int(image[y + 1, x]) - 3 * int(image[y, x])
            out[y, x] = min(255, int(math.sqrt(across * across + down * down)))
    return out


def rows_and_scale(n=9, m=20):
    return table(n, m), np.zeros(m)


@program(rows_and_scale)
def one_element_is_stored_for_each_column(a, scale):
    for j in range(a.shape[1]):
        scale[0] = float(j)
        for i in range(a.shape[0]):
            a[i, j] += scale[0]


@program(rows_and_scale)
def elements_of_other_columns_are_stored_in_front(a, scale):
    for j in range(a.shape[1]):
        scale[j] = float(j)
        for i in range(a.shape[0]):
            a[i, j] += scale[a.shape[1] - 1 - j]


@program(rows_and_scale)
def own_elements_are_stored_in_front(a, scale):
    for j in range(a.shape[1]):
        a[0, j] = 1.0
        scale[j] = 2.0
        for i in range(a.shape[0]):
            a[i, j] *= scale[j]


@program(
    lambda: (*rows_and_scale(), np.ones(3), np.arange(20) % 3),
    lambda: (*rows_and_scale(), np.ones(3), np.arange(20) // 4),
)
def what_may_raise_stands_behind_a_store(a, scale, terms, index):
    for j in range(a.shape[1]):
        scale[j] += 1.0
        term = terms[index[j]]
        for i in range(a.shape[0]):
            a[i, j] += term


@program(lambda: (table(5, 6), np.arange(12).reshape(4, 3)), lambda: (table(1, 0), table(2, 2)))
def with_elements_at_known_places(a, small):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] += i * np.triu(small).sum() - j


@program(
    lambda: (table(9, 20), table(3, 9), np.ones((4, 20))),
    lambda: (table(8, 17), table(3, 8), np.ones((4, 17))),
    lambda: (table(3, 17), table(3, 3), np.ones((4, 17))),
    lambda: (table(9, 20).astype("f4"), table(3, 9).astype("f4"), np.ones((4, 20), "f4")),
    lambda: (np.arange(180).reshape(9, 20) << 55, np.ones((3, 9), int) * 3, np.ones((4, 20), int)),
    lambda: (table(7, 20), table(3, 9), np.ones((4, 20))),
    lambda: (lambda a: (a, table(3, 9), a[2:6]))(table(9, 20)),
)
def rows_that_are_added_to_others(a, weights, out):
    for i in range(weights.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] *= 0.5 if i else 1
        for k in range(weights.shape[1]):
            for j in range(out.shape[1]):
                out[i, j] += weights[i, k] * a[k, j]


@program(
    lambda: (table(19, 19), np.ones((19, 19))),
    lambda: (table(3, 3), np.ones((3, 3))),
    lambda: (table(19, 18), np.ones((19, 19))),
)
def triangle_of_a_product(a, out):
    n = out.shape[0]
    for i in range(n):
        for k in range(n):
            for j in range(i + 1):
                out[i, j] += a[i, k] * a[k, j]


@program(lambda: (table(19, 19),), lambda: (table(21, 21),), lambda: (table(2, 2),))
def upper_part_of_lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
        for j in range(i + 1, n):
            a[j, i] /= a[i, i] + 3.0


@program(lambda: (table(9, 20), np.ones(20)), lambda: (table(5, 20), np.zeros(20)))
def sums_of_rows_that_are_kept(a, s):
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[k, j]
            a[k, j] = s[j]


@program(lambda: (table(9, 9), table(9, 14)), lambda: (table(3, 3), table(3, 14)))
def triangle_times_few_columns(a, c):
    """Eight of the columns are done side by side; what leaves behind them must not do them again."""
    n = a.shape[0]
    for i in range(n):
        for j in range(14):
            for k in range(i + 1, n):
                c[i, j] += a[k, i] * c[k, j]


def overlapping_squares(offset, n=9):
    memory = np.cos(np.arange(400.0))
    square = memory[offset : offset + n * n].reshape(n, n)
    return memory[: n * n].reshape(n, n), table(n, n), square


@program(
    lambda: (table(9, 7), table(7, 20), np.ones((9, 20)), 0.5),
    lambda: (table(9, 7), table(7, 20), np.ones((9, 20)), 3),
    lambda: (table(4, 0), table(0, 6), np.ones((4, 6)), 0.5),
    lambda: (table(4, 9), table(9, 2), np.ones((4, 2)), math.nan),
    lambda: (table(9, 7).astype("f4"), table(7, 20).astype("f4"), np.ones((9, 20), "f4"), 0.5),
    lambda: (np.ones((5, 6), int), np.ones((6, 7), int) << 61, np.ones((5, 7), int), 3),
    lambda: (np.ones((5, 6), int), np.ones((6, 7), int), np.ones((5, 7), int), 0.5),
    lambda: (table(9, 7), table(6, 20), np.ones((9, 20)), 0.5),
    lambda: (table(9, 7), table(7, 19), np.ones((9, 20)), 0.5),
    lambda: (*overlapping_squares(0), 0.5),
    lambda: (*overlapping_squares(1), 0.5),
    lambda: (*overlapping_squares(9), 0.5),
    lambda: (*overlapping_squares(80), 0.5),
    lambda: (*overlapping_squares(81), 0.5),
)
def product_that_scales_in_front(a, b, c, beta):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += 1.5 * a[i, k] * b[k, j]


@program(
    lambda: (table(20, 9), np.zeros((9, 9)), np.zeros(9)),
    lambda: (table(3, 19), np.zeros((19, 19)), np.ones(19)),
    lambda: (table(0, 9), np.zeros((9, 9)), np.ones(9)),
    lambda: (table(20, 9), np.zeros((9, 8)), np.zeros(9)),
    lambda: (table(20, 9), np.zeros((8, 9)), np.zeros(9)),
    lambda: (lambda a: (a, a[:9], a[12]))(table(20, 9)),
)
def covariances(data, cov, mean):
    n = float(data.shape[0])
    for j in range(data.shape[1]):
        mean[j] = 0.0
        for i in range(data.shape[0]):
            mean[j] += data[i, j]
        mean[j] /= n + 1.0
    for i in range(data.shape[1]):
        for j in range(i, data.shape[1]):
            cov[i, j] = 0.0
            for k in range(data.shape[0]):
                cov[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            cov[i, j] /= n + 1.0
            cov[j, i] = cov[i, j]

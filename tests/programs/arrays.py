"""Array elements in loops: loads, stores, indices, iteration, attributes."""

import numpy as np

from tests.programs.harness import program


def grid(rows, columns, dtype=np.float64):
    return np.arange(rows * columns).reshape(rows, columns).astype(dtype)


@program(
    lambda: (np.arange(10.0), 4.0),
    lambda: (np.arange(10, dtype=np.int32), 4),
    lambda: (np.zeros(0), 1.0),
)
def sum_above(a, limit):
    s = 0.0
    for i in range(a.size):
        if a[i] > limit:
            s += a[i]
    return s


@program(
    lambda: (grid(4, 5),),
    lambda: (grid(3, 3, np.float32),),
    lambda: (grid(4, 5).T,),
    lambda: (grid(6, 6)[::2, 1::2],),
)
def sums_of_rows_and_columns(a):
    rows, columns = a.shape
    r = np.zeros(rows)
    c = np.zeros(columns)
    for i in range(rows):
        for j in range(columns):
            r[i] += a[i, j]
            c[j] += a[i, j]
    return r, c


@program(lambda: (grid(3, 4), grid(4, 2)), lambda: (grid(2, 2, np.int64), grid(2, 2, np.int64)))
def matrix_product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


@program(
    lambda: (np.arange(8.0),),
    lambda: (np.arange(8),),
    lambda: (np.arange(16.0)[::2],),
    lambda: (np.arange(8.0)[::-1],),
)
def reversed_in_place(a):
    i, j = 0, len(a) - 1
    while i < j:
        a[i], a[j] = a[j], a[i]
        i += 1
        j -= 1
    return a


@program(lambda: (np.arange(6.0),), lambda: (np.arange(6, dtype=np.int8),))
def negative_indices(a):
    a[-1] = a[-2] + a[-6]
    a[0] += 10
    total = 0
    for i in range(-3, 3):
        total += a[i]
    return total, a[-1], a[len(a) - 1]


@program(lambda: (np.array([3, 1, 2, 0]),), lambda: (np.array([1, 0], dtype=np.uint8),))
def permutation_inverse(p):
    inverse = np.empty(p.size, dtype=np.int64)
    for i in range(p.size):
        inverse[p[i]] = i
    return inverse


@program(lambda: (np.array([5, 3, 3, 0, 5, 1]), 6), lambda: (np.zeros(0, dtype=np.int64), 2))
def histogram(values, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in values:
        counts[v] += 1
    return counts


@program(lambda: (30,), lambda: (2,), lambda: (200,))
def sieve(n):
    flags = np.ones(n + 1, dtype=np.bool_)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return flags, flags.sum()


@program(
    lambda: (np.zeros(4, dtype=np.int32),),
    lambda: (np.zeros(4, dtype=np.float32),),
    lambda: (np.zeros(4, dtype=np.complex64),),
)
def stores_cast_to_the_dtype(a):
    a[0] = 3
    a[1] = True
    a[2] = np.float32(2.5) if a.dtype.kind != "i" else np.int64(7)
    a[3] = a[0] + a[1]
    return a[3]


@program(
    lambda: (grid(3, 4),), lambda: (np.zeros((2, 3, 4), dtype=np.int16),), lambda: (np.array(5.0),)
)
def array_attributes(a):
    return (
        a.shape,
        a.size,
        a.ndim,
        a.dtype,
        a.itemsize,
        a.nbytes,
        a.T.shape,
        len(a.shape),
        a.strides,
    )


@program(lambda: (grid(3, 3),), lambda: (grid(2, 4, np.int64),))
def loop_over_rows(a):
    total = 0.0
    for row in a:
        for x in row:
            total += x
        row[0] = -1
    return total


@program(lambda: (np.arange(5.0), np.arange(5.0) * 2), lambda: (np.arange(3), np.arange(5)))
def zip_of_arrays(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    for i, x in enumerate(a):
        s += i * x
    return s


@program(lambda: (3, 5), lambda: (1, 1))
def heat_equation(n, steps):
    u = np.zeros((n + 2, n + 2))
    u[0, :] = 100.0
    for _ in range(steps):
        v = u.copy()
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u = v
    return u


@program(lambda: (np.linspace(-2, 1, 7), np.linspace(-1, 1, 5), 20))
def mandelbrot(xs, ys, limit):
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


@program(lambda: (np.array([4.0, 2.0, 8.0, 1.0]),), lambda: (np.array([3, 3, 1]),))
def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a


@program(lambda: (np.arange(4.0), np.arange(4.0)), lambda: (np.arange(4.0),) * 2)
def two_arguments_may_be_one_array(a, b):
    for i in range(1, a.size):
        a[i] = b[i - 1] + 1
    return a, b


@program(lambda: (np.arange(9.0),), lambda: (np.arange(9),))
def overlapping_views_in_a_loop(a):
    left, right = a[:-1], a[1:]
    for i in range(left.size):
        right[i] = left[i] + right[i]
    return a


@program(lambda: (np.array([1.0, np.nan, 3.0, np.inf]),), lambda: (np.array([-0.0, 0.0]),))
def special_values_in_arrays(a):
    largest = a[0]
    nans = 0
    for x in a:
        if x != x:
            nans += 1
        elif x > largest:
            largest = x
    return largest, nans, a == a


@program(lambda: (np.array(5.0),), lambda: (np.array(3),))
def zero_dimensional(a):
    x = a[()]
    a[()] = x + 1
    return x, a + 1, a.shape, float(a)


@program(lambda: (np.array([1, 2, 3], dtype=">i4"),), lambda: (np.array([1.5, 2.5], dtype=">f8"),))
def foreign_byte_order(a):
    s = 0
    for i in range(a.size):
        s = s + a[i]
    a[0] = 9
    return s, a * 2


@program(
    lambda: (np.array(["a", "bc"], dtype=object),),
    lambda: (np.array([1, 2.5, None], dtype=object),),
)
def object_arrays(a):
    out = []
    for x in a:
        out.append(x)
    a[0] = 7
    return out, a[0], a[-1]


def read_only(a):
    a.flags.writeable = False
    return a


@program(lambda: (read_only(np.arange(3.0)),), lambda: (np.arange(3.0),))
def store_into_read_only(a):
    x = a[0] + a[1]
    a[2] = x
    return x


@program(lambda: (read_only(np.arange(5.0)),), lambda: (np.arange(5.0),))
def store_of_a_part_to_itself(a):
    a[1:3] = a[1:3]
    return a


@program(
    lambda: (np.frombuffer(b"x" + bytes(range(24)), dtype=np.uint8)[1:].view(np.float64),),
    lambda: (np.arange(3.0),),
)
def unaligned(a):
    s = 0.0
    for i in range(a.size):
        s += a[i]
    return s, a * 2.0


@program(
    lambda: (np.arange(5, dtype=np.float32),),
    lambda: (np.arange(5, dtype=np.float16),),
    lambda: (np.arange(5, dtype=np.complex128) * 1j,),
)
def dtypes_of_element_arithmetic(a):
    out = a.copy()
    for i in range(1, a.size):
        out[i] = a[i] * 2 + a[i - 1] / 4
    return out, a[1] * 2, a[1] + a[2]


@program(lambda: (np.zeros((3, 3)),), lambda: (np.zeros((4, 2)),))
def partial_indices(a):
    a[0][1] = 5.0
    row = a[1]
    row[0] = 2.0
    a[2] = a[0] + 1
    return row, a[0, 1], a[-1], a[0].sum()


@program(lambda: (np.arange(6), [0, 2]), lambda: (np.arange(6.0), [5]))
def fancy_indices(a, picks):
    b = a[picks]
    c = a[a > 2]
    a[picks] = 0
    a[a > 4] = -1
    return b, c


@program(lambda: (64,), lambda: (1,))
def levinson_like_recurrence(n):
    a = np.zeros(n)
    a[0] = 1.0
    for i in range(1, n):
        a[i] = 0.5 * a[i - 1] + (a[i - 2] if i > 1 else 0.0) * 0.25 + i
    return a[n - 1], a


@program(lambda: (grid(5, 5) + 10 * np.eye(5),), lambda: (np.array([[2.0, 1.0], [1.0, 3.0]]),))
def lu_decomposition(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@program(lambda: (2000,), lambda: (10,))
def hot_loop_over_arrays(n):
    a = np.zeros(n)
    b = np.ones(n, dtype=np.int32)
    for i in range(n):
        a[i] = i * 0.5 + b[i]
        if i > 1:
            a[i] -= a[i - 2] * 0.125
    return a

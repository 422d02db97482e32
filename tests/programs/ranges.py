"""Indices and ints at their limits: checks that native code leaves out, or makes in front of a loop."""

import numpy as np

from tests.programs.harness import program

LARGEST, LEAST = 2**63 - 1, -(2**63)


def floats(n):
    return np.arange(float(n)) + 0.5


def table(n, m):
    return np.arange(float(n * m)).reshape(n, m)


@program(
    lambda: (floats(5), 0, 5),
    lambda: (floats(5), 0, 6),
    lambda: (floats(5), -5, 5),
    lambda: (floats(5), -6, 5),
    lambda: (floats(5), 5, 5),
    lambda: (floats(5), 9, 3),
    lambda: (floats(0), 0, 0),
    lambda: (floats(0), 0, 1),
    lambda: (floats(1), 0, 1),
    lambda: (floats(5), LARGEST - 1, LARGEST),
    lambda: (floats(5), LEAST, LEAST + 2),
    lambda: (floats(5), LARGEST, LEAST),
)
def sum_between(a, start, stop):
    total = 0.0
    for i in range(start, stop):
        total += a[i]
    return total


@program(
    lambda: (floats(5), 0, 5),
    lambda: (floats(5), 0, 6),
    lambda: (floats(5), -2, 3),
    lambda: (floats(5), -7, 2),
    lambda: (floats(0), 0, 0),
)
def write_between(a, start, stop):
    for i in range(start, stop):
        a[i] = i * 2.0
    return a


@program(
    lambda: (floats(6), floats(6), floats(6)),
    lambda: (floats(6), floats(5), floats(6)),
    lambda: (floats(6), floats(6), floats(3)),
    lambda: (floats(0), floats(0), floats(0)),
    lambda: (floats(2), floats(9), floats(9)),
)
def sum_of_two(a, b, c):
    for i in range(len(a)):
        c[i] = a[i] + b[i]


@program(
    lambda: (floats(7), 1),
    lambda: (floats(7), 0),
    lambda: (floats(7), -1),
    lambda: (floats(7), 7),
    lambda: (floats(7), 8),
    lambda: (floats(7), LARGEST),
    lambda: (floats(7), LEAST),
)
def shifted(a, by):
    out = np.zeros(len(a))
    for i in range(len(a)):
        out[i] = a[i - by]
    return out


@program(
    lambda: (floats(8), 0, 8, 2),
    lambda: (floats(8), 0, 9, 2),
    lambda: (floats(8), 0, 9, 3),
    lambda: (floats(8), 7, -1, -1),
    lambda: (floats(8), 8, -1, -1),
    lambda: (floats(8), 7, -9, -1),
    lambda: (floats(8), 7, -10, -2),
    lambda: (floats(8), 7, -10, -3),
    lambda: (floats(8), 0, 8, 0),
    lambda: (floats(8), 0, LARGEST, LARGEST),
    lambda: (floats(8), 0, LEAST, LEAST),
)
def stepping(a, start, stop, step):
    seen = []
    for i in range(start, stop, step):
        seen.append(a[i])
    return seen


@program(lambda: (floats(6),), lambda: (floats(1),), lambda: (floats(0),))
def backwards(a):
    total = 0.0
    for i in range(len(a) - 1, -1, -1):
        total = total * 0.5 + a[i]
    return total


@program(lambda: (floats(6),), lambda: (floats(1),), lambda: (floats(0),))
def one_too_far_back(a):
    total = 0.0
    for i in range(len(a), -1, -1):
        total = total * 0.5 + a[i - 1]
    return total


@program(
    lambda: (table(4, 5), table(4, 5)),
    lambda: (table(4, 5), table(5, 4)),
    lambda: (table(4, 5), table(4, 4)),
    lambda: (table(4, 5), table(3, 5)),
    lambda: (table(2, 2), table(2, 2)),
    lambda: (table(1, 1), table(1, 1)),
    lambda: (np.zeros((0, 3)), np.zeros((0, 3))),
    lambda: (np.zeros((3, 0)), np.zeros((3, 0))),
    lambda: (table(4, 5)[::-1, ::-1], table(4, 5)),
)
def stencil(u, v):
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
    return v


@program(
    lambda: (table(4, 5), table(4, 5)),
    lambda: (table(1, 1), table(1, 1)),
    lambda: (table(0, 3), table(0, 3)),
)
def stencil_that_wraps_and_leaves(u, v):
    n, m = u.shape
    for i in range(n):
        for j in range(m):
            v[i, j] = u[i - 1, j] + u[i, j + 1]
    return v


@program(
    lambda: (table(3, 4), table(4, 5)),
    lambda: (table(3, 4), table(3, 5)),
    lambda: (table(3, 4), table(5, 5)),
    lambda: (table(3, 0), table(0, 5)),
    lambda: (table(3, 4), table(4, 0)),
    lambda: (table(0, 4), table(2, 5)),
    lambda: (table(1, 1), table(1, 1)),
    lambda: (table(3, 4), table(4, 5).T),
)
def product(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


@program(
    lambda: (table(4, 4) + 8 * np.eye(4),),
    lambda: (table(4, 5) + 1,),
    lambda: (table(4, 3) + 1,),
    lambda: (table(1, 1) + 1,),
    lambda: (table(1, 0),),
    lambda: (table(0, 0),),
    lambda: (table(2, 1) + 1,),
)
def triangles(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * 0.125
    return a


@program(
    lambda: (floats(9), 0, 9),
    lambda: (floats(9), 0, 10),
    lambda: (floats(9), -3, 4),
    lambda: (floats(9), 5, 5),
    lambda: (floats(9), 50, 5),
    lambda: (floats(9), 3, LARGEST),
)
def while_counter(a, i, n):
    total = 0.0
    while i < n:
        total += a[i]
        i += 1
    return total, i


@program(lambda: (floats(9), 3.5), lambda: (floats(9), 99.0), lambda: (floats(0), 1.0))
def search_without_end(a, x):
    i = 0
    while a[i] != x:
        i += 1
    return i


@program(
    lambda: (floats(9), 4.0),
    lambda: (floats(9), -4.0),
    lambda: (floats(9), 40.0),
    lambda: (floats(0), 4.0),
)
def binary_search(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@program(
    lambda: (floats(20)[::-1].copy(), 0, 19),
    lambda: (np.ones(20), 0, 19),
    lambda: (floats(20)[::-1].copy(), 0, 20),
    lambda: (floats(20)[::-1].copy(), -3, 12),
)
def partition(a, low, high):
    pivot = a[(low + high) // 2]
    i, j = low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    return i, j


@program(
    lambda: (floats(9), np.array([0, 8, 3])),
    lambda: (floats(9), np.array([0, -9, 3])),
    lambda: (floats(9), np.array([0, 9, 3])),
    lambda: (floats(9), np.array([0, -10, 3])),
    lambda: (floats(9), np.array([0, 255, 3], np.uint8)),
    lambda: (floats(9), np.array([0, 2**63, 3], np.uint64)),
    lambda: (floats(9), np.array([2**64 - 1], np.uint64)),
)
def indirect(a, indices):
    total = 0.0
    for i in range(len(indices)):
        total += a[indices[i]]
        a[indices[i]] += 1.0
    return total


@program(
    lambda: (floats(6), True),
    lambda: (floats(6), False),
    lambda: (floats(1), True),
    lambda: (floats(0), True),
)
def only_under_a_condition(a, wide):
    total = 0.0
    n = len(a)
    for i in range(n):
        if i > 0:
            total += a[i - 1]
        if i < n - 1:
            total += a[i + 1]
        if not wide:
            total += a[i + 2]
    return total


@program(
    lambda: (10, 3),
    lambda: (10, LARGEST),
    lambda: (3, LARGEST // 2),
    lambda: (0, LARGEST),
    lambda: (LARGEST, 0),
)
def running_product(n, factor):
    total = 0
    for i in range(min(n, 12)):
        total += i * factor
    return total


@program(
    lambda: (LARGEST - 3, 3),
    lambda: (LARGEST - 3, 4),
    lambda: (LARGEST, 0),
    lambda: (LARGEST, 1),
    lambda: (LEAST, 5),
)
def count_from(x, n):
    for _ in range(n):
        x += 1
    return x


@program(lambda: (LEAST + 3, 3), lambda: (LEAST + 3, 4), lambda: (LEAST, 1), lambda: (5, 9))
def count_down_from(x, n):
    for _ in range(n):
        x -= 1
    return x, -x, abs(x)


@program(
    lambda: (LARGEST - 4, LARGEST),
    lambda: (LEAST, LEAST + 4),
    lambda: (-2, 3),
    lambda: (LARGEST, LEAST),
)
def neighbours(start, stop):
    found = []
    for i in range(start, stop):
        found.append((i - 1, i + 1, 2 * i))
    return found


@program(
    lambda: (7, 3),
    lambda: (7, -3),
    lambda: (7, 1),
    lambda: (7, -1),
    lambda: (7, 0),
    lambda: (0, 0),
    lambda: (7, LEAST),
)
def quotients(n, d):
    found = []
    for i in range(-n, n):
        found.append((i // d, i % d, divmod(i, d)))
    return found


@program(
    lambda: (LEAST, LEAST + 3, -1),
    lambda: (LEAST, LEAST + 3, 2),
    lambda: (LARGEST - 2, LARGEST, -1),
)
def quotients_of_the_largest(start, stop, d):
    found = []
    for i in range(start, stop):
        found.append((i // d, i % d))
    return found


@program(
    lambda: (table(3, 4).ravel(), 3, 4),
    lambda: (table(3, 4).ravel(), 4, 3),
    lambda: (table(3, 4).ravel(), 4, 4),
    lambda: (table(3, 4).ravel(), 0, LARGEST),
    lambda: (table(3, 4).ravel(), 2, LARGEST),
    lambda: (table(3, 4).ravel(), 3, -4),
)
def flat_index(a, n, m):
    total = 0.0
    for i in range(n):
        for j in range(min(m, 50)):
            total += a[i * m + j]
    return total


@program(
    lambda: (table(5, 6), 3),
    lambda: (table(2, 2), 1),
    lambda: (table(1, 1), 2),
    lambda: (table(0, 2), 1),
)
def neighbours_around_the_edge(g, reach):
    n, m = g.shape
    total = 0.0
    for i in range(n):
        for j in range(m):
            for di in (-1, 0, 1):
                total += g[(i + di) % n, (j - di * reach) % m]
    return total


@program(
    lambda: (floats(8), floats(8)),
    lambda: (floats(8), floats(3)),
    lambda: (floats(3), floats(8)),
    lambda: (floats(0), floats(0)),
)
def zipped(a, b):
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        total += x * y + a[i] - b[i]
    return total


@program(
    lambda: (floats(8), LARGEST - 7),
    lambda: (floats(8), LARGEST - 6),
    lambda: (floats(8), 0),
    lambda: (floats(0), LARGEST),
)
def numbered(a, first):
    last = None
    for i, x in enumerate(a, first):
        last = i, x
    return last


@program(
    lambda: ([1.5] * 6, [0] * 6, 5),
    lambda: ([1.5] * 6, [0] * 6, 6),
    lambda: ([1.5] * 6, [3, -6, 0], 3),
    lambda: ([1.5] * 6, [3, -7, 0], 3),
    lambda: ([], [], 0),
)
def lists(xs, indices, n):
    total = 0.0
    for i in range(n):
        total += xs[i] + xs[indices[i]]
        xs[i - 1] = total
    return total


@program(lambda: (4,), lambda: (0,), lambda: (1,))
def list_that_shrinks(n):
    xs = list(range(n))
    total = 0
    for i in range(len(xs)):
        total += xs[i]
        if i == 1:
            xs.pop()
    return total


@program(
    lambda: (floats(8), 3),
    lambda: (floats(8), 8),
    lambda: (floats(8), 9),
    lambda: (floats(8), 0),
    lambda: (floats(8), -1),
)
def stops_early(a, n):
    total = 0.0
    for i in range(100):
        if i >= n:
            break
        total += a[i]
    return total


@program(lambda: (floats(8), 2.0), lambda: (floats(8), 200.0), lambda: (floats(0), 2.0))
def searched_too_far(a, x):
    for i in range(100):
        if a[i] > x:
            return i
    return -1


@program(
    lambda: (table(3, 4), 2, 2),
    lambda: (table(3, 4), 4, 5),
    lambda: (table(3, 4), 3, 4),
    lambda: (table(3, 4), 1, 1),
)
def convolution(a, p, q):
    n, m = a.shape
    out = np.zeros((n - p + 1, m - q + 1))
    for i in range(n - p + 1):
        for j in range(m - q + 1):
            s = 0.0
            for x in range(p):
                for y in range(q):
                    s += a[i + x, j + y]
            out[i, j] = s
    return out


@program(lambda: (30, 1), lambda: (30, -1), lambda: (1, 5), lambda: (0, 5))
def bits(n, shift):
    found = []
    for i in range(-n, n):
        found.append((i & 7, i >> abs(shift), i & n, max(i, 3), min(i, -3, shift)))
    return found


@program(
    lambda: (floats(64), 63),
    lambda: (floats(64), 64),
    lambda: (floats(64), -1),
    lambda: (floats(4), 3),
)
def masked(a, mask):
    total = 0.0
    for i in range(200):
        total += a[i & mask]
    return total


@program(
    lambda: (floats(5), np.int64(0), np.int64(5)),
    lambda: (floats(5), np.int8(-5), np.uint8(5)),
    lambda: (floats(5), np.int64(0), np.int64(6)),
    lambda: (floats(5), np.int64(LARGEST), np.int64(LARGEST)),
)
def numpy_bounds(a, start, stop):
    total = 0.0
    for i in range(start, stop):
        total += a[i] + a[start + (i - start)]
    return total


@program(
    lambda: (floats(10), floats(4)),
    lambda: (floats(3), floats(4)),
    lambda: (floats(4), floats(4)),
    lambda: (floats(0), floats(0)),
    lambda: (floats(4), floats(0)),
)
def swapped_between_trips(a, b):
    total = 0.0
    for i in range(6):
        for j in range(len(a)):
            total += a[j] * (i + 1)
        total += b[0]
        a, b = b, a
    return total


@program(
    lambda: (table(6, 6), 5),
    lambda: (table(6, 6), 6),
    lambda: (table(6, 6), 7),
    lambda: (table(6, 5), 6),
)
def rows(a, n):
    total = 0.0
    for i in range(n):
        row = a[i]
        for j in range(n):
            total += row[j]
            row[j] = total
    return total


@program(
    lambda: (floats(12), 4, 3),
    lambda: (floats(12), 3, 4),
    lambda: (floats(12), 5, 3),
    lambda: (floats(12), 0, 0),
)
def two_counters(a, n, m):
    k = 0
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += a[k]
            k += 1
        k += 0
    return total, k


@program(
    lambda: (floats(12), 6),
    lambda: (floats(12), 12),
    lambda: (floats(12), 13),
    lambda: (floats(0), 0),
)
def compacted(a, n):
    kept = 0
    for i in range(n):
        if a[i] > 3.0:
            a[kept] = a[i]
            kept += 1
    return kept


@program(lambda: (8, 5), lambda: (1, 3), lambda: (2, 3), lambda: (0, 2))
def rows_that_replace_one_another(n, steps):
    row = np.zeros(n, dtype=np.bool_)
    row[n // 2] = True
    seen = np.zeros((steps, n), dtype=np.bool_)
    for t in range(steps):
        seen[t] = row
        new = np.zeros(n, dtype=np.bool_)
        for i in range(n):
            new[i] = row[i - 1] ^ (row[i] | row[(i + 1) % n])
        row = new
    return seen


@program(
    lambda: (LARGEST // 2, 3),
    lambda: (LARGEST // 2 + 1, 3),
    lambda: (LEAST // 2, 3),
    lambda: (LEAST // 2 - 1, 3),
    lambda: (1, 70),
)
def doubled(x, times):
    found = [x * 2, x << 1]
    for _ in range(times):
        x = 2 * x
        found.append(x)
    return found


@program(
    lambda: (np.arange(9), 12, 5),
    lambda: (np.arange(9), 12, 9),
    lambda: (np.arange(9), 12, 10),
    lambda: (np.arange(9), 12, -4),
    lambda: (np.arange(9), 12, -12),
    lambda: (np.arange(9), 12, 0),
    lambda: (np.arange(9), 0, 0),
    lambda: (np.arange(9), 12, True),
)
def indices_that_a_divisor_leaves(xs, n, divisor):
    total = 0
    for i in range(n):
        xs[(5 * i + 2) % divisor] += 1
        total += (i - 4) // divisor - (3 - i) % divisor
    return total


@program(lambda: (30, 7), lambda: (30, 1000), lambda: (30, -7), lambda: (1, 1), lambda: (3, 0))
def digits_in_any_base(n, base):
    total = 0
    for i in range(n):
        x = 977 * i
        for _ in range(4):
            total = 3 * total % 1000 + x % base
            x //= base
    return total


@program(
    lambda: (np.arange(-6, 9), 5),
    lambda: (np.arange(-6, 9), -5),
    lambda: (np.arange(-6, 9), np.int64(7)),
    lambda: (np.arange(9, dtype=np.uint8), np.uint8(4)),
    lambda: (np.arange(-6, 9, dtype=np.int8), np.int8(-128)),
    lambda: (np.array([-(2**63), 2**63 - 1]), 1),
    lambda: (np.array([-(2**63) + 1, 2**63 - 1]), -1),
    lambda: (np.arange(0), 0),
)
def numpys_quotients(xs, divisor):
    seen = []
    for i in range(len(xs)):
        x = xs[i]
        seen.append((x % divisor, x // divisor))
        if x > 0:
            seen.append((x % divisor, x // divisor, divisor % x))
    return seen


@program(
    lambda: (np.arange(-6, 9), 5),
    lambda: (np.arange(-6, 9), 0),
    lambda: (np.arange(-6, 9), -1),
    lambda: (np.array([-(2**63), -(2**63)]), -1),
    lambda: (np.array([-(2**63), -(2**63)]), 0),
)
def numpys_quotients_behind_a_condition(xs, divisor):
    total = np.int64(0)
    count = 0
    for i in range(len(xs)):
        x = xs[i]
        for k in range(3):
            part = x % divisor if divisor > 0 else x
            if divisor > 1 and part // divisor == k:
                count += 1
            total = total ^ (part + k)
    return total, count

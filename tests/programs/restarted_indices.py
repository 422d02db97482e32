"""Indices that start again, go down, or come out of loops left early, into arrays made in the function."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (6,), lambda: (1,), lambda: (0,), lambda: (-3,))
def permutations_by_counting(n):
    a = np.arange(n)
    c = np.zeros(n, np.int64)
    total, i = 0, 0
    while i < n:
        if c[i] < i:
            j = c[i] if i % 2 else 0
            a[j], a[i] = a[i], a[j]
            total += a[0] * a[n - 1]
            c[i] += 1
            i = 0
        else:
            c[i] = 0
            i += 1
    return total, a


@program(lambda: (40, 7, 3), lambda: (40, 7, 5), lambda: (40, 1, 1), lambda: (5, 7, 3))
def down_and_back(trips, n, step):
    """With a step that is too large the index counts from the end."""
    a = np.arange(n) * 10
    i, total = n - 1, 0
    for _ in range(trips):
        total = total * 3 % 1009 + a[i]
        i = i - step if i > 1 else n - 1
    return total, i


@program(
    lambda: (np.array([5, 3, 9, 1]), 9),
    lambda: (np.array([5, 3, 9, 1]), 2),
    lambda: (np.arange(3), 0),
)
def place_before(a, x):
    """The index that the first loop gives is -1 if the element is the first one."""
    for i in range(len(a)):
        if a[i] == x:
            break
    total = 0
    for j in range(3):
        total += a[i - 1] * (j + 1)
        i = i - 1 if i > 1 else i
    return total, i


@program(lambda: (5, 4), lambda: (5, 0), lambda: (0, 3), lambda: (5, -1), lambda: (-1, 2))
def rows_of_new_arrays(m, n):
    a = np.zeros((m, n))
    b = np.empty_like(a)
    for i in range(m):
        row, column = a[i], b[:, 0]
        for j in range(n):
            row[j] = i * j
        column[i] = n
    c = a.copy()
    for row in c:
        for j in range(n):
            row[j] += b[0, 0] + c.shape[1]
    return a, c


@program(lambda: (4, 6), lambda: (6, 4), lambda: (-2, 1), lambda: (0, 0))
def counts_and_sizes(n, m):
    a, total = np.arange(n), 0
    for i in range(m):
        k = i if i < n else n - 1
        total += a[k]
    return total


@program(
    lambda: (np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]),),
    lambda: (np.array([2.5, 1.5]),),
    lambda: (np.zeros(0),),
)
def heap_sorted(a):
    n = len(a)
    start, end = n // 2 - 1, n - 1
    while end > 0:
        if start >= 0:
            root, start = start, start - 1
        else:
            a[0], a[end] = a[end], a[0]
            root, end = 0, end - 1
        while 2 * root + 1 <= end:
            child = 2 * root + 1
            if child + 1 <= end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child
    return a


@program(
    lambda: ([3, 4, -1, 7], np.arange(3.0)),
    lambda: ([3, 4], np.arange(3.0)),
    lambda: ([-2], np.arange(1.0)),
    lambda: ([3, 4, 5, 6], np.arange(3.0)),
)
def last_unless_left(xs, a):
    """What the trips count up is another number behind a break."""
    i = 0
    for x in xs:
        if x < 0:
            i = -1
            break
        i += 1
    return a[i]

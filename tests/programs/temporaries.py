"""Arrays made anew in each trip of a loop: those that outlive the trip are arrays of their own."""

import weakref

import numpy as np

from tests.programs.harness import program


@program(lambda: (5,), lambda: (0,), lambda: (1,))
def cleared_each_trip(n):
    total = 0.0
    for i in range(n):
        t = np.zeros(3)
        total += t[0] + t[2]
        t[0] = i
        t[2] += i * 0.5
        total += t[0] * t[2] + t[1]
    return total


@program(lambda: (6,), lambda: (0,), lambda: (1,))
def every_second_is_kept(n):
    kept = []
    for i in range(n):
        t = np.zeros(2)
        t[0] = i
        if i % 2:
            kept.append(t)
    return kept, len(kept)


@program(lambda: (5,), lambda: (1,), lambda: (2,))
def those_of_the_last_trips(n):
    a = b = np.ones(2)
    total = 0.0
    for i in range(n):
        t = np.zeros(2)
        t[1] = i
        total += a[1] + 10 * b[1]
        a, b = t, a
    return a, b, total


@program(lambda: (5,), lambda: (2,))
def a_view_of_the_last_trip(n):
    last = np.zeros(2)
    total = 0.0
    for i in range(n):
        t = np.empty(4)
        for k in range(4):
            t[k] = i + k
        total += last[0]
        last = t[1:3]
    return last, total, last.base is None


@program(lambda: (7,), lambda: (0,))
def of_other_sizes_each_trip(n):
    sums = []
    for i in range(n):
        t = np.zeros(i // 2)
        for k in range(len(t)):
            t[k] += k + i
        s = 0.0
        for x in t:
            s += x
        sums.append(s)
        u = np.ones((2, i % 3), dtype=np.int32)
        u += 1
        sums.append(u.sum())
    return sums


@program(lambda: (np.arange(12.0).reshape(4, 3),), lambda: (np.ones((2, 3), np.float32),))
def differences_of_rows(p):
    total = 0.0
    nearest = p[0] - p[0]
    for i in range(len(p)):
        d = p[i] - p[0]
        if i == 1:
            nearest = d
        total += d[0] * d[0] + d[1] * d[1] + (d + d)[2]
    return total, nearest


@program(lambda: (np.ones(3), 5), lambda: (np.arange(3), 4), lambda: (np.ones((2, 2)), 1))
def iterates(x, n):
    for i in range(n):
        x = x * 2 + i
        y = x - 1
        x = y + x
    return x


@program(lambda: (4,), lambda: (6,))
def changed_by_whoever_had_it(n):
    seen = []
    for i in range(n):
        t = np.zeros(4)
        t[0] += i
        seen.append(float(t.sum()))
        if i == 1:
            t.shape = (2, 2)
        if i == 2:
            t.flags.writeable = False
        if i == 3:
            t.dtype = np.int64
        if i == 4:
            t.resize(7, refcheck=False)
    return seen


@program(lambda: (4,))
def seen_by_a_weak_reference(n):
    alive = []
    before = None
    for i in range(n):
        t = np.zeros(2)
        t[0] = i
        if before is not None:
            alive.append(before() is None)
        before = weakref.ref(t)
    return len(alive)


@program(lambda: (3, 2), lambda: (1, 0), lambda: (3, -1))
def fails_in_some_trip(n, m):
    total = 0.0
    for i in range(n):
        t = np.zeros(m - i)
        t[0] = i
        total += t[0]
    return total


@program(lambda: (4, 3))
def nested_loops(n, m):
    rows = []
    for i in range(n):
        outer = np.zeros(m)
        for j in range(m):
            inner = np.full(2, i)
            inner[1] += j
            outer[j] = inner[0] * 10 + inner[1]
            if i == j:
                rows.append(inner)
        rows.append(outer)
    return rows


@program(
    lambda: (4, 0.5), lambda: (2, 3), lambda: (3, 1j), lambda: (2, "x"), lambda: (2, np.float32(2))
)
def arrays_of_literals(n, x):
    last = None
    seen = []
    for i in range(n):
        v = np.array([i, x, 2])
        w = np.asarray([[i, 1.5], [2.5, i * 2]])
        items = [i, i + 1]
        items[0] = x
        u = np.array(items)
        items.append(7)
        e = np.array([True, i > 1], dtype=np.float32)
        seen.append((v, w[1, 0] + w[0, 1], u, len(items), e.sum(), np.array([])))
        last = w
    return seen, last


@program(lambda: (3,), lambda: (1.5,), lambda: (2**70,), lambda: ([1],))
def arrays_of_ragged_or_odd_literals(x):
    a = np.array([x, None])
    b = np.array([[x, x], [1, 2]])
    c = np.array([[1], [x, 2]])
    return a, b, c


@program(lambda: ([1.0, 2.0], 3), lambda: ([1, 2.5], 2))
def arrays_of_lists_from_elsewhere(xs, n):
    made = [0.0, 1.0]
    total = 0.0
    for i in range(n):
        a = np.array(xs)
        b = np.array(made)
        made[0] += 1
        made.append(i)
        total += a.sum() + b.sum()
    return total, made


@program(lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.ones((0, 2)),))
def reshaped_under_another_name(a):
    b = c = a.copy()
    b.shape = (b.size,)
    return c * 2

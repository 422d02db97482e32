"""Arrays that are computed to be joined."""

import numpy as np

from tests.programs.harness import program


def field(n, m, dtype=float):
    return (np.arange(n * m).reshape(n, m) % 11 * 0.5 - 2.0).astype(dtype)


def line(n, dtype=float):
    return field(1, n, dtype)[0]


@program(
    lambda: (line(19), line(19), line(20)),
    lambda: (line(19), line(19), line(0)),
    lambda: (line(0), line(0), line(3)),
    lambda: (line(1), line(19), line(2)),
    lambda: (line(19), line(18), line(2)),  # ValueError
    lambda: (line(38)[::2], line(19)[::-1], line(40)[::-2]),
    lambda: (line(19, np.int32), line(19), line(5, np.float32)),
    lambda: (line(19, np.int64), line(19, np.int8), line(5, bool)),
    lambda: (line(19) + 1j, line(19), line(5)),
    lambda: (field(4, 5), field(4, 5), field(3, 5)),
    lambda: (field(4, 5), line(5), field(4, 5)),
    lambda: (field(4, 5), field(4, 5), field(4, 6)),  # ValueError
    lambda: (field(4, 5), field(4, 1), field(0, 5)),
    lambda: (field(5, 4).T, field(4, 5), field(4, 5)),
    lambda: (field(4, 5), line(5), line(5)),  # ValueError
)
def ends(a, b, c):
    return np.concatenate((a * b + 1, c, a[1:] - a[:-1]))


@program(
    lambda: (field(5, 6), field(5, 6), field(5, 1)),
    lambda: (field(5, 6), field(5, 6), field(1, 1)),  # ValueError
    lambda: (field(1, 6), field(5, 6), field(5, 3)),
    lambda: (field(5, 6), field(5, 6), field(4, 6)),  # ValueError
    lambda: (field(0, 6), field(0, 6), field(0, 2)),
    lambda: (field(5, 0), field(5, 0), field(5, 2)),
    lambda: (field(5, 6, np.float32), field(5, 6), field(5, 6, np.int16)),
)
def side_by_side(a, b, c):
    whole = np.concatenate([a - b, c * 2, c], axis=-1)
    return whole, np.hstack((c, a * b)), np.append(a + b, c, axis=1)


@program(
    lambda: (line(19), line(19)),
    lambda: (line(19), line(1)),  # ValueError
    lambda: (line(1), line(1)),
    lambda: (line(0), line(0)),
    lambda: (line(19), line(19, np.float32)),
    lambda: (line(19, np.int64), line(19, np.uint8)),
    lambda: (field(4, 5), field(4, 5)),
    lambda: (field(4, 5), field(5, 4).T),
    lambda: (field(4, 5), line(5)),  # ValueError
    lambda: (field(4, 5), line(3)),  # ValueError
    lambda: (field(0, 5), field(0, 5)),
    lambda: (field(3, 40).reshape(2, 3, 20), field(3, 40).reshape(2, 3, 20)),
)
def stacked(a, b):
    x, y = a * 0.5, b + 1
    return np.stack((x * y, x - y, a), axis=-1), np.stack((a + b, b)), np.stack((a, b, b * b), 1)


@program(lambda: (line(30), line(30)), lambda: (line(30), line(29)))
def seen(a, b):
    left, right = a * 2, b * 3
    whole = np.concatenate((left, right, right))
    left += 1
    parts = (a - 1, b - 1)
    both = np.stack(parts, axis=1)
    return whole, left, both, parts


@program(lambda: (line(30), line(30)), lambda: (line(30)[::-1], line(30)))
def changed_between(a, b):
    x = a * b
    a[0] = 7.0
    y = a * b
    b[1:] = a[:-1]
    return np.concatenate((x, y, b + 1)), np.vstack((x, a - b))


@program(lambda: (line(30, np.int64), line(30, np.int64)), lambda: (line(30, np.int64), 0))
def divided(a, b):
    return np.concatenate((a // b, a % 3, a * b))


@program(lambda: (line(12), 4), lambda: (line(40), 3))
def grown(a, n):
    total = 0.0
    for i in range(n):
        both = np.concatenate((a * i, a[::-1] + i))
        total += both.sum()
        a = both[i : i + a.shape[0]]
    return a, total


@program(lambda: (field(24, 3), 0.3), lambda: (field(24, 2), 0.3), lambda: (field(0, 2), 1.0))
def turned(points, angle):
    x, y = points[:, 0], points[:, 1]
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * x - s * y, s * x + c * y), axis=-1), np.column_stack((x, x + y))


def rows(n, dtype=float, k=3):
    return (np.arange(n * k).reshape(n, k) % 7 * 0.5 - 1.0).astype(dtype)


@program(
    lambda: (rows(20), np.array([0.5, -1.0, 2.0]), 0.7),
    lambda: (rows(1), np.array([0.5, -1.0, 2.0]), 0.7),
    lambda: (rows(0), np.array([0.5, -1.0, 2.0]), 0.7),
    lambda: (rows(20, np.float32), np.array([0.5, -1.0, 2.0], np.float32), np.float32(0.7)),
    lambda: (rows(20, np.float32), np.array([0.5, -1.0, 2.0]), 0.7),
    lambda: (rows(20), rows(20) * 2 - 1, 0.7),
    lambda: (rows(20), rows(1) * 2 - 1, 0.7),
    lambda: (rows(1), rows(20) * 2 - 1, 0.7),
    lambda: (rows(20), rows(19), 0.7),  # ValueError
    lambda: (rows(20), rows(20, k=1), 0.7),  # ValueError
    lambda: (rows(20)[::-2], np.array([0.5, -1.0, 2.0]), np.arange(10.0)[:, None]),
    lambda: (np.asfortranarray(rows(20)), np.array([0.5, -1.0, 2.0]), 0.7),
    lambda: (rows(20, int), np.array([1, -1, 2]), 3),
)
def turned_about(points, axis, w):
    t = 2.0 * np.cross(axis, points)
    return points + w * t + np.cross(axis, t)


@program(lambda: (rows(20), rows(20) + 1), lambda: (rows(20), rows(5)))
def products_of_rows(a, b):
    c = np.cross(a - b, a * 0.5)
    d = np.cross(c, b)
    a[0] = d[-1]
    e = np.cross(a, b) * 2
    return c, d.sum(axis=0), np.sqrt((e * e).sum(axis=1)), np.abs(e)


@program(
    lambda: (np.float32(1.5), 2.5),
    lambda: (np.int8(3), 4),
    lambda: (np.float32(1.5), np.float64(2.5)),
    lambda: (np.complex64(1j), True),
    lambda: (2.5, 1),
)
def numbers_in_one_row(x, y):
    """Python's numbers take the dtype of the others here, not in a stack."""
    return np.concatenate([x, y], axis=None), np.stack([x, y])


@program(
    lambda: ((line(5), line(5)),),
    lambda: ((line(5), line(4)),),  # ValueError
    lambda: ((line(5, np.float32), line(5, np.int64)),),
    lambda: ((line(5), line(5), line(5)),),  # ValueError
)
def of_a_pair(pair):
    """A node with several results, here of a tuple, stands in front of what is joined."""
    a, b = pair
    return np.stack([a + 1.0, b * 2.0]), np.concatenate((b - 1.0, a))


@program(
    lambda: (line(5), 3, 0.5),
    lambda: (line(5), 0, 0.5),
    lambda: (line(5), -1, 0.5),  # ValueError
)
def of_filled(x, n, factor):
    """The size of what is filled is a number, no array's."""
    first = np.hstack((x, factor * np.ones(n)))
    return first, np.stack((np.ones(n) - factor, np.zeros(n) + factor), axis=1)


@program(
    lambda: (field(4, 3), 2, 3, 0.5),
    lambda: (field(4, 3), 0, 3, 0.5),
    lambda: (field(4, 3), 2, 4, 0.5),  # ValueError
    lambda: (field(4, 3), 2, -1, 0.5),  # ValueError
)
def of_filled_rows(x, m, n, factor):
    """The sizes of what is filled are a tuple."""
    return np.concatenate((factor * np.ones((m, n)), x, np.zeros((m, n)) - factor))


@program(
    lambda: (np.arange(5.0), np.arange(3.0)[::-1], 2.5),
    lambda: (np.arange(5.0), np.arange(5.0)[::-1], 2),
    lambda: (np.arange(5.0), np.arange(5), np.float64(2.0)),
    lambda: (np.arange(5), np.arange(5), 2),
    lambda: (np.arange(5), np.arange(5), 2.0),
    lambda: (np.arange(5, dtype=np.int8), np.arange(5) > 2, 300),
    lambda: (np.arange(5, dtype=np.float32), np.ones(5, np.float32), 0.1),
    lambda: (np.arange(6.0).reshape(2, 3), np.ones((2, 3)), 1.0),
    lambda: (np.arange(6.0).reshape(2, 3).T, np.ones((2, 3)).T, 1.0),
    lambda: (np.ones((2, 1, 3)), np.ones((2, 1, 3)), 1.0),
    lambda: (np.arange(5.0), np.ones((5, 2)), 1j),
    lambda: (np.array(1.0), np.zeros(0), True),
    lambda: (np.zeros(0), np.zeros(0), 2**70),
)
def joined_by_subscripts(a, b, x):
    made = []
    for key in range(3):
        try:
            if key == 0:
                made += [np.r_[a, b], np.r_[b, b, a]]
            elif key == 1:
                made += [np.c_[a, b], np.c_[a, a]]
            else:
                made += [np.r_[x, a], np.r_[0, a, 1], np.r_[0.5, a]]
        except ValueError as error:
            made.append(str(error))
    return made


@program(lambda: (np.arange(5.0), 3), lambda: (np.arange(5), 3))
def ends_put_around(a, n):
    s = np.r_[0.0, np.cumsum(a)]
    return s[n:] - s[:-n], np.c_[a, a * 2] + 1, np.r_[a][0], np.r_[0:n, a]

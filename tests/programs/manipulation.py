"""Arrays that are joined, split, padded, flipped, contracted and made by pattern, in loops and before errors."""

import numpy as np

from tests.programs.harness import program


def numbers(*shape, dtype=np.float64):
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 % 11) - 4).reshape(shape).astype(dtype)


@program(lambda: (numbers(4, 6), 3), lambda: (numbers(5, 6, dtype=np.float32), 4))
def gates_of_a_cell(x, steps):
    h = np.zeros((x.shape[0], 2), dtype=x.dtype)
    for _ in range(steps):
        z = np.concatenate((x, h), axis=1)
        a, b, c, d = np.split(z, 4, axis=1)
        h = np.tanh(a + b) * (c > d)
    return h, np.hstack([h, h[:, :1]]).sum(axis=0)


@program(
    lambda: (numbers(8), 3), lambda: (numbers(3), 2), lambda: (numbers(0), 2), lambda: ([1, 2], 2)
)
def smoothed(a, times):
    for _ in range(times):
        wide = np.pad(a, 1)
        a = (wide[:-2] + wide[1:-1] + wide[2:]) / 3.0
    return a, np.flip(a), np.append(a, a[0])


@program(
    lambda: (numbers(3, 4), numbers(4, 5)),
    lambda: (numbers(3, 4), numbers(5, 5)),
    lambda: (numbers(3, 1), numbers(4, 5)),
    lambda: (numbers(2, 3, dtype=np.int64), numbers(3, 2, dtype=np.int64)),
)
def contractions(a, b):
    c = np.einsum("ij,jk->ik", a, b)
    return c, np.einsum("ij,ij->i", a, a), np.tensordot(a, b, axes=1) + c, np.trace(c)


@program(lambda: (5, 2), lambda: (1, 1), lambda: (0, 3), lambda: (-1, 1))
def patterns(n, k):
    m = np.eye(n) + np.tri(n, n, k) - np.diag(np.linspace(0.0, 1.0, n))
    x, y = np.meshgrid(np.arange(n), np.linspace(-1.0, 1.0, n))
    return (
        np.triu(m) @ np.tril(m, -k),
        np.tile(np.repeat(m[0], k), 2),
        (x * y).sum(),
        np.diagonal(m).sum(),
    )


@program(lambda: (numbers(6), 3), lambda: (numbers(7), 3))
def rows_of_sections(a, count):
    total, kept = 0.0, []
    for i in range(count):
        left, right = np.split(a, 2)
        total += (left * right[::-1]).sum() + i
        kept.append(np.stack((left, right)))
    return total, kept


@program(lambda: (numbers(9),), lambda: (numbers(1),), lambda: (numbers(12),))
def slopes(a):
    slope = np.gradient(a, 0.5)
    kind = np.select([slope > 1, slope < -1], [1.0, -1.0], 0.0)
    return np.average(slope, weights=np.abs(a) + 1), kind, np.clip(slope, None, 2.0)


@program(lambda: (numbers(2, 3),), lambda: (numbers(1, 3),), lambda: (numbers(1, 1),))
def squeezes(a):
    b = np.expand_dims(a, 1)
    return (
        np.squeeze(b),
        np.squeeze(a),
        np.atleast_2d(a[0]),
        np.broadcast_to(a[0], (4, a.shape[1])) * 2,
    )


@program(
    lambda: (np.ones((3, 4)), 1),
    lambda: (np.ones((3, 4)), np.uint8(1)),
    lambda: (np.ones((3, 4)), np.int8(-128)),
    lambda: (np.ones((3, 4)), np.int64(-1)),
    lambda: (np.ones((3, 4)), 2**63 - 1),
    lambda: (np.ones((3, 4)), -(2**63)),
)
def triangles_at_an_offset(a, k):
    """Sums of an offset of few bits overflow in NumPy."""
    return np.triu(a, k), np.tril(a, k)


@program(lambda: (3, 4, 1), lambda: (3, np.uint8(4), 5), lambda: (3, 4, np.uint8(1)))
def ones_below_an_offset(rows, columns, k):
    return np.tri(rows, columns, k)


@program(lambda: (np.ones((2, 3)),))
def sum_along_an_axis_that_is_a_bool(a):
    return a.sum(axis=True)


@program(lambda: (np.ones((2, 3)),))
def running_sum_along_an_axis_that_is_a_bool(a):
    return np.cumsum(a, axis=False)


@program(lambda: (np.ones((2, 3)),))
def running_sum_along_no_axis(a):
    return np.add.accumulate(a, axis=None)


@program(lambda: (np.True_,), lambda: (np.complex64(1 + 2j),), lambda: (np.array([True, False]),))
def conjugate_of_bools(x):
    return x.conj(), x.conjugate() * 2, np.conjugate(x)

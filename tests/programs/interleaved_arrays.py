"""Parts of arrays that lie in between each other: read, and stored to one behind the other."""

import numpy as np

from tests.programs.harness import program


def numbers(n, dtype=float):
    return (np.arange(n) * 7 % 11 + 1).astype(dtype)


PAIRS = (
    lambda: (numbers(40), numbers(40) * 2),
    lambda: (numbers(3, np.float32), numbers(3, np.float32)),
    lambda: (numbers(100, np.int16), numbers(100, np.int16)),
    lambda: (numbers(9, complex), numbers(9, complex) * 1j),
    lambda: (numbers(0), numbers(0)),
    lambda: (numbers(1), numbers(1)),
    lambda: (numbers(40), numbers(1)),
    lambda: (numbers(5), numbers(4)),  # ValueError
)


@program(*PAIRS)
def joined_pairwise(a, b):
    out = np.empty(2 * len(a), a.dtype)
    out[::2] = a
    out[1::2] = b + a
    return out


@program(*PAIRS)
def joined_threefold(a, b):
    out = np.zeros(3 * len(a))
    out[::3] = a.real
    out[2::3] = b.real
    out[1::3] = 0.5 * (a.real + b.real)
    return out, len(a) and out[::3].strides


@program(
    lambda: (numbers(12),),
    lambda: (numbers(2),),
    lambda: (numbers(1),),
    lambda: (numbers(0),),  # ValueError
    lambda: (numbers(200, np.float32),),
)
def with_midpoints(a):
    """The parts have different sizes."""
    out = np.empty(2 * len(a) - 1, a.dtype)
    out[::2] = a
    out[1::2] = (a[1:] + a[:-1]) / 2
    return out


@program(
    lambda: (np.arange(12.0).reshape(3, 4), 2),
    lambda: (np.arange(100, dtype=np.uint8).reshape(4, 25), 3),
    lambda: (np.arange(12.0).reshape(4, 3).T, 2),
    lambda: (np.zeros((0, 3)), 2),
    lambda: (np.ones((1, 1)), 2),
    lambda: (np.ones((3, 3)), 1),
)
def enlarged(x, n):
    rows, columns = x.shape
    out = np.zeros((n * rows, 2 * columns), x.dtype)
    out[::2, ::2] = x
    out[1::2, ::2] = x + 1
    out[::2, 1::2] = x * 2
    out[1::2, 1::2] = x
    return out


@program(
    lambda: (numbers(40),),
    lambda: (numbers(40, np.float32),),
    lambda: (numbers(600, np.int8),),
    lambda: (numbers(2),),
    lambda: (numbers(1),),
    lambda: (numbers(0),),
    lambda: (numbers(7),),  # ValueError
    lambda: (np.arange(60.0).reshape(20, 3)[:, 1],),
    lambda: (np.arange(60.0)[::-3],),
    lambda: (numbers(40, bool),),
)
def read_pairwise(a):
    half = a[::2] * 2 + 1
    third = a[2::3] * 1
    fourth = a[1::4].sum(dtype=float), a[::3].sum(dtype=float)
    return (
        half,
        third,
        fourth,
        half.strides,
        third.strides,
        (a[::2] | a[1::2] if a.dtype == bool else a[::2] - a[1::2]),
    )


@program(
    lambda: (np.arange(24.0).reshape(4, 6),),
    lambda: (np.arange(480, dtype=np.int32).reshape(20, 24),),
    lambda: (np.arange(48.0).reshape(8, 6)[::2],),
    lambda: (np.arange(24.0).reshape(6, 4).T,),
    lambda: (np.zeros((0, 6)),),
    lambda: (np.arange(2.0).reshape(2, 1),),
    lambda: (np.arange(5.0),),  # IndexError
)
def halved(m):
    sums = m[::2, ::2] + m[1::2, ::2]
    sums = sums[:, : m.shape[1] // 2] + m[::2, 1::2] + m[1::2, 1::2]
    m[:, ::2] += 1
    m[1::2, 1::3] = 5
    return sums / 4, m[:, ::2].sum(axis=0), m[:, ::3].max(), m[:, 1::2].strides


@program(
    lambda: (numbers(30), numbers(30), 3),
    lambda: (numbers(30), numbers(1), 3),
    lambda: (numbers(31), numbers(31), 3),
)
def stored_again(a, b, n):
    """Stores that are not apart, or that somebody sees between."""
    out = np.zeros(2 * len(a))
    out[::2] = a
    out[::2] = b
    out[1::2] = a
    total = out.sum()
    out[::4] = 1
    out[2::4] = 2
    out[1::2] = out[::2] * 2
    for k in range(n):
        out[k::2] += a[: len(out[k::2])]
    return out, total

"""Products of vectors, matrices and stacks of matrices."""

import numpy as np

from tests.programs.harness import program


def numbers(*shape, dtype=np.float64):
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 % 11) - 4).reshape(shape).astype(dtype)


@program(
    lambda: (numbers(3, 4), numbers(4, 5)),
    lambda: (numbers(3, 4, dtype=np.float32), numbers(4, dtype=np.float32)),
    lambda: (numbers(4), numbers(4, 5)),
    lambda: (numbers(4), numbers(4)),
    lambda: (numbers(0, 4), numbers(4, 2)),
    lambda: (numbers(2, 0), numbers(0, 3)),
)
def product(a, b):
    return a @ b


@program(
    lambda: (numbers(3, 4), numbers(4, 5), numbers(3, 5)),
    lambda: (numbers(3, 3)[::-1], numbers(3, 6)[:, ::2], numbers(3, 3)),
    lambda: (numbers(2, 2), numbers(2, 7), numbers(2)),
)
def product_of_views(a, b, c):
    return a.T @ c, (a[:, 1:] @ b[1:]).sum(), np.dot(a, b) + 1.0


@program(
    lambda: (numbers(2, 3, 4), numbers(2, 4, 5)),
    lambda: (numbers(2, 3, 4), numbers(4, 5)),
    lambda: (numbers(3, 4), numbers(2, 4, 5)),
    lambda: (numbers(1, 3, 4), numbers(2, 4, 5)),
    lambda: (numbers(2, 3, 4), numbers(4)),
    lambda: (numbers(2, 1, 3, 4), numbers(5, 4, 2)),
    lambda: (numbers(0, 3, 4), numbers(4, 5)),
)
def product_of_stacks(a, b):
    return a @ b


@program(lambda: (numbers(2, 3, 4), numbers(2, 5, 4)), lambda: (numbers(5, 2, 6), numbers(5, 1, 6)))
def product_with_exchanged_axes(a, b):
    scores = a @ b.swapaxes(-1, -2) / 2.0
    return scores, scores @ b, a.transpose(1, 0, 2) @ b[0].T


@program(
    lambda: (numbers(3, 4), numbers(5, 4)),
    lambda: (numbers(2, 3, 4), numbers(3, 4, 5)),
    lambda: (numbers(4), numbers(3, 4)),
)
def sizes_that_do_not_fit(a, b):
    return a @ b


@program(
    lambda: (numbers(3, 4, dtype=np.int32), numbers(4, 2, dtype=np.int32)),
    lambda: (numbers(3, 4, dtype=np.int8), numbers(4, 2)),
    lambda: (numbers(3, 4, dtype=np.float32), numbers(4, 2)),
    lambda: (numbers(3, 4) > 0, numbers(4, 2) > 1),
    lambda: (numbers(3, 4) * (1 + 2j), numbers(4, 2) + 1j),
    lambda: (numbers(3, 4, dtype=np.float16), numbers(4, dtype=np.float16)),
)
def product_of_other_dtypes(a, b):
    return a @ b, np.dot(a, b)


@program(lambda: (numbers(3, 3), numbers(3), 5), lambda: (numbers(4, 4) / 8.0, numbers(4), 6))
def products_in_a_loop(a, x, steps):
    total = 0.0
    kept = []
    for _ in range(steps):
        y = a @ x
        total += x @ y
        kept.append(y)
        x = y / 4.0
    return total, kept, np.inner(x, x)


@program(
    lambda: (numbers(2, 3, 4), 0, 2),
    lambda: (numbers(3, 1, 2, dtype=np.float32)[::-1], 1, -1),
    lambda: (numbers(2, 3, 4), 3, 0),
    lambda: (numbers(2, 3, 0), -3, 1),
)
def axes_in_another_order(a, i, j):
    b = a.transpose(1, 0, 2)
    c = np.transpose(a, (i, j, 1)) if i + j != 1 and 1 not in (i, j) and j >= 0 else a.transpose()
    return b, b.shape, np.transpose(a), c, a.swapaxes(i, j), np.moveaxis(a, i, j), b.T + 1


@program(
    lambda: (numbers(2, 3, 4), (0, 0, 1)), lambda: (numbers(2, 3), (1, 2)), lambda: (numbers(2), 0)
)
def axes_that_are_wrong(a, axes):
    return a.transpose(axes)


@program(lambda: (numbers(6, 8), 2), lambda: (numbers(2, 9), 3))
def heads_split_and_merged(x, count):
    n, width = x.shape
    heads = x.reshape(n, count, width // count).transpose(1, 0, 2)
    return heads @ heads.swapaxes(1, 2), heads.transpose(1, 0, 2).reshape(n, width)


@program(
    lambda: (numbers(2, 3),),
    lambda: (numbers(3, 4, 2, dtype=np.float32)[::-1, ::2],),
    lambda: (numbers(2, 3).T,),
    lambda: (numbers(2, 3) > 0,),
    lambda: (numbers(0, 3) * 1j,),
    lambda: (np.array(2.5),),
)
def copies(a):
    b, c = a.copy(), np.copy(a)
    b[...] = 1
    return a, b, c, a.copy(order="F"), c.copy() is c


@program(
    lambda: (np.arange(12, dtype=np.int16).reshape(3, 4), np.arange(4, dtype=np.int16)[::-2], 1),
    lambda: (np.arange(12, dtype=np.int16).reshape(3, 4), np.arange(4, dtype=np.int16), 2),
)
def products_within_handlers(m, v, k):
    """Those that become products of elements and sums of them keep their type in the handler's block."""
    try:
        p = m[:, ::2] @ v
        q = np.outer(v, m[::2, 1])
    except ValueError as error:
        return str(error)[:20], k
    return p, q

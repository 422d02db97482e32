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
    lambda: (numbers(30, 3), numbers(3, 3)),
    lambda: (numbers(30, 3, dtype=np.float32), numbers(3, 3, dtype=np.float32)),
    lambda: (numbers(40, 4, dtype=np.int8) * 9, numbers(4, 4, dtype=np.int8) * 9),
    lambda: (numbers(30, 2), numbers(2, 2, dtype=np.int64)),
    lambda: (np.asfortranarray(numbers(30, 3)), numbers(3, 3)[::-1]),
    lambda: (numbers(60, 6)[::2, ::-2], numbers(3, 3)),
    lambda: (numbers(0, 3), numbers(3, 3)),
    lambda: (numbers(30, 3), numbers(2, 2)),
    lambda: (numbers(30, 3, dtype=complex), numbers(3, 3)),
    lambda: (numbers(30, 3, dtype=bool), numbers(3, 3, dtype=bool)),
    lambda: (numbers(5, 6, 3), numbers(3, 3)),
    lambda: (numbers(5, 6, 3).transpose(1, 0, 2), numbers(3, 3)),
    lambda: (numbers(0, 6, 3, dtype=np.uint8), numbers(3, 3)),
)
def products_of_points(points, matrix):
    return points @ matrix, np.dot(points, matrix.T)


@program(
    lambda: (numbers(30, 3), numbers(30, 3)),
    lambda: (numbers(30, 3), numbers(30, 2, dtype=np.float32)),
    lambda: (numbers(30, 4, dtype=np.int8) * 9, numbers(30, 4, dtype=np.int8) * 9),
    lambda: (numbers(60, 6)[::2, ::-2], np.asfortranarray(numbers(30, 3))),
    lambda: (numbers(0, 3), numbers(0, 3)),
    lambda: (numbers(30, 3), numbers(29, 3)),
    lambda: (numbers(30, 3), numbers(1, 3)),
    lambda: (numbers(30, 3, dtype=complex), numbers(30, 3)),
)
def moments_of_points(a, b):
    centred = a - a[:1]
    return a.T @ b, np.dot(centred.T, centred), centred


@program(
    lambda: (numbers(30, 3), numbers(3, 3), numbers(3)),
    lambda: (numbers(30, 3), numbers(3, 3), numbers(30, 3)),
    lambda: (numbers(30, 3), numbers(3, 3), numbers(30, 1)),
    lambda: (numbers(30, 3), numbers(3, 3), numbers(29, 3)),
    lambda: (numbers(30, 3, dtype=np.float32), numbers(3, 3, dtype=np.float32), numbers(3)),
    lambda: (numbers(30, 2), numbers(2, 2), numbers(2)),
)
def moved_points(points, matrix, shift):
    turned = points @ matrix.T
    moved = 2 * (turned - shift) + points
    return moved, turned, np.stack((points[:, 0], points[:, 1]), axis=1) * 3


@program(
    lambda: (numbers(30), numbers(30), numbers(30), numbers(3)),
    lambda: (numbers(30), numbers(30, dtype=np.float32), numbers(30), numbers(3)),
    lambda: (numbers(3), numbers(3), numbers(3), numbers(3)),
    lambda: (numbers(30), numbers(29), numbers(30), numbers(3)),
)
def what_is_computed_of_joined_columns(x, y, z, shift):
    points = np.stack((x, y, z), axis=-1) + shift
    rows = np.stack((shift, shift + x[0])) * 2
    return points * points, rows, np.column_stack((x, y * 2, z)) - shift


@program(
    lambda: (numbers(40), numbers(40)),
    lambda: (numbers(300, dtype=np.float32), numbers(300, dtype=np.float32)),
    lambda: (numbers(1), numbers(30)),
    lambda: (numbers(30), numbers(1)),
    lambda: (numbers(0), numbers(0)),
    lambda: (numbers(30), numbers(29)),
    lambda: (numbers(60)[::-2], numbers(30)),
    lambda: (numbers(30, dtype=complex), numbers(30)),
)
def products_of_computed_vectors(a, b):
    difference = a - b
    scaled = 2 * a
    return difference @ difference, difference, scaled.dot(a), np.inner(b, scaled - b)


@program(
    lambda: (numbers(40), numbers(40), np.arange(40) * 7 % 40 - 20),
    lambda: (numbers(40, dtype=np.float32), numbers(90, dtype=np.float32), np.arange(90) % 40),
    lambda: (numbers(40), numbers(40), np.arange(40, dtype=np.uint32)),
    lambda: (numbers(40), numbers(20), np.arange(21)),
    lambda: (numbers(40), numbers(1), np.arange(21)),
    lambda: (numbers(40), numbers(21), np.arange(21) + 20),
    lambda: (numbers(40), numbers(0), np.arange(0)),
)
def products_of_elements_at_places(a, weights, index):
    return weights @ a[index], np.dot(a[index], a[index])


@program(
    lambda: (numbers(40), numbers(40)),
    lambda: (numbers(1), numbers(40)),
    lambda: (numbers(40), numbers(1)),
    lambda: (numbers(0), numbers(1)),
    lambda: (numbers(40), numbers(39)),
    lambda: (numbers(20, 3), numbers(3)),
    lambda: (numbers(20, 1), numbers(1, 4)),
)
def sizes_of_what_is_computed(a, b):
    difference = a - b
    squares = difference * difference
    return squares.sum() / len(difference), squares.mean(), squares.shape, difference.size


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
    lambda: (np.asfortranarray(numbers(2, 3, 4)), numbers(4)),
    lambda: (numbers(3, 2, 4).swapaxes(0, 1), numbers(4)),
    lambda: (numbers(3, 2, 3, 4).swapaxes(0, 2), numbers(4)),
    lambda: (numbers(2, 1, 3, 4), numbers(5, 4, 2)),
    lambda: (numbers(0, 3, 4), numbers(4, 5)),
)
def product_of_stacks(a, b):
    return a @ b, np.dot(a, b) if b.ndim == 1 else None


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


@program(
    lambda: (numbers(30, 3), 0.5),
    lambda: (numbers(30, 3, dtype=np.float32), np.float32(0.5)),
    lambda: (numbers(30, 3, dtype=np.int8), 2),
    lambda: (numbers(5, 6, 3, dtype=np.uint8), 0.5),
    lambda: (numbers(5, 6, 3), True),
    lambda: (numbers(0, 3), 1j),
    lambda: (numbers(3), 0.5),
    lambda: (numbers(30, 2), 0.5),
    lambda: (np.array(4.0), 0.5),
    lambda: (2.0, 0.5),
)
def lists_beside_arrays(a, x):
    shifted = a - [1, 2.5, x]
    weighed = ([x, 3, 1] * shifted).sum(axis=-1)
    bounds = np.maximum(a, [0, 1, 2]), a == [1, 2, 3]
    return shifted, weighed, bounds, a @ [0.25, 0.5, 0.25], np.dot(a, [1, 0, 1])


@program(
    lambda: (numbers(30, 3), [1.0, 2.0, 3.0]),
    lambda: (numbers(3, dtype=np.int64), [1.0, 2.0, 3.0]),
    lambda: (numbers(3), ["a", 2.0, 3.0]),
)
def lists_that_others_see(a, given):
    own = [1.0, given[1], 3.0]
    scaled = a * own
    own.append(scaled)
    a += [1, 2, 3]
    return scaled, len(own), a * given, a * [2**70, 1, 1], a + [[1], [2], [3]]


@program(
    lambda: (np.linspace(0.0, 2.0, 40), numbers(30, 3)),
    lambda: (np.linspace(0.0, 2.0, 40, dtype=np.float32)[::-1], numbers(30, 3)),
    lambda: (np.arange(40), numbers(30, 3, dtype=np.int64)),
    lambda: (np.linspace(0.0, 2.0, 1), numbers(30, 2)),
)
def lists_given_to_functions(a, points):
    placed = np.searchsorted([0.2, 0.5], a), np.digitize(a, [0.25, 1.5])
    taken = np.take(a, [0, -1]), np.convolve(a, [1, 0, -1], "same"), np.correlate(a, [1, 2])
    return placed, taken, np.interp(a, [0, 1, 2], [0.0, 10, 5]), points.dot([1, 2, 3])


def halves(*sizes):
    return np.full(sizes, 200, np.float16)


@program(
    lambda: (halves(50, 3), np.array([[200, 1], [200, 1], [-200, 1]], np.float16)),
    lambda: (halves(4, 50, 3), np.array([[200, 1], [200, 1], [-200, 1]], np.float16)),
    lambda: (numbers(50, 3).astype(np.float16), numbers(3, 2).astype(np.float16)),
)
def products_of_halves(points, matrix):
    """NumPy sums them up as float32: what is beyond float16 meanwhile is not infinite."""
    return points @ matrix, matrix.T @ matrix


@program(
    lambda: (numbers(5, 6, dtype=np.int64) << 61, numbers(6, 21, dtype=np.int64), 0),
    lambda: (numbers(5, 6, dtype=np.int64), numbers(6, 8, dtype=np.int64), 2**62),
    lambda: (numbers(5, 6, dtype=np.int32), numbers(6, 17, dtype=np.int32), 1),
    lambda: (numbers(5, 6, dtype=np.uint8) * 9, numbers(6, 17, dtype=np.uint8), 1),
    lambda: (numbers(5, 6, dtype=np.int16), numbers(17, 6, dtype=np.int8).T, 1),
    lambda: (numbers(5, 6), numbers(6, 17, dtype=np.int32), 1),
    lambda: (numbers(5, 6, dtype=np.int64), numbers(5, 17, dtype=np.int64), 1),
    lambda: (numbers(3, 0, dtype=np.int64), numbers(0, 17, dtype=np.int64), 1),
)
def product_of_ints_by_hand(a, b, start):
    """Down the columns of `b`, eight of them side by side."""
    c = np.full((a.shape[0], b.shape[1]), start, a.dtype)
    above = np.zeros(b.shape[1], np.int64)
    total = 0
    with np.errstate(over="ignore"):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                s = c[i, j]
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s
    for j in range(c.shape[1]):
        count = 0
        negative = 0
        for i in range(c.shape[0]):
            if c[i, j] > start:
                count += 1
            else:
                negative += int(c[i, j])
        above[j] = count
        total += negative
    return c, above, total

"""Whole-array code whose loop nests have several results, users in between, and shapes that turn out otherwise."""

import numpy as np

from tests.programs.harness import program


def column(n, start=0.5):
    return np.linspace(start, 3.0, n)


@program(
    lambda: (column(5), column(5, 0.1), column(5, -1.0)),
    lambda: (column(1), column(4, 0.1), column(4)),
    lambda: (column(4), column(1), column(4)),
    lambda: (column(4), column(4), column(1)),
    lambda: (column(0), column(1), column(0)),
    lambda: (column(4), column(3), column(4)),
    lambda: (np.ones((3, 4)), np.ones((3, 1)), np.ones(4)),
)
def results_of_the_middle(a, b, c):
    product = a * b
    total = product + c
    return product, np.sqrt(total), total


@program(
    lambda: (column(5), column(5, 0.1)),
    lambda: (column(1), column(4)),
    lambda: (np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)),
    lambda: (np.asfortranarray(np.ones((2, 3))), np.ones((2, 3))),
    lambda: (np.asfortranarray(np.ones((2, 3))), np.asfortranarray(np.ones((2, 3)))),
)
def siblings(a, b):
    return a * b + 1.0, a / b - 2.0, a > b, -(a.astype(np.int32) + 1)


@program(
    lambda: (column(6), column(6)), lambda: (column(1), column(5)), lambda: (column(5), column(1))
)
def largest_in_between(a, b):
    shifted = a - b
    squares = shifted * shifted
    largest = squares.max()
    scaled = shifted / (largest + 1.0)
    return squares, scaled * b, scaled


@program(lambda: (column(6), column(6)), lambda: (column(5), column(1)))
def results_of_updates(a, b):
    root = np.sqrt(np.abs(b))
    a += root * 2
    kept = root + a
    a[...] = kept * 0.5
    return root, kept, a


@program(lambda: (column(6), column(6)), lambda: (column(5), column(1)))
def written_between(a, b):
    first = a + b
    a[0] = 7.0
    second = a + b
    a *= second
    return first, second, a - first


@program(lambda: (np.ones((3, 4)), column(4), 3), lambda: (np.ones((1, 4)), column(4), 3))
def states_in_a_loop(x, b, n):
    total = np.zeros_like(x)
    for _ in range(n):
        step = np.sqrt(x + b)
        x = x + step
        total = total + step * x
    return x, total


@program(
    lambda: (np.ones((3, 4)), column(3)),
    lambda: (np.ones((3, 4)), column(1)),
    lambda: (np.ones((3, 4)), column(4)),
    lambda: (np.ones((0, 4)), column(0)),
)
def views_of_results(x, y):
    lengths = np.sqrt(y * y + 1.0)
    rows = (x * y[0])[None, ...] + 1.0
    return x / lengths[:, None], rows, (x * 2.0 - 1.0)[1:, ::-1] * y[-1]


@program(
    lambda: (column(5), column(5)),
    lambda: (column(1), column(5)),
    lambda: (column(5), column(1)),
    lambda: (column(3), column(1)),
)
def parts_of_products(x, y):
    return (x * y)[1:-1] + x[2:], (x + y)[::2] * 2.0, (np.sqrt(x) + x)[-2:] - 1.0


@program(lambda: (column(6), column(6)), lambda: (column(1), column(2)))
def updated_slices(x, y):
    x[1:] += y[1:]
    x[:-1] *= 2.0
    y[::2] = (x - y)[::2] * 0.5
    return x, y


@program(
    lambda: (column(5), column(5), np.zeros(5)),
    lambda: (column(5), column(1), np.zeros(5)),
    lambda: (column(5), column(5), np.zeros(1)),
    lambda: (column(5), column(4), np.zeros(5)),
    lambda: (column(4), column(4), np.zeros((3, 4), np.float32)),
    lambda: (column(4), column(4), np.zeros(4, np.int64)),
    lambda: (column(4), 2, np.zeros(4, np.complex128)),
)
def results_in_given_arrays(a, b, c):
    d = np.multiply(np.abs(a), b, out=c)
    np.add(c[1:], c[:-1], out=c[1:])
    c *= 2
    return d is c, c, np.maximum(a, 0.75, out=a)


@program(
    lambda: (column(20), column(20), column(20)),
    lambda: (column(20), column(20), column(1)),
    lambda: (column(1), column(1), column(20)),
    lambda: (column(0), column(0), column(0)),
    lambda: (column(20), column(20), np.ones((2, 20))),
)
def updates_of_fresh_arrays(a, b, c):
    x = a * b
    y = x * 2.0
    x += c
    x -= y
    np.sqrt(np.abs(x), out=x)
    x *= 0.5
    z = x
    z += 1.0
    return x, y, z is x


@program(
    lambda: (np.ones((30, 20)), column(20)),
    lambda: (np.ones((30, 20)), column(1)),
    lambda: (np.ones((30, 1)), column(20)),
    lambda: (np.ones((0, 20)), column(20)),
    lambda: (np.ones((30, 0)), column(0)),
    lambda: (np.ones((3, 30, 20)), column(20)),
    lambda: (np.ones((30, 20)), column(4)),
    ulp=4,
)
def rows_and_their_sums(x, g):
    shifted = x - x.max(axis=-1, keepdims=True)
    powers = np.exp(shifted * g)
    total = powers.sum(axis=-1, keepdims=True)
    shares = powers / total
    lengths = np.sqrt((x * x).sum(axis=-1))
    return shares, total, x / lengths[..., None]


@program(
    lambda: (np.arange(20, dtype=np.uint8), column(20, -3.0).astype(np.float32)),
    lambda: (np.arange(20, dtype=np.uint8), column(20).astype(np.float32)),
    lambda: (np.ones((4, 20), np.uint8), column(20, -3.0).astype(np.float32)),
)
def stored_values_that_do_not_fit(a, b):
    a[...] = b[::-1] + a
    a[..., 1:] = a[..., :-1] * b[1:]
    return a


@program(
    lambda: (np.arange(5.0), np.ones(5)),
    lambda: (np.arange(3.0), np.ones(1)),
    lambda: (np.zeros(0), np.zeros(0)),
)
def sizes_between_updates(a, b):
    x = a * b
    x += a
    count = x.shape[0] + len(x)
    x *= 2.0
    x -= b
    return x, count


@program(
    lambda: (np.arange(60.0).reshape(3, 20), column(20), column(20)),
    lambda: (np.arange(60.0).reshape(3, 20), column(20), column(1)),
    lambda: (np.ones((3, 1)), column(20), column(20)),
    lambda: (np.ones((0, 20)), column(20), column(20)),
    lambda: (np.arange(60.0).reshape(3, 20), np.ones((3, 1)), column(20)),
    lambda: (np.arange(60, dtype=np.float32).reshape(3, 20), np.ones((2, 1, 1), np.float32), 1.0),
    lambda: (np.arange(60.0).reshape(3, 20), column(4), column(20)),
    ulp=4,
)
def normalised_rows(x, gain, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    scores = centred / np.sqrt(variance + 1e-5) * gain + bias
    shifted = (scores * gain).mean(axis=-1)
    return scores, shifted, np.shape(scores * bias)


@program(
    lambda: (np.arange(60.0).reshape(3, 20), column(20)),
    lambda: (np.arange(60.0).reshape(3, 4, 5), column(5)),
    lambda: (np.ones((3, 1)), column(20)),
    lambda: (np.ones((3, 0)), column(1)),
    ulp=4,
)
def shares_in_place(x, g):
    weights = np.exp((x - x.max(initial=0.0)) * g)
    seen = weights
    weights /= weights.sum(axis=-1, keepdims=True)
    weights /= weights.max(axis=-1, keepdims=True)
    return weights, seen is weights


@program(
    lambda: (np.arange(60.0).reshape(3, 20), np.ones((3, 1))),
    lambda: (np.arange(60.0).reshape(3, 20), np.ones((4, 3, 1))),
)
def updated_rows_seen_by_others(x, s):
    weights = x - x.max(axis=1, keepdims=True)
    view = weights[1:]
    weights /= s
    weights += weights.sum(axis=1, keepdims=True)
    return weights, view


@program(
    lambda: (np.arange(12.0).reshape(3, 4), np.arange(4.0)),
    lambda: (np.ones((1, 4)), np.arange(4.0)),
    lambda: (np.ones((3, 4)), np.ones(1)),
)
def new_axes_of_what_has_less(a, row):
    """The view of the first operand has an axis in the middle, that of the second one none in front."""
    return ((a * 2 + row)[:, None, :] * (a - row)[None, :, :]).sum(axis=2)


def wide(a, b):
    return lambda: (np.arange(float(a)) - 1, np.arange(float(b)))


@program(wide(3, 3), *[wide(3, 1)] * 4, lambda: (np.ones(1), np.arange(3.0)))
def under_a_mask_that_is_short(a, b):
    """Once the shapes were seen to differ nothing is spread: the last mask is too short for NumPy."""
    z = a + b
    z[a > 0] = 0.0
    return z


@program(
    lambda: (np.arange(20.0).reshape(4, 5) % 7,),
    lambda: (np.ones((1, 30)),),
    lambda: (np.arange(60.0).reshape(20, 3) % 11,),
)
def rows_beside_what_all_rows_give(a):
    """What is sorted needs the largest of all rows: what is computed of it comes behind the rows."""
    m = a.max(axis=1, keepdims=True)
    r = np.sort(m, axis=0) + 1.0
    e = a - m - 1.0
    return e / e.sum(axis=1, keepdims=True) * r


@program(
    lambda: (np.arange(12.0).reshape(3, 4),),
    lambda: (np.arange(12.0).reshape(3, 4, order="F"),),
    lambda: (np.ones((1, 1)),),
)
def updates_keep_the_order_in_memory(a):
    columns = np.zeros(a.shape, order="F")
    columns += a
    return columns, columns * 2.0


@program(
    lambda: (np.arange(35.0).reshape(5, 7).T,),
    lambda: (np.arange(64).reshape(8, 8)[:, ::2].T,),
    lambda: (np.arange(30).reshape(5, 6),),
)
def results_of_one_nest_keep_orders_of_their_own(a):
    upper = np.triu(a)
    upper += a
    upper -= a
    return upper, (a + 1j).real


@program(
    lambda: (np.arange(6.0).reshape(2, 3).T,),
    lambda: (np.arange(70).reshape(7, 10).T,),
    lambda: (np.arange(8).reshape(2, 4),),
)
def tiles_that_are_copies_keep_the_order_in_memory(a):
    return np.tile(a, 1), np.tile(a, (1, 1)), np.tile(a[0], 1)


@program(lambda: ([None], np.arange(100.0)), lambda: ([None], np.arange(7.0)))
def an_array_that_comes_back_out_of_a_list(box, x):
    made = x * 2
    box[0] = made
    other = box[0]
    made[1:] = other[:-1] * 3 + 1
    made[:-1] += other[1:]
    return made, other is made


@program(lambda: (np.arange(100.0),), lambda: (np.arange(6).reshape(2, 3),))
def tuples_and_lists_keep_arrays_that_are_updated(x):
    first, second, third = x + 1, x * 2, x - 1
    pair, pairs, triple = (first, x), [(second, k) for k in range(2)], (third, 1, x)
    first += 2
    second -= x
    third[third > 2] = 0
    return pair, pairs, triple, first * 2


@program(
    lambda: (np.ones((5, 3)), np.arange(5.0)[:, None]),
    lambda: (np.arange(15.0).reshape(5, 3), np.arange(15.0).reshape(5, 3) % 4),
    lambda: (np.arange(9.0).reshape(3, 3), np.arange(3.0).reshape(1, 3)),
)
def columns_of_operands_that_have_one_or_three(a, b):
    return np.cross(a * b, a + 1), np.cross(a, a * 2 + b) * b


@program(
    lambda: (np.ones((5, 3)), np.arange(30.0).reshape(2, 5, 3)),
    lambda: (np.arange(9.0).reshape(3, 3), np.arange(3.0).reshape(1, 1, 3)),
    lambda: (np.arange(6.0).reshape(2, 3), np.arange(3.0)),
    lambda: (np.arange(3.0).reshape(1, 3), np.asfortranarray(np.arange(12.0).reshape(4, 3))),
)
def columns_with_operands_of_other_ranks(a, b):
    return np.cross(a, a + 1) * b + 2, np.cross(a, a * 2) - a * b


@program(
    lambda: (np.arange(40.0).reshape(8, 5),),
    lambda: (np.arange(9.0).reshape(3, 3),),
    lambda: (np.arange(6.0).reshape(1, 6),),
    lambda: (np.arange(12.0),),
)
def zeros_that_are_stored_to_in_steps(a):
    steps = np.zeros_like(a)
    steps[::2] = a[::2] * 2
    return steps * a + 1


@program(
    lambda: (np.arange(40.0).reshape(8, 5),),
    lambda: (np.arange(9.0).reshape(3, 3),),
    lambda: (np.arange(6.0).reshape(1, 6),),
)
def zeros_of_which_a_row_is_stored_to(a):
    row = np.zeros_like(a)
    row[0] = a[0] * 2
    return row * a + 1


@program(
    lambda: (np.arange(9.0), np.arange(6.0)),
    lambda: (np.arange(8.0), np.array([3.0])),
    lambda: (np.arange(5.0), np.ones(2)),
    lambda: (np.arange(40.0), np.ones(37)),
)
def places_that_get_other_arrays(a, values):
    made = a * 2
    made[made > 4] = values * 3 - 1
    return made + 1

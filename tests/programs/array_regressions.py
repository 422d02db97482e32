"""Array programs that ljit once got wrong; most were found by the array fuzzer and then made small."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tests.programs.harness import program


@program(lambda: (1, np.arange(3.0)), lambda: (0, np.arange(3.0)))
def an_array_that_is_bound_only_on_one_path(i, t):
    for _k in range(2):
        if i > 0:
            w = t[1:]
    return w, i


@program(lambda: (np.arange(3.0), np.ones(3)))
def an_operator_in_place_gives_the_view_itself(t, m):
    first = t[None]
    other = first
    first += m
    for _k in range(2):
        other *= m
    return first, other, t


@program(lambda: (np.ones((3, 4))[:1, :1],), lambda: (np.ones((3, 0)),), lambda: (np.ones((3, 4)),))
def strides_of_contiguous_arrays(a):
    return a.strides


@program(lambda: (np.ones(3),))
def a_keyword_that_is_missing(a):
    return a.astype()


@program(lambda: (np.int8(1), np.arange(3)), lambda: (np.float64(1.5), np.ones((2, 2), np.float32)))
def an_operator_in_place_on_a_number(a, b):
    a += b
    for _k in range(2):
        a = a * 1
    return a


@program(lambda: (np.array([[0.25], [1.75], [2.5]]), 0.5), lambda: (np.arange(6.0), 2.0))
def an_operator_in_place_on_chosen_elements(c, x):
    c[c > x] += 1
    c[[0, -1]] *= 2
    c[1:] -= 1
    return c


@program(lambda: (np.array([True, False]), 2), lambda: (np.array([True, False]), 3))
def powers_of_bools(m, n):
    return m**2, m**n, np.power(m, 2), m[0] ** 2


@program(
    lambda: (np.ones(3) * 2, np.arange(3.0), np.zeros(3)),
    lambda: (np.ones(3), np.ones(3), np.zeros(4)),
)
def a_power_into_an_array_given_by_place(x, y, out):
    return np.power(x, y, out), np.power(x, 2, out=out)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@program(
    lambda: (np.broadcast_to(np.ones((4, 1)), (4, 5)), True),
    lambda: (np.ones((5, 4)).T, True),
    lambda: (np.ones((4, 5)), False),
    lambda: (read_only(np.ones((4, 5))), True),
)
def a_view_of_what_is_read_only_only_at_first(m, is_changed):
    row = m[1]
    if is_changed:
        row += 1
    return m, row


@program(
    lambda: (np.ones(4), read_only(np.zeros(4)), 0), lambda: (np.ones(4), read_only(np.zeros(4)), 1)
)
def a_view_of_one_array_or_another(a, b, i):
    last = a
    for k in range(3):
        last = a if k > i else b
    part = last[1:]
    part[0] = 5
    return part


@program(
    lambda: (1j, np.arange(5.0)),
    lambda: (np.complex64(1j), np.arange(5.0)),
    lambda: (1j, np.arange(5, dtype=np.float32)),
)
def a_complex_takes_a_float64_as_a_float(z, a):
    total = 0j
    for x in a:
        total = z * x - total
    v = a[3]
    return total, z + v, v + z, z - v, z / v, v / z, z == v, v == z, z != v


@program(lambda: (np.arange(100.0), np.array([3, 1, -2]), np.ones(3)))
def a_few_elements_of_a_large_array(a, places, v):
    w = v * 2
    a[places] = w + 1
    a[places] += w
    return a


@program(
    lambda: (np.ones(45), np.array([[0, 1], [2, 0]])),
    lambda: (np.ones((3, 45)), np.array([2, 0])),
    lambda: (np.ones(45), np.arange(45) < 2),
)
def a_store_of_few_chosen_elements_of_a_large_array(a, chosen):
    a[chosen] = 1.5
    a[chosen] += 1
    part = a[chosen]
    part *= 2
    a[chosen] = part
    return a


@program(lambda: (np.arange(12.0).reshape(3, 4), np.ones(4)), lambda: (np.ones((2, 2)), np.ones(2)))
def views_that_nobody_may_write_to(a, b):
    computed = a * 2 + b
    d = computed.diagonal()
    wide = np.broadcast_to(b, (2, *b.shape))
    return d, d[1:], wide, wide[0], np.diagonal(a)[::-1], a


@program(lambda: (np.array(2.5), np.array(3.5)), lambda: (np.array(-2.5), np.array(1.5)))
def a_fused_array_without_axes_that_becomes_one_of_ints(a, b):
    return np.array(np.fmin(np.trunc(a), 0 < b), dtype=np.int64), (a + b * 2).astype(np.int64)


@program(
    lambda: (np.ones((4, 7)), np.arange(7.0)), lambda: (np.ones((5, 20), np.float32), np.float32(2))
)
def rows_of_a_view_of_what_is_computed(m, b):
    x = (m * b + 1)[:]
    y = x[...] / x.sum(axis=-1, keepdims=True)
    z = y[:, ::1]
    return z - z.max(axis=1, keepdims=True), y


@program(lambda: (np.ones(6), np.ones(6)), lambda: (np.ones((2, 2)), np.ones(2)))
def identities_of_views(a, b):
    c = a
    c += 1
    d = a + 0
    whole = a[:]
    other = a[:]
    same = whole
    answers = [c is a, d is a, whole is a, whole is other, same is whole, a[:] is a, b is a]
    kept = [whole]
    answers.append(kept[0] is whole)
    answers.append(kept[0] is other)
    for k in range(2):
        part = a[k:]
        answers.append(part is a)
        answers.append(part is part)
    return answers, kept


@program(
    lambda: (np.zeros((7, 5), bool), np.zeros((7, 5), bool), np.uint8(1)),
    lambda: (np.ones((1, 1), bool), np.ones((3, 3), bool), np.uint8(0)),
)
def one_element_for_all_of_a_matrix(m, k, x):
    k[0, 1:] = True
    m[..., None] = x - k[None, :1, :1]
    return m


def overlapping_rows(dtype):
    """Five rows of five elements, each one place behind the row before it."""
    places = np.arange(40).astype(dtype)
    return as_strided(places, (5, 5), (places.itemsize,) * 2)


@program(
    lambda: (overlapping_rows(np.float64), np.ones((5, 5))),
    lambda: (overlapping_rows(np.int32)[0, :1].repeat(5), np.arange(5)),
    lambda: (as_strided(np.zeros(1, np.int32), (5,), (0,)), np.arange(5)),
    lambda: (as_strided(np.zeros(9), (5, 40), (8, 0)), np.ones((5, 40))),
    lambda: (as_strided(np.zeros(9, complex), (5,), (8,)), np.ones(5)),
    lambda: (np.zeros((5, 4))[:, ::3].T, np.ones((2, 5))),
    lambda: (as_strided(np.zeros(9), (1, 5), (0, 8)), np.ones((1, 5))),
)
def stores_to_arrays_whose_own_elements_overlap(a, b):
    a[...] = a + 2 * b
    first = a.tolist()
    np.add(a, b, out=a, casting="unsafe")
    second = a.tolist()
    a += a.flat[0]
    return first, second


@program(
    lambda: (overlapping_rows(np.float64),),
    lambda: (as_strided(np.zeros(1), (4, 5), (0, 0)),),
    lambda: (np.zeros((9, 5))[::2],),
)
def loops_over_arrays_whose_own_elements_overlap(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[0, j] * 2 + i
    return a.sum(), a.tolist()


@program(
    lambda: (np.zeros((2, 3, 4)), np.arange(12.0).reshape(3, 4)[..., None]),
    lambda: (np.zeros((2, 3, 4)), np.arange(3.0)[:, None, None]),
)
def a_view_whose_last_axis_is_new(a, x):
    a[1, ..., None] = x
    return a, a[1, ..., None] + x


@program(
    lambda: (np.zeros((3, 4, 5)), np.arange(15.0).reshape(3, 1, 5)),
    lambda: (np.zeros((3, 1, 4)), np.arange(12.0).reshape(3, 1, 4)),
    lambda: (np.zeros((3, 4, 1)), np.arange(3.0)[:, None, None]),
    lambda: (np.zeros((40, 1, 30)), np.arange(1200.0).reshape(40, 1, 30)),
    lambda: (np.zeros((1, 3, 4)), np.arange(12.0).reshape(1, 3, 4)),
    lambda: (np.zeros((3, 1, 8))[..., ::2], np.arange(12.0).reshape(4, 1, 3).T),
)
def axes_of_one_element(a, x):
    a[...] = x
    return a, (a * x).sum(axis=-1), x - a * 2


@program(lambda: (np.ones((3, 4)),), lambda: (np.zeros((3, 0)),))
def an_extremum_that_nobody_reads(a):
    _ = a.max()
    return a.shape


@program(lambda: (np.arange(12.0).reshape(3, 4),), lambda: (np.arange(9.0).reshape(3, 3),))
def elements_of_a_mask_in_a_row_each(a):
    above = a > 5
    rows, columns = np.arange(a.shape[0]), a.argmax(axis=1)
    return (~above)[rows, columns] + np.any(a > 3, axis=1)


@program(lambda: (np.arange(12.0).reshape(3, 4), np.ones(4)))
def a_grid_of_sums_of_rows(a, v):
    distances = ((np.ones(a.shape, a.dtype) - v) ** 2).sum(axis=1)
    grid = np.meshgrid(np.nansum(a, axis=0), distances)[1]
    return np.max(grid, axis=0)


@program(
    *[
        lambda s=s: (np.arange(12, dtype=np.uint8), np.zeros((12, 12), np.uint8), s)
        for s in range(3)
    ]
)
def sizes_that_never_broadcast_in_a_branch(u, w, chosen):
    x = np.zeros((6, 12), np.uint8)
    if chosen:
        x = np.array([u, u]) - abs(np.diff(u)[None])
    w[1::2] += x
    return w


@program(lambda: (np.arange(12, dtype=np.uint8), np.zeros((12, 12), np.uint8)))
def sizes_that_never_broadcast_in_a_try(u, w):
    log = []
    for _ in range(5):
        try:
            w[1::2] += np.array([u, u]) - abs(np.diff(u)[None])
        except ValueError as error:
            log.append(str(error))
    return log


MARKED = np.dtype(np.int64, metadata={"unit": "m"})


def _marked(n):
    return np.arange(n).astype(MARKED)


@program(lambda: (np.arange(4), _marked(4)), lambda: (_marked(4), np.arange(4)))
def dtypes_with_metadata(a, b):
    made = a[1:], b + 1, b.copy(), np.zeros(3, MARKED), np.array([a, b], b.dtype), [a, b][1]
    return a.dtype is b.dtype, [x.dtype.metadata and dict(x.dtype.metadata) for x in made]


@program(
    lambda: (np.arange(9), 20),
    lambda: (_marked(9), 20),
    lambda: ([np.arange(3), _marked(3), np.arange(3)], 1),
)
def marked_arrays_in_loops(xs, n):
    total, marks = 0, []
    for k in range(n):
        for x in xs:
            total += np.sum(x) * k
            marks.append(x.dtype.metadata is None)
    return total, marks, [x.dtype.metadata is None for x in xs]


@program(lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.ones(4),))
def an_item_of_a_dict_that_nothing_else_has(x):
    shape = x.__array_interface__["shape"], x.__len__()
    others = [(k, k) for k in range(9)]
    return shape, x.__array_interface__["shape"] in others, others


@program(lambda: (np.ones((2, 2, 3)), np.array([1, 4])), lambda: (np.float32(0.0), np.ones(3)))
def indices_of_an_array_without_axes(x, y):
    return np.flatnonzero(np.array(2.0)), np.flatnonzero(x), np.flatnonzero(np.sum(y).reshape(()))


@program(lambda: ([1.0], np.ones(3)), lambda: (np.zeros(3), np.ones(3)), lambda: ([1], 2))
def stores_at_no_index(a, b):
    try:
        a[()] = b
    except TypeError as error:
        return str(error)
    return sum(range(3))


MASK = np.arange(6).reshape(2, 3) % 2 > 0


@program(
    lambda: (np.ones((4, 3)), MASK),
    lambda: (np.ones((3, 3)), MASK),
    lambda: (np.arange(6.0).reshape(2, 3), MASK),
)
def a_mean_where_a_mask_does_not_fit(a, mask):
    total = 0
    for k in range(3):
        total += k
    return total, np.mean(a, axis=0, where=mask)


@program(
    lambda: (np.zeros((3, 3)), np.ones((2, 3, 3)), MASK),
    lambda: (np.zeros((2, 3)), np.ones((2, 2, 3)), MASK),
    lambda: (np.zeros((2, 2)), np.ones((2, 2, 3)), MASK),
)
def a_ufunc_whose_mask_does_not_fit(a, out, mask):
    return np.add(a, a, out=out, where=mask), np.expm1(a, out=out, where=mask)


@program(lambda: (np.arange(6.0).reshape(2, 3) / 7,), lambda: (np.ones((2, 2), np.int8),))
def rounding_to_no_whole_number(a):
    log = [a.round(np.int64(1)), a[0, 0].round(True)]
    for k in range(3):
        log.append(k)
    return log, a[0, 0].round(-1.0)


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def tolerances_beyond_all_ints(a):
    total = 0
    for k in range(3):
        total += k
    return total, np.nan_to_num(a, nan=2**63), np.allclose(a, a, atol=10**20)


@program(lambda: (np.array([1.0, np.nan, 3.0]),))
def replacements_beyond_all_ints(a):
    total = 0
    for k in range(3):
        total += k
    return total, np.isclose(a, a, rtol=2**63), np.nan_to_num(a, nan=10**20)


@program(lambda: (np.arange(6.0).reshape(2, 3),))
def a_contraction_with_odd_optimisation(a):
    results = []
    for k in range(3):
        try:
            results.append(np.einsum("ij->j", a, optimize=0) if k else np.einsum("ij->j", a))
            results.append(np.einsum("ij->j", a, optimize=np.True_))
        except TypeError as error:
            results.append(str(error))
    return results

"""Masks and arrays of ints as indices."""

import numpy as np

from tests.programs.harness import program


def _vector(n):
    return (np.arange(n) * 7 % 11 - 4.0) / 2


#: where numbers belong in these is not defined: NumPy 2.5 searches in another way than those before it, and ljit
_UNSORTED = _vector(9) if np.lib.NumpyVersion(np.__version__) < "2.5.0" else np.sort(_vector(9))


@program(lambda: (_vector(40), 1.0), lambda: (_vector(0), 0.0), lambda: (_vector(3), 9.0))
def positive_ones(a, limit):
    kept = a[a > limit]
    return kept, len(kept), kept.sum()


@program(
    lambda: (_vector(20), np.array([3, -1, 0, 19])),
    lambda: (_vector(20), np.array([3, 20, 0])),
    lambda: (_vector(20), np.array([], dtype=np.int32)),
)
def looked_up(a, index):
    return a[index] * 2 + 1, a[index + 0]


@program(
    lambda: (_vector(24).reshape(8, 3), np.array([[7, 0], [-8, 2]])),
    lambda: (np.zeros((0, 3)), np.array([0])),
)
def rows_by_index(points, index):
    return points[index].sum(axis=-1), points[index]


@program(lambda: (_vector(50),), lambda: (_vector(1),))
def sorted_by_index(a):
    order = np.argsort(a, kind="stable")
    return a[order], a[order[::-1]]


@program(lambda: (_vector(64), 5), lambda: (_vector(7), 3))
def bins_of_means(a, n):
    result = np.zeros(n)
    for i in range(n):
        mask = (a >= i - 2) & (a < i - 1)
        values = a[mask]
        if len(values):
            result[i] = values.mean()
    return result


@program(
    lambda: (_vector(70), _vector(70) > 0), lambda: (_vector(3), np.array([True, False, True]))
)
def changed_where_a_mask_holds(a, mask):
    a[mask] += 1.5
    a[mask] *= a[mask]
    a[a > 3] = 0
    a[~mask] = a[~mask] - 1
    return a


@program(
    lambda: (np.zeros(9), np.array([1, -1, 1, 0]), _vector(4)),
    lambda: (np.zeros(9), np.array([1, 9]), _vector(2)),
    lambda: (np.zeros(2), np.array([1, 0]), _vector(3)),
)
def stored_at_places(a, index, values):
    a[index] = values
    a[index] += values
    a[index[::2]] = 4.5
    return a


@program(lambda: (np.array([2, 0, 3, 1]),), lambda: (np.array([2, 0, 5, 1]),))
def inverse_of_a_permutation(p):
    inverse = np.empty_like(p)
    inverse[p] = np.arange(len(p))
    return inverse, p[inverse]


@program(lambda: (40,), lambda: (1,))
def sieve_with_masks(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    values = np.arange(n + 1)
    for i in range(2, n + 1):
        if is_prime[i]:
            is_prime[(values % i == 0) & (values > i)] = False
    return values[is_prime]


@program(
    lambda: (_vector(40), _vector(40)[::-1]),
    lambda: (_vector(40).reshape(5, 8), _vector(40).reshape(5, 8) + 1),
    lambda: (_vector(1), _vector(9)),
    lambda: (_vector(9), _vector(1)),
    lambda: (_vector(0), _vector(0)),
)
def made_and_changed_under_masks(a, b):
    z = a * b + 1
    mask = z < 0
    z[mask] = -z[mask] * 2
    z[z > 2] += 1
    z[z == 3] = 0
    z[a > 1] = a[a > 1]
    return z, mask


@program(
    lambda: (_vector(60), 0.5),
    lambda: (_vector(60).reshape(6, 10), 0),
    lambda: (_vector(60).astype(np.int8), 1),
)
def sums_of_selected_elements(a, limit):
    inside = a < limit
    return (
        (a[a > limit] * 2).sum(),
        a[inside].mean(),
        np.prod(a[inside] / 4),
        a[a == limit].any(),
        inside,
    )


@program(
    lambda: (np.arange(6, dtype=np.uint8), 300),
    lambda: (np.arange(6, dtype=np.uint8), 2),
    lambda: (np.arange(6, dtype=np.int8), 1.5),
    lambda: (np.arange(6, dtype=np.float32), None),
    lambda: (np.arange(6, dtype=np.float32), 1j),
)
def numbers_that_may_not_fit(a, x):
    z = a + a
    z[z > 4] = x
    return z


@program(lambda: (_vector(30),), lambda: (_vector(2),))
def seen_by_others_before_it_changes(a):
    z = a + 1
    rows = [z]
    view = z[1:]
    z[z > 1] = 0
    return z, rows, view


@program(
    lambda: (_vector(30).reshape(10, 3), np.arange(10) % 4),
    lambda: (_vector(6).reshape(2, 3), np.array([1, 0])),
)
def centres_of_groups(points, labels):
    centres = np.zeros((4, 3))
    for k in range(4):
        mine = points[labels == k]
        if len(mine):
            centres[k] = mine.mean(axis=0)
    return centres, points - centres[labels]


@program(
    lambda: (_vector(30).reshape(10, 3), np.arange(10) % 3),
    lambda: (_vector(30).reshape(10, 3), np.arange(10) % 4),
    lambda: (_vector(30).reshape(10, 3), np.arange(9) % 3),
)
def chosen_of_each_row(scores, labels):
    rows = np.arange(len(labels))
    chosen = scores[rows, labels]
    scores[rows, labels] -= 1
    return chosen.sum(), scores, scores[labels, 0]


@program(lambda: (_vector(30),), lambda: (np.zeros(4),))
def where_they_are(a):
    places = np.flatnonzero(a > 1)
    (others,) = np.nonzero(a)
    return places, others, a[places].sum(), np.take(a, places), np.where(a < 0)[0]


@program(
    lambda: (np.zeros(4), np.array([1, 1, 3]), np.array([1.0, 2.0, 0.5])),
    lambda: (np.zeros(2), np.array([1, 1, 3]), np.array([1.0, 2.0, 0.5])),
)
def accumulated_at_places(a, index, weights):
    np.add.at(a, index, weights)
    np.add.at(a, index, 1)
    return a, np.bincount(index)


@program(
    lambda: (np.arange(24.0).reshape(4, 6), np.array([5, -1, 0]), np.array([[0, 1], [3, -4]])),
    lambda: (np.arange(24).reshape(4, 6), np.array([6, 0]), np.array([[0], [1], [2], [0]])),
    lambda: (np.ones((0, 6)), np.array([1]), np.array([[0, 9]])),
)
def columns_by_index(m, columns, places):
    chosen = m[:, columns] * 2
    taken = np.take(m, columns, axis=1)
    rest = np.take_along_axis(m, np.argsort(-m, axis=1), axis=1)
    return chosen, taken.sum(axis=0), rest[:, 0], np.take_along_axis(m[:, :2], places, 0)


@program(
    lambda: (np.arange(24.0).reshape(4, 6).T, 9.5),
    lambda: (np.asfortranarray(np.arange(24.0).reshape(4, 6)), 30.0),
)
def elements_of_matrices_in_another_order(m, limit):
    return m[m > limit], m[m > limit].sum(), np.compress(m[0] > limit, m[0])


@program(
    lambda: (np.arange(9.0), np.array([0, 3, 3, 9, -2, 4])),
    lambda: (np.arange(9.0), np.array([0, 3, 3, 9], np.uint8)),
    lambda: (np.arange(9.0), np.array([0, 3, 9], np.uint64)),
    lambda: (list(range(9)), np.array([0, 3, -1], np.int16)),
    lambda: (tuple(range(9)), np.array([0, 3, -1])),
    lambda: ("abcdefghi", np.array([0, 3, -1])),
    lambda: (np.arange(9.0), [True, 5, np.int64(2**62), False]),
)
def rows_between(values, starts):
    rows = []
    for i in range(len(starts) - 1):
        row = values[starts[i] : starts[i + 1]]
        rows.append(row)
        rows.append(len(row))
    return rows


class GivesIndices:
    def __getitem__(self, index):
        return type(index.start), index


@program(lambda: (GivesIndices, np.array([1, 2])), lambda: (GivesIndices, [1, 2]))
def parts_of_slices_keep_their_classes(make, bounds):
    made = slice(bounds[0], bounds[1])
    return make()[bounds[0] : bounds[1]], made, type(made.stop), made.start + made.stop


@program(
    lambda: (np.arange(20.0).reshape(4, 5), np.array([1, 2, 3], np.int32)),
    lambda: (np.arange(20).reshape(4, 5), [1, 2, 3]),
)
def stores_between(m, bounds):
    for i in range(2):
        m[bounds[i] : bounds[i + 1], 1 : bounds[i]] = 7
        m[i, : bounds[i]] += bounds[i]
        m[bounds[i] :, True:3] *= 2
    return m


def places(n, size, dtype=np.int64):
    return (np.arange(n) * 7 % (2 * size) - size).astype(dtype)


@program(
    lambda: (np.linspace(0, 1, 9), places(40, 9), np.arange(40.0)),
    lambda: (np.linspace(0, 1, 9), places(40, 9, np.int8), np.arange(40.0)),
    lambda: (np.linspace(0, 1, 9)[::-2], places(80, 5)[::2], np.arange(40.0)),
    lambda: (np.linspace(0, 1, 9), places(40, 10), np.arange(40.0)),  # IndexError
    lambda: (np.linspace(0, 1, 9), np.arange(40) % 9, np.arange(39.0)),  # ValueError
    lambda: (np.linspace(0, 1, 9), np.arange(40) % 10, np.arange(39.0)),  # IndexError
    lambda: (np.arange(9), np.arange(40).astype(np.uint8) % 9, np.arange(1)),
    lambda: (np.arange(9), np.arange(40).astype(np.uint64) % 9, np.arange(40)),
    lambda: (np.arange(0), np.arange(0), np.arange(0.0)),
    lambda: (np.arange(0), np.arange(2), np.arange(2.0)),  # IndexError
    lambda: (np.arange(3.0), places(12, 3).reshape(3, 4), np.arange(4.0)),
    lambda: (np.arange(3.0), places(12, 3).reshape(4, 3).T, np.arange(4.0)),
    lambda: (np.arange(3) + 1j, places(12, 3).reshape(3, 4), 2.0),
    lambda: (np.arange(12).reshape(4, 3), places(4, 4), 2.0),
    lambda: (np.arange(9) % 2 == 0, places(12, 9), True),
    ulp=4,
)
def at_places(a, index, w):
    return (a[index] * w).sum(), a[index] * w + a[index[::-1]], a[index] - w


@program(
    lambda: (np.linspace(0, 1, 9), places(9, 9), 3),
    lambda: (np.linspace(0, 1, 9), places(9, 9), 0),
    lambda: (np.linspace(0, 1, 9), places(9, 10), 3),  # IndexError
)
def written_at_places(a, index, n):
    fresh = np.zeros_like(a)
    for _ in range(n):
        fresh[:] = a[index] * 2
        a[:] = a[index] + 1
        a[1:] += a[index[1:]] * fresh[index[:-1]]
        b = a * 2
        fresh = b * b[index]
    return a, fresh


@program(
    lambda: (np.linspace(0, 1, 9), places(9, 9)),
    lambda: (np.linspace(0, 1, 9), places(9, 10)),  # IndexError
)
def computed_places(a, index):
    wrapped = (index + 3) % a.shape[0]
    first = a[wrapped] - a[index]
    a[0] = 5.0
    second = a[wrapped] - a[index]
    index[0] = 2
    return first, second, np.stack((a[index] * 2, a[wrapped] + 1), axis=1), a[wrapped].max()


@program(lambda: (np.arange(9.0), places(9, 9)), lambda: (np.arange(9.0), places(9, 19)))
def index_that_changes(a, index):
    kept = index
    total = a[index] * 1.5
    kept[-1] = 30
    return total + a[index]  # IndexError


@program(
    lambda: (np.arange(7.0) + 0.5, np.arange(7) * 3 % 7, 4),
    lambda: (np.arange(7.0) + 0.5, np.arange(7) * 3 % 7, 0),
    lambda: (np.arange(7.0) + 0.5, np.arange(7) * 3 % 8, 2),  # IndexError
)
def permuted_again(x, index, n):
    y = x + 1.0
    for _ in range(n):
        y = y * y[index]
        x = x[index] * 0.5 + x
        index = index[index] + 0
    y = y * y[index]
    return y[::-1] * y[index], x, index


@program(
    lambda: (np.zeros((4, 5)), np.array([3, 0, -1]), _vector(3), np.arange(9) % 3 == 0),
    lambda: (np.zeros((4, 5)), np.array([3, 0, 5]), _vector(3), np.arange(9) % 3 == 0),
    lambda: (np.zeros((4, 5)), np.array([3, 0, -1]), _vector(2), np.arange(9) % 2 == 0),
)
def stored_in_columns_and_by_calls(a, columns, values, mask):
    a[:, columns] = values
    a[:, columns] += 1.5
    b = np.arange(9.0)
    np.putmask(b, mask, -1.0)
    np.copyto(b, b + 0.5, where=~mask)
    np.put(b, columns, values)
    a.put(columns, 7)
    return a, b


@program(
    lambda: (_vector(40), np.sort(_vector(9)), _vector(9)),
    lambda: (_vector(40), _UNSORTED, _vector(9)),
    lambda: (np.linspace(-3.0, 4.0, 25), np.arange(7.0) - 3, np.sin(np.arange(7.0))),
    lambda: (_vector(4), np.arange(3.0), np.arange(2.0)),
)
def looked_up_between_points(x, xp, fp):
    places = np.searchsorted(xp, x, side="right") - 1
    y = np.interp(x, xp, fp)
    return places, y * x, np.power(x + 1j * y, 3), np.digitize(x, xp[:1])


@program(
    lambda: (_vector(12).reshape(4, 3), 0, 2),
    lambda: (_vector(12).reshape(4, 3), 0, -1),
    lambda: (_vector(12).reshape(4, 3), 0, 4),  # IndexError
    lambda: (_vector(12).reshape(4, 3), np.int64(0), np.int32(3)),
    lambda: (_vector(12).reshape(4, 3), np.uint64(0), 3),
    lambda: (_vector(12).reshape(4, 3), 1.0, 3),
    lambda: (_vector(12).reshape(4, 3), True, 3),
    lambda: (_vector(12).reshape(4, 3), None, 3),
    lambda: (np.asfortranarray(_vector(12).reshape(4, 3)), 3, 1),
    lambda: (_vector(12), 2, 2),
)
def swapped_rows(a, i, j):
    a[[i, j]] = a[[j, i]]
    return a


@program(lambda: (_vector(12).reshape(4, 3), 2), lambda: (_vector(12).reshape(4, 3).T.copy().T, 1))
def lists_of_places(a, i):
    a[:, [0, 2]] *= 2
    a[[0, i], [1, 1]] += 1
    a[[i, 0]] = [1, 2, 3]
    places = [i, 0]
    rows = a[places]
    places.append(1)
    pair = ([i, 1], 0)
    numbers = a[pair]
    pair[0][0] = 0
    return a, rows, a[places], numbers, a[pair], a[..., [1]], a[[[i, 1], [0, i]]], a[[]]

"""Masks and arrays of ints as indices."""

import numpy as np

from tests.programs.harness import program


def _vector(n):
    return (np.arange(n) * 7 % 11 - 4.0) / 2


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

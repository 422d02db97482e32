"""Loops over all combinations: `itertools.product`, `np.ndindex` and `np.ndenumerate`; calls with stars of known functions."""

import itertools
import math
from itertools import product

import numpy as np

from tests.programs.harness import program


@program(
    lambda: (np.arange(12.0).reshape(3, 4),),
    lambda: (np.arange(12.0).reshape(3, 4).T,),
    lambda: (np.ones((0, 4)),),
    lambda: (np.ones((2, 3, 2)),),
)
def indices_of_a_shape(a):
    total = 0.0
    for i, j in np.ndindex(a.shape):
        total += a[i, j] * (i - j)
    return total


@program(lambda: (np.arange(24).reshape(2, 3, 4),), lambda: (np.arange(5.0),))
def indices_spread(a):
    out = np.empty_like(a)
    for at in np.ndindex(*a.shape):
        out[at] = a[at] * 2 + sum(at)
    return out


@program(lambda: (3, 2), lambda: (0, 2), lambda: (-1, 2), lambda: (2.5, 1))
def indices_of_sizes(n, m):
    found = []
    for at in np.ndindex(n, m):
        found.append(at)
    return found


@program(lambda: (3,), lambda: (np.int32(2),), lambda: ((2, 2),), lambda: ((),), lambda: ("a",))
def indices_of_one_size(n):
    return [at for at in np.ndindex(n)]


@program(lambda: (2**10, 2**18), lambda: (3, 1000))
def many_indices(n, m):
    for k, at in enumerate(np.ndindex(n, m)):
        if k == 1000:
            break
    return k, at


@program(
    lambda: (np.arange(12.0).reshape(3, 4),),
    lambda: (np.arange(12, dtype=np.int8).reshape(3, 4)[::-1, ::2],),
    lambda: (np.ones((3, 0)),),
    lambda: (np.arange(4) + 1j,),
    lambda: (np.array(2.5),),
    lambda: ([[1, 2], [3, 4]],),
    lambda: (np.arange(3.0).astype(">f8"),),
)
def numbered_elements(a):
    found = []
    for at, x in np.ndenumerate(a):
        found.append((at, x, type(x)))
    return found


@program(lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.zeros((3, 3), np.float32),))
def numbered_and_written(a):
    """An element is read when its turn comes."""
    n, m = a.shape
    for (i, j), x in np.ndenumerate(a):
        a[n - 1 - i, m - 1 - j] += x + i * m + j
    return a


@program(lambda: (4, 3), lambda: (0, 3), lambda: (3, -1))
def combinations_of_ranges(n, m):
    total = 0
    for i, j in product(range(1, n), range(m, -2, -2)):
        if i == j:
            continue
        total += i * 10 + j
        if total > 1000:
            break
    else:
        total = -total
    return total


@program(lambda: ("ab", (1, 2.5)), lambda: ("", (1,)), lambda: (b"xy", (None, "z")))
def combinations_of_constants(text, items):
    return [c for c in itertools.product(text, items, range(2))], len(text)


@program(lambda: ([1, 2, 3],), lambda: ((1, 2),), lambda: (5,))
def combinations_of_a_list(xs):
    found = []
    for x, y in product(xs, xs):
        found.append(x * y)
        if isinstance(xs, list) and len(xs) < 6:
            xs.append(7)
    for pair in product(iter(xs), xs[:2]):
        found.append(pair)
    return found


@program(lambda: (3,), lambda: (0,))
def combinations_otherwise(n):
    cells = list(product(range(n), repeat=2))
    pairs = sum(i * j for i, j in itertools.product(range(n), range(n)))
    numbered = [(k, at) for k, at in enumerate(np.ndindex(n, 2))]
    beside = list(zip(np.ndindex(n), range(10)))
    nothing = [c for c in product()]
    return cells, pairs, numbered, beside, nothing, list(np.ndindex())


@program(lambda: (np.arange(9.0).reshape(3, 3), 2), lambda: (np.ones((2, 2)), 5))
def an_index_beyond(a, n):
    for i, j in np.ndindex(n, n):
        a[i, j] += a[j, i]
    return a


@program(
    lambda: ([(3.0, 4.0), (5.0, 12.0)],),
    lambda: ([(3, 4), (2, 5)],),
    lambda: ([(1.0,), (2.0,)],),
    lambda: ([[3.0, 4.0]],),
)
def known_functions_with_stars(pairs):
    return [(math.hypot(*p), max(*p), pow(*p), complex(*p)) for p in pairs]


@program(lambda: ((np.arange(3.0), np.ones(3)),), lambda: ((2.0, np.float32(3)),))
def ufuncs_with_stars(operands):
    return np.maximum(*operands) + np.add(*operands)

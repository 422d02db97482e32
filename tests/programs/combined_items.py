"""`itertools.combinations`, `permutations`, `pairwise` and `chain` whose items are used one after the other."""

import itertools
from itertools import (
    chain,
    combinations,
    combinations_with_replacement,
    pairwise,
    permutations,
    product,
)

import numpy as np

from tests.programs.harness import program


@program(
    lambda: ([3.0, 1.5, 9.0, 2.0],),
    lambda: ((4, 1, 8),),
    lambda: (np.array([5.0, 2.5, 3.0]),),
    lambda: ([],),
    lambda: (range(3, 9, 2),),
    lambda: ({1: "a", 5: "b"},),
    lambda: ("ab",),
    lambda: (7,),
)
def nearest_pair(xs):
    best = 100.0
    for x, y in combinations(xs, 2):
        d = abs(x - y)
        if d < best:
            best = d
    return best


@program(lambda: (26,), lambda: (2,), lambda: (0,), lambda: (-4,))
def triples_of_ranges(n):
    found = []
    for i, j, k in combinations(range(1, n), 3):
        if i * i + j * j == k * k:
            found.append((i, j, k))
        elif i > 12:
            break
        if k == 9:
            continue
    else:
        found.append("all")
    return found, sum(i * j for i, j in combinations_with_replacement(range(n), 2))


@program(
    lambda: ([(0.0, 1.0), (3.0, 4.5), (1.0, 1.0)],),
    lambda: ([(1, 2)],),
    lambda: ([(1, 2, 3), (4, 5)],),
)
def distances(points):
    return (
        [(x - u) ** 2 + (y - v) ** 2 for (x, y), (u, v) in combinations(points, 2)],
        min(((x - u) ** 2 for (x, _), (u, _) in permutations(points, 2)), default=None),
        {(p, q) for p, q in itertools.combinations_with_replacement(points, 2)},
    )


@program(lambda: ([1, 2, 3],), lambda: ("abc",), lambda: ([0.5],), lambda: (np.arange(4),))
def orders(xs):
    found = [p for p in permutations(xs, 3)]
    for a, b in permutations(xs, 2):
        if a == b:
            return "equal"
        found.append((b, a))
    for (x,) in permutations(xs, 1):
        found.append(x)
    return found, list(permutations(xs, 2)), any(p[0] == p[1] for p in permutations(xs, 4))


@program(
    lambda: ([1.0, 4.0, 2.5],),
    lambda: ([1, 7],),
    lambda: ([5],),
    lambda: ([],),
    lambda: (np.arange(5) ** 2,),
    lambda: ("abd",),
    lambda: (3,),
)
def steps(xs):
    total, rises = 0, 0
    for a, b in pairwise(xs):
        if a == "b":
            break
        total += (b > a) * 2
        if b <= a:
            continue
        rises += 1
    else:
        rises = -rises
    return total, rises, [(q, p) for p, q in pairwise(xs)], list(pairwise(xs))


@program(lambda: ([1, 5, 2],), lambda: ([2.5, 2.5],))
def grown_meanwhile(xs):
    """Combinations are of the items that were there first; pairs are of those that are there."""
    found = []
    for a, b in combinations(xs, 2):
        if len(xs) < 8:
            xs.append(a + b)
        found.append(a * b)
    for a, b in pairwise(xs):
        if len(xs) < 12:
            xs.append(b)
        xs[0] = 9
        found.append((a, b))
    return found, xs


def noisy(n):
    for i in range(n):
        print("item", i)
        yield i


@program(lambda: (3,), lambda: (0,))
def of_iterators(n):
    for pair in combinations(noisy(n), 2):
        print(pair)
    for pair in pairwise(noisy(n)):
        print(pair)
    for pair in pairwise(iter([i for i in range(n)])):
        print(pair)
    return [c for c in combinations((i * 2 for i in range(n)), 2)]


@program(lambda: ([1, 2, 3],), lambda: ([],))
def under_the_same_names(xs):
    first = [xs for xs in combinations(xs, 2)]
    second = [[x for x in pairwise(x)] for x in [xs, xs[1:]]]
    third = [range for range in combinations(range(len(xs)), 2)]
    return (
        first,
        second,
        third,
        [(a, b, c) for a, b in pairwise(xs) for c in combinations([a, b], 2)],
    )


@program(
    lambda: ([1, 2, 3], 2), lambda: ([1, 2, 3], -1), lambda: ([1, 2, 3], 1.5), lambda: ([1], None)
)
def of_other_counts(xs, r):
    found = []
    for c in combinations(xs, r):
        found.append(c)
    for c in permutations(xs):
        found.append(c)
    for c in combinations(xs, r=2):
        found.append(c)
    for c in combinations(xs, 0):
        found.append(c)
    return found, list(combinations(xs, 5))


def replaced(xs, r=None):
    return [xs, r]


@program(lambda: ([1, 2, 3], False), lambda: ([1, 2, 3], False), lambda: ([1, 2], True))
def where_names_are_replaced(xs, is_replaced):
    global combined
    combined = replaced if is_replaced else combinations
    try:
        return [c for c in combined(xs, 2)], sum(1 for _ in combined(xs, 2))
    finally:
        combined = combinations


combined = combinations


@program(lambda: ([1, 2, 0, 4],), lambda: ([1, 2, 3],))
def errors_within(xs):
    total = 0
    for a, b in combinations(xs, 2):
        total += a // b
    for a, b, c in pairwise(xs):
        total += a
    return total


@program(
    lambda: ([1.0, 2.5], [4.0]),
    lambda: ([], [3]),
    lambda: (range(3), [7, 8]),
    lambda: (np.arange(3.0), (1, 2)),
    lambda: ("ab", [1]),
    lambda: ([1, 2], 5),
    lambda: (None, [1]),
)
def one_after_the_other(xs, ys):
    found, total = [], 0
    for x in chain(xs, ys):
        found.append(x)
        if x == 8:
            break
        if x == "a":
            continue
        total += 1
    else:
        total = -total
    for x in chain(ys):
        found.append(x)
    return (
        found,
        total,
        list(chain(xs, [0], ys)),
        sum(chain([1, 2], xs)),
        [c for c in chain(xs, ys)],
    )


@program(lambda: ([1, 2, 3], [4]), lambda: ([0.5], []))
def changed_while_chained(xs, ys):
    found = []
    for x in chain(xs, ys, noisy(2)):
        found.append(x)
        if len(ys) < 4:
            ys.append(x * 2)
        ys, xs = ys, []
    for x in chain(*[found, [9]]):
        ys.append(x)
    return found, ys


@program(
    lambda: ([1.0, 2.5], [4.0, 1.0, 3.0]),
    lambda: ([], [3]),
    lambda: ([1, 2], ("a", 2.5)),
    lambda: (np.arange(3.0), range(2)),
    lambda: (range(2), range(3)),
    lambda: ([1, 2], 5),
    lambda: (5, [1, 2]),
    lambda: ("ab", {3: 4}),
)
def grids_of_lists(xs, ys):
    found, best = [], 0
    for x, y in product(xs, ys):
        if y == 1.0:
            continue
        found.append((y, x))
        if isinstance(xs, list) and len(xs) < 4:
            xs.append(x)
        if len(found) > 40:
            break
    else:
        best = len(found)
    for t in product(xs, range(2), ys):
        found.append(t)
    cells = [(x, y) for x, y in product(xs, ys) if x != y]
    xs = [(ys, xs) for xs, ys in product(xs, ys)]
    return (
        found,
        best,
        cells,
        xs,
        sum(1 for _ in product(ys, [1, 2])),
        max(product(ys, ys), default=0),
    )


@program(lambda: ([1, 2], [3]), lambda: ([0.5], []))
def chained_in_comprehensions(xs, ys):
    first = [x * 2 for x in chain(xs, ys, xs)]
    second = [xs for xs in chain(xs, ys)]
    return first, second, {x for x in chain(ys, ys)}, sum(x for x in chain(xs, range(3)))

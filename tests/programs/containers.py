"""Lists, tuples, dicts, sets and comprehensions."""

import numpy as np

from tests.programs.harness import program


@program(lambda: ([5, 2, 9, 1],), lambda: ([],), lambda: ([2.5, 1, 3],))
def bubble_sort(xs):
    n = len(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


@program(lambda: (6,), lambda: (0,), lambda: (1,))
def pascal_triangle(n):
    rows = []
    for i in range(n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


@program(lambda: ("kitten", "sitting"), lambda: ("", "abc"), lambda: ("same", "same"))
def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(len(a)):
        current = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost))
        previous = current
    return previous[-1]


@program(lambda: ((1, 2.0, "x"),), lambda: (((1, 2), 3, None),))
def tuple_code(t):
    a, b, c = t
    pair = (a, b)
    x, *rest = t
    *front, last = t
    return (
        pair + (c,),
        t[0],
        t[-1],
        t[1:],
        len(t),
        pair * 2,
        rest,
        front,
        last,
        x in t,
        (a,) == pair,
    )


@program(lambda: (3, 4), lambda: (1.5, 2))
def swaps_and_nested_unpacking(a, b):
    a, b = b, a
    (c, d), e = (a + 1, b + 1), a * b
    [f, g] = [c, d]
    h = i = e
    return a, b, c, d, e, f, g, h, i


@program(lambda: ([1, 2, 3, 4, 5],), lambda: ([1],), lambda: ([],))
def list_slices(xs):
    ys = xs[1:3]
    zs = xs[::-1]
    ys.append(99)
    xs[0:2] = [7, 8, 9]
    return ys, zs, xs[-2:], xs[::2], xs[10:], xs


@program(lambda: ([3, 1, 2],), lambda: ([1.0],))
def list_methods(xs):
    ys = xs.copy()
    ys.sort()
    ys.append(ys[0])
    ys.extend([10, 20])
    last = ys.pop()
    ys.insert(1, -1)
    ys.reverse()
    ys.remove(10)
    return ys, last, ys.index(-1), ys.count(ys[0]), sum(ys), sorted(xs), min(ys), max(ys)


@program(lambda: ([1, 2, 3, 4],), lambda: ([],), lambda: ([1.5, -2.5],))
def comprehensions(xs):
    squares = [x * x for x in xs]
    large = [x for x in xs if x > 2]
    pairs = [(x, y) for x in xs for y in xs if x < y]
    unique = {int(x) % 2 for x in xs}
    table = {x: i for i, x in enumerate(xs)}
    nested = [[y + 1 for y in range(i)] for i in range(3)]
    return squares, large, pairs, unique, table, nested


@program(lambda: ({"a": 1}, "a"), lambda: ({}, "b"))
def dict_code(d, key):
    d[key] = d.get(key, 0) + 1
    d["new"] = [1, 2]
    d["new"].append(3)
    n = 0
    for k in sorted(d):
        n += len(k)
    merged = {**d, "z": 0}
    present = key in d, "missing" not in d
    del d["new"]
    return merged, n, present, len(d), list(d.values())


@program(lambda: ([1, 2, 2, 3],), lambda: ([],))
def set_code(xs):
    s = set(xs)
    s.add(10)
    t = {1, 10, 20}
    return s, s & t, s | t, s - t, 10 in s, len(s), sorted(s)


@program(lambda: ([[1, 2], [3, 4]], [[5, 6], [7, 8]]), lambda: ([[1.5]], [[2]]))
def matrix_product_on_lists(a, b):
    n, m, k = len(a), len(b[0]), len(b)
    c = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            s = 0
            for p in range(k):
                s += a[i][p] * b[p][j]
            c[i][j] = s
    return c


@program(lambda: ([0, 0, 0],), lambda: ([1.0, 2.0, 3.0],))
def argument_list_is_mutated(xs):
    for i in range(len(xs)):
        xs[i] += i * 2
    xs[-1] = -1
    xs.append("end")


@program(lambda: ([1, 2],))
def aliased_lists(xs):
    ys = xs
    ys.append(3)
    zs = [xs, xs]
    zs[0][0] = 100
    copy = list(xs)
    copy[1] = -5
    return ys is xs, zs, copy


@program(lambda: ([1, 2, 3],), lambda: ([1.5],))
def unpacking_in_displays(xs):
    t = (*xs, 0)
    u = [*xs, *t]
    return t, u, {*xs}, [*range(3)]


@program(lambda: ([4, 8, 15, 16, 23, 42], 23), lambda: ([1, 3], 2), lambda: ([], 1))
def binary_search(xs, target):
    low, high = 0, len(xs) - 1
    while low <= high:
        middle = (low + high) // 2
        if xs[middle] == target:
            return middle
        if xs[middle] < target:
            low = middle + 1
        else:
            high = middle - 1
    return -(low + 1)


@program(lambda: (6,), lambda: (4,))
def queens(n):
    columns = [0] * n
    row, found = 0, 0
    columns[0] = -1
    while row >= 0:
        columns[row] += 1
        if columns[row] >= n:
            row -= 1
            continue
        safe = True
        for r in range(row):
            d = columns[row] - columns[r]
            if d == 0 or d == row - r or -d == row - r:
                safe = False
                break
        if not safe:
            continue
        if row == n - 1:
            found += 1
        else:
            row += 1
            columns[row] = -1
    return found


@program(lambda: ([1, 2.5, 3, None, True, "x", 2j],))
def list_of_mixed_items(xs):
    total = 0
    names = []
    for x in xs:
        if x is None or isinstance(x, str):
            names.append(x)
            continue
        total = total + x
    return total, names


@program(lambda: (10, 3), lambda: (0, 1))
def sieve_of_flags(n, k):
    flags = [True] * (n + 1)
    for i in range(0, n + 1, k):
        flags[i] = False
    return flags, sum(flags), any(flags), all(flags)


def chain(n, make=tuple):
    made = None
    for i in range(n):
        made = make((i, made))
    return made


@program(lambda: (chain(3), 5), lambda: (chain(120), 2000), lambda: (None, 0))
def sum_of_a_chain(link, n):
    for i in range(n):
        link = (i, link)
    total = 0
    while link is not None:
        total += link[0]
        link = link[1]
    return total


@program(lambda: (chain(3, list),), lambda: (chain(120, list),))
def length_of_a_chain(link):
    length = 0
    while link is not None:
        length, link = length + 1, link[1]
    return length


@program(lambda: (3,), lambda: (60,))
def longer_and_longer_chain(n):
    link = ()
    for i in range(n):
        link = (link, i)
    deep = ((((((n,),),),),),)
    wide = ((n,) * 9,) * 9
    return link, deep, deep[0][0], wide, wide[1][2] + (link,) * 70


@program(lambda: (3,), lambda: (60,))
def lists_around_lists(n):
    inner, pair = [], []
    for _ in range(n):
        inner = [inner]
        pair = [(pair, 1)]
    return inner, pair


def tree(depth):
    return (tree(depth - 1), tree(depth - 1)) if depth else (None, None)


def leaves(node):
    left, right = node
    return 1 if left is None else leaves(left) + leaves(right)


@program(lambda: (2,), lambda: (9,))
def leaves_of_a_tree(depth):
    return leaves(tree(depth)), leaves(tree(depth - 1))


@program(lambda: (1,))
def a_list_in_itself(n):
    items = [n]
    items[0] = items
    return len(items), items[0][0][0] is items


class GivesTwo(tuple):
    def __iter__(self):
        return iter((7, 8))


THINGS = [
    *((1, 2), [1, 2], (1, 2, 3), [1], "ab", {1: 2, 3: 4}, GivesTwo((1, 2)), range(2), 5, None),
    *(np.arange(2), np.array([[1, 2], [3, 4]]), iter([]), ((1, (2,)), [3])),
]


@program(*(lambda k=k: (k,) for k in range(len(THINGS))))
def unpacking_anything(k):
    found = []
    for thing in (THINGS[0], THINGS[1], THINGS[k]):
        a, b = thing
        found.append((b, a))
    return found


@program(*(lambda k=k: (k,) for k in range(len(THINGS))))
def unpacking_the_rest_of_anything(k):
    found = []
    for thing in ((1, 2, 3), [1, 2, 3], THINGS[k]):
        a, *b = thing
        *c, d = thing
        b.append(d)
        found.append((a, b, c))
    e, *f, g = THINGS[k]
    return found, e, f, g


@program(
    lambda: ((1, 2), (1, 3)),
    lambda: ((1, 2.0), (1, 2)),
    lambda: ((2**60, 1), (2.0**60, 2)),
    lambda: ((1.5, "a"), (1.5, "b")),
    lambda: ((1,), (1, 2)),
    lambda: ((), (1,)),
    lambda: ((), ()),
    lambda: (((1, 2), 3), ((1, 2), 4)),
    lambda: ((1, float("nan")), (1, 2.0)),
    lambda: ((True, "x", 2), (1, "x", 2)),
    lambda: ((1, "a"), (1, 2)),
    lambda: ((1, None), (1, None)),
    lambda: ((np.int64(1), 2), (1, 3)),
    lambda: ((1j, 2), (1j, 3)),
)
def order_of_tuples(s, t):
    count = 0
    for _ in range(3):
        if s < t:
            count += 1
        if s >= t:
            count += 10
    return count, s < t, s > t, s <= t, s >= t


@program(
    lambda: (["abc" * 4, "xyz" * 4],),
    lambda: (["abc" * 14, "xyz" * 14, "#.#" * 14],),
    lambda: ([[1, 2.5, None] * 12],),
    lambda: ([range(40), range(5, 45)],),
    lambda: ([],),
)
def long_tuples(rows):
    turned = list(zip(*rows))  # noqa: B905
    straight = [tuple(row) for row in rows]
    total = 0
    for y in range(len(straight)):
        for x in range(len(straight[0])):
            total += straight[y][x] == "#"
        straight[y] = straight[y][::-1]
    first, *others = straight or [()]
    return turned, straight, total, first[1:4], [r.count("x") for r in others], len(first)


@program(lambda: (3,), lambda: (2.5,))
def order_of_constant_sets(n):
    items = []
    for x in {8, 0, 16, 24, 32}:
        items.append(x * n)
    for x in {-1, 8, 7, 15, -9, (1, -2)}:
        items.append(x)
    for x in {16, 8}:
        items.append(x)
    some = [x for x in {40, 32, 24, 16, 8, 0}]
    nested = (lambda: list({48, 0, 8, 16, 24, 32}))()
    return items, some, nested, list({32, 24, 16, 8, 0, 40, 48}), str({-8, 8, 0, 64, n})

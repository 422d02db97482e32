"""Lists and arrays that `zip` goes through beside what changes them."""

import numpy as np

from tests.programs.harness import program


def changing(xs, change, at=2, n=6):
    """Numbers; the list or array `xs` is changed when one of them is asked for."""
    for i in range(n):
        if i == at:
            change(xs)
        yield i * 0.5


@program(
    lambda: ([1, 2, 3, 4, 5], len),
    lambda: ([1, 2, 3, 4, 5], list.clear),
    lambda: ([1, 2, 3, 4, 5], lambda xs: xs.__setitem__(2, 100)),
    lambda: ([1, 2, 3, 4, 5], lambda xs: xs.__setitem__(slice(None), "abcde")),
    lambda: ([1, 2, 3], list.copy),
    lambda: (np.arange(5.0), lambda xs: xs.fill(7.0)),
    lambda: (bytearray(b"abcde"), bytearray.clear),
)
def zipped_with_what_changes_it(xs, change):
    total = 0
    for x, y in zip(xs, changing(xs, change)):
        total = total * 3 + x * y
    return total, len(xs)


@program(
    lambda: ([1, 2, 3, 4, 5], len),
    lambda: ([1, 2, 3, 4, 5], list.clear),
    lambda: ([1, 2, 3, 4, 5], lambda xs: xs.__setitem__(2, 100)),
    lambda: (np.arange(5.0), lambda xs: xs.fill(7.0)),
)
def numbered_and_zipped_with_what_changes_it(xs, change):
    found = []
    for (i, x), y in zip(enumerate(xs), changing(xs, change)):
        found.append((i, x, y))
    for k, (y, x, z) in enumerate(zip(changing(xs, change), xs, changing(xs, len))):
        found.append((k, x, y, z))
    for value in map(pow, xs, changing(xs, change)):
        found.append(value)
    return found


@program(lambda: (5, len), lambda: (0, len), lambda: (9, len))
def own_list_zipped_with_what_others_change(n, change):
    own = [0] * n
    for i in range(n):
        own[i] = i * 2
    count = 0
    for _ in zip(own, changing([1], change)):
        count += 1
    for x, y in zip(own, changing([1], change)):
        own[0] += x
        count += y
    return count, own[0] if n else 0


@program(lambda: (5, {1, 2, 3}), lambda: (2, {1, 2, 3}), lambda: (0, {1: 2}))
def own_list_counted_with_a_set(n, others):
    own = [0] * n
    for i in range(n):
        own[i] = i * 2
    count = 0
    for _ in zip(own, others):
        count += 1
    return count, sum(own)


@program(
    lambda: ([1, 2, 3, 4], {1: 10, 2: 20, 3: 30}),
    lambda: ([0.5, 1.5], {"a": 1, "b": 2, "c": 3}),
    lambda: ([], {1: 2}),
    lambda: (np.arange(4.0), {k: k * k for k in range(3)}),
    lambda: (bytearray(b"abcd"), {1: 3, 2: 4}),
)
def zipped_with_what_runs_no_code(xs, table):
    found = []
    for x, y in zip(xs, table.values()):
        found.append((x, y))
        if len(found) < len(xs):
            xs[len(found)] = 7
        table[y if y < 5 else 1] = 0
        if len(found) == 2:
            break
    for x, (k, y), z in zip(xs, table.items(), iter(xs)):
        found.append((x, k, y, z))
        xs[-1] = len(found)
    for x, y in zip(xs, frozenset(table)):
        found.append((x, y))
    return found

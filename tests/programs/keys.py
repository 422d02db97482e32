"""Dicts and sets whose keys are numbers and tuples of numbers."""

from collections import OrderedDict, defaultdict

import numpy as np

from tests.programs.harness import program


@program(
    lambda: ([3, 1, 3, -1, 3],),
    lambda: ([2**40, 2**61, 1, 2**40],),
    lambda: ([],),
    lambda: ([1, 1.0, True],),
)
def counts(xs):
    found = {}
    for x in xs:
        found[x] = found.get(x, 0) + 1
    more = {}
    for x in xs:
        if x in more:
            more[x] += 1
        else:
            more[x] = 1
    default = defaultdict(int)
    for x in xs:
        default[x] += 1000
    return found, more, default


@program(
    lambda: ([3, 1, 3, -1, 3],),
    lambda: ([0.5, -0.0, 0.0, 1.0],),
    lambda: ([(1, 2), (0, -1), (1, 2)],),
)
def without_repetition(xs):
    seen = set()
    kept = []
    for x in xs:
        if x not in seen:
            seen.add(x)
            kept.append(x)
    return kept, seen


@program(lambda: (5, 4), lambda: (1, 1), lambda: (3, 0))
def paths(n, m):
    ways = {}
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0:
                ways[i, j] = 1
            else:
                ways[i, j] = ways[i - 1, j] + ways[(i, j - 1)]
    return ways


@program(
    lambda: ({1: 5, 2: 7}, [1, 2, 1, 3]),
    lambda: ({1: 5.0, 2: 7}, [1, 2]),
    lambda: ({1.0: 5}, [1, 1]),
)
def sum_of_items(d, ks):
    total = 0
    for k in ks:
        total += d[k]
    return total


@program(
    lambda: ({1: 1000, 2: 2000}, [1, 2, 1]), lambda: ({1: 1000, 2: "x"}, [1, 2]), lambda: ({}, [1])
)
def doubled(d, ks):
    before = list(d.values())
    for k in ks:
        d[k] = d[k] * 2
    return before


@program(
    lambda: ([5, 3, 5], {}), lambda: ([5, 3], {5: [1]}), lambda: ([1, 2], OrderedDict({2: [0]}))
)
def groups(xs, d):
    for i, x in enumerate(xs):
        d.setdefault(x, []).append(i)
    return d


@program(lambda: ({1: 2, 2: 4}, [1, 2, 3, 1]), lambda: (OrderedDict({1: 2}), [1, 1, 2]))
def taken_out(d, ks):
    total = 0
    for k in ks:
        total = total * 3 + d.pop(k, -1)
        d[k + 10] = total
    del d[12]
    return total


@program(
    lambda: ([1, 2, 3], [3, 4]), lambda: ([1.5, 2.0], [2, 1]), lambda: ([2**62, 5], [5, 2**62])
)
def in_both(xs, ys):
    both = set(xs)
    count = 0
    for y in ys:
        if y in both:
            count += 1
            both.discard(y)
        elif y + 1 not in both:
            both.add(y + 1)
    return count, both, frozenset(xs)


@program(
    lambda: (np.array([3, 1, 3]),),
    lambda: (np.array([0.5, 0.5, -0.0]),),
    lambda: (np.array([], int),),
)
def of_an_array(a):
    found = {}
    for x in a:
        found[x] = found.get(x, 0) + 1
    for x in a.tolist():
        found[x] += 10
    return found


@program(lambda: ([1, 2, 3], {1: 7}), lambda: ([2, 1], {}))
def caught(xs, d):
    total = 0
    for x in xs:
        try:
            total += d[x]
            d[x] = total
        except KeyError as error:
            total += error.args[0]
    return total


class Keeper:
    """Takes out of a dict what is being read from it."""

    def __init__(self, d):
        self.d = d

    def __radd__(self, other):
        self.d.clear()
        return other


@program(lambda: ([1000, 2000, 3000],), lambda: ([0.5, 1.5],))
def cleared_meanwhile(xs):
    d = {}
    kept = []
    for x in xs:
        d[x] = x
    keeper = Keeper(d)
    total = 0
    for x in xs[:1]:
        y = d[x]
        total += y + keeper
        kept.append(y)
    return total, kept, d


@program(lambda: ([1000, 2000, 3000],), lambda: ([0.5, 1.5],))
def items_that_leave_their_list(xs):
    kept = []
    for i in range(len(xs)):
        x = xs[i]
        xs[i] = 0
        kept.append(x)
    stack = list(kept)
    while stack:
        x = stack.pop()
        kept.append(x)
        kept.append(x)
    return kept


@program(
    lambda: ("the cat and the dog and the end", {"the": 5}),
    lambda: ("", {}),
    lambda: ("\xe4 \u20ac \xe4 a \U0001f600 \u20ac", {"a": 2**40, 3: 1}),
)
def words_are_counted(text, more):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    default = defaultdict(int)
    for word in text.split():
        default[word] += 1
        if word in more:
            more[word] += counts[word]
        else:
            more[word] = 0
    letters = {}
    for c in text:
        letters[c] = letters.get(c, 0.5) + 1
    return counts, default, letters, more


@program(
    lambda: ([("a", 1), ("b", 2), ("a", 1)], {"a": [], "b": []}),
    lambda: ([("a", 1), ("c", 2)], {"a": []}),
    lambda: ([], {}),
)
def grouped_by_name(rows, groups):
    seen = {}
    for name, value in rows:
        groups[name].append(value)
        if (name, value) not in seen:
            seen[name, value] = len(seen)
    return seen


class _Unhashable:
    """Called as a method; it has no hash itself."""

    __hash__ = None

    def __get__(self, instance, owner):
        return self if instance is None else self.shifted

    def shifted(self, i):
        return i + 1


class _Table:
    get = _Unhashable()


@program(lambda: (_Table(), 3), lambda: ({0: 2, 1: 3, 2: 4}, 3))
def methods_without_hash(d, n):
    return [d.get(i) for i in range(n)]


@program(lambda: (frozenset((1, 2)), 2**62), lambda: ({2: 5}, 5), lambda: ({1}, 2**62))
def items_of_sets(x, i):
    for k in range(i % 3 + 1):
        x[k + 1]
    return x[i % 3]


@program(lambda: (slice(3), 2**62), lambda: (slice(1, None), 5), lambda: ((1, slice(3)), 5))
def slices_as_keys(x, i):
    unused = {x: i % 3}
    unused = {x, i % 3}
    return i % 3

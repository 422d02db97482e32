"""`min`, `max` and `sorted` by a key: its function is computed in a loop."""

import math

from tests.programs.harness import program


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def halved(x):
    return x / 2 if x % 2 else x // 2


def with_default(x, limit=3):
    return abs(x - limit)


def stops(x):
    if x == 2:
        raise StopIteration
    return x


@program(
    lambda: ([3, -4, 5, -5],),
    lambda: ([],),
    lambda: ((1.5, 2, -0.0, 0.0),),
    lambda: ([True, 2**70, 1],),
    lambda: ([math.nan, 1.0, 2.0],),
    lambda: ([1.0, math.nan, 0.5],),
    lambda: ([2, None],),
    lambda: (7,),
)
def numbers(xs):
    factor = 3
    low = min(xs, key=lambda x: x * factor)
    return low, max(xs, key=lambda x: -abs(x)), max(xs, key=abs), min(xs, key=halved)


@program(
    lambda: ([],), lambda: ([1, 2],), lambda: ({3: 4, 1: 9},), lambda: ({5, 6},), lambda: ("ab",)
)
def with_defaults(xs):
    made = []
    found = min(xs, key=lambda x: made.append(x) or 0, default=made)
    return found, max(xs, default=0.5, key=lambda x: 1), made


@program(
    lambda: ([(0.5, 1), (2, 3.5), (1.0, 1.0)], 4),
    lambda: ([(0, 1)], 0),
    lambda: ([], 2),
    lambda: ([(1, 2), (1,)], 3),
)
def places_of_the_nearest(points, n):
    found = []
    for k in range(n):
        x, y = k % 3, k // 2
        found.append(
            min(range(len(points)), key=lambda j: (points[j][0] - x) ** 2 + (points[j][1] - y) ** 2)
        )
    return found


@program(lambda: (["b", "aaa", "cc", "ddd"],), lambda: ([""],), lambda: (["a", 3],), lambda: ([],))
def words(xs):
    longest = max(xs, key=len, default="none")
    return longest, min(xs, key=lambda w: (-len(w), w)), max(xs, key=lambda w: w.upper())


@program(lambda: ({"a": 3, "b": 1, "c": 3},), lambda: ({},), lambda: ({"a": 1, "b": "x"},))
def entries(d):
    name, count = max(d.items(), key=lambda item: item[1])
    return name, count, min(d, key=d.get), min(d, key=lambda k: d[k]), max(d.values(), key=str)


@program(lambda: (5,), lambda: (1,), lambda: (0,))
def objects(n):
    points = [Point(i * 7 % 5, i * 0.5) for i in range(n)]
    best = max(points, key=lambda p: p.x)
    return best.x, best.y, min(points, key=lambda p: (p.x, -p.y)).y, best is points[0]


@program(lambda: ([4, 2, 1, 0],), lambda: ([4, 1],), lambda: ([],))
def errors_in_keys(xs):
    try:
        return min(xs, key=lambda x: 12 // x)
    except (ZeroDivisionError, ValueError) as error:
        return str(error), max(xs, key=lambda x: 1 // (x - 2), default=3)


@program(lambda: ([4, 2, 1, 0],), lambda: ([4],))
def functions_that_stop(xs):
    try:
        found = min(xs, key=stops)
    except StopIteration:
        found = "stopped"
    try:
        return found, sum(max(xs, key=stops) for _ in range(2))
    except RuntimeError as error:
        return found, str(error)


@program(lambda: (6,), lambda: (0,))
def within_each_other(n):
    rows = [[(i * j) % 7 for j in range(n)] for i in range(n)]
    return [max(row, key=lambda x: min(rows[x % n], key=lambda y: abs(y - x))) for row in rows]


@program(lambda: ([4, 2, 9],), lambda: ([],))
def other_names(xs):
    def min(xs, key):
        return key(len(xs))

    return min(xs, key=lambda x: x + 0.5), max([7], key=with_default), max(xs, 3, key=lambda x: -x)


@program(lambda: ([4, 2, 9], "key"), lambda: ([1], "default"), lambda: ([2, 3], "other"))
def names_that_are_given(xs, name):
    return max(xs, **{name: None}), max(xs, key=None), min(*xs, key=lambda x: x)


@program(lambda: ([4, 2, 9, 1, 8],), lambda: ([],))
def items_that_come_while_keys_are_made(xs):
    copy = list(xs)
    found = max(copy, key=lambda x: copy.append(x - 5) or x if x > 5 else x)
    numbers = iter(xs)
    return found, copy, max(numbers, key=lambda x: -x), list(numbers)


@program(lambda: (4,), lambda: (1,))
def variables_that_change(n):
    total = 0
    for k in range(n):
        total += max(range(3), key=lambda j: j * k - total % 2 + (n if j == k else 0))
        n += 0
    return total


@program(
    lambda: ([3, -4, 5, -5, 4],),
    lambda: ([],),
    lambda: ((1.5, 2, -0.0, 0.0),),
    lambda: ([True, 2**70, 1],),
    lambda: ([math.nan, 1.0, 2.0, -3.0],),
    lambda: ([2, None],),
    lambda: (7,),
)
def in_order(xs):
    factor = 3
    rising = sorted(xs, key=lambda x: x * factor)
    return rising, sorted(xs, key=lambda x: abs(x), reverse=True), sorted(xs, key=halved)


@program(lambda: (["b", "aaa", "cc", "ddd"],), lambda: ([""],), lambda: (["a", 3],), lambda: ([],))
def words_in_order(xs):
    by_length = sorted(xs, key=lambda w: len(w), reverse=False)
    return by_length, sorted(set(xs), key=lambda w: (-len(w), w)), sorted(xs, reverse=True, key=len)


@program(lambda: (40, 7), lambda: (3, 1), lambda: (0, 1), lambda: (100, 101))
def objects_in_order(n, m):
    points = [Point(i * 7 % m, i * 0.5) for i in range(n)]
    pairs = [(i * 5 % m, i) for i in range(n)]
    by_x = sorted(points, key=lambda p: p.x)
    kept = sorted(pairs, key=lambda pair: pair[0])
    same = [kept[k] is pairs[kept[k][1]] for k in range(len(kept))]
    return [p.y for p in by_x], kept, sorted(pairs, key=lambda pair: -pair[0], reverse=True), same


@program(lambda: (50,), lambda: (0,), lambda: (17,))
def lists_of_ones_own_in_order(n):
    values = [i * i % 17 * 0.5 for i in range(n)]
    total = 0.0
    for k, x in enumerate(sorted(values, key=lambda x: -x)):
        total += k * x
    return total, sorted(range(n), key=lambda i: values[i])


def some_words():
    stems = [
        "",
        "a",
        "ab",
        "abcdefg",
        "abcdefgh",
        "abcdefghi",
        "abcdefgh\0",
        "\xff" * 8,
        "\xe9",
        "B",
    ]
    return [
        stem + end for end in ("", "z", "\0", "abcdefghz", "\x7f", "\x80") for stem in stems
    ] * 2


@program(
    lambda: (["b", 2, "a"],),
    lambda: (some_words(),),
    lambda: ([*some_words(), "\u0100", "abcdefgh\u20ac", "\U0001f600", "\uffff"],),
    lambda: (["one"],),
    lambda: ([],),
)
def texts_as_keys(words):
    numbered = list(enumerate(words))
    return (
        sorted(numbered, key=lambda p: p[1]),
        sorted(numbered, key=lambda p: p[1], reverse=True),
        sorted(numbered, key=lambda p: (p[1], -p[0])),
        sorted(numbered, key=lambda p: (p[0] % 5, (p[1], p[0] * 0.5)), reverse=True),
    )


@program(lambda: (["x", None],), lambda: (some_words(),), lambda: (["x", "y", "x"],))
def texts_as_first_parts_of_keys(words):
    points = [Point(word, k % 3) for k, word in enumerate(words)]
    return [
        [p.x for p in sorted(points, key=lambda p: p.x)],
        [p.x for p in sorted(points, key=lambda p: (p.y, p.x))],
        sorted(words, key=lambda w: w.upper()),
        sorted(words, key=lambda w: (w[:1], len(w))),
        sorted(words, key=lambda w: w[-1:]),
    ]


@program(lambda: ([1.5, -0.0, 0.0, 2.5],), lambda: ([1.0, math.nan, 0.5],), lambda: ([2, 1.5],))
def floats_in_keys(xs):
    pairs = [(x, k) for k, x in enumerate(xs)]
    return (
        sorted(pairs, key=lambda p: (p[0], -p[1])),
        sorted(pairs, key=lambda p: (p[1] % 2, p[0]), reverse=True),
        sorted(xs, key=lambda x: (x, "a")),
    )


@program(lambda: ([2**62, 5, -(2**62)],), lambda: ([2**63, 1, -(2**70)],))
def large_ints_in_keys(xs):
    return sorted(xs, key=lambda x: (-x, "a")), sorted(xs, key=lambda x: (x % 3, x))


@program(lambda: ([4, 2, 1, 0],), lambda: ([4, 1],), lambda: ([],))
def errors_in_keys_of_sorted(xs):
    try:
        return sorted(xs, key=lambda x: 12 // x)
    except ZeroDivisionError as error:
        return (
            str(error),
            sorted(xs, key=lambda x: x, reverse=None is None),
            sorted([2], key=stops2),
        )


def stops2(x):
    return "b" if x % 2 else x


@program(lambda: ([4, 2, 1, 8],), lambda: ([4],))
def keys_that_have_effects(xs):
    seen = []
    found = sorted(xs, key=lambda x: seen.append(x) or (x if x != 8 else 0))
    try:
        sorted(xs, key=stops2)
    except TypeError as error:
        seen.append(str(error))
    try:
        sorted(xs, key=stops)
    except StopIteration:
        seen.append("stopped")
    return found, seen


@program(
    lambda: ([3, -4, 5, -5],),
    lambda: ([],),
    lambda: ([0.5, 2],),
    lambda: (["b", "ab"],),
    lambda: ([2, None],),
)
def generators_with_keys(xs):
    found = [max((x for x in xs if x != 5), key=lambda x: x * x if x == x else 0, default="none")]
    found.append(
        min(((x, i) for i, x in enumerate(xs)), key=lambda pair: pair[1] % 2, default=None)
    )
    found.append(sorted((x + x for x in xs), key=halved, reverse=True) if xs != ["b", "ab"] else xs)
    found.append(sorted([x for x in xs], key=with_default) if xs == [3, -4, 5, -5] else 0)
    return found, max((x for x in xs), key=str)


@program(lambda: ([1, 2, 3],), lambda: ([3],), lambda: ([],))
def stopped_keys_of_generators(xs):
    out = []
    try:
        out.append(max((x for x in xs), key=stops))
    except StopIteration as error:
        out.append(str(error))
    out.append(sorted((x * 3 for x in xs), key=stops))
    return out, min((stops(x) for x in xs), key=abs)


@program(lambda: ([3, 0, 1],), lambda: ([2],), lambda: (None,))
def order_of_keys_of_generators(xs):
    log = []

    def note(x):
        log.append(x)
        return 6 // x

    try:
        biggest = max((note(x) for x in xs), key=lambda x: log.append(-x) or x, default=None)
        return biggest, sorted((note(x) for x in xs), key=lambda x: log.append(-x) or -x), log
    except (ZeroDivisionError, TypeError) as error:
        return str(error), log


class SortedByName:
    def __init__(self, names):
        self.names = names
        self.asked = []

    def sort(self, key, reverse=False):
        self.asked.append(reverse)
        self.names = sorted(self.names, key=key, reverse=reverse)


class CountingList(list):
    def clear(self):
        raise RuntimeError("cleared")

    def extend(self, items):
        raise RuntimeError("extended")


@program(
    lambda: (["b", "aaa", "cc", "ddd"],),
    lambda: (some_words(),),
    lambda: ([3, -1, 2.5],),
    lambda: (["a", 3],),
    lambda: ([],),
)
def lists_in_place(xs):
    first, second, third = list(xs), list(xs), xs
    results = first.sort(key=lambda x: x), second.sort(key=halved_or_text, reverse=True)
    third.sort(reverse=False, key=lambda x: (str(x), x))
    third.sort(key=str, reverse=True)
    return first, second, third, third is xs, results


def halved_or_text(x):
    return x * 2


@program(
    lambda: ([4, 2, 1, 0, 5],), lambda: ([4, 1],), lambda: ([4, "a", 2, 1, "b"],), lambda: ([],)
)
def errors_leave_lists_as_in_cpython(xs):
    kept, mixed = list(xs), [x if x != 2 else "x" for x in xs]
    found = []
    try:
        xs.sort(key=lambda x: 12 // x)
    except (ZeroDivisionError, TypeError) as error:
        found.append(str(error))
    try:
        mixed.sort(key=lambda x: x)
    except TypeError as error:
        found.append(str(error))
    return xs, kept, mixed, found


@program(lambda: ([4, 2, 1, 3],), lambda: ([],), lambda: ([0, 1],))
def lists_that_keys_look_at(xs):
    seen = []
    xs.sort(key=lambda x: seen.append(len(xs)) or -x)
    try:
        xs.sort(key=lambda x: xs.append(x) or x)
    except ValueError as error:
        seen.append(str(error))
    try:
        xs.sort(key=lambda x: xs[0])
    except IndexError as error:
        seen.append(str(error))
    return xs, seen


@program(lambda: (SortedByName(["b", "a"]),), lambda: (CountingList([3, 1, 2]),), lambda: ((2, 1),))
def methods_sort_of_other_classes(x):
    result = x.sort(key=lambda y: y, reverse=True)
    return result, list(getattr(x, "names", x)), getattr(x, "asked", None)

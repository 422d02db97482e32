"""`map`, `filter`, `reduce` and `accumulate` whose items are used one after the other: by a builtin function, or by a loop."""

import functools
import itertools
import math
import operator
from functools import reduce
from itertools import accumulate

import numpy as np

from tests.programs.harness import program


def halved(x):
    return x / 2 if x % 2 else x // 2


def doubled_below(x, limit=9):
    return x * 2 if x < limit else limit


def stops(x):
    if x == 2:
        raise StopIteration
    return x


def pairs_up_to(n):
    for i in range(n):
        yield i, n


@program(lambda: (987654321,), lambda: (0,), lambda: (-12,), lambda: (2**70,), lambda: (1.5,))
def digit_sum(n):
    return sum(map(int, str(n)))


@program(
    lambda: ([3, -4, 5],),
    lambda: ([],),
    lambda: ((1.5, 2),),
    lambda: ([True, 2**70],),
    lambda: (["a", "bc"],),
    lambda: (7,),
)
def collected_by_lambdas(xs):
    factor = 3
    squares = list(map(lambda x: x * factor, xs))
    return squares, tuple(map(lambda x: (x, 1), xs)), set(map(lambda x: x * 2, xs))


@program(lambda: ([3, -4, 5],), lambda: ([],), lambda: ([1.0, -0.5],), lambda: ([1, "x"],))
def folded(xs):
    return (
        sum(map(abs, xs), 2),
        max(map(lambda x: -x, xs)),
        min(map(halved, xs), default=None),
        any(map(lambda x: x < -3, xs)),
        all(map(math.isfinite, xs)),
        sorted(map(abs, xs), reverse=True),
    )


@program(lambda: ([1, 12, 5],), lambda: ([],), lambda: ([1.5],), lambda: ([None],))
def of_python_functions(xs):
    return list(map(halved, xs)), sum(map(doubled_below, xs)), list(map(doubled_below, xs, xs))


@program(
    lambda: ([1, 2, 3], [4, 5]),
    lambda: ([1.5], [2, 3]),
    lambda: ([], []),
    lambda: ([1], 5),
    lambda: (5, [1]),
)
def of_several(xs, ys):
    return list(map(lambda x, y: x * y + 1, xs, ys)), sum(map(lambda i, x: i * x, range(9), xs))


@program(lambda: ([3, 0, -2, 6],), lambda: ([],), lambda: (["", "ab", "c"],), lambda: ([0.0, 2],))
def filtered(xs):
    return list(filter(None, xs)), list(filter(lambda x: x > xs[-1], xs)), sum(filter(None, [1, 0]))


@program(lambda: ([1, 23],), lambda: ([],), lambda: (["a", 2],), lambda: (3,))
def joined_items(xs):
    return "-".join(map(str, xs)), "".join(filter(lambda c: c not in "aeiou", "programming"))


@program(lambda: ([5, 7, 300, 4], 100), lambda: ([], 1), lambda: ([10, 2.5], 3), lambda: (["a"], 2))
def loops_over_maps(xs, limit):
    total, seen = 0, []
    for y in map(lambda x: x * limit, xs):
        if y == 1000:
            continue
        total += y
        if total > 20 * limit:
            break
        seen.append(y)
    else:
        total = -total
    for k, v in map(lambda x: (x, x + x), filter(lambda x: x != 7, xs)):
        seen.append(k if v else 0)
    return total, seen


@program(lambda: (5,), lambda: (0,))
def variables_that_change(n):
    step, found = 1, []
    for y in map(lambda x: x * step, range(n)):
        step += 1
        found.append(y)
    x = 10
    return found, list(map(lambda x: x + n, range(3))), x, step


@program(lambda: (6,), lambda: (0,))
def maps_within_each_other(n):
    table = list(map(lambda i: list(map(lambda j: i * j, range(n))), range(n)))
    return table, sum(map(lambda row: sum(map(lambda x: x + len(row), row)), table))


@program(lambda: ([4, 2, 1, 0],), lambda: ([4, 2],), lambda: (3,), lambda: ([5, "x"],))
def errors_in_maps(xs):
    total = 0
    for y in map(lambda x: 12 // x, xs):
        total += y
    return total + sum(map(halved, xs))


@program(lambda: ([4, 2, 1, 0],), lambda: ([4],))
def functions_that_stop(xs):
    it, seen = iter(xs), []
    for y in map(lambda x: x + next(it), [1] * 9):
        seen.append(y)
    joined = "".join(map(lambda x: next(it, "") + x, "ab"))
    return list(map(stops, xs)), list(map(pairs_up_to, [])), [*map(lambda x: x, xs)], seen, joined


@program(lambda: ([4, 2],), lambda: ([],))
def maps_that_are_kept(xs):
    kept = map(lambda x: x + 1, xs)
    first = next(kept, None)
    return first, list(kept), list(map(lambda x, y=2: x * y, xs)), list(map(xs.count, xs))


@program(lambda: ([4, 2],), lambda: ([],))
def maps_of_other_names(xs):
    def map(function, items):  # noqa: A001
        return [function(x) + 1 for x in items]

    return list(map(abs, xs)), sum(map(abs, xs))


def halved_sum(a, b):
    return a * 0.5 + b


@program(
    lambda: ([0.5, 2, True, -1.5],),
    lambda: (np.arange(30.0) / 7,),
    lambda: ([2**62, 2**62, 5],),
    lambda: ([7],),
    lambda: ([],),  # TypeError
    lambda: ([1, "a"],),
    lambda: (range(5),),
)
def reduced(xs):
    kept = [*xs]
    weighed = reduce(lambda a, b: a * 0.5 + b, kept, 0.0), functools.reduce(halved_sum, kept, 1)
    return weighed, reduce(lambda a, b: a if a > b else b, iter(kept)), reduce(operator.add, xs, 0)


@program(lambda: ([1.0, 2.0, 4.0],), lambda: ([1.0, 0.0, 4.0],), lambda: ([1, 2**70],))
def reduced_quotients(xs):
    return reduce(lambda a, b: a / b, xs), reduce(lambda h, x: h * 31 + int(x) & 0xFFFF, xs, 7)


@program(lambda: ([1, 2],), lambda: (5,), lambda: (np.array(5.0),), lambda: (np.arange(4.0),))
def reduced_items(xs):
    return reduce(lambda a, b: a + b, xs, 0), reduce(halved_sum, xs)


@program(
    lambda: ([3, 1, 2],),
    lambda: ([0.5],),
    lambda: ([],),
    lambda: (np.arange(5),),
    lambda: (np.array(5),),
    lambda: ({2: "b", 1: "a"},),
    lambda: ({2: "b"}.keys(),),
    lambda: (8,),
)
def reduced_iterators(xs):
    pairs = reduce(lambda a, b: (a, b), xs, "last")
    return pairs, reduce(max, iter(xs)), reduce(max, enumerate(xs)), reduce(min, xs, 0)


def odd_ones(xs):
    for x in xs:
        if x % 2:
            yield x


@program(lambda: ([3, 1, 2, 7],), lambda: ([0.5],), lambda: ([],), lambda: (["a"],))
def reduced_loops(xs):
    weight = 10

    def weighed():
        for x in xs:
            yield x * weight

    total = reduce(lambda a, b: a * 2 + b, (x + 1 for x in xs), 0)
    weight += 1
    odd = reduce(lambda a, b: a - b, odd_ones(xs), -1), reduce(halved_sum, weighed(), 0.5)
    weight = 3
    mapped = reduce(min, map(lambda x: x * weight, xs), 99), reduce(max, map(halved, xs), 0)
    return total, odd, mapped, reduce(operator.xor, filter(lambda x: x != weight, xs), 0)


@program(lambda: ([],), lambda: ([1, 0],), lambda: ([1],), lambda: (None,))
def reduced_loops_of_nothing(xs):
    log = []

    def note(x):
        log.append(x)
        return 6 // x

    try:
        return reduce(lambda a, b: a + b, (note(x) for x in xs)), log
    except (ZeroDivisionError, TypeError) as error:
        log.append(str(error))
    return reduce(lambda a, b: a * b, map(note, xs), 1), log


def stops(x):
    if x > 2:
        raise StopIteration(x)
    return x


@program(lambda: ([1, 2, 3],), lambda: ([1],))
def reduced_until_stopped(xs):
    ended = reduce(lambda a, b: a + b, map(stops, xs), 0)
    return ended, reduce(lambda a, b: a + b, (stops(x) for x in xs), 0)


@program(lambda: ([1, 2, 3],), lambda: ([1],))
def stopped_reducing(xs):
    return reduce(lambda a, b: a + stops(b), xs, 0)


REDUCED_BY = max


@program(lambda: ([1, 2, 3],), lambda: ([1],), lambda: ([],))
def reduced_by_what_changes(xs):
    global REDUCED_BY
    out = []
    for REDUCED_BY in (max, min, halved_sum):
        out.append(reduce(REDUCED_BY, (x + 1 for x in xs), 2))
        out.append(reduce(REDUCED_BY, map(halved, xs), 2))
    REDUCED_BY = max
    return out


@program(
    lambda: ([3, -1, 2],),
    lambda: ([0.5, 1],),
    lambda: ([2**62, 2**62, 1],),
    lambda: ([],),
    lambda: (np.arange(5),),
    lambda: (["a", "b"],),
    lambda: ([[1], [2]],),
    lambda: ([1, "a"],),
    lambda: (7,),
)
def running_totals(xs):
    found = []
    for total in accumulate(xs):
        found.append(total)
    for total in itertools.accumulate(xs, max):
        if len(found) > 7:
            break
        found.append(total)
    return found, list(accumulate(xs)), max(accumulate(xs), default=None)


@program(lambda: ([3, 1, 2],), lambda: ([0.5],), lambda: ([],), lambda: ([2**40] * 4,))
def totals_by_functions(xs):
    weight = 3
    out = list(accumulate(xs, lambda a, b: a * weight + b)), list(accumulate(xs, halved_sum))
    for total in accumulate(xs, lambda a, b: a - b * weight):
        weight += 1
        out += (total,)
    return out, sum(accumulate(xs, operator.mul)), reduce(max, accumulate(xs), 0), weight


@program(lambda: ([1, 2, 3, 4],), lambda: ([1],), lambda: ([3],))
def totals_that_stop(xs):
    out = []
    for total in accumulate(xs, lambda a, b: a + stops(b)):
        out.append(total)
    return (
        out,
        [*accumulate(xs, initial=5)],
        [t for t in accumulate(xs)],
        list(accumulate(xs, None)),
    )


@program(lambda: ([1, 0, 2],), lambda: ([1],))
def errors_in_totals(xs):
    for total in accumulate(xs, lambda a, b: a // b):
        xs[0] = total
    return xs


ACCUMULATE = accumulate


@program(lambda: ([1, 2],), lambda: ([],))
def totals_of_what_changes(xs):
    global ACCUMULATE
    out = []
    for ACCUMULATE in (accumulate, enumerate, accumulate):
        out.append(list(ACCUMULATE(xs)))
        for total in ACCUMULATE(xs):
            out.append(total)
    ACCUMULATE = accumulate
    return out

"""`next` of generator expressions and generator functions, and loops over generator expressions."""

import numpy as np

from tests.programs.harness import program


@program(
    lambda: ([3, 8, 2], 5),
    lambda: ([1.5], 1),
    lambda: ([], 0),
    lambda: (np.arange(9), 4),
    lambda: (["a"], "b"),
)
def first_above(xs, limit):
    found = next((x for x in xs if x > limit), None)
    place = next((i for i, x in enumerate(xs) if x == found), -1)
    return found, place, next((x for x in xs if x > limit), limit)


@program(lambda: ([3, 8, 2], 5), lambda: ([1.5], 2), lambda: ([], 0))
def first_above_or_none_at_all(xs, limit):
    return next(x * 2 for x in xs if x > limit)


@program(lambda: ([3, 8, 2], 5), lambda: ([], 0), lambda: ([1, 0], 9))
def handled_where_there_is_none(xs, limit):
    out = []
    for k in range(3):
        try:
            out.append(next(x for x in xs if x + k > limit))
        except StopIteration as error:
            out.append((error.value, error.args))
    return out


@program(lambda: ([1, 0],), lambda: ([],), lambda: (None,))
def order_of_what_next_is_given(xs):
    log = []

    def note(x):
        log.append(x)
        return x

    got = next((note(10 // x) for x in note(xs)), note("default"))
    return got, log, next((x for x in range(0)), *[]) if got is None else None


@program(lambda: ([1, 2, 3],), lambda: ([],))
def taken_within_a_generator(xs):
    def first_ones():
        for k in range(3):
            yield next(x for x in xs if x > k)

    out = []
    for x in first_ones():
        out.append(x)
    return out, sum(next((x for x in xs if x > k), 0) for k in range(4))


def steps(log, n):
    for i in range(n):
        log.append(i)
        yield i * i
    log.append("end")


@program(lambda: (5, 3), lambda: (0, 1), lambda: (2, 100))
def next_of_generator_functions(n, limit):
    log = []

    def nested():
        for x in steps(log, n):
            yield x + 1

    return (
        next(steps(log, n), "none"),
        next(nested(), None),
        next(filter(lambda x: x > limit, range(n)), -1),
        next(map(lambda x: x * limit, range(n)), -1),
        log,
    )


@program(lambda: ([3, 1],), lambda: ([],))
def own_function_of_that_name(xs):
    def next(items, default=0):
        return list(items), default

    return next(x + 1 for x in xs), next((x for x in xs), 5)


NEXT = next


@program(lambda: ([3, 1],), lambda: ([],))
def another_name_that_changes(xs):
    global NEXT
    NEXT = list if len(xs) else next
    try:
        return NEXT(x + 1 for x in xs)
    except StopIteration:
        return "stopped"
    finally:
        NEXT = next


@program(
    lambda: ([4, 1, 9],),
    lambda: ([],),
    lambda: (np.arange(6.0),),
    lambda: (["x", "y"],),
    lambda: (3,),
)
def loops_over_generator_expressions(xs):
    out, x = [], "outside"
    for y in (x * 2 for x in xs):
        out.append((y, x))
        xs = [7]
    else:
        out.append("else")
    for y in (a + b for a in xs for b in xs if b is not None):
        if len(out) > 6:
            break
        if len(out) == 4:
            out.append("four")
            continue
        out.append(y)
    else:
        out.append("all")
    return out, x, xs


@program(lambda: ([4, 1, 9], 4), lambda: ([], 1), lambda: ([0, 2.5], 2.5))
def returning_from_them(xs, wanted):
    limit = 0
    for i, x in enumerate(x for x in xs if x != limit):
        for y in (x + k for k in range(2)):
            if y == wanted:
                return i, x, y
        limit = x
    return [z for z in (y for y in (x + 1 for x in xs) if y != wanted) if z > limit], limit


@program(lambda: ([2, 0],), lambda: (["a"],), lambda: ([1],))
def errors_in_them(xs):
    total = 0
    for y in (6 // x for x in xs):
        total += y
    for y in (x for x in xs):
        total += 1 // (y - 1)
    return total


@program(lambda: ([[1, 2], [3]],), lambda: ([],))
def stopped_in_them(rows):
    out = []
    for first in (next(iter(row)) for row in [*rows, []]):
        out.append(first)
    return out


@program(lambda: ([1, 5, 2],), lambda: ([],))
def bound_in_them(xs):
    last = None
    for y in (last := x for x in xs):
        last = (last, y)
    return last, {k: v for k, v in ((x, x * x) for x in xs)}


@program(
    lambda: ([1, 2, 5], 30),
    lambda: ([4, 6], 9),
    lambda: ([], 2),
    lambda: ([0.5, 2], 3),
    lambda: ([1, "a"], 3),
)
def fewest_coins(coins, n):
    best = [0] + [float("inf")] * n
    for k in range(1, n + 1):
        best[k] = min((best[int(k - c)] + 1 for c in coins if c <= k), default=float("inf"))
    return best, max(steps([], n), default=None), max(map(abs, coins), default="none")


@program(lambda: ([3, 0],), lambda: ([],), lambda: (None,))
def order_of_defaults(xs):
    log = []

    def note(x):
        log.append(x)
        return x

    try:
        return max((6 // note(x) for x in note(xs)), default=note("default")), log
    except (ZeroDivisionError, TypeError) as error:
        return str(error), log

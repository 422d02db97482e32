"""Generator expressions that a builtin function uses up, in a loop of their own or as real generators."""

import math

import numpy as np

from tests.programs.harness import program


@program(
    lambda: ([1, 2, 3], 2.5),
    lambda: ((), 1),
    lambda: (np.arange(5.0), 2),
    lambda: ([1, True, 2**62, 2**62, 0.5], 2),
    lambda: (range(4), np.float32(2)),
    lambda: ([1, "x"], 2),
    lambda: (3, 2),
)
def sums(xs, a):
    return sum(x * a for x in xs if x), sum((x for x in xs), 10), sum((-0.0 for _ in xs), -0.0)


@program(
    lambda: (np.array([0.5, -1.0, 3.0]),),
    lambda: ([],),
    lambda: ([[], [1]],),
    lambda: ([np.ones(2)],),
)
def searches(xs):
    seen = []
    found = any(seen.append(k) or x for k, x in enumerate(xs))
    return found, all(seen.append(-k) or x for k, x in enumerate(xs)), seen


@program(
    lambda: ([3, -1.5, 3.0, True],),
    lambda: ([],),
    lambda: (np.array([2.0, np.nan, 1.0]),),
    lambda: (["b", "a"],),
    lambda: ([1, "a"],),
    lambda: ([2**70, 1, -(2**70)],),
)
def extrema(xs):
    return max(x for x in xs), min(x for x in xs), max((x for x in xs if x == 0), default=7)


@program(lambda: (7,), lambda: (0,), lambda: (2.5,))
def collected(n):
    lists = list(i * i for i in range(n)), tuple(i for i in range(n)), set(i % 3 for i in range(n))
    return (
        *lists,
        sorted((i % 4 for i in range(n)), key=lambda_key, reverse=True),
        frozenset(i for i in range(n)),
    )


def lambda_key(x):
    return -x


@program(lambda: ([1.5, 2], abs), lambda: ([], str), lambda: ([1, "x"], float))
def real_generators(xs, f):
    pairs = dict((x, f(x)) for x in xs)
    return pairs, math.fsum(f(x) for x in xs), max((x for x in xs), key=f)


@program(lambda: (5,), lambda: (0,))
def joined(n):
    return ",".join(str(i) for i in range(n)), np.fromiter(
        (i * 2 for i in range(n)), dtype=np.int32
    )


@program(lambda: (30,), lambda: (2,))
def within_loops(n):
    total = 0
    for i in range(n):
        total += sum(i * j for j in range(i) for k in range(2) if (j + k) % 2)
        if i > 1 and all(i % j for j in range(2, i)):
            total += 1000
    return total


@program(lambda: ([[1.0, 2.0], [3.0]],), lambda: ([[1], 2],))
def within_each_other(rows):
    return sum(sum(v for v in row) for row in rows), max(max(v for v in row) for row in rows)


@program(lambda: ([1, 0, 2],), lambda: ([2, 4],))
def errors_within(xs):
    return sum(1 / x for x in xs)


@program(lambda: ([1, [], 2],), lambda: ([2, 4],))
def errors_of_hashes(xs):
    return set(x for x in xs)


@program(lambda: ([1, 2, 3],), lambda: ([],))
def stopped(xs):
    it = iter(xs)
    return sum(next(it) for _ in range(4))


@program(lambda: (4,))
def variables_stay_outside(n):
    x = 10
    return sum(x * y for x in range(n) for y in range(x)), x


@program(lambda: (60,), lambda: (0,), lambda: (2.5,))
def nested_functions_within(n):
    table = [1, 1, 2, 6, 24]

    def cost(k):
        total = 0
        while k > 0:
            total += table[k % 5]
            k //= 5
        return total

    def is_cheap(cost_limit, k=1):
        return cost(k) < cost_limit

    table.append(0)
    return (
        sum(k for k in range(n) if cost(k) % 2),
        max(cost(k) for k in range(n)),
        any(is_cheap(k) for k in range(n)),
        sorted(cost(k) for k in range(3)),
        dict((k, cost(k)) for k in range(3)),
        math.fsum(cost(k) + is_cheap(k, k) for k in range(3)),
        sum(map(lambda k: cost(k) * 2, range(n))),
    )


@program(lambda: (9,), lambda: (0,))
def nested_functions_that_bind_within(n):
    calls = 0

    def counted(k):
        nonlocal calls
        calls += 1
        return k * calls

    def fall(k):
        return k and k + fall(k - 1)

    kept = (counted(k) + fall(k) for k in range(n))
    return sum(counted(k) for k in range(n)), sum(fall(k) for k in range(n)), list(kept), calls


# -- generator functions ------------------------------------------------------------------------------


def pairs(n, first=0):
    for i in range(first, n):
        for j in range(i + 1, n):
            yield i, j


def steps(n, step=2):
    i = 0
    while True:
        if i >= n:
            return "done"
        yield i
        i += step


def delegating(n):
    yield -1
    yield from steps(n)
    yield from (n, -n)


def none_at_all(n):
    if n < 0:
        yield
    return 5


def failing_generator(xs):
    for x in xs:
        yield 1 / x


@program(lambda: (np.arange(6.0),), lambda: ([1, 2, 3],), lambda: ([],), lambda: (np.arange(40.0),))
def loops_over_pairs(xs):
    i, j, total = None, None, 0.0
    for i, j in pairs(len(xs)):
        total += xs[i] * xs[j]
    for pair in pairs(3, 1):
        total += pair[0]
    return total, i, j


@program(lambda: (6,), lambda: (0,), lambda: (200,), lambda: (7.5,), lambda: ("a",))
def leaving_loops_over_generators(n):
    out = []
    for k in delegating(n):
        if k == 4:
            continue
        if k > 20:
            break
        out.append(k)
    else:
        out.append("else")
    for k in none_at_all(n):
        out.append(k)
    return out, k


@program(lambda: (6, 3), lambda: (0, 1), lambda: (50, 49), lambda: (5, 7))
def returning_from_loops_over_generators(n, wanted):
    for i, j in pairs(n):
        for k in steps(j, 3):
            if i + k == wanted:
                return i, j, k
        else:
            n -= 1
    return n, wanted


@program(lambda: (30,), lambda: (0,), lambda: (3,))
def generators_in_loops(n):
    total = 0
    for i in range(n):
        for k in steps(i):
            if k % 3:
                continue
            for m in range(k):
                if m == 5:
                    break
                total += m * i
            total += k
    return total


@program(
    lambda: ([1, 2.5, 4],), lambda: ([1, 0, 2],), lambda: (np.array([1.0, 0.0]),), lambda: (3,)
)
def errors_in_generators(xs):
    out = []
    for x in failing_generator(xs):
        out.append(x)
        xs[0] = 10
    return out


@program(lambda: ([1, 2, 0],), lambda: ([1, 2, 3],))
def errors_in_loops_over_generators(xs):
    total = 0
    for k in steps(len(xs), 1):
        total += 10 // xs[k]
    return total


@program(lambda: (3,), lambda: (1.5,))
def wrong_calls_of_generators(n):
    if n == 3:
        for i in pairs():
            n += i
    for i in pairs(n):
        n += i[0]
    return n


def counting(log):
    log.append("begins")
    for i in range(3):
        log.append(i)
        yield i
    log.append("ends")


@program(lambda: (0,), lambda: (1,), lambda: (2,))
def order_in_generators(kind):
    log = []
    for i in counting(log):
        log.append(-i)
        if i == kind:
            break
    i = 7
    for i in counting(log):
        log.append("body")
    return log, i


def stopping(xs):
    iterator = iter(xs)
    yield next(iterator)
    yield next(iterator)


def guarded(xs):
    for x in xs:
        try:
            yield 1 / x
        except ZeroDivisionError:
            yield 0


@program(lambda: ([1, 2, 3],), lambda: ([1],))
def generators_that_stay_generators(xs):
    log = []
    for x in guarded([1, 0, len(xs)]):
        log.append(x)
    for x in stopping(xs):
        log.append(x)
    shared = iter(xs)
    for x in passing_on(shared):
        break
    return log, list(shared)


def passing_on(iterator):
    yield from iterator


@program(lambda: (4,), lambda: (0,))
def nested_generator_functions(n):
    def squares(m):
        for i in range(m):
            yield i * i

    def nothing():
        return
        yield

    return sum(squares(n)), list(squares(n)), [x for x in squares(3)], list(nothing())


GENERATOR = steps


@program(lambda: (5,), lambda: (2,))
def generators_that_change(n):
    global GENERATOR
    GENERATOR = steps if n > 3 else delegating
    out = []
    for k in GENERATOR(n):
        out.append(k)
    steps.__defaults__ = (3,)
    for k in steps(n):
        out.append(k)
    steps.__defaults__ = (2,)
    return out


# -- comprehensions and builtins over them ------------------------------------------------------------


@program(lambda: (6,), lambda: (0,), lambda: (40,), lambda: (7.5,), lambda: ("a",))
def comprehensions_over_generator_functions(n):
    products = [i * j for i, j in pairs(n) if i + j != 4 if i]
    squares = {k: k * k for k in steps(n) if k % 3}
    inner = {i for k in steps(n, 3) for i in steps(k)}
    outer = [(i, k) for i in range(3) for k in delegating(i) if k > -2]
    return products, squares, sorted(inner), outer, [k for k in none_at_all(n)]


@program(lambda: (6,), lambda: (0,), lambda: (40,), lambda: (7.5,), lambda: ("a",))
def builtins_over_generator_functions(n):
    numbers = sum(steps(n)), sum(steps(n, 1), 10), sum(steps(n), 0.5)
    containers = list(delegating(n)), tuple(pairs(n)), set(steps(n)), sorted(steps(n), reverse=True)
    found = any(steps(n)), all(delegating(n)), any(i > 3 for i, j in pairs(n))
    products = sum(i * j for i, j in pairs(n)), max(i - j for i, j in pairs(n, -1))
    return numbers, containers, found, products, max(delegating(n)), max(steps(n), default=7)


@program(lambda: (5,), lambda: (0,), lambda: (-1,))
def extrema_of_no_elements(n):
    return min(steps(n)), max(none_at_all(n))


@program(
    lambda: ([1, 2.5, 4],), lambda: ([1, 0, 2],), lambda: (np.array([1.0, 0.0]),), lambda: (3,)
)
def errors_in_generators_of_builtins(xs):
    total = sum(failing_generator(xs))
    return total, [x for x in failing_generator(xs)]


@program(lambda: ([1, 0],), lambda: ([0, 1],), lambda: (None,))
def errors_in_comprehensions_over_generators(xs):
    if xs is None:
        return sum(pairs())
    return [1 // xs[k] for k in steps(len(xs), 1)]


@program(lambda: (0,), lambda: (1,), lambda: (5,))
def order_in_generators_of_builtins(kind):
    log = []
    found = any(i == kind for i in counting(log))
    log.append("found")
    return found, [log.append(i) for i in counting(log)], log


@program(lambda: (5,), lambda: (2,))
def generators_of_builtins_that_change(n):
    global GENERATOR
    GENERATOR = steps if n > 3 else delegating
    return sum(GENERATOR(n)), [k for k in GENERATOR(n)]


# -- generator expressions that bind variables around them -----------------------------------------------


@program(lambda: (300,), lambda: (2,))
def amicable_numbers(n):
    def divisors(k):
        return sum(d for d in range(1, k // 2 + 1) if k % d == 0)

    return sum(a for a in range(2, n) if (b := divisors(a)) != a and divisors(b) == a)


@program(lambda: ([1, 5, 2],), lambda: ([2.5, 0.5],), lambda: ([],), lambda: (["x"],))
def bound_within_a_generator(xs):
    last = found = None
    is_found = any((found := x) > 3 for x in xs)
    total = sum(last for x in xs if (last := x * 2) > 1)
    return is_found, found, total, last


@program(lambda: ([1, 2, 3],), lambda: ([],))
def bound_by_a_generator_that_is_kept(xs):
    doubled = (last := x * 2 for x in xs)
    last = -1
    seen = []
    for y in doubled:
        seen.append((y, last))
    return seen, last


@program(lambda: ([3, 1],), lambda: ([1, 200],))
def unbound_behind_a_generator(xs):
    total = sum(x for x in xs if x > 100 and (large := x))
    return total, large


@program(lambda: ([1, 2.5],))
def bound_within_lambdas_of_generators(xs):
    return list((lambda v: (w := v + 1) * w)(x) for x in xs), [*map(lambda v: (w := v) * w, xs)]

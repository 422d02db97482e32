"""Loops, exits and the state that crosses them."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (10, 3), lambda: (10, 100), lambda: (0, 1))
def break_with_else(n, stop):
    seen = 0
    for i in range(n):
        if i == stop:
            result = "broken"
            break
        seen += i
    else:
        result = "exhausted"
    return result, seen


@program(lambda: (30,), lambda: (2,), lambda: (100,))
def primes_below(n):
    found = []
    for candidate in range(2, n):
        for divisor in found:
            if divisor * divisor > candidate:
                found.append(candidate)
                break
            if candidate % divisor == 0:
                break
        else:
            found.append(candidate)
    return found


@program(lambda: (20,), lambda: (0,))
def continue_in_nested_loops(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        for j in range(i):
            if (i + j) % 2:
                continue
            if j > 10:
                break
            total += i * j
        total -= 1
    return total


@program(lambda: (12,), lambda: (1000,), lambda: (-5,))
def while_with_else(n):
    steps = 0
    while n > 0:
        n -= 3
        steps += 1
        if steps > 100:
            break
    else:
        steps = -steps
    return n, steps


@program(lambda: (7, 50), lambda: (3, 0), lambda: (97, 200))
def early_return_from_inner_loop(target, n):
    for i in range(2, n):
        for j in range(i, n):
            if i * j == target * 2:
                return i, j
            if i * j > 10 * target:
                break
    return None


@program(lambda: (5,), lambda: (0,), lambda: (1,))
def loop_variable_survives(n):
    last = -1
    for last in range(n):
        pass
    i = 100
    for i in range(3, 10, 4):
        i += 1
    return last, i


@program(lambda: (10, 0, -3), lambda: (0, 10, 3), lambda: (0, 10, -1), lambda: (-5, 5, 2))
def ranges_with_steps(start, stop, step):
    values = []
    for i in range(start, stop, step):
        values.append(i)
    r = range(start, stop, step)
    return values, len(r), list(r), r


@program(lambda: (4,), lambda: (0,))
def range_stop_is_read_once(n):
    out = []
    for i in range(n):
        n = n - 1
        out.append((i, n))
    return out, n


@program(lambda: (3,), lambda: (6,))
def triple_nest(n):
    count = 0
    for i in range(n):
        for j in range(i, n):
            for k in range(j, n):
                if i * i + j * j == k * k:
                    count += 1
                elif k > i + j:
                    break
                else:
                    continue
            else:
                count += 100
    return count


@program(lambda: ([3, 1, 2],), lambda: ([],), lambda: ([1.5, 2, "x"],))
def enumerate_and_reversed(xs):
    out = []
    for i, x in enumerate(xs):
        out.append((i, x))
    for i, x in enumerate(xs, 10):
        out.append((i, x))
    for x in reversed(xs):
        out.append(x)
    for i in reversed(range(3)):
        out.append(i)
    return out


@program(lambda: ([1, 2, 3], (4.0, 5.0)), lambda: ([], ()), lambda: ([1, 2], "ab"))
def zip_of_two(xs, ys):
    total = []
    for x, y in zip(xs, ys):
        total.append((x, y))
    for i, (x, y) in enumerate(zip(xs, ys)):
        total.append(x if i else y)
    return total


@program(lambda: (6,), lambda: (1,))
def while_true_with_several_exits(n):
    i = 0
    while True:
        i += 1
        if i > n:
            return "limit", i
        if i * i == 2 * n + 4:
            break
        if i == 40:
            continue
    return "square", i


@program(lambda: ([[1, 2], [3], []],), lambda: ([],))
def loop_over_nested_lists(rows):
    total = 0
    longest = None
    for row in rows:
        for x in row:
            total += x
        if longest is None or len(row) > len(longest):
            longest = row
    return total, longest


@program(lambda: ({"a": 1, "b": 2},), lambda: ({},))
def loop_over_dict_and_set(d):
    out = []
    for key in d:
        out.append(key)
    for key, value in d.items():
        out.append((key, value))
    total = 0
    for x in {1, 2, 3}:
        total += x
    return out, total


@program(lambda: (8,), lambda: (0,))
def loop_over_generator(n):
    total = 0
    for x in (i * i for i in range(n)):
        total += x
    for x in map(abs, [-1, -2]):
        total += x
    return total


@program(lambda: ([1, 2, 3, 4],))
def list_grows_while_iterated(xs):
    n = 0
    for x in xs:
        n += x
        if len(xs) < 8:
            xs.append(x * 10)
    return n


@program(lambda: (25, 10.0), lambda: (3, 1.0))
def several_carried_values(n, x):
    a = b = 0
    c = x
    flag = False
    for i in range(n):
        if flag:
            a, b = b, a + i
        else:
            c = c * 0.5 + a
        flag = not flag
    return a, b, c, flag


@program(lambda: (5000,), lambda: (10,))
def hot_loop_with_rare_type_change(n):
    x = 0
    for i in range(n):
        if i == 3000:
            x = x + 0.5
        x = x + 1
    return x


@program(lambda: (2000, 1500), lambda: (2000, 5000))
def hot_loop_with_early_return(n, stop):
    total = 0
    for i in range(n):
        total += i
        if i == stop:
            return "stopped", total
    return "done", total


@program(lambda: (3000,), lambda: (1,))
def hot_loop_with_list_effects(n):
    log = []
    total = 0
    for i in range(n):
        total += i & 3
        if i % 500 == 0:
            log.append(total)
    return total, log


@program(
    lambda: ([1, 2, 3], (4.5, 5.5)), lambda: ([1], "ab"), lambda: ([], ()), lambda: ([1, 2], 5)
)
def iterators_within_iterators(xs, ys):
    found = []
    for i, (x, y) in enumerate(zip(xs, ys)):
        found.append((i, x, y))
        if i == 0 and len(xs) < 4:
            xs.append(7)
    for (i, x), y in zip(enumerate(xs, 5), ys):
        found.append((i, x, y))
    pairs = zip(xs, ys)
    for i, pair in enumerate(pairs):
        found.append((i, pair, next(pairs, None)))
    return found, list(zip(xs, enumerate(ys)))


SIGNED = np.array([-0.0, 0.5, -0.0, -1.5, 0.0, 2.0, -0.0, np.inf, -3.25, np.nan, -np.inf, 1e-300])


@program(
    lambda: (SIGNED, 0.0, -0.0),
    lambda: (SIGNED[:7], -0.0, -0.0),
    lambda: (SIGNED[:1], -0.0, 0.0),
    lambda: (-SIGNED, -1.0, np.float64(-0.0)),
    lambda: (SIGNED[:9].astype(np.float32), 0.0, -0.0),
    lambda: (np.arange(5), 2.0, -0.0),
    lambda: (SIGNED[:0], 0.0, -0.0),
    lambda: ([0.5, -0.0, 3, -2.0], 0.0, -0.0),  # a list
)
def sums_of_what_is_chosen(x, limit, first):
    above = below = ties = kept = other = first
    for k in range(len(x)):
        v = x[k]
        if v > limit:
            above += v
            kept -= v * 0.5
        elif v == limit:
            ties += 0.5
            kept -= v
        else:
            below = below - v
            other = v + other
    return above, below, ties, kept, other


@program(
    lambda: (SIGNED, -0.0),
    lambda: (-SIGNED, np.float64(2.0)),
    lambda: (SIGNED[:1], -0.0),
    lambda: (SIGNED[:0], 1.0),
)
def sums_of_what_is_not_left_out(x, first):
    total = rest = first
    for k in range(len(x)):
        if x[k] <= 0.0:
            rest = x[k] * 0.5
            continue
        total += x[k]
        rest -= total
    return total, rest

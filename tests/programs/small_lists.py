"""Small lists that no one else sees, those that somebody does see in the end, and choosing from items."""

import numpy as np

from tests.programs.harness import program


@program(
    lambda: (4, 0.5),
    lambda: (0, 1),
    lambda: (3, 2**70),
    lambda: (2, "x"),
    lambda: (3, np.float32(1)),
)
def items_are_variables(n, x):
    p = [0, 1, 2]
    for i in range(n):
        p[0] += p[1] * x
        p[1], p[-1] = p[2], p[0] + i
    return p[0], p[-2], p[2]


@program(lambda: (5,), lambda: (0,), lambda: (1,))
def returned_in_the_end(n):
    p = [0.0, 1.0, 0]
    q = [p[0], p[1]]
    for i in range(n):
        p[0] += p[1]
        p[2] = i
        q[1] = p[0] * 0.5
    if n > 3:
        q[0] = p
        return q, p, q
    return p, [p, p]


@program(lambda: (6, 2), lambda: (6, 9), lambda: (0, 0))
def seen_by_a_call_in_the_middle(n, stop):
    kept = []
    p = [1, 2]
    for i in range(n):
        p[1] += i
        if i == stop:
            kept.append(p)
        p[0] += 1
    return p, kept


@program(lambda: (7, 1), lambda: (3, 5), lambda: (9, 0))
def leaves_with_the_list(n, stop):
    state = [0, 1.5, None]
    for i in range(n):
        state[0] += i
        if i == stop:
            state[2] = "stopped"
            return state
        state[1] *= 2
    state[2] = n
    print(state)
    return state[0], state


@program(lambda: (5,), lambda: (0,), lambda: (2,))
def made_anew_each_trip(n):
    total = 0
    last = [0, 0]
    for i in range(n):
        v = [i, 1.5, 2]
        v[0] += v[1]
        v[2] *= v[0]
        total += v[0] + v[-1]
        last = v
    return total, last


@program(lambda: (9, 4), lambda: (5, 2), lambda: (4, 7), lambda: (3, -1))
def a_table_of_literals(n, m):
    dx = [0, 1, 0, -1]
    w = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    x, s = 0, 0.0
    for i in range(n):
        x += dx[i % m]
        s += w[i] * [1, 2][x % 2]
    return x, s


@program(
    lambda: (3, 1), lambda: (4, -2), lambda: (3, True), lambda: (3, np.int64(1)), lambda: (3, 1.5)
)
def a_place_of_any_kind(n, d):
    items = [n, 2.5, n + 1]
    mixed = [n, "text", None]
    return items[d], mixed[d], [d, d][n]


@program(lambda: (3, slice(0, 2)), lambda: (3, slice(None)))
def a_slice_of_a_list_that_is_gone(n, d):
    items = [n, n + 1, n + 2]
    items[1] = 7
    part = items[d]
    part.append(1)
    return part, items[0], items[d]


@program(lambda: (np.arange(30).reshape(5, 6),), lambda: (np.ones((3, 3)),))
def neighbours_in_a_list_of_pairs(g):
    n, m = g.shape
    total = 0
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for dx, dy in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
                total += g[i + dx, j + dy] * (dx in [0, 1])
    return total


@program(lambda: (4,), lambda: (1.5,))
def loops_over_literals(x):
    seen = []
    total = 0
    for v in [x, 2, 3.5]:
        total += v
    for v in [x, "two", None]:
        seen.append(v)
    for v in []:
        seen.append(v)
    return total, seen, x in [1, 4], x not in [], x == [x][0]


@program(lambda: (4,), lambda: (0,))
def changed_while_iterated(n):
    p = [1, 2, 3]
    seen = []
    for v in p:
        p[2] = n
        seen.append(v)
    return seen, p[2]


@program(lambda: (3,), lambda: (2.5,))
def lists_within_lists(x):
    m = [[x, 0], [0, x]]
    v = [1, 2]
    for _ in range(3):
        m[0][1] += 1
        v = [m[0][0] * v[0] + m[0][1] * v[1], m[1][0] * v[0] + m[1][1] * v[1]]
    return v[0], v[1], m[0][1]


@program(lambda: (np.arange(4.0), np.ones(4), 5), lambda: (np.arange(3), np.ones((3, 2))[:, 0], 2))
def ping_pong_between_arrays(a, b, n):
    buffers = [a, b]
    for t in range(n):
        source, target = buffers[t % 2], buffers[(t + 1) % 2]
        for i in range(1, len(source) - 1):
            target[i] = source[i - 1] + source[i + 1]
    return buffers[n % 2]


@program(lambda: (3,), lambda: (0,))
def repeated_items(n):
    sums = [0.0] * 3
    for i in range(n):
        sums[0] += i
        sums[1] += i * i
        sums[2] -= sums[0]
    return sums[0], sums[1], sums[2]


@program(lambda: (5,), lambda: (-1,))
def out_of_bounds(n):
    p = [1, 2]
    total = 0
    for i in range(n):
        total += p[i]
    p[2] = total
    return p


@program(lambda: (5,))
def a_literal_index_out_of_bounds(n):
    p = [1, 2]
    p[0] = n
    return p[-3]


@program(lambda: (5, 1.5), lambda: (0, 2))
def carried_lists(n, x):
    v = [0.0, 1.0, x]
    for k in range(n):
        v = [v[1], v[2], v[0] * 0.5 + k]
    return v


@program(lambda: (7,), lambda: (2,), lambda: (4,))
def lists_of_branches(n):
    p = [1, n] if n > 3 else [n, 2]
    x, y = p
    if n > 5:
        return p, x
    shown = sorted(p, reverse=True)
    return shown, x, y, 2 in p


@program(lambda: (5,), lambda: (0,))
def swapped_lists(n):
    v, w = [0, 1], [3, 4]
    sums = []
    for _ in range(n):
        v, w = w, [v[1], w[0] + 1]
        s = 0
        for x in v:
            s += x
        sums.append(s)
    return sums, v


@program(lambda: (5,), lambda: (2,))
def carried_lists_that_are_one(n):
    v = [0, 1]
    w = v
    for i in range(n):
        w = v
        v = [v[1], i]
        if i == 3:
            v = w
    v.append(9)
    return w, v, v is w


def _change(items):
    items[0] = -1
    items.append(7)


@program(lambda: (4,), lambda: (0,))
def carried_lists_seen_before(n):
    v = [n, 1]
    w = v
    _change(v)
    for i in range(n):
        v = [v[1], v[0] + i]
    return v[0], w[0]


@program(lambda: (4,), lambda: (0,))
def carried_lists_seen_under_one_name(n):
    v = w = [n, 1]
    for i in range(n):
        w = v
        if i % 2:
            v = [v[1], i]
    _change(v)
    return w[0], v[0]


@program(lambda: (True,), lambda: (False,))
def shown_and_returned(flag):
    v = [1, 2]
    v[0] = 5
    _change(v)
    if flag:
        return v
    return v[0]


@program(lambda: (4,), lambda: (0,))
def shown_in_a_loop_and_returned_there(n):
    v = [1, n]
    v[0] = 5
    for i in range(5):
        if i == n:
            return v
        _change(v)
    return v[0]


@program(lambda: (1.0, 2.0), lambda: (3, 4))
def unpacked_with_too_many_items(x, y):
    v = [x, y, x + y]
    v[0] = x * 2
    a, b = v
    return a + b


@program(lambda: (1.0, 2.0), lambda: (3, 4))
def unpacked_with_a_rest(x, y):
    v = [x, y, x + y]
    v[0] = x * 2
    a, *rest = v
    return a, rest


@program(lambda: (4,), lambda: (0,))
def a_list_that_is_written_before_another_takes_its_name(n):
    p, total = [1.0, 2.0, 3.0], 0.0
    for i in range(n):
        p[1] = p[0] + i
        total += p[1]
        p = [p[1], p[0], p[2]]
    return total, p[0], p[1], p[2]


@program(lambda: (3, 2.5), lambda: (7, 2.5), lambda: (3, 1), lambda: (9, 2**70))
def summed_where_there_were_none(n, x):
    return sum([x for i in range(n) if i > 4])


@program(
    lambda: ([1, 2], [3, 4]),
    lambda: ([2**127, -7], [2**31, 2**64 - 1]),
    lambda: ([None, 1], [2**63, 1.5]),
)
def beside_ints_of_any_size(xs, ys):
    halves = []
    for _, y in zip(xs * 4, ys * 4):
        halves.append(y / 2.0)
    return halves


@program(
    lambda: ([3, 5, 7], (1, 2.5, 3)),
    lambda: ([3], ("a", None, [1])),
    lambda: ([], ()),
    lambda: ([1], (2,)),
    lambda: ([2**62, 2**62], (2**62, 1)),
)
def parts_of_tuples_behind_stars(xs, given):
    a, b, rest, kept = 0, 1, None, []
    for x in xs:
        a, b = b, a + x
        first, *rest = (a, b, x)
        rest.append(first)
        *others, last = rest
        others[0] += last
        kept.append((others, rest))
        (*nothing,) = ()
        nothing.append(x)
    first, *middle, last = given
    return a, b, rest, kept, first, middle, last

"""Lists of numbers that a function makes for itself: native code keeps them unboxed, and nobody can tell."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (60,), lambda: (2,), lambda: (0,), lambda: (-3,))
def sieve_of_bools(n):
    is_prime = [True] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if is_prime[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    return count, is_prime


@program(lambda: (40, 7), lambda: (5, 9), lambda: (40, -3), lambda: (3, 0))
def histogram(n, m):
    counts = [0] * m
    for i in range(n):
        counts[i * i % 11 - 3] += 1
    total = 0
    for c in counts:
        total = total * 3 + c
    return total, counts


@program(lambda: (9, 2**62), lambda: (3, 1), lambda: (70, 3), lambda: (4, 2.5))
def powers_that_outgrow_a_word(n, base):
    values = [base] * n
    for i in range(1, n):
        values[i] = values[i - 1] * base
    return values[n - 1], len(values)


@program(lambda: (20, 4), lambda: (20, 19), lambda: (20, 20), lambda: (20, -20), lambda: (20, -21))
def place_that_is_asked_for(n, k):
    values = [0.5] * n
    for i in range(n):
        values[i] += i
    values[k] = -0.0
    return values[k], values[-1]


@program(lambda: (5,), lambda: (1,), lambda: (0,))
def stack_of_pairs(n):
    stack = [(0, n)]
    total = 0
    depth = 0
    while stack:
        low, high = stack.pop()
        depth = max(depth, len(stack))
        if high - low <= 1:
            total += low
        else:
            middle = (low + high) // 2
            stack.append((low, middle))
            stack.append((middle, high))
    return total, depth, stack


@program(lambda: (7, 3), lambda: (2, 5))
def popped_once_too_often(n, extra):
    stack = [n]
    for i in range(n):
        stack.append(i)
    total = 0
    for _ in range(n + extra):
        total += stack.pop()
    return total


@program(lambda: (6,), lambda: (1,), lambda: (0,))
def tuples_of_three_kinds(n):
    seen = [(0, 0.5, True)]
    for i in range(n):
        k, x, flag = seen[i]
        seen.append((k + 1, x * 0.5, not flag))
    return seen[n], seen[-1], len(seen)


@program(lambda: (8,), lambda: (0,))
def two_names_of_one_list(n):
    a = b = [1] * 4
    for i in range(n):
        a[i % 4] += i
        b[(i + 1) % 4] += 1
    return a[0] + b[1], a[2]


@program(lambda: (8, True), lambda: (5, False), lambda: (0, True))
def one_of_two_lists(n, first):
    a = [0] * 5
    b = [10] * 5
    c = a if first else b
    for i in range(n):
        c[i % 5] += i
        b[0] += 1
    return a[0] + b[0] + c[3]


@program(lambda: (6, 5), lambda: (1, 3), lambda: (4, 0), lambda: (0, 2))
def rows_that_change_places(n, m):
    above = [1] * (m + 1)
    below = [0] * (m + 1)
    for _ in range(n):
        below[0] = 1
        for j in range(1, m + 1):
            below[j] = below[j - 1] + above[j]
        above, below = below, above
    return above[m], below[0]


@program(lambda: (5,), lambda: (0,))
def new_row_in_each_trip(n):
    row = [1]
    for _ in range(n):
        after = [1] * (len(row) + 1)
        for j in range(1, len(row)):
            after[j] = row[j - 1] + row[j]
        row = after
    return row


@program(lambda: (6, 5), lambda: (2, 7), lambda: (1, 1), lambda: (0, 3), lambda: (3, 0))
def grid_of_sums(n, m):
    grid = [[0] * m for _ in range(n)]
    for i in range(n):
        grid[i][0] = i
    for i in range(1, n):
        for j in range(1, m):
            grid[i][j] = max(grid[i - 1][j], grid[i][j - 1]) + i * j % 3
    return grid[n - 1][m - 1], grid


@program(lambda: (4,), lambda: (1,))
def rows_that_are_one(n):
    row = [0] * n
    grid = [row, row, [5] * n]
    for i in range(n):
        grid[0][i] += i
        grid[1][i] += 1
        grid[2][i] += grid[0][i]
    return grid[2][n - 1], row


@program(lambda: (10, 1), lambda: (10, 1.5), lambda: (10, True))
def items_of_several_types(n, x):
    values = [0] * 4
    for i in range(n):
        values[i % 4] += x
    values.append(None)
    return values[0], values[3]


@program(lambda: (9,), lambda: (0,))
def squares_by_append(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    total = 0
    for k in range(len(squares)):
        total += squares[k] * squares[-1 - k]
    return total


@program(lambda: (9,), lambda: (0,))
def halves_of_a_comprehension(n):
    halves = [i * 0.5 for i in range(n)]
    best = -1.0
    for k in range(1, n):
        halves[k] += halves[k - 1]
        best = max(best, halves[k])
    return best


@program(lambda: (5, 40), lambda: (5, 4))
def list_that_grows_while_it_is_read(n, limit):
    values = [n]
    total = 0
    for v in values:
        total += v
        if v > 1 and len(values) < limit:
            values.append(v - 1)
            values.append(v // 2)
    return total, len(values)


@program(lambda: (12, 5), lambda: (12, 50))
def seen_by_a_handler(n, k):
    values = [0] * n
    try:
        for i in range(n):
            values[i] = i * i
        values[k] += 1
    except IndexError as error:
        return str(error), values
    return values[k], values


@program(lambda: (6,), lambda: (0,))
def shown_to_a_function(n):
    values = [3] * n
    for i in range(n):
        values[i] -= i % 2
    return sorted(values), sum(values), values


@program(lambda: (3, 1), lambda: (0, 1), lambda: (0, 0))
def nothing_to_read(n, m):
    values, others = [0.5] * -1, []
    for _ in range(m):
        if others:
            values.append(1.5)
    values[-1] += values[0]
    return values[0]


@program(lambda: (3,), lambda: (0,))
def raises_in_front_of_appending(n):
    values, others = [], []
    for i in range(n):
        if others:
            values.append(i)
    values[0] += 1
    return values, others


@program(
    lambda: (np.arange(9.0),), lambda: (np.arange(5, dtype=np.int8),), lambda: (np.ones(0, bool),)
)
def numbers_of_numpy(a):
    values = []
    pairs = []
    for i in range(len(a)):
        values.append(a[i])
        pairs.append((i, a[i]))
    for i in range(1, len(values)):
        values[i] = values[i - 1]
        k, x = pairs[i]
        pairs[i - 1] = (k, values[0])
    return values, pairs


@program(lambda: (9, 2), lambda: (9, -2), lambda: (0, 0), lambda: (1, 5))
def lists_of_ranges(n, k):
    numbers = list(range(n))
    down = list(range(n, -n, -2))
    while not not numbers and k > 0:
        numbers[0], numbers[-1] = numbers[-1], numbers[0]
        numbers.pop()
        k -= 1
    return numbers, len(down), down[k]


@program(
    lambda: (9, 2, 7, 1),
    lambda: (9, -3, 99, 2),
    lambda: (9, 7, 1, -2),
    lambda: (5, -9, -1, 1),
    lambda: (5, 1, 2, 0),
)
def parts_of_lists(n, start, stop, step):
    numbers = [i * i for i in range(n)]
    copy = numbers[:]
    part = numbers[start:stop]
    strided = numbers[start:stop:step]
    copy[0] = -1
    total = numbers[0] + copy[0]
    for x in part:
        total = total * 3 + x
    for x in strided:
        total = total * 3 - x
    again = list(part)
    again.append(total)
    return total, again[-1], len(part)


@program(lambda: (7, 3), lambda: (4, 0), lambda: (2, 1))
def generations(n, steps):
    cells = [[(i * j) % 3 == 1 for j in range(n)] for i in range(n)]
    for _ in range(steps):
        after = [[False] * n for _ in range(n)]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                after[i][j] = cells[i - 1][j] != cells[i][j + 1]
        cells = after
    return sum([sum(row) for row in cells])


@program(lambda: (97, 3), lambda: (997, 7), lambda: (4, 2), lambda: (0, 1))
def numbers_seen_before(n, k):
    seen = []
    halves = [0.5]
    x = 1
    while x not in seen:
        seen.append(x)
        if x * 0.5 in halves:
            halves.append(-0.0)
        halves.append(x * 0.5 + 1.0)
        x = x * k % n
    return len(seen), 0.0 in halves, float("nan") in halves, halves[len(halves) // 2], x in seen


@program(lambda: (30, 5), lambda: (6, 0), lambda: (0, 3), lambda: (9, 2**62))
def sums_of_a_window(n, start):
    window = [start] * 4
    total = 0
    for i in range(n):
        window[i % 4] = i
        total += sum(window) + sum(window, start)
    return total, sum(window, 0.5), sum(window, True)


@program(lambda: (9, 1), lambda: (2, 1), lambda: (0, 1), lambda: (9, 0))
def sums_of_what_may_be_nothing(n, k):
    floats = [-0.0 for _ in range(n * k)]
    flags = [i > 3 for i in range(n)]
    return sum(floats), sum(floats, k), sum(floats, -0.0), sum(flags), sum(flags[k:], 2)


@program(lambda: (9, 2.5), lambda: (3, float("nan")), lambda: (9, float("-inf")), lambda: (0, 1.0))
def extrema_of_rows(n, x):
    rows = [[(i * j % 5 - 2) * x for j in range(n)] for i in range(n)]
    low, high = 0.0, 0.0
    for row in rows:
        low += min(row)
        high = max(high, max(row))
    return low, high, max([len(row) for row in rows])


@program(lambda: (7,), lambda: (1,), lambda: (0,))
def extremum_of_nothing(n):
    stack = [i * 5 % 7 for i in range(n)]
    total = 0
    while total < 99:
        total += max(stack) + 1
        stack.pop()
    return total


@program(
    lambda: ([3, 1, 2],),
    lambda: ([3.5, 1.5],),
    lambda: ([],),
    lambda: ([True, False],),
    lambda: ([1, 2.5, True],),
)
def sums_and_extrema_of_an_argument(values):
    return sum(values), min(values), max(values)


@program(lambda: (12, 3), lambda: (12, 20), lambda: (0, 3))
def means_of_parts(n, width):
    values = [i * 0.5 for i in range(n)]
    means = []
    for i in range(n - width + 1):
        part = values[i : i + width]
        means.append(sum(part) / len(part))
    return means, values[:width]


@program(lambda: (9, 4), lambda: (3, 7), lambda: (0, 2), lambda: (5, 2**63 - 3))
def numbered_items(n, start):
    values = []
    for i in range(n):
        values.append(i * i % 7)
    total = 0
    for i, x in enumerate(values, start):
        total = total * 3 + x - i
    for i, x in enumerate(values):
        if i < 20 and len(values) < 15:
            values.append(x + i)
    return total, values


@program(lambda: (9, 4), lambda: (3, 7), lambda: (0, 2), lambda: (9, -1))
def items_side_by_side(n, m):
    ints = [i * 3 % 11 for i in range(n)]
    floats = [i * 0.5 for i in range(m)]
    dot = 0.0
    for i, (x, y) in enumerate(zip(ints, floats)):
        dot += x * y
        ints[i] += 1
        if i == 5:
            floats.pop()
    for x, k in zip(ints, range(3)):
        dot += x * k
    return dot, ints


@program(lambda: (9,), lambda: (1,), lambda: (0,))
def items_from_the_end(n):
    values = [i * 5 % 7 for i in range(n)]
    rows = [[x, x + 1] for x in values]
    total = 0
    for x in reversed(values):
        total = total * 3 + x
        if x == 5:
            values.pop()
    for row in reversed(rows):
        row[0] += 1
        for i, x in enumerate(row):
            total += x * i
    return total, rows


@program(lambda: (4, 3), lambda: (2, 9), lambda: (0, 1))
def rows_that_are_numbered(n, k):
    grid = [[i * j for j in range(n)] for i in range(n)]
    total = 0
    for i, row in enumerate(grid):
        for j, x in enumerate(row):
            total += x * (i - j)
            row[j] = total % 5
        for a, b in zip(row, grid[0]):
            total += a - b
    return total, grid[k % n]


@program(lambda: (6, 3), lambda: (6, 9), lambda: (1, 1))
def an_iteration_that_goes_on_after_a_failure(n, k):
    values = [i for i in range(n)]
    other = values
    seen = 0
    for i, x in enumerate(values):
        if i == k:
            other.append(2**70)
            values[i] = 7
        if i > 20:
            break
        seen += x
    return seen, values is other, values


@program(lambda: (5,), lambda: (1,), lambda: (0,))
def an_iteration_over_what_is_shown(n):
    values = [i * 2 for i in range(n)]
    total = 0
    for x in values:
        total += x
    shown = [values, values]
    for i, x in enumerate(values):
        shown[i % 2].append(x) if i < 3 else None
        total += x
    return total, shown


@program(lambda: (9, 2), lambda: (3, 0), lambda: (0, 4), lambda: (5, 2**62))
def lists_behind_one_another(n, x):
    values = [x]
    more = [i * 3 for i in range(n)]
    for i in range(4):
        values.extend(more)
        more += [i, x]
        values.extend(values[:2])
    both = values + more
    more.extend(more)
    total = 0
    for v in both:
        total = (total * 3 + v) % 1000003
    return total, len(values), more, both[:3]


@program(lambda: (9, 2), lambda: (3, -2), lambda: (4, -99), lambda: (5, 99), lambda: (0, 0))
def items_put_in_between(n, place):
    values = [0.5]
    pairs = [(n, 0.5)]
    for i in range(n):
        values.insert(place, i * 0.5)
        values.insert(i, -0.0)
        pairs.insert(i > 2, (i, values[0]))
    total = 0.0
    for v in values:
        total = total * 0.5 + v
    for k, x in pairs:
        total += k * x
    return total, values, pairs[0]


@program(
    lambda: (9, 0),
    lambda: (9, -1),
    lambda: (9, 4),
    lambda: (9, 9),
    lambda: (9, -10),
    lambda: (3, True),
)
def items_taken_from_anywhere(n, place):
    values = [i * i for i in range(n)]
    total = 0
    while values:
        total = total * 7 % 1009 + values.pop(place)
        if total % 3 == 0:
            values.append(-1)
        place //= 2
    return total


@program(lambda: (7,), lambda: (1,), lambda: (0,))
def queue_of_places(n):
    queue = [0]
    seen = [False] * n
    order = []
    while queue and n:
        place = queue.pop(0)
        if not seen[place]:
            seen[place] = True
            order.append(place)
            queue.append((place * 2 + 1) % n)
            queue.insert(0, (place + 3) % n)
    return order, sum(seen)


@program(lambda: (8,), lambda: (1,), lambda: (0,))
def lists_turned_round(n):
    values = [i * i % 7 for i in range(n)]
    flags = [i > 3 for i in range(n)]
    kept = values
    total = 0
    for i in range(n):
        values.reverse()
        copy = values.copy()
        copy[i] += total
        flags.reverse()
        total += copy[0] + flags[i]
        if i % 3 == 2:
            values = copy
    copy.clear() if n > 5 else None
    copy.append(total)
    return total, values is kept, copy, kept, flags[:2]


@program(lambda: ([1, 2, 3],), lambda: ([1.5, "a"],), lambda: ([],))
def methods_on_an_argument(values):
    other = values.copy()
    other.insert(1, 7)
    other.extend(values)
    values += other
    values.reverse()
    taken = values.pop(0)
    return taken, values.pop(-2), other + values


@program(lambda: (70, 11), lambda: (33, 2**31), lambda: (16, 1), lambda: (1, 5), lambda: (0, 5))
def ints_in_order(n, m):
    values = []
    x = n
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        values.append(x % m - 3)
    falling = sorted(values, reverse=True)
    rising = sorted(values)
    total = 0
    for a, b, c in zip(values, rising, falling):
        total = (total * 31 + a * 3 + b * 5 + c) % 1000003
    values.sort()
    values.insert(0, total)
    return values


@program(
    lambda: (70, 0.5), lambda: (40, 0.0), lambda: (40, float("nan")), lambda: (3, float("-inf"))
)
def floats_in_order(n, x):
    values = [((i * 37 % 23) - 11) * x for i in range(n)]
    for i in range(n):
        if values[i] == 0.0 and i % 2:
            values[i] = -0.0
    falling = sorted(values, reverse=True)
    values.sort()
    total = 0.5
    for i, (y, z) in enumerate(zip(values, falling)):
        total += y * i - z
    return total, values


@program(lambda: (5, True), lambda: (5, False), lambda: (0, True))
def sorted_in_other_ways(n, falling):
    values = [(i * 3 % 5, i) for i in range(n)]
    flags = [i % 3 == 0 for i in range(n)]
    values.sort(reverse=falling)
    flags.sort()
    words = sorted(["b", "a", str(n)])
    far = sorted([i - 2 for i in range(n)], key=abs)
    return values, flags, words, far, sorted((n, 1)), sorted(range(n), reverse=True)


@program(lambda: (3,), lambda: (2,), lambda: (7,))
def sorted_by_what_is_no_flag(n):
    """CPython 3.11 takes ints of C only."""
    pair = [1, n] if n > 3 else [n, 2]
    x, y = pair
    if n > 5:
        return pair, x
    return sorted(pair, reverse=np.float64(True)), x, y, 2 in pair


@program(lambda: (3, []), lambda: (2, []), lambda: (7, []))
def sorted_in_place_by_what_is_no_flag(n, log):
    pair = [n, 2]
    for i in range(n):
        pair.append(i)
    x = pair[0]
    log.append(x)
    pair.sort(reverse=1.0)
    return x + pair[0]


@program(lambda: (3,), lambda: (0,))
def sorted_by_large_flags(n):
    found = []
    for k in range(n):
        numbers = [k, 2, 1]
        numbers.sort(reverse=7)
        found.append(numbers)
        found.append(sorted([k, 2, 1], key=abs, reverse=-1))
        found.append(sorted([k, 2, 1], reverse=2**31))
    return found


@program(lambda: (3,), lambda: (0,))
def sorted_in_place_by_a_float(n):
    found = []
    for k in range(n):
        numbers = [k, 2, 1]
        numbers.sort(reverse=1.5)
        found.append(numbers)
    return found

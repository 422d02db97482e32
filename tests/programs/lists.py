"""Lists that are filled, emptied and read in loops; items that outlive the list that held them."""

import numpy as np

from tests.programs.harness import program


@program(lambda: ([3, 1, 4, 1, 5, 9, 2, 6],), lambda: ([],), lambda: (list(range(100)),))
def pushed_and_popped(ks):
    stack = []
    total = 0
    for k in ks:
        if k % 3 and stack:
            total += stack.pop()
        else:
            stack.append(k)
    return total, stack


@program(lambda: ([1.5, 2.5, 3.5],), lambda: ([1.5, 2, "x"],), lambda: ([],), lambda: ([None],))
def popped_to_the_end(xs):
    seen = []
    while True:
        seen.append(xs.pop())


@program(lambda: ([1, 2, 3, 4],), lambda: ([1, 2],))
def popped_in_front_and_behind(xs):
    first = xs.pop(0)
    last = xs.pop(-1)
    return first, last, xs


@program(lambda: (40,), lambda: (0,), lambda: (1000,))
def grows_and_shrinks(n):
    xs = []
    for i in range(n):
        xs.append(i * 0.5)
    total = 0.0
    for _ in range(n // 2 + n // 3):
        total += xs.pop()
    for i in range(n // 4):
        xs.append(i + 0.25)
    return total, xs


@program(lambda: ([[1.0, 2.0], [3.0, 4.0]],), lambda: ([[1.0], [2]],), lambda: ([[], [1.0]],))
def product_of_nested_lists(a):
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * a[k][j]
    return c


@program(lambda: ([[1, 2], [3, 4], [5]],), lambda: ([[1]],))
def a_row_outlives_its_place(rows):
    row = rows[0]
    rows[0] = [7, 8]
    total = row[0] + rows[0][0]
    kept = rows.pop()
    kept.append(total)
    rows[-1 if rows else 0 :] = []
    return total, kept, row, rows


@program(lambda: ([["a", "b"], ["c", "d"]],), lambda: ([["x"]],))
def items_of_rows_that_are_replaced(rows):
    seen = []
    for i in range(len(rows)):
        item = rows[i][0]
        rows[i] = [item + "!"]
        seen.append(item)
        seen.append(rows[i][0])
    return seen


@program(lambda: ([True, False, True, True],), lambda: ([1, 0, None],), lambda: ([],))
def flags_are_set_and_cleared(flags):
    for i in range(len(flags)):
        flags[i] = False
        if i % 2:
            flags[i - 1] = True
    return flags


@program(lambda: ([np.arange(3.0), np.ones(2)],), lambda: ([np.zeros(1)],))
def arrays_in_a_list(arrays):
    total = 0.0
    last = None
    for i in range(len(arrays)):
        arrays[i][0] += 1.0
        total += arrays[i][0]
        last = arrays[i]
        arrays[i] = arrays[0]
    return total, last, arrays


@program(lambda: ([(1, [2.0]), (3, [4.0])],), lambda: ([],))
def lists_in_tuples_in_lists(pairs):
    total = 0.0
    for i in range(len(pairs)):
        number, values = pairs[i]
        total += number * values[0]
        values[0] = total
    return total, pairs


@program(lambda: ([1, 2, 3],), lambda: ([1.5],))
def the_same_list_twice(xs):
    ys = [xs, xs]
    for i in range(len(xs)):
        ys[0][i] = ys[1][i] * 2
        ys[1].append(ys[0][i])
        if len(xs) > 20:
            break
    return xs, ys


@program(
    lambda: ([1.5, 2.5, 3.5], np.array([0, 2, -1, 1])),
    lambda: ([1, 2], np.array([1, -3], dtype=np.int8)),
    lambda: ([1, 2], np.array([1, 2**63], dtype=np.uint64)),
    lambda: ((4, 5, 6), np.array([2, 0], dtype=np.uint16)),
    lambda: ("text", np.array([2, 7])),
    lambda: ([1, 2], np.array([True, False])),
    lambda: ([1, 2], np.array([0.5])),
)
def indexed_by_numpy_ints(xs, places):
    total = []
    for k in range(len(places)):
        total.append(xs[places[k]])
        if k == 1:
            xs[places[k]] = places[k]
    return total, xs


@program(lambda: (5,), lambda: (0,), lambda: (2.5,))
def methods_of_built_in_classes(n):
    xs, d, s = [3], {}, set()
    for i in range(int(n)):
        xs.extend([i, i * 2])
        xs.insert(i // 2, xs.index(i) + xs.count(i))
        d.setdefault(i % 3, []).append(str(i).zfill(3).replace("0", "o"))
        s.update((i, d.get(i - 1, n) is None))
        xs.reverse()
    xs.sort(key=str)
    xs.remove(n if n in xs else 3)
    return xs, d, len(s), "a-b".partition("-"), xs.copy().clear()


@program(lambda: (3,), lambda: (0,))
def methods_that_fail(n):
    xs = [1, 2]
    for i in range(4):
        xs.remove(xs.index(i + 1) + n)
    return xs


@program(
    lambda: ([1, -5, 2**30, 2**40, 2**70, 0], [0, -5, 5, 2**30, 2**40, 2**62, -(2**63), 1]),
    lambda: ([1, True, 2.0, None, "3"], [1, 2, 3, 0]),
    lambda: ([2**40] * 20, [2**40, -(2**40), 2**41, 1]),
    lambda: ([0.5, -0.0, 1e300, float("nan")], [0.0, 0.5, float("nan"), 1e300, 7.0]),
    lambda: ([1.5, 2, float("nan")], [2.0, 1.5, 3.0]),
    lambda: ([], [1, 2]),
    lambda: ([[1], (2,)], [1]),
)
def numbers_searched_in_lists(xs, wanted):
    found = []
    for i in range(len(wanted)):
        x = wanted[i]
        if x in xs:
            found.append(i)
        if x + 1 not in xs:
            found.append(-i)
    return found


class _Odd:
    def __eq__(self, other):
        if other == 3:
            raise ValueError("three")
        return other == 2


@program(lambda: (5,), lambda: (2,))
def searched_among_objects(n):
    xs = [100, 200, 300, _Odd()]
    found = 0
    for i in range(n):
        if i in xs:
            found += i
    return found


_MIXED = (
    lambda: ([1] * 20,),
    lambda: ([1] * 20 + [None, 2.5, 3],),  # behind the items that the list's type is read from
    lambda: ([None] * 20,),
    lambda: ([None] * 20 + [1],),
)


@program(*_MIXED)
def items_only_tested(xs):
    numbers = ints = 0
    for x in xs:
        if x is not None:
            numbers += 1
    for k, x in enumerate(xs):
        if isinstance(x, int):
            ints += k
    return numbers, ints


@program(*_MIXED)
def tested_by_index(xs):
    found = 0
    for i in range(len(xs)):
        if xs[i] is None:
            found += i
    return found


@program(*_MIXED)
def tested_in_pairs(xs):
    found = 0
    for x, y in zip(xs, reversed(xs)):
        if x is None or y is not None:
            found += 1
    return found


@program(lambda: (9,), lambda: (1,), lambda: (0,), lambda: (40,))
def filled_where_nothing_was(n):
    made = [None] * n
    for i in range(n):
        made[i] = complex(i, 1) if i % 7 else "seventh"
    found = []
    for z in made:
        found.append(z)
    places = 0
    for k, z in enumerate(made):
        if z != "seventh":
            places += k
    for z, w in zip(made, reversed(made)):
        found.append((w, z))
    return places, found, [z for z in made[1:]]


@program(lambda: (5,), lambda: (0,), lambda: (300,))
def repeated_when_it_is_filled(n):
    filled = [1.5 * i for i in range(n)]
    pair = [n, 2]
    pair[0] = -1
    short = []
    short.append(n)
    return filled * 2, 3 * pair, short * 2, pair


@program(lambda: (5,), lambda: (0,))
def copied_into_what_it_copies(n):
    xs = [1]
    ys = [xs]
    for _ in range(n):
        xs = ys[:]
        ys = [xs]
        zs = [ys]
    return len(ys), len(xs), xs, ys == zs if n else None

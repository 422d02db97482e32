"""Variables whose type settles after some trips of a loop, or never does."""

import numpy as np

from tests.programs.harness import program


def floats():
    return np.array([-0.0, 0.0, -0.0, 2.5, -7.25, np.nan, 3.5, -1e300, 1e300])


@program(
    lambda: (floats(), 9), lambda: (floats(), 0), lambda: (floats(), 1), lambda: (floats(), 20)
)
def zero_then_elements(a, n):
    total = 0
    for i in range(n):
        total += a[i]
    return total


@program(lambda: (np.array([-0.0, -0.0]),), lambda: (np.array([-0.0]),), lambda: (np.zeros(0),))
def negative_zeros_are_added_to_an_int(a):
    total = 0
    largest = -1
    for x in a:
        total = x + total
        largest = x
    return total, largest, 1.0 / (total + 1)


@program(
    lambda: (np.array([1, 2**40, -5]),), lambda: (np.arange(0),), lambda: (np.array([7], "i1"),)
)
def int_becomes_a_numpy_int(a):
    total = 0
    for x in a:
        total += x
    return total


@program(lambda: (floats(),), lambda: (np.zeros(0),), lambda: (np.full(4, np.nan),))
def smallest_from_none(a):
    best = None
    for x in a:
        if best is None or x < best:
            best = x
    return best


@program(lambda: (floats(),), lambda: (np.zeros(0),), lambda: ([3, 1, 2],), lambda: ([2, 1.5, 7],))
def several_from_none(a):
    low = high = None
    total = 0
    for x in a:
        total += x
        if low is None or x < low:
            low = x
        if high is None or not x <= high:
            high = x
    return low, high, total


@program(lambda: (floats(), 1.0), lambda: (floats(), 1e301), lambda: (floats(), -2.0))
def settles_when_the_data_says_so(a, bound):
    total = 0
    count = 0
    for x in a:
        if x > bound:
            total += x
        count += 1
    return total, count


@program(lambda: (floats(), 0.0), lambda: (floats(), 5.0), lambda: (np.zeros(0), 5.0))
def two_settle_at_different_times(a, bound):
    above = below = None
    for x in a:
        if x > bound:
            above = x if above is None else above + x
        elif x < bound:
            below = x if below is None else below - x
    return above, below


@program(lambda: (10,), lambda: (0,), lambda: (1,), lambda: (1100,))
def int_halved_is_a_float(n):
    x = 1
    for _ in range(n):
        x = x * 0.5
    return x


@program(lambda: (floats(), 4, 9), lambda: (floats(), 3, 0), lambda: (floats(), 0, 9))
def initialised_inside_an_outer_loop(a, n, m):
    sums = []
    grand = 0
    for i in range(n):
        total = 0
        for j in range(m):
            total += a[j] * i
        grand += total
        sums.append(total)
    return sums, grand


@program(
    lambda: (np.arange(12.0).reshape(3, 4),),
    lambda: (np.zeros((0, 3)),),
    lambda: (np.zeros((2, 0)),),
)
def summed_over_two_loops(a):
    total = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
    return total


@program(lambda: (floats(), 5), lambda: (floats(), 0), lambda: (floats(), 12))
def settles_in_a_while_loop(a, n):
    total = 0
    i = 0
    while i < n:
        total = total + a[i]
        i += 1
    return total, i


@program(lambda: (floats(), 3.0), lambda: (floats(), -10.0), lambda: (np.zeros(0), 0.0))
def left_by_break_continue_and_else(a, stop):
    total = 0
    last = None
    for x in a:
        if x != x:
            continue
        total += x
        if last is not None and last > stop:
            break
        last = x
    else:
        return "end", total, last
    return "break", total, last


@program(lambda: (floats(),), lambda: (np.zeros(0),))
def pair_with_a_settling_item(a):
    best = (0, -1)
    for i, x in enumerate(a):
        if x > best[0]:
            best = (x, i)
    return best


@program(lambda: (floats(),), lambda: (np.ones(1),))
def bools_become_ints(a):
    count = False
    any_negative = False
    for x in a:
        count = count + (x > 0)
        any_negative = any_negative or bool(x < 0)
    return count, any_negative


@program(lambda: (7,), lambda: (0,), lambda: (30,))
def alternates_and_never_settles(n):
    x = 1
    seen = []
    for i in range(n):
        x = 2 * i if isinstance(x, float) else i / 2
        seen.append(x)
    return x, seen


@program(lambda: (np.arange(6.0).reshape(3, 2),), lambda: (np.zeros((0, 2)),))
def previous_row(a):
    previous = None
    total = 0.0
    for row in a:
        if previous is not None:
            total += float(row[0] - previous[1])
        previous = row
    return total, previous


@program(lambda: (62,), lambda: (63,), lambda: (70,), lambda: (1,))
def grows_out_of_64_bits_while_settling(n):
    power = None
    for _ in range(n):
        power = 1 if power is None else power * 2
    return power


@program(lambda: (floats(), 4), lambda: (floats(), 9), lambda: (floats(), 10))
def raises_in_a_late_trip(a, n):
    total = 0
    for i in range(n):
        total += a[i]
        if i == 8:
            total = a[i + 1]
    return total


@program(lambda: ([1, 2, 3],), lambda: ([1, 2.5, 3],), lambda: ([],), lambda: ([1.5, 1, True],))
def items_of_a_mixed_list(xs):
    total = 0
    for x in xs:
        total += x
    return total


@program(lambda: (5, 0.5), lambda: (0, 0.5), lambda: (5, 2))
def complex_in_the_end(n, step):
    z = 0
    w = step
    for i in range(n):
        z = z * z + complex(w, i)
        w = w * step
    return z, w


@program(lambda: (4,), lambda: (0,), lambda: (1,))
def unbound_before_the_first_trip(n):
    for i in range(n):
        if i == 0:
            x = 1.5
        else:
            x = x * 2
    return x


@program(lambda: (floats(), [None]), lambda: (floats(), [2.0]), lambda: (floats(), [1, None, 3.5]))
def optional_items(a, limits):
    seen = 0
    for limit in limits:
        for x in a:
            if limit is not None and x > limit:
                seen += 1
            if not (limit is None or limit < x):
                seen += 100
    return seen


def table(dtype="f8"):
    return np.arange(6).reshape(2, 3).astype(dtype)


@program(
    lambda: (table(), np.full(3, 9.0)),
    lambda: (table()[:, :0], np.full(3, 9.0)),
    lambda: (table(), np.full(3, 9, "f4")),
    lambda: (table("i8"), np.full(3, 9)),
    lambda: (table("i8"), np.full(3, 9, "i1")),
    lambda: (table("i4"), np.full(3, 9)),
    lambda: (table("?"), np.full(3, True)),
    lambda: (table("c16"), np.full(3, 9j)),
    lambda: (table(), np.full(3, 9, object)),
)
def sums_that_may_be_pythons_are_stored(a, out):
    for i in range(len(a)):
        total = 0.0
        count = 0
        for k in range(a.shape[1]):
            total += a[i, k].real
            count = count + a[i, k].real
        out[i] = total
        out[i + 1 :] = total
        out[-1] = count
    return out


@program(
    lambda: (np.array([1.5, 0.0, -0.0, np.nan]), np.zeros(4, "?"), np.zeros(4)),
    lambda: (np.zeros(4), np.zeros(4, "?"), np.zeros(4, "f4")),
    lambda: (np.ones(4), np.zeros(4), np.zeros(4, ">f8")),
)
def either_class_is_stored(a, flags, out):
    for i in range(len(a)):
        x = a[i] if i % 2 else 2.5
        flag = a[i] > 0 if i % 2 else True
        flags[i] = flag
        out[i] = x
        last = x
    return last, flag


@program(
    lambda: (np.arange(5.0), 2.0),
    lambda: (np.arange(5.0), -1.0),
    lambda: (np.array([1.0, np.nan, -3.0]), 0.0),
    lambda: (np.arange(5), 2),
)
def an_int_behind_loops_on_floats(a, limit):
    s = -3
    for s in a:
        k = 0
        while k < 2 and s > limit:
            k += 1
        else:
            s = -2
    return s

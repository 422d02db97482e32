"""Numbers that an innermost loop finds as Python's in the first trips of a loop around, and as NumPy's in the others."""

import numpy as np

from tests.programs.harness import program

DTYPES = ("i4", "i2", "u1", "i8", "u8", "f4", "f8")


def table(dtype, rows=4, columns=5):
    return (np.arange(rows * columns).reshape(rows, columns) * 7 % 20).astype(dtype)


def tables(*more):
    full = [lambda d=dtype: (table(d), *more) for dtype in DTYPES]
    empty = [lambda: (table("i4", 0, 5), *more), lambda: (table("i4", 3, 0), *more)]
    return *full, *empty, lambda: (table("i4") * 0, *more), lambda: (table("u1", 1, 9), *more)


@program(*tables(0), *tables(-1), *tables(12), *tables(300), *tables(0.5))
def largest_and_least(a, first):
    best, least = first, 70
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
            if a[i, j] < least:
                least = a[i, j]
    return best, least, type(best), type(least)


@program(*tables(0), *tables(-1), *tables(-(2**40)))
def places_of_the_largest(a, first):
    best, at, seen = first, (-1, -1), []
    for i in range(len(a)):
        for j, x in enumerate(a[i]):
            if x > best:
                best, at = x, (i, j)
        seen.append((best, at))
    return best, at, seen


@program(
    lambda: (np.array([[0, 2**31 - 1], [3, 2**31 - 2], [2**31 - 1, 9]], "i4"),),
    lambda: (np.array([[0, 255], [3, 254], [255, 9]], "u1"),),
    lambda: (np.array([[0, 0], [0, 127], [5, 7]], "i1"),),
)
def arithmetic_wraps_in_numpys_class_only(a):
    best, seen = 0, []
    with np.errstate(all="ignore"):
        for i in range(3):
            total = 100
            for j in range(a.shape[1]):
                if a[i, j] > best:
                    best = a[i, j]
                seen.append((best + 1, best * 3, -best, best - 1 < best, best == 255))
                total += best
            seen.append(total)
    return best, seen


@program(*tables(0), *tables(15), *tables(1000))
def running_maxima(a, first):
    out, best = np.zeros_like(a), first
    maxima = []
    for i in range(len(a)):
        for j in range(a.shape[1]):
            best = max(best, a[i, j])
            if best < 200:
                out[i, j] = best
        maxima.append(best)
    return out, maxima


@program(*tables(0), *tables(15))
def begins_anew_in_the_loop(a, limit):
    best, count = 0, 0
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
            elif a[i, j] == limit:
                best = 0
                count += 1
    return best, count


@program(*tables(6), *tables(14), *tables(99))
def leaves_early(a, limit):
    best = 0
    for row in a:
        for x in row:
            if x > best:
                best = x
            if x == limit and best > 3:
                break
        else:
            best = max(best, row[0]) if len(row) else best
        if best == 14:
            return "found", best
    return best


@program(*tables(3), *tables(50), lambda: (table("i4"), -1))
def both_begin_as_one(a, first):
    high = low = first
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > high:
                high = a[i, j]
            if a[i, j] < low:
                low = a[i, j]
        if i == 1:
            high = low
    return high, low


@program(*tables(7), *tables(30))
def conditions_of_either_class(a, limit):
    found, rows = False, []
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if not found:
                found = a[i, j] == limit
        rows.append(found)
    return found, rows


@program(*tables(2), *tables(8))
def raises_in_the_loop(a, divisor):
    best = 0
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best = a[i, j]
            if best // divisor > 8 - divisor:
                raise ValueError(best, i, j, type(best))
    return best


@program(*tables(0), *tables(11))
def two_loops_behind_each_other(a, first):
    best = first
    for x in a.ravel():
        if x > best:
            best = x
    k = 0
    while k < a.size and best > 3:
        if a.flat[k] == best:
            best = a.flat[k - 1]
        k += 1
    return best, k

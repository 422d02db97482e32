"""Recursive functions: with results of each kind, overflow and exceptions in the middle, views as arguments."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (15,), lambda: (1,), lambda: (40,), lambda: (7.0,))
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@program(lambda: (9,), lambda: (12,), lambda: (2,))
def product_of_pairs(n):
    """Beyond 64 bits in some of the calls only."""
    if n < 2:
        return n + 7
    return product_of_pairs(n - 1) * product_of_pairs(n - 2) + 1


@program(lambda: (12, 10**9 + 7), lambda: (30, 97), lambda: (5, 2**40))
def overflow_within_a_call(n, m):
    """The product does not fit 64 bits, what is returned does."""
    if n == 0:
        return m - 2
    before = overflow_within_a_call(n - 1, m)
    return before * before * before % m


@program(lambda: (27, 36), lambda: (2**40, 2**33), lambda: (7, 0), lambda: (2**70, 2**66))
def euclid(a, b):
    return a if b == 0 else euclid(b, a % b)


@program(lambda: (1.7, 9), lambda: (np.float64(0.3), 4), lambda: (2, 10), lambda: (3, 50))
def power_by_squaring(x, n):
    if n == 0:
        return 1
    half = power_by_squaring(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


@program(lambda: (0.0, 2.0, 1e-3), lambda: (-1, 1, 0.01))
def adaptive_area(a, b, tolerance):
    middle = (a + b) / 2
    whole = (b - a) * (a * a + b * b) / 2
    halves = (b - a) * (a * a + 2 * middle * middle + b * b) / 4
    if abs(whole - halves) < tolerance:
        return halves
    return adaptive_area(a, middle, tolerance / 2) + adaptive_area(middle, b, tolerance / 2)


@program(lambda: (6,), lambda: (0,), lambda: (-3,))
def int_or_float(n):
    if n <= 0:
        return 0.5
    if n == 3:
        return 2
    return int_or_float(n - 1) + n


@program(lambda: (6,), lambda: (1,), lambda: (13,))
def none_or_int(n):
    if n > 10:
        return None
    found = none_or_int(n + 3)
    return n if found is None else found * 2


@program(lambda: (5,), lambda: (0,))
def sum_and_count(n):
    if n == 0:
        return 0, 0.0
    count, total = sum_and_count(n - 1)
    return count + 1, total + n / 2


@program(lambda: (4,), lambda: (0,))
def long_tuple(n):
    if n == 0:
        return 0, 1, 2.0, True, None
    a, b, c, d, e = long_tuple(n - 1)
    return b, a + n, c * 2, not d, e


@program(lambda: (5,), lambda: (0,))
def digits_as_text(n):
    return "" if n == 0 else digits_as_text(n - 1) + str(n)


@program(lambda: (4,), lambda: (0,))
def list_of_all(n):
    if n == 0:
        return [0]
    items = list_of_all(n - 1)
    items.append(n)
    return items


@program(lambda: (3, 4), lambda: (2, 2), lambda: (0, 5))
def lattice_paths(rows, columns):
    if rows == 0 or columns == 0:
        return 1
    return lattice_paths(rows - 1, columns) + lattice_paths(rows, columns - 1)


@program(lambda: (5, 2), lambda: (6, 0), lambda: (6, 9))
def division_by_zero_within(n, bad):
    if n == 0:
        return 1
    rest = division_by_zero_within(n - 1, bad)
    return rest + 10 // (n - bad)


@program(lambda: (np.arange(5.0), 0), lambda: (np.arange(5), 9), lambda: (np.zeros(0), 0))
def runs_out_of_bounds(a, i):
    a[i] += 1
    return a[i] + runs_out_of_bounds(a, i + 1)


@program(lambda: (4,), lambda: (1,))
def raises_at_the_bottom(n):
    if n == 0:
        raise ValueError("the bottom")
    return 1 + raises_at_the_bottom(n - 1)


@program(
    lambda: (np.array([5, 3, 9, 1, 1, 8, 2]), 0, 6),
    lambda: (np.array([0.5, -1.0, 3.5, 2.0]), 0, 3),
    lambda: ([3, 1, 2], 0, 2),
    lambda: (np.array([2, 1], dtype=np.int16), 0, 5),
)
def quicksort(a, low, high):
    if low >= high:
        return
    pivot, i, j = a[(low + high) // 2], low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    quicksort(a, low, j)
    quicksort(a, i, high)


@program(lambda: (np.array([4.0, 1.0, 3.0, 2.0, 5.0]),), lambda: (np.array([2, 1]),))
def merge_sort_of_views(a):
    if len(a) < 2:
        return a.copy()
    middle = len(a) // 2
    left, right = merge_sort_of_views(a[:middle]), merge_sort_of_views(a[middle:])
    result, i, j = np.empty_like(a), 0, 0
    for k in range(len(a)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            result[k] = left[i]
            i += 1
        else:
            result[k] = right[j]
            j += 1
    return result


@program(lambda: (np.arange(8.0),), lambda: (np.arange(6),), lambda: (np.zeros(0),))
def sum_of_halves(a):
    """The first call has another type than those with strided views."""
    if len(a) == 0:
        return 0
    if len(a) == 1:
        a[0] += 1
        return a[0]
    return sum_of_halves(a[::2]) - sum_of_halves(a[1::2])


@program(lambda: (5,), lambda: (4,), lambda: (1,))
def queens(n):
    return place_queen(n, 0, np.zeros(n, np.int64), np.zeros(2 * n, np.int64), [0] * (2 * n))


def place_queen(n, row, columns, falling, rising):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if columns[c] == 0 and falling[row + c] == 0 and rising[row - c + n] == 0:
            columns[c] = falling[row + c] = rising[row - c + n] = 1
            count += place_queen(n, row + 1, columns, falling, rising)
            columns[c] = falling[row + c] = rising[row - c + n] = 0
    return count


@program(lambda: (6, []), lambda: (2, []))
def moves_of_hanoi(n, moves, a=0, b=1, c=2):
    if n > 0:
        moves_of_hanoi(n - 1, moves, a, c, b)
        moves.append((a, b))
        moves_of_hanoi(n - 1, moves, c, b, a)
    return len(moves)


SCALE = 3


def change_scale(n):
    global SCALE
    SCALE = n
    return n


@program(lambda: (5,), lambda: (1,))
def global_that_changes_within(n):
    """Each call below another one sees the variable as it is then."""
    if n == 0:
        return SCALE
    before = change_scale(n)
    return before + SCALE * global_that_changes_within(n - 1) + SCALE


@program(lambda: (7,), lambda: (9.0,))
def female(n):
    return 1 if n <= 0 else n - male(female(n - 1))


def male(n):
    return 0 if n <= 0 else n - female(male(n - 1))


@program(lambda: (7,), lambda: (7.0,), lambda: (True,), lambda: (np.int32(4),), lambda: (2**65,))
def types_that_change_below(n):
    if n <= 0:
        return n
    return types_that_change_below(n / 2 - 1 if n > 3 else n - 2) + 1


@program(lambda: (6,), lambda: (0,))
def both_in_one_loop(n):
    total = 0
    for i in range(n):
        total += both_in_one_loop(i) * both_in_one_loop(i // 2) + 1
    return total

"""Functions that are called rather than inlined: recursive, mutually recursive, large, with defaults and keywords."""

import warnings
from collections.abc import Iterable
from functools import singledispatch
from typing import Protocol

import numpy as np

import ljit
from tests.programs.harness import program


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@program(lambda: (9,), lambda: (0,), lambda: (3.0,))
def evens(n):
    count = 0
    for i in range(int(n)):
        if is_even(i):
            count += 1
    return count


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(lambda: (2, 3), lambda: (1, 5), lambda: (0, 0))
def ackermanns(m, n):
    return [ackermann(m, i) for i in range(n)]


def partition(a, low, high):
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    return i


def sort_between(a, low, high):
    if low < high:
        middle = partition(a, low, high)
        sort_between(a, low, middle - 1)
        sort_between(a, middle + 1, high)


@program(
    lambda: (np.array([5, 3, 9, 1, 1, 8, 2]),),
    lambda: (np.array([0.5, -1.0, 3.5, 2.0]),),
    lambda: ([3, 1, 2],),
    lambda: (np.arange(12.0)[::-2],),
)
def quicksort_by_partition(a):
    sort_between(a, 0, len(a) - 1)
    return a[0]


def power(base, n, one=1):
    if n == 0:
        return one
    half = power(base, n // 2, one=one)
    return half * half if n % 2 == 0 else half * half * base


@program(lambda: (3, 5), lambda: (1.5, 4), lambda: (10, 30), lambda: (np.float32(1.5), 3))
def powers(x, n):
    """Defaults and keywords; in the third call beyond 64 bits."""
    total = power(x, n) + power(n=3, base=x)
    for i in range(n):
        total = total + power(x, i, 2)
    return total


def first_or_last(a, i):
    """Gives ints, floats or None."""
    if i > 6:
        return None
    if i % 3 == 0:
        return i
    if i % 3 == 1:
        return a[i % len(a)]
    return first_or_last(a, i + 1)


@program(lambda: (np.array([1.5, 2.5]), 5), lambda: (np.array([1, 2]), 9), lambda: (np.zeros(0), 3))
def results_of_many_types(a, n):
    total = 0
    for i in range(n):
        found = first_or_last(a, i)
        total += -1 if found is None else found
    return total


def fill_below(a, i, value):
    if i < 0:
        return
    a[i] = value
    fill_below(a, i - 1, value / 2)


@program(lambda: (np.zeros(5), 4), lambda: (np.zeros(3), 3), lambda: (np.zeros((2, 3)), 1))
def callee_that_writes(a, i):
    before = a.sum()
    fill_below(a, i, 8.0)
    return before + a.sum()


def divide_below(n, d):
    if n == 0:
        return 100 // d
    return divide_below(n - 1, d - 1) + 1


@program(lambda: (3, 9), lambda: (3, 3), lambda: (2, 0))
def callee_that_raises(n, d):
    total = 0
    for i in range(n):
        total += divide_below(i, d)
    return total


def expression(tokens, at):
    value, at = term(tokens, at)
    while at < len(tokens) and (tokens[at] == -1 or tokens[at] == -2):
        sign = 1 if tokens[at] == -1 else -1
        right, at = term(tokens, at + 1)
        value += sign * right
    return value, at


def term(tokens, at):
    value, at = factor(tokens, at)
    while at < len(tokens) and tokens[at] == -3:
        right, at = factor(tokens, at + 1)
        value *= right
    return value, at


def factor(tokens, at):
    if tokens[at] == -4:
        value, at = expression(tokens, at + 1)
        return value, at + 1
    return tokens[at], at + 1


@program(
    lambda: ([2, -3, -4, 3, -1, 4, -5, -2, 5],),
    lambda: (np.array([7, -1, -4, 1, -2, 3, -5, -3, 2]),),
    lambda: ([1, -1],),
)
def recursive_descent(tokens):
    """Evaluates an expression whose operators are negative numbers: + - * ( )."""
    value, _at = expression(tokens, 0)
    return value


def depth_of(left, right, node):
    if node < 0:
        return 0
    return 1 + max(depth_of(left, right, left[node]), depth_of(left, right, right[node]))


@program(
    lambda: (np.array([1, 3, -1, -1]), np.array([2, -1, -1, -1])),
    lambda: (np.array([5]), np.array([-1])),
)
def tree_walk(left, right):
    total = 0
    for node in range(len(left)):
        total += depth_of(left, right, node)
    return total


def sum_of_squares_below(n):
    return 0 if n < 0 else n * n + sum_of_squares_below(n - 1)


@program(lambda: (5, 10**9), lambda: (3, 2**62), lambda: (3, 0.5))
def callee_that_leaves_native_code(n, big):
    total = 0
    for i in range(n):
        total += sum_of_squares_below(i) + sum_of_squares_below(i - 3 if i % 2 else 1) * big
    return total


def middle_of(a, low, high):
    return low if high - low < 2 else middle_of(a[1:-1], low + 1, high - 1)


@program(lambda: (np.arange(7.0), 0), lambda: (np.arange(10.0)[::2], 1), lambda: ((1, 2, 3), 0))
def views_for_callees(a, low):
    return middle_of(a, low, len(a)) + middle_of(a[::-1], 0, 4)


@ljit.jit
def decorated_gcd(a, b):
    return a if b == 0 else decorated_gcd(b, a % b)


@ljit.jit
def decorated_smooth(n, limit=7):
    for p in range(2, limit + 1):
        while n % p == 0:
            n //= p
            if decorated_gcd(n, p) == 1:
                break
    return n


@program(lambda: (40, 12), lambda: (17, 2.0), lambda: (2**66, 10))
def decorated_callees(n, step):
    total = 0
    for i in range(1, 20):
        total += decorated_gcd(n + i, step) + decorated_smooth(i) * decorated_smooth(
            limit=3, n=i + 1
        )
    return total


def current(n):
    return n if n < 2 else current(n - 1) + 1


def other(n):
    return -n if n < 2 else other(n - 1) + 10


_first, _second = current, other


def switch(to_other):
    global current
    current = _second if to_other else _first
    return 1


@program(lambda: (6,), lambda: (3,))
def callee_that_is_redefined(n):
    switch(False)
    total = []
    for i in range(n):
        total.append(current(i))
        if i % 3 == 2:
            switch(i % 2 == 0)
            total.append(current(i))
    switch(False)
    return total


def with_default(n, step=2):
    return 0 if n <= 0 else step + with_default(n - 1)


def change_default(value):
    with_default.__defaults__ = (value,)
    return value


@program(lambda: (4,), lambda: (2,))
def defaults_that_change(n):
    change_default(2)
    total = 0
    for i in range(n):
        total += with_default(i)
        if i == 2:
            change_default(5)
    return total + change_default(2)


def level_three(x, i):
    return x * 0.5 + i if i % 2 else x - i


def level_two(x, i):
    return level_three(x, i) + level_three(x, i + 1)


def level_one(x, i):
    return level_two(level_two(x, i), i) / 2


@program(lambda: (1.5, 9), lambda: (2, 3), lambda: (np.float32(3), 4))
def chain_of_helpers(x, n):
    for i in range(n):
        x = level_one(x, i)
    return x


def takes_a_list(items, n):
    if n == 0:
        return len(items)
    items.append(n)
    return takes_a_list(items, n - 1) + items[-1]


@program(lambda: (4,), lambda: (0,))
def lists_for_callees(n):
    items = [0]
    return takes_a_list(items, n) + takes_a_list(items, 2), items


def calls_what_it_is_given(function, n):
    return n if n == 0 else function(n) + calls_what_it_is_given(function, n - 1)


@program(lambda: (is_even, 4), lambda: (abs, 3), lambda: (None, 1), lambda: (lambda n: n / 2, 3))
def unknown_callables(function, n):
    return calls_what_it_is_given(function, n)


@singledispatch
def size_of(x):
    return 1


@size_of.register(Iterable)
def _(x):
    return len(list(x))


class Point:
    pass


class Row(list):
    pass


def asked_anew(*xs):
    """Give what is asked for a Protocol of which no class was asked: only `functools` may."""
    size_of._clear_cache()
    asked_anew.protocol = type("Named", (Iterable, Protocol), {})
    return xs


@program(lambda: asked_anew(Point(), Row((1, 2)), 3), lambda: asked_anew(Row(), Point(), "abc"))
def sizes_by_class(x, y, z):
    return size_of(x) + size_of(y) + size_of(z)


WEIGHTS = np.array([0.5, 2.0, 4.0])


def weighted(x, weights=WEIGHTS, pair=(WEIGHTS, 3)):
    return x * weights + pair[0] * pair[1]


def weighted_items(x, weights=WEIGHTS):
    for i in range(len(x)):
        yield x[i] * weights[i]


def shaped(array, *sizes):
    """Give arguments; the array has another shape by then, as nobody announces."""
    with warnings.catch_warnings(action="ignore"):  # NumPy 2.5 warns of it
        array.shape = sizes
    return (np.ones(3),)


@program(
    lambda: shaped(WEIGHTS, 3),
    lambda: (np.arange(3),),
    lambda: shaped(WEIGHTS, 1, 3),
    lambda: shaped(WEIGHTS, 3),
)
def arrays_as_defaults(x):
    x[0] = 2
    total = 0.0
    for item in weighted_items(x, WEIGHTS.ravel()):
        total += item
    return weighted(x), weighted(x[::-1])[..., 0], total


@program(lambda: (np.ones(3),), lambda: (np.arange(3),))
def generators_with_arrays_as_defaults(x):
    return sum(weighted_items(x)), [item for item in weighted_items(x)]

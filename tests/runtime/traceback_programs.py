"""Functions that raise, each with arguments that do not and then arguments that do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import ljit

Arguments = Callable[[], tuple[Any, ...]]

CASES: list[tuple[Callable[..., Any], tuple[Arguments, ...]]] = []


def case(*arguments: Arguments) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The first arguments are good, the others make the function raise."""

    def enrol(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return enrol


# -- calls ---------------------------------------------------------------------------------------------


def middle(a, i):
    b = a[i] * 2.0
    return b


def upper(a, i):
    return middle(a, i + 0) + 1.0


@case(lambda: (np.arange(4.0), 1), lambda: (np.arange(4.0), 9))
def inlined_twice(a, i):
    total = 0.0
    for _ in range(3):
        total += upper(a, i) + a[0]
    return total


@ljit.jit
def decorated_loop(a, i):
    total = 0.0
    for k in range(i, i + 2):
        total = total + a[k]
    return total


@ljit.jit
def decorated_middle(a, i):
    return decorated_loop(a, i) * 2


@case(lambda: (np.arange(4.0), 1), lambda: (np.arange(4.0), 9))
def decorated_calls_decorated(a, i):
    x = 1.0
    return x + decorated_middle(a, i)


@ljit.jit
def counts_down(x):
    if x == 0:
        return 1 // x
    return counts_down(x - 1) + 1


@case(lambda: (-1,), lambda: (0,), lambda: (3,))
def calls_recursive(x):
    return counts_down(x) if x >= 0 else 0


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return [][n] if n == 0 else even(n - 1)


@case(lambda: (4,), lambda: (5,))
def mutual_recursion(n):
    return even(n)


@case(lambda: ([1, 2, 3],), lambda: ([1, 0, 3],))
def nested_function(xs):
    def inverse(x):
        return 1 // x

    total = 0
    for x in xs:
        total += inverse(x)
    return total


@case(lambda: (3, 1), lambda: (3, 0))
def with_defaults(n, x, scale=2):
    total = 0
    for k in range(n):
        total += k * scale // x
    return total


# -- calls of Python from native code ------------------------------------------------------------------


def refuses_large(x):
    if x > 2:
        raise ValueError(f"bad {x}")
    return x


@case(lambda: (1, refuses_large), lambda: (5, refuses_large))
def callback(n, f):
    total = 0
    for k in range(n):
        total += k * 2 + f(k)
    return total


@case(lambda: (1, lambda x: x + 1), lambda: ("a", lambda x: x + 1))
def calls_lambda(x, f):
    return f(x)


class Divider:
    def __init__(self):
        self.x = 1

    def divide(self, k):
        return self.x // k

    def __getitem__(self, k):
        return self.x // k


@case(lambda: (Divider(), 1), lambda: (Divider(), 0))
def calls_method(divider, k):
    return 1 + divider.divide(k)


@case(lambda: (Divider(), 1), lambda: (Divider(), 0))
def calls_operator(divider, k):
    return 1 + divider[k]


@case(lambda: (Divider(), 1), lambda: (Divider(), 0))
def missing_attribute(divider, k):
    if k == 0:
        return divider.nothing
    return divider.x + k


def numbers(n):
    for k in range(n):
        yield k
    if n > 3:
        raise RuntimeError("done")


@case(lambda: (numbers(3),), lambda: (numbers(4),))
def generator(xs):
    total = 0
    for x in xs:
        total += x
    return total


def delegates(n):
    yield from numbers(n)
    yield n


@case(lambda: (3,), lambda: (4,))
def generator_in_a_generator(n):
    count = 0
    for _ in delegates(n):
        count += 1
    return count


def negative(x):
    return 1 / (x - 2)


@case(lambda: ([1, 3],), lambda: ([1, 2, 3],))
def sort_key(xs):
    xs.sort(key=negative)
    return xs


# -- causes and contexts -------------------------------------------------------------------------------


@case(lambda: (1,), lambda: (5,))
def raise_from(x):
    if x > 3:
        raise ValueError("big") from KeyError(x)
    return x * 2


@case(lambda: (1,), lambda: (5,))
def raise_from_none(x):
    if x > 3:
        raise ValueError("big") from None
    return x * 2


def has_context(x):
    try:
        return [1][x]
    except IndexError:
        raise KeyError(x)  # noqa: B904 - the context is what is tested


@case(lambda: (0, has_context), lambda: (5, has_context))
def context_of_callback(x, f):
    return f(x) + 1


@ljit.jit
def inverse_of_rest(x):
    y = x - 5
    return 1 // y


def has_native_context(x):
    try:
        return inverse_of_rest(x)
    except ZeroDivisionError:
        raise KeyError(x)  # noqa: B904


@case(lambda: (0, has_native_context), lambda: (5, has_native_context))
def context_is_native(x, f):
    return f(x) + 1


def has_native_cause(x):
    try:
        return inverse_of_rest(x)
    except ZeroDivisionError as error:
        raise KeyError(x) from error


@case(lambda: (0,), lambda: (5,))
def cause_is_native(x):
    return has_native_cause(x) + 1


# -- operations ----------------------------------------------------------------------------------------


@case(lambda: (1, 2), lambda: (1, 0))
def several_lines(x, y):
    a = x * 3
    b = (
        a
        + x
        / y
    )  # fmt: skip
    return a + b


@case(lambda: (1, 2), lambda: (1, "a"))
def wrong_types(x, y):
    z = 3 * (x + y)
    return z


@case(lambda: ([1, 2], 1), lambda: ([1, 2], 7), lambda: ([1, 2], -3))
def list_index(xs, i):
    total = 0
    for _ in range(3):
        total += xs[0]; total += xs[i] + 1  # noqa: E702  # fmt: skip
    return total


@case(lambda: ({1: 2}, 1), lambda: ({1: 2}, 7))
def missing_key(table, i):
    return 5 + table[i]


@case(lambda: (np.arange(4), 1), lambda: (np.arange(4), 9), lambda: (np.arange(4), -5))
def array_store(a, i):
    a[0] = 3
    a[i] = 5
    a[1] += 1
    return a


@case(lambda: (1,), lambda: (0,))
def failed_assertion(k):
    assert k > 0, "k must be positive"
    return k * 2


@case(lambda: (1,), lambda: (0,))
def unbound_local(k):
    if k > 0:
        z = 1
    return z + 1


@case(lambda: (1,), lambda: (0,))
def unbound_global(k):
    if k > 0:
        return 1
    return undefined_name + 1  # noqa: F821


@case(lambda: (np.ones(3), np.ones(3)), lambda: (np.ones(3), np.ones(4)))
def shapes_do_not_fit(a, b):
    c = (a + b) * 2
    return c.sum()


@case(lambda: ([1, 2, 3],), lambda: ([1, "x", 3],))
def comparison(xs):
    best = 0
    for x in xs:
        if x > best:
            best = x
    return best


@case(lambda: (2.0,), lambda: (-1.0,))
def math_domain(x):
    return 1 + math.sqrt(x)


@case(lambda: ((1, 2),), lambda: ((1, 2, 3),), lambda: ((1,),))
def unpacking(pair):
    a, b = pair
    return a + b


@case(lambda: (2,), lambda: (0,))
def chained_comparison(x):
    return 0 < 1 // x < 5 and x


@case(lambda: (2,), lambda: (0,))
def ünïcode(größe):
    s = "äöü"; return len(s) // größe  # noqa: E702  # fmt: skip


@case(lambda: (300, 999), lambda: (300, 200))
def in_the_middle_of_a_nest(n, bad):
    total = 0
    for i in range(n):
        for j in range(3):
            total += i // (j + (i != bad) * 5)
    return total


class Broken:
    """What cannot be iterated over, and says so by itself."""

    def __iter__(self):
        message = "no items"
        raise ValueError(message)


def _broken():
    return (Broken(), 4)


@case(lambda: ((1.5, 2), 4), lambda: (5, 4), lambda: ((1,), 4), _broken)
def unpacked_behind_a_loop(pair, n):
    total = 0.0
    for _ in range(n):
        total += 1.5
    x, y = pair
    return total + x * y


@case(lambda: ([1.5], 4), lambda: (5, 4), _broken)
def listed_behind_a_loop(items, n):
    total = 0.0
    for _ in range(n):
        total += 1.5
    return [total, *items]


@case(lambda: (np.ones(2), 4), lambda: (np.array(3), 4), _broken)
def iterated_behind_a_loop(items, n):
    total = 0.0
    for _ in range(n):
        total += 1.5
    for x in items:
        total += x
    return total

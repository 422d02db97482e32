"""Nested functions that call themselves or one another: they are lifted, with what they have from around."""

from __future__ import annotations

import numpy as np

from tests.programs.harness import program


@program(lambda: (4,), lambda: (0,), lambda: (5,))
def permutations_of(n):
    found = []
    used = [False] * n
    current = []

    def extend():
        if len(current) == n:
            found.append(current[:])
            return
        for i in range(n):
            if not used[i]:
                used[i] = True
                current.append(i)
                extend()
                current.pop()
                used[i] = False

    extend()
    return found


@program(lambda: (6,), lambda: (1,), lambda: (5,))
def number_of_placements(n):
    """The number is bound again by the nested function."""
    count = 0

    def place(row, columns, rising, falling):
        nonlocal count
        if row == n:
            count += 1
            return
        for c in range(n):
            if (
                not columns >> c & 1
                and not rising >> row + c & 1
                and not falling >> row - c + n & 1
            ):
                place(row + 1, columns | 1 << c, rising | 1 << row + c, falling | 1 << row - c + n)

    place(0, 0, 0, 0)
    return count


@program(lambda: ("[1,[20,3],[]]",), lambda: ("[[[7]],8]",), lambda: ("[1,2",), lambda: ("12",))
def nested_lists_of(text):
    """A text that ends too soon raises in the nested function."""
    position = 0

    def value():
        nonlocal position
        if text[position] == "[":
            position += 1
            items = []
            while text[position] != "]":
                items.append(value())
                if text[position] == ",":
                    position += 1
            position += 1
            return items
        start = position
        while position < len(text) and text[position].isdigit():
            position += 1
        return int(text[start:position])

    return value(), position


@program(lambda: (9,), lambda: (20,), lambda: (0,), lambda: (7.0,))
def steps_of_two_that_call_each_other(n):
    steps = [0]

    def even(k):
        steps[0] += 1
        return True if k == 0 else odd(k - 1)

    def odd(k):
        steps[0] += 10
        return False if k == 0 else even(k - 1)

    return even(n), odd(n), steps


@program(lambda: (8, 2), lambda: (8, 0), lambda: (3, 5), lambda: (70, 3))
def state_behind_an_exception(n, limit):
    """What the nested function bound before it raised is seen by the handler."""
    depth, deepest = 0, "none"

    def go(k):
        nonlocal depth, deepest
        depth += 1
        deepest = k
        if k == limit:
            raise ValueError(k)
        return go(k - 1) + 1 if k > 0 else 10 // (n - n)

    try:
        go(n)
    except (ValueError, ZeroDivisionError) as error:
        return depth, deepest, type(error).__name__, str(error)
    return None


@program(lambda: (5, 2.5), lambda: (6, 3), lambda: (4, np.float64(0.5)))
def defaults_keywords_and_a_parameter_that_is_bound_again(n, total):
    def add(k, scale=2, *, _=None) -> None:
        return k * scale

    def go(k, scale=3, sign=True):
        nonlocal total
        total += k * scale if sign else -k * scale
        if k > 0:
            go(k - 1, sign=not sign)
            go(k - 2, scale=total)

    def down(k, by=1):
        return 0 if k <= 0 else 1 + down(k - by, by=by + 1)

    return down(n), down(by=n, k=3), total, add(2)


@program(lambda: (5, 2.5), lambda: (6, 3), lambda: (4, np.float64(0.5)))
def defaults_and_keywords(n, total):
    def go(k: int, scale: float = 3, sign=True) -> None:
        nonlocal total
        total += k * scale if sign else -k * scale
        if k > 0:
            go(k - 1, sign=not sign)
            go(k=k - 2, scale=2)

    go(n)
    go(sign=False, k=2)
    return total


@program(lambda: ([[1, 1, 0], [0, 1, 1], [1, 0, 0]],), lambda: ([[1] * 6] * 1,), lambda: ([[0]],))
def largest_region(grid):
    """The argument is changed by the nested function; a helper reads the same variables."""
    height, width = len(grid), len(grid[0])

    def inside(y, x):
        return 0 <= y < height and 0 <= x < width

    def fill(y, x):
        if not inside(y, x) or grid[y][x] != 1:
            return 0
        grid[y][x] = 2
        return 1 + sum(fill(y + dy, x + dx) for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)))

    best = 0
    for y in range(height):
        for x in range(width):
            best = max(best, fill(y, x))
    return best


@program(lambda: (np.arange(12.0),), lambda: (np.array([3, 1, 2]),), lambda: (np.zeros(0),))
def sum_by_halves(a):
    def go(low, high):
        if high - low < 1:
            return 0.0
        if high - low == 1:
            return a[low]
        middle = (low + high) // 2
        return go(low, middle) + go(middle, high)

    return go(0, a.size)


@program(lambda: (6,), lambda: (3,))
def variables_that_loops_bind_again(n):
    """Each call has the values of its time."""
    found = []
    for i in range(n):
        offset = i * i
        for j in range(2):
            found.append(weighted(i, j))
    width = 1

    def go(k):
        return width if k == 0 else go(k - 1) + width

    while width < n:
        found.append(go(width))
        width += 1
    return found, offset


def weighted(i, j):
    return 10 * i + j


@program(lambda: (True, 3), lambda: (False, 3))
def call_before_a_variable_is_bound(is_bound, n):
    """Nobody knows whether it is: the nested function raises NameError where it reads it."""
    if is_bound:
        step = 1

    def go(k):
        return 0 if k <= 0 else go(k - step) + 1

    return go(n)


@program(lambda: (3,))
def call_before_the_definition(n):
    def first(k):
        return k if k == 0 else second(k - 1)

    found = []
    for _ in range(2):
        try:
            found.append(first(n))
        except NameError as error:
            found.append(str(error))

    def second(k):
        return k if k == 0 else first(k - 1)

    return [*found, first(n)]


@program(lambda: (4,))
def functions_that_are_kept(n):
    """A lambda that a lifted function makes reads the variable when it is called."""
    kept = []
    scale = 2

    def go(k):
        kept.append(lambda x: x * scale + k)
        if k > 0:
            go(k - 1)

    go(n)
    scale = 10
    return [f(1) for f in kept]


@program(lambda: (4,))
def functions_that_are_kept_of_what_stays(n):
    kept = []
    scale = 2

    def go(k):
        kept.append(lambda x: x * scale + k)
        if k > 0:
            go(k - 1)
        return sorted([k, 1, 2], key=lambda x: (x * scale) % 5)

    return go(n), [f(1) for f in kept]


@program(lambda: (3, 4), lambda: (2.0, 3))
def names_that_hide_one_another(x, n):
    """The parameter of one function has the name that another takes from around."""

    def scaled(k):
        return k * x

    def go(x):
        return 0 if x <= 0 else scaled(x) + go(x - 1)

    return go(n)


@program(lambda: (3,), lambda: (5,))
def as_a_value_too(n):
    def go(k):
        return 1 if k == 0 else k * go(k - 1)

    return list(map(go, range(n)))


@program(lambda: (10, 3), lambda: (10**6, 3))
def deeper_than_the_limit(n, m):
    def go(k):
        return m if k == 0 else go(k - 1) + 1

    try:
        return go(n)
    except RecursionError as error:
        return type(error)


@program(lambda: (7,), lambda: (2**40,), lambda: ("text",))
def annotated_variables_and_targets(n):
    seen: int = 0
    pairs = []

    def go(k):
        nonlocal seen, last
        seen, last = seen + 1, k
        for seen_now, last in ((seen, k), (seen + 1, k - 1)):
            pairs.append((seen_now, last))
        if seen < 4:
            go(k - 1)

    last = None
    go(n)
    seen += last
    return seen, last, pairs


@program(lambda: (30,), lambda: (31,))
def remembered(n):
    known = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        if (i, j) not in known:
            known[i, j] = paths(i - 1, j) + paths(i, j - 1)
        return known[i, j]

    return paths(n, n), len(known)


def _scaled_by(factor):
    def sums(n):
        """A variable of a function around the whole one, bound again by the nested one."""
        nonlocal factor

        def go(k):
            nonlocal factor
            factor += 1
            return 0 if k == 0 else go(k - 1) + factor

        first = go(n)
        factor -= n + 1
        return first, factor

    return sums


sums_of_closure = program(lambda: (4,), lambda: (6,))(_scaled_by(3))


class Counter:
    def __init__(self, step):
        self.step = step
        self.calls = 0

    def count(self, n):
        def go(k):
            self.calls += 1
            return 0 if k <= 0 else go(k - self.step) + 1

        return go(n)


@program(lambda: (9, 2), lambda: (5, 1))
def in_a_method(n, step):
    counter = Counter(step)
    return counter.count(n), counter.calls


@program(lambda: (5,), lambda: (0,), lambda: (-1,))
def with_modules_imported_around(n):
    import cmath
    import os.path as path
    from math import sqrt as root

    def walk(i):
        return 0.0 if i == 0 else root(i) + abs(cmath.exp(1j * i)) + walk(i - 1)

    return walk(n) if n >= 0 else path.join("a", str(walk(2)))


@program(lambda: (5,), lambda: (1,))
def with_a_module_imported_later(n):
    import math

    def walk(i):
        return 0.0 if i == 0 else number(i) + math.pi * walk(i - 1)

    if n > 1:
        from operator import neg as number
    return walk(n)


@program(lambda: (3,))
def with_a_module_bound_again(n):
    import math as m

    def walk(i):
        nonlocal m
        if i == 1:
            import cmath as m
        return m.sqrt(2) if i == 0 else walk(i - 1) + m.pi

    return walk(n), m.__name__

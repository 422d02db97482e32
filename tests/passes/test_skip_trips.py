"""Blocks of trips in which nothing happens are left out: the first of several records, the first place, all exits."""

import math
import random
import textwrap

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from ljit.testing.guarded import guarded_array
from tests.programs.harness import compare


def place_of_greatest(a):
    best = a[0]
    place = 0
    for i in range(1, len(a)):
        if a[i] > best:
            best = a[i]
            place = i
    return place, best


def place_of_least(a):
    place = 0
    for i in range(len(a)):
        if a[i] <= a[place]:
            place = i
    return place


def greatest(a):
    best = -math.inf
    for x in a:
        if x > best:
            best = x
    return best


def nearest(a, b, x):
    least = 1e30
    found = -1
    for i in range(len(a)):
        dx = a[i] - x
        dy = b[i] - x
        d = dx * dx + dy * dy
        if d < least:
            least = d
            found = i
    return found, least


def least_that_is_open(a, b):
    least = 10.0**9
    found = -1
    for i in range(len(a)):
        if b[i] > 0 and a[i] < least:
            least = a[i]
            found = i
    return found, least


def least_that_is_open_within(a, b):
    least = 10.0**9
    found = -1
    for i in range(len(a)):
        if b[i] > 0:
            if a[i] < least:
                least = a[i]
                found = i
    return found, least


def least_that_is_not_left_out(a, b):
    least = 10.0**9
    found = -1
    for i in range(len(a)):
        if b[i] == 0:
            continue
        if a[i] < least:
            least = a[i]
            found = i
    return found, least


def least_and_greatest(a):
    low = high = a[0]
    place = 0
    for i in range(len(a)):
        if a[i] < low:
            low = a[i]
        elif a[i] > high:
            high = a[i]
            place = i
    return low, high, place


def best_deal(a):
    low = a[0]
    best = a[0] - a[0]
    for i in range(1, len(a)):
        if a[i] < low:
            low = a[i]
        if a[i] - low > best:
            best = a[i] - low
    return best


def second(a):
    first = a[0]
    following = a[0] - 1000
    for i in range(1, len(a)):
        if a[i] > first:
            following = first
            first = a[i]
        elif a[i] > following:
            following = a[i]
    return first, following


def first_place(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i
    return -1


def last_place(a, x):
    place = -1
    for i in range(len(a) - 1, -1, -1):
        if a[i] == x:
            place = i
            break
    return place


def is_sorted(a):
    for i in range(1, len(a)):
        if a[i] < a[i - 1]:
            return False
    return True


def raised(a, x):
    for i in range(len(a)):
        if a[i] == x:
            raise ValueError(i)


def stored(a, b, x):
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
            a[i] = -x
            b[i] = x
    return x


def in_rows(m):
    found = 0
    for y in range(m.shape[0]):
        place = 0
        for x in range(m.shape[1]):
            if abs(m[y, x]) > abs(m[y, place]):
                place = x
        found = found * 3 + place
    return found


def elements(n, seed=0):
    return np.random.default_rng(seed).permutation(n).astype(np.float64)


SIZES = (300, 300, 300, 0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 1000)
SEARCHES = {
    place_of_greatest: lambda n: (elements(n),),
    place_of_least: lambda n: (elements(n),),
    greatest: lambda n: (elements(n),),
    nearest: lambda n: (elements(n), elements(n, 1), n / 2),
    least_that_is_open: lambda n: (elements(n), elements(n, 1) % 3),
    least_that_is_open_within: lambda n: (elements(n), elements(n, 1) % 3),
    least_that_is_not_left_out: lambda n: (elements(n), elements(n, 1) % 3),
    least_and_greatest: lambda n: (elements(n),),
    best_deal: lambda n: (elements(n),),
    second: lambda n: (elements(n),),
    first_place: lambda n: (elements(n), 7.0),
    last_place: lambda n: (elements(n), 7.0),
    is_sorted: lambda n: (np.arange(n) + 0.5,),
    raised: lambda n: (elements(n), 7.0),
    stored: lambda n: (elements(n), elements(n, 1), 3.0),
    in_rows: lambda n: (elements(n).reshape(2, n // 2) if n % 2 == 0 else np.zeros((1, n)),),
}


def outcome(function, args):
    try:
        return function(*args), args
    except (ValueError, IndexError) as error:
        return type(error), str(error), args


@pytest.mark.parametrize("function", SEARCHES)
def test_results_are_those_of_cpython(function):
    f = ljit.jit(function)
    for n in SIZES:
        for kind in (np.float64, np.int64, np.float32):
            given = [
                tuple(x.astype(kind) if isinstance(x, np.ndarray) else x for x in args)
                for args in (SEARCHES[function](n), SEARCHES[function](n))
            ]
            assert compare(outcome(function, given[0]), outcome(f, given[1])) is None, (n, kind)


@pytest.mark.parametrize("function", SEARCHES)
def test_blocks_are_asked_about(function):
    f = ljit.jit(function)
    args = SEARCHES[function](300)
    for _ in range(3):
        outcome(f, SEARCHES[function](300))
    assert "checks='asked'" in str(f.graph_for(*args))
    expected = outcome(function, SEARCHES[function](300))
    for _ in fail_each_guard(f):
        assert compare(expected, outcome(f, SEARCHES[function](300))) is None


@pytest.mark.parametrize("at", [0, 5, 31, 32, 40, 63, 64, 100, 299])
def test_numbers_that_are_none_are_no_records(at):
    for function in (place_of_greatest, place_of_least, greatest, is_sorted):
        f = ljit.jit(function)
        for _ in range(3):
            a = elements(300)
            a[at] = math.nan
            assert compare(outcome(function, (a,)), outcome(f, (a,))) is None


def first_place_below(a, x, n):
    m = len(a)
    for i in range(n):
        if i >= m:
            return -1
        if a[i] == x:
            return i
    return -2


def greatest_below(a, best, n):
    m = len(a)
    place = -1
    for i in range(n):
        if i >= m:
            break
        if a[i] > best:
            best = a[i]
            place = i
    return best, place


@pytest.mark.parametrize("function", [first_place_below, greatest_below])
def test_nothing_is_read_behind_the_trip_that_leaves(function):
    f = ljit.jit(function)
    for n in (100, 300, 489, 500):
        a = guarded_array(n)
        a[:] = np.arange(n) % 7
        for _ in range(3):
            assert compare(function(a, 9.0, 5000), f(a, 9.0, 5000)) is None
    assert "checks='asked'" in str(f.graph_for(a, 9.0, 5000))


def sums_where(a, x):
    s = 0.0
    for i in range(len(a)):
        if a[i] > x:
            s += a[i]
    return s


def changes(a):
    count = 0
    last = a[0]
    for i in range(len(a)):
        if a[i] != last:
            last = a[i]
            count += 1
    return count


def by_a_table(a, table):
    best = -1.0
    for i in range(len(a)):
        if a[table[i]] > best:
            best = a[table[i]]
    return best


def counted_beside(a):
    best, k = -1.0, 0
    for i in range(len(a)):
        if a[i] > best:
            best = a[i]
        k += 2
    return best, k


@pytest.mark.parametrize("function", [sums_where, changes, by_a_table, counted_beside])
def test_other_loops_stay_as_they_are(function):
    f = ljit.jit(function)
    more = {sums_where: (3.0,), by_a_table: (np.arange(300),)}.get(function, ())
    args = (elements(300), *more)
    for _ in range(3):
        assert compare(function(*args), f(*args)) is None
    assert "asked" not in str(f.graph_for(*args))


def made(seed):
    """A function that looks for something in two arrays."""
    chosen = random.Random(seed)
    term = chosen.choice(("a[i]", "a[i] * b[i]", "a[i] - b[i]", "a[i + 1] - a[i]", "abs(a[i] - x)"))
    sign = chosen.choice(("<", ">", "<=", ">="))
    condition = f"{term} {sign} best"
    if chosen.random() < 0.4:
        other = chosen.choice(("b[i] > 3.0", "i % 4 != 1", "place < 0", "i != place"))
        condition = chosen.choice((f"{other} and {condition}", f"{condition} and {other}"))
    lines = [f"if {condition}:", f"    best = {term}", "    place = i"]
    if chosen.random() < 0.3:
        lines.append(
            chosen.choice(("    b[i] = best", "    if best > 250.0: break", "    count += 1"))
        )
    if chosen.random() < 0.2:
        lines[1:] = [chosen.choice(("    return i, best, b", "    break"))]
    if chosen.random() < 0.5:
        lines += [
            chosen.choice(("if a[i] > high:", "elif a[i] > high:", "if a[i] - best < high:")),
            chosen.choice(
                ("    high = a[i]", "    high = a[i] - best", "    high, place = best, i")
            ),
        ]
    if chosen.random() < 0.3:
        chosen_first = chosen.choice(("if b[i] > 30.0:", "if a[i] != high:", "if i > place:"))
        lines = [chosen_first, *("    " + line for line in lines)]
        if chosen.random() < 0.3:
            lines += ["else:", chosen.choice(("    count += 1", "    if a[i] > high: high = a[i]"))]
    if chosen.random() < 0.3:
        left_out = chosen.choice(("b[i] > 90.0", "i == place", "a[i] < high", "count > 3"))
        lines.insert(chosen.choice((0, 0, len(lines))), f"if {left_out}: continue")
        lines.append(chosen.choice(("if a[i] > high: high = a[i]", "count += 1", "pass")))
    body = textwrap.indent("\n".join(lines), " " * 8)
    trips = chosen.choice(("range(len(a) - 1)", "range(len(a) - 2, -1, -1)", "range(1, n)"))
    return (
        "def f(a, b, x, n):\n    best, place, count, high = a[0], -1, 0, a[1]\n"
        f"    for i in {trips}:\n{body}\n    return best, place, count, high, b\n"
    )


@pytest.mark.parametrize("seed", range(100))
def test_searches_for_anything(seed, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(made(seed))
    space: dict = {}
    exec(compile(made(seed), str(path), "exec"), space)
    function = space["f"]
    f = ljit.jit(function)
    for n in (200, 200, 200, 40, 97):
        for kind in (np.float64, np.int64):
            given = [(elements(n).astype(kind), elements(n, 1), 5.0, n - 3) for _ in "ab"]
            assert compare(outcome(function, given[0]), outcome(f, given[1])) is None, made(seed)

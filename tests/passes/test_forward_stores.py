"""What one trip stores and the next one loads is carried: elements are those of CPython whatever else is stored."""

import random
import textwrap

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def diffused(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(1, w - 1):
            old = a[y, x]
            new = 255.0 if old > 127.0 else 0.0
            a[y, x] = new
            e = old - new
            a[y, x + 1] += e * 7 / 16
            a[y + 1, x - 1] += e * 3 / 16
            a[y + 1, x] += e * 5 / 16
            a[y + 1, x + 1] += e * 1 / 16


def backwards(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(w - 2, 0, -1):
            a[y, x] = a[y, x + 1] * 0.5 + a[y + 1, x]
            a[y + 1, x] += a[y + 1, x + 1] - a[y, x]


def by_twos(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(2, w, 2):
            a[y, x] = a[y, x - 2] * 0.5 + a[y + 1, x]
            a[y + 1, x] = a[y, x] + a[y + 1, x - 2]


def down_columns(a):
    h, w = a.shape
    for x in range(w):
        if a[0, x] > 3.0:
            for y in range(1, h):
                a[y, x] = a[y - 1, x] * 0.5 + 1.0


def down_a_diagonal(a):
    h, w = a.shape
    for x in range(1, w):
        if x < h:
            a[x, x] = a[x - 1, x - 1] * 0.5 + a[x, 0]


def written_in_between(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(1, w - 1):
            a[y, x] = a[y, x - 1] * 0.5
            a[y + 1, x] = a[y, x] + 1.0
            if a[y + 1, x] > 3.0:
                a[y, x] = 7.0


def through_another_name(a):
    h, w = a.shape
    for y in range(h - 1):
        row = a[y]
        for x in range(1, w - 1):
            a[y, x] = a[y, x - 1] * 0.5
            a[y + 1, x] = a[y, x] + 1.0
            row[x] = row[x] + a[y + 1, x]


def outside_at_last(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(1, w + 1):
            a[y, x - 1] = a[y, x] - 1.0
            a[y + 1, x] = a[y + 1, x - 1] * 0.5 + a[y, x]


def from_any_column(a):
    """What the trip before has stored is loaded in the last column alone."""
    h, w = a.shape
    for y in range(w):
        for x in range(h - 1):
            a[x + 1, w - 1] = a[x, y] * 0.5 + 1.0


def from_any_row(a):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(w - 1):
            a[h - 1, x + 1] = a[y, x] * 0.5 + 1.0
            a[y, x + 1] += a[h - 1, x]


CARRYING = (diffused, backwards, by_twos, down_columns)
FUNCTIONS = (
    *CARRYING,
    down_a_diagonal,
    written_in_between,
    through_another_name,
    outside_at_last,
    from_any_column,
    from_any_row,
)


def elements(shape, dtype=np.float64):
    n = shape[0] * shape[1]
    return (np.arange(n) * 37 % 251).astype(dtype).reshape(shape)


def outcome(function, *args):
    try:
        return function(*args), args
    except IndexError as error:
        return str(error), args


SHAPES = [
    (5, 20),
    (5, 20),
    (5, 20),
    (1, 1),
    (2, 1),
    (2, 2),
    (3, 3),
    (2, 4),
    (0, 4),
    (4, 0),
    (6, 33),
]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_elements_are_those_of_cpython(function, dtype):
    f = ljit.jit(function)
    for shape in SHAPES:
        for turned in (False, True):
            given = [
                elements(shape[::-1], dtype).T if turned else elements(shape, dtype) for _ in "ab"
            ]
            assert compare(outcome(function, given[0]), outcome(f, given[1])) is None


@pytest.mark.parametrize("function", CARRYING)
def test_nothing_is_loaded_that_the_trip_before_has_stored(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(elements((5, 20)))
    text = str(f.graph_for(elements((5, 20))))
    inner = text[text.rindex("prim::Loop(") :]
    assert "np.float64)" in inner.split("\n")[1]  # what it carries
    expected = outcome(function, elements((5, 20)))
    for _ in fail_each_guard(f):
        assert compare(expected, outcome(f, elements((5, 20)))) is None


def made(seed):
    """A function that loads and stores elements of two arrays in a loop, some under a condition."""
    chosen = random.Random(seed)
    step = chosen.choice((1, 1, 1, -1, 2))
    lines = []

    def place():
        row = chosen.choice(("y", "y", "y + 1"))
        return f"{chosen.choice('aaab')}[{row}, x + {chosen.randrange(-2, 3)}]"

    for _ in range(chosen.randrange(2, 6)):
        line = f"{place()} = {place()} * 0.5 + {place()}"
        if chosen.random() < 0.2:
            line = f"if {place()} > 40.0: {line}"
        lines.append(line)
    body = textwrap.indent("\n".join(lines), " " * 12)
    trips = "range(w - 3, 1, -1)" if step < 0 else f"range(2, w - 2, {step})"
    text = f"def f(a, b):\n    h, w = a.shape\n    for y in range(h - 1):\n        for x in {trips}:\n{body}\n"
    return text


@pytest.mark.parametrize("seed", range(40))
def test_loops_with_any_loads_and_stores(seed, tmp_path):
    path = tmp_path / "made.py"
    path.write_text(made(seed), encoding="utf-8")
    names: dict = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    function = names["f"]
    f = ljit.jit(function)
    for is_one in (False, False, False, True, False):
        results = []
        for g in (function, f):
            a = elements((4, 17))
            b = a if is_one else elements((4, 17)) + 1.0
            results.append(outcome(g, a, b))
        assert compare(*results) is None, made(seed)

"""Recursive functions that contain themselves: values, exits and exceptions are those of CPython at each depth."""

from __future__ import annotations

import pytest

import ljit
from ljit import config


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def paths(m, n):
    return 1 if m == 0 or n == 0 else paths(m - 1, n) + paths(m, n - 1)


def around(x, y, z):
    return z if y >= x else around(around(x - 1, y, z), around(y - 1, z, x), around(z - 1, x, y))


def inverses(n):
    return 1 // n + inverses(n - 1)


def last_is_a_float(n):
    return 0.5 if n == 0 else last_is_a_float(n - 1) * 2


def outcome(function, *args):
    try:
        result = function(*args)
    except ZeroDivisionError as error:
        frames, at = 0, error.__traceback__
        while at is not None:
            frames, at = frames + (at.tb_frame.f_code.co_name == "inverses"), at.tb_next
        return type(error), str(error), frames
    return type(result), result


PROGRAMS = [
    (factorial, [(n,) for n in range(30)]),  # more than 20: ints that leave native code
    (paths, [(m, n) for m in range(5) for n in range(5)]),
    (around, [(x, y, z) for x in range(5) for y in range(4) for z in range(3)]),
    (inverses, [(n,) for n in range(9)]),
    (last_is_a_float, [(n,) for n in range(12)]),
]


@pytest.mark.parametrize(("function", "cases"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_each_depth_gives_what_cpython_gives(function, cases):
    with config.overridden(quick_runs=0):
        made = ljit.jit(function)
        for _ in range(4):
            for args in cases:
                assert outcome(made, *args) == outcome(function, *args)


@pytest.mark.parametrize(("function", "levels"), [(factorial, 2), (around, 1)])
def test_the_copies_have_so_many_lines_together(function, levels):
    with config.overridden(quick_runs=0):
        made = ljit.jit(function)
        for _ in range(3):
            made(*(3, 2, 1)[: function.__code__.co_argcount])
        text = made.dump_llvm()
    copies = text.count("alwaysinline {")
    assert copies == levels
    assert text.count(" label %itself,") == levels  # the stack is looked at by the function itself

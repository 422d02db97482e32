"""Stores to parts that lie in between each other are one nest, and short loops with arrays one expression."""

from __future__ import annotations

import numpy as np

import ljit
from ljit import config


def halves(a, b):
    out = np.empty(2 * len(a))
    out[::2] = a
    out[1::2] = b
    return out


def with_midpoints(a, _):
    out = np.empty(2 * len(a) - 1)
    out[::2] = a
    out[1::2] = (a[1:] + a[:-1]) / 2
    return out


def neighbours(a, _):
    return sum(
        np.roll(np.roll(a, i, 0), j, 1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i != 0 or j != 0)
    )


def called(function, *arguments, times=6):
    """The function after some calls, all of which gave what NumPy gives."""
    made = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(times):
            np.testing.assert_array_equal(made(*arguments), function(*arguments))
    return made


def test_halves_are_one_nest_of_vectors():
    made = called(halves, np.arange(100.0), np.arange(100.0) * 3)
    assert str(made.graph_for(np.arange(9.0), np.arange(9.0))).count("prim::Map[into=2") == 1
    assert "%interleaved.vec" in made.dump_llvm(optimized=True)
    assert [s.bailouts for s in made.specializations] == [0]


def test_parts_of_other_sizes_are_left_alone():
    """Once it is known."""
    made = called(with_midpoints, np.arange(50.0), None, times=30)
    (found,) = made.specializations
    assert 0 < found.bailouts < 4


def test_neighbours_are_one_nest():
    a = np.arange(900.0).reshape(30, 30)
    made = called(neighbours, a, None)
    text = str(made.graph_for(a, None))
    assert text.count("prim::Map") == 1
    assert "prim::Loop" not in text

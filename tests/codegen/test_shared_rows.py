"""Rows that read what the next ones read, too, are done side by side: each element is loaded once for all of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.testing.guarded import guarded_array


def box(a):
    total = np.zeros((a.shape[0] - 2, a.shape[1] - 2), a.dtype)
    for i in range(3):
        for j in range(3):
            total += a[i : i + total.shape[0], j : j + total.shape[1]]
    return total / 9


def corners(a):
    return a[:-1, :-1] + a[1:, :-1] + a[:-1, 1:] * a[1:, 1:]


def every_second(a):
    return a[:-2:2] - a[1:-1:2] * a[2::2]


def of_two_steps(a):
    return a[:-4:2] - a[2:-2:2] * a[4::2]


def in_planes(a):
    return np.maximum(a[..., :-2, :], a[..., 1:-1, :]) - a[..., 2:, :]


def with_row(a):
    return (a[:-1] + a[1:]) * a[0]


def one_row(a):
    return a[:1] + a[1:]


def parts_of_others(a):
    n = a.shape[0] - 1
    return a[n - 3 :] + a[n - 4 : n]


def in_place(a):
    a[1:-1, 1:-1] = a[:-2, 1:-1] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 2:]
    return a


def into_another(a):
    b = np.ones_like(a)
    b[1:-1] *= a[:-2] + a[1:-1] - a[2:]
    return b


FUNCTIONS = (
    box,
    corners,
    every_second,
    of_two_steps,
    in_planes,
    with_row,
    one_row,
    parts_of_others,
    in_place,
    into_another,
)
SHAPES = (
    (2, 2),
    (3, 3),
    (5, 4),
    (6, 20),
    (7, 1),
    (8, 9),
    (11, 70),
    (12, 33),
    (3, 6, 9),
    (2, 13, 17),
)
LAYOUTS = {
    "rows": lambda a: a,
    "parts": lambda a: np.concatenate([a, a], axis=-1)[..., : a.shape[-1]],
    "the other way around": np.asfortranarray,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape),
}


def outcome(function, a):
    """What a call gives or raises, and its argument behind it."""
    a = a.copy(order="K") if function in (in_place, made_in_place) else a
    try:
        given = function(a)
    except ValueError as error:
        return str(error)
    return given.dtype, given.shape, given.tobytes(), a.tobytes()


made_in_place = ljit.jit(in_place)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows_side_by_side_give_what_each_gives(function, layout):
    made = made_in_place if function is in_place else ljit.jit(function)
    shapes = [shape for shape in SHAPES if len(shape) == 2 or function is not box]
    with config.overridden(cold_calls=False, quick_runs=0):
        for shape in shapes:
            whole = np.random.default_rng(len(shape)).integers(0, 9, shape)
            a = LAYOUTS[layout](whole.astype("u1" if layout == "parts" else "f8"))
            for _ in range(2):
                assert outcome(made, a) == outcome(function, a), shape


def test_elements_that_rows_have_in_common_are_loaded_once():
    made = ljit.jit(box)
    a = np.random.default_rng(0).random((11, 70))
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            made(a)
        text = made.dump_llvm()
    trips = [trip for trip in re.split(r"\n\w+:\n", text) if "fdiv double" in trip]
    counts = {trip.count("fdiv double"): trip.count("load double") for trip in trips}
    assert counts == {4: 18, 1: 9}


@pytest.mark.parametrize("shape", [(6, 7), (9, 8), (10, 33)])
def test_nothing_is_read_behind_the_array(shape):
    made = ljit.jit(box)
    a = guarded_array(shape, np.dtype(np.float64))
    a[...] = np.random.default_rng(1).random(shape)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            assert made(a).tobytes() == box(a).tobytes()

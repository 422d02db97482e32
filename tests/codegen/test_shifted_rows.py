"""Stores into an array of which shifted parts are read: as in NumPy, all is computed as if nothing were stored yet."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.shared_code import HAZARD
from ljit.testing.guarded import guarded_array
from tests.frontend.harness import function_of

STEPS = (-1, 0, 1, 2)
SIZES = ((0, 9), (1, 9), (2, 2), (4, 0), (3, 4), (4, 4), (5, 12), (9, 40), (30, 77), (4, 300))


def part(shift):
    """The part of an array that lies so far behind ``[1:-2]`` along each axis."""
    return ", ".join(f"{1 + step}:{step - 2 or ''}" for step in shift)


def stencil(shifts, store="="):
    """A function that stores sums of parts of its array, some times."""
    target = part((0,) * len(shifts[0]))
    terms = [f"a[{part(shift)}]" for shift in shifts]
    return function_of(
        f"def f(a, n):\n"
        f"    for _ in range(n):\n"
        f"        a[{target}] {store} {' + '.join(terms)}\n"
        f"    return a\n"
    )


def filled(a):
    a[...] = np.random.default_rng(3).random(a.shape) * 100
    return a


def compare(function, arrays):
    """Compare what calls give, and say whether results had to wait anywhere."""
    made = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0), np.errstate(all="ignore"):
        for a in arrays:
            before = filled(a).copy()
            for _ in range(3):
                a[...] = before
                theirs = function(before.copy(), 3)
                assert made(a, 3) is a
                assert a.tobytes() == theirs.tobytes(), (a.shape, a.dtype)
        return HAZARD in made.dump_llvm()


CUBES = ((0, 4, 9), (3, 4, 4), (4, 1, 9), (4, 4, 5), (5, 6, 12), (9, 7, 40))


def cubes(dtype):
    return [guarded_array(size, dtype, at) for size in CUBES for at in ("end", "start")]


def matrices(dtype):
    return [guarded_array(size, dtype, at) for size in SIZES for at in ("end", "start")]


OF_PLANES = [
    shifts
    for count in (1, 2, 3, 5)
    for shifts in itertools.combinations(itertools.product(STEPS, STEPS), count)
]
OF_CUBES = [
    shifts
    for count in (2, 3)
    for shifts in itertools.combinations(itertools.product((-1, 0, 1), STEPS, STEPS), count)
]
OF_VECTORS = [
    shifts for count in (1, 2, 3) for shifts in itertools.combinations([(x,) for x in STEPS], count)
]


@pytest.mark.parametrize("store", ["=", "+="])
@pytest.mark.parametrize("shifts", random.Random(4).sample(OF_PLANES, 25), ids=str)
def test_parts_of_planes(shifts, store):
    waits = compare(stencil(shifts, store), matrices("f8"))
    assert not (waits and len(shifts) > 1)


@pytest.mark.parametrize(
    "shifts",
    [
        *random.Random(5).sample(OF_CUBES, 15),
        [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1), (0, 0, 0)],
        [(-1, 0, 0), (0, -1, 2), (0, -1, -1), (1, -1, -1)],
        [(-1, 0, 0), (-1, 0, -1)],
        [(-1, 0, 0), (2, -1, -1)],
    ],
    ids=str,
)
def test_parts_of_cubes(shifts):
    waits = compare(stencil(shifts), cubes("f8"))
    are_kept = all(shift == (-1, 0, 0) for shift in shifts if shift[0] < 0)
    assert waits == (not are_kept or len(shifts) == 1)


@pytest.mark.parametrize("shifts", OF_VECTORS, ids=str)
def test_parts_of_vectors(shifts):
    vectors = [a.reshape(-1) for a in matrices("f8")]
    waits = compare(stencil(shifts), vectors)
    assert not (waits and len(shifts) > 1)


@pytest.mark.parametrize(
    "dtype", ["f4", "i4", "u4", "i8", "u8", "i2", "u1", "f2", "c8", "c16", "?"]
)
def test_dtypes(dtype):
    compare(stencil([(-1, -1), (0, -1), (-1, 0), (0, 0), (1, 1), (-1, 2)]), matrices(dtype))
    converting = function_of(
        "def f(a, n):\n"
        "    for _ in range(n):\n"
        "        a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[1:-1, :-2]) * 0.3\n"
        "    return a\n"
    )
    if np.dtype(dtype).kind != "b":
        compare(converting, matrices(dtype))


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(("2:-1, 1:", "1:-2, 1:", "0:-3, :-1"), id="a-column-that-is-not-there"),
        pytest.param(("2:-1", "1:-2", "0:-3"), id="rows"),
        pytest.param(("3:, 1:-2", "1:-2, 1:-2", ":-3, :-3"), id="ends"),
        pytest.param(("1:4, 1:-2", "2:5, 1:-2", "0:3, 0:-3"), id="to-fixed-places"),
        pytest.param(("1:-2, 1:-2", "1:-2, 1:-2", "0:-3, 3:"), id="two-behind"),
        pytest.param(("2:-2, 1:-2", "0:-4, 1:-2", "2:-2, 0:-3"), id="two-rows-before"),
        pytest.param(("::2, 1:-2", "::2, 2:-1", "::2, 0:-3"), id="with-steps"),
        pytest.param(("..., 1:-2", "..., 2:-1", "..., 0:-3"), id="an-ellipsis"),
        pytest.param(("1, 1:-2", "0, 1:-2", "1, 0:-3"), id="a-row"),
        pytest.param(("1:-2, 1", "1:-2, 0", "0:-3, 1"), id="a-column"),
        pytest.param(("1:-2, 1:-2", "1:-2, 1:-2", "1, 0:-3"), id="a-row-for-all"),
    ],
)
def test_other_parts(parts):
    target, first, second = parts
    function = function_of(
        f"def f(a, n):\n"
        f"    for _ in range(n):\n"
        f"        a[{target}] = a[{first}] - 0.5 * a[{second}]\n"
        f"    return a\n"
    )
    sizes = [(6, 4), (7, 7), (20, 33)]
    compare(function, [guarded_array(size, "f8") for size in sizes])


@pytest.mark.parametrize(
    "source", ["b[1:-1, 1:-1]", "b[1:-1, :1]", "b[0, 1:-1]", "b[2:, 2:] * b[0, 0]", "b[::2, 1:-1]"]
)
def test_arrays_that_lie_elsewhere(source):
    function = function_of(
        f"def f(b, n):\n"
        f"    a = np.zeros(b.shape) if b.ndim == 2 else b\n"
        f"    for i in range(n):\n"
        f"        a[1:-1, 1:-1] = 0.5 * (a[:-2, 1:-1] + a[1:-1, :-2]) - {source}\n"
        f"    return a\n",
        np=np,
    )
    made = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for size, _ in itertools.product([(4, 4), (5, 3), (12, 30), (2, 2)], range(3)):
            b = np.random.default_rng(5).random(size).astype("f4")
            try:
                theirs = function(b, 3)
            except ValueError as error:
                with pytest.raises(ValueError, match=re.escape(str(error))):
                    made(b, 3)
                continue
            np.testing.assert_array_equal(made(b, 3), theirs)


def test_other_arrays_and_orders():
    """What may share memory otherwise waits."""
    function = function_of(
        "def f(a, b, n):\n"
        "    for _ in range(n):\n"
        "        a[1:-1, 1:-1] = 0.5 * (a[:-2, 1:-1] + a[1:-1, 2:]) - b[1:-1, 1:-1]\n"
        "    return a\n"
    )
    made = ljit.jit(function)
    memory = filled(np.zeros((30, 40)))
    pairs = [
        (lambda x: (x[:20], x[10:])),
        (lambda x: (x, x)),
        (lambda x: (x, x.copy())),
        (lambda x: (x.T, x.T[::-1])),
        (lambda x: (x[::-1], x)),
        (lambda x: (x[:, ::-1], x)),
        (lambda x: (x[::2, ::3], x[1::2, ::3])),
        (
            lambda x: (
                (np.lib.stride_tricks.sliding_window_view(x.reshape(-1), 3, writeable=True),) * 2
            )
        ),
    ]
    with config.overridden(cold_calls=False, quick_runs=0):
        for views, _ in itertools.product(pairs, range(3)):
            ours, theirs = memory.copy(), memory.copy()
            a, b = views(ours)
            made(a, b[: len(a)] if len(b) > len(a) else b, 2)
            a, b = views(theirs)
            function(a, b[: len(a)] if len(b) > len(a) else b, 2)
            np.testing.assert_array_equal(ours, theirs)


VARIABLE = """
def f(a, i, j, k, l):
    a[i : i + k, j : j + l] = a[i + 1 : i + k + 1, j : j + l] - 0.5 * a[i - 1 : i + k - 1, j - 1 : j + l - 1]
    return a
"""


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "c8", "i2"])
def test_bounds_that_vary(dtype):
    """Wherever slices begin and end: behind the end, in front of the beginning, or counted from there."""
    function = function_of(VARIABLE.replace("0.5", "5") if dtype == "i2" else VARIABLE)
    made = ljit.jit(function)
    memory = filled(np.zeros((30, 90), dtype))
    views = (
        lambda x: x,
        lambda x: x[::2, :80],
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x.T,
    )
    bounds = [
        (1, 1, 20, 60), (0, 1, 4, 4), (1, 0, 4, 4), (5, 5, 100, 70), (-20, 5, 10, 30), (-4, -9, 3, 8), (3, 3, 0, 5),
        (40, 2, 5, 5), (2, 1, 1, 1), (1, 1, 10**18, 10**18),
    ]  # fmt: skip
    with config.overridden(cold_calls=False, quick_runs=0), np.errstate(all="ignore"):
        for view, bound, _ in itertools.product(views, bounds, range(2)):
            ours, theirs = memory.copy(), memory.copy()
            try:
                function(view(theirs), *bound)
            except ValueError as error:
                with pytest.raises(ValueError, match=re.escape(str(error))):
                    made(view(ours), *bound)
            else:
                made(view(ours), *bound)
            assert ours.tobytes() == theirs.tobytes(), (view(ours).strides, bound)
    assert re.search(r"%vector\.recur\S* = phi <\d+ x ", made.dump_llvm(optimized=True))


def test_bounds_of_sizes():
    function = function_of(
        "def f(a, n):\n"
        "    rows, columns = a.shape\n"
        "    for _ in range(n):\n"
        "        a[1 : rows - 1, 1 : columns - 1] += 0.25 * (\n"
        "            a[2:rows, 1 : columns - 1] + a[0 : rows - 2, 1 : columns - 1]\n"
        "            + a[1 : rows - 1, 2:columns] + a[1 : rows - 1, 0 : columns - 2]\n"
        "        )\n"
        "    return a\n"
    )
    for dtype in ("f8", "f4", "c16"):
        compare(function, matrices(dtype))


@pytest.mark.parametrize("strides", [(24, 8), (8, 8), (0, 8), (-80, 8), (16, 16)], ids=str)
def test_rows_that_share_memory(strides):
    """What an array has twice is written over twice, as in NumPy."""
    function = function_of(
        "def f(a, i):\n    a[i:9, 1:9] = a[i - 1 : 8, 1:9] + 2 * a[i:9, 0:8]\n    return a\n"
    )
    made = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        made(np.ones((10, 10))[:, :], 1)
        for _ in range(3):
            results = []
            for call in (made, function):
                memory = filled(np.zeros(300))
                view = np.lib.stride_tricks.as_strided(memory[100:], (10, 10), strides)
                call(view, 1)
                results.append(memory.tobytes())
            assert results[0] == results[1]


def test_known_sizes():
    """Small arrays of which the sizes are known, nothing of which may be stored to."""
    for size in (1, 3, 4, 5):
        function = function_of(
            "def f(a, n):\n"
            "    for _ in range(n):\n"
            "        a[3:] = a[2:-1] - 2 * a[3:]\n"
            "    return a\n"
        )
        compare(function, [np.zeros(size), np.zeros((size, 4))])


def test_the_element_before_is_another_lane():
    made = ljit.jit(stencil([(-1, 0), (0, -1), (0, 1), (1, 0)]))
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(2):
            made(np.ones((9, 40)), 3)
        assert re.search(r"%vector\.recur\S* = phi <\d+ x double>", made.dump_llvm(optimized=True))

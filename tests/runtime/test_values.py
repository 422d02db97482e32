"""Arrays of every layout, and of kinds that native code leaves alone, give what CPython gives."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from tests.programs.harness import Args, aliasing, compare, run


class Sub(np.ndarray):
    def __mul__(self, other):
        return "subclass"


def read_only(a):
    a.flags.writeable = False
    return a


def unaligned():
    raw = np.zeros(8 * 6 + 1, np.uint8)
    a = raw[1:].view(np.float64)
    a[...] = np.arange(6.0)
    return a


ARRAYS = {
    "c": lambda: np.arange(12.0).reshape(3, 4),
    "fortran": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": lambda: np.arange(48.0).reshape(6, 8)[::2, 1::2],
    "reversed": lambda: np.arange(12.0).reshape(3, 4)[::-1, ::-1],
    "broadcast": lambda: np.broadcast_to(np.arange(4.0), (3, 4)),
    "read-only": lambda: read_only(np.arange(12.0).reshape(3, 4)),
    "zero-d": lambda: np.array(2.5),
    "empty": lambda: np.zeros((0, 4)),
    "empty-1d": lambda: np.zeros(0),
    "one-d": lambda: np.arange(5.0),
    "unaligned": unaligned,
    "swapped": lambda: np.arange(5.0).astype(">f8"),
    "object": lambda: np.array([1, 2.5, 2**70], dtype=object),
    "structured": lambda: np.zeros(3, dtype=[("x", "f8"), ("y", "i4")]),
    "strings": lambda: np.array(["a", "bc"]),
    "datetime": lambda: np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    "subclass": lambda: np.arange(5.0).view(Sub),
    "masked": lambda: np.ma.masked_array(np.arange(4.0), [0, 1, 0, 1]),
    "matrix-like": lambda: np.arange(4.0).reshape(2, 2).view(np.recarray),
    "half": lambda: np.arange(4, dtype=np.float16),
    "bools": lambda: np.array([True, False]),
    "uint8": lambda: np.arange(250, 256, dtype=np.uint8),
    "long double": lambda: np.arange(3, dtype=np.longdouble),
}


def arithmetic(x):
    return x * 2 + x


def element(x):
    return x[0] + x[-1]


def store(x):
    x[0] = 7
    return x


def view(x):
    return x[1:], x.T, x.shape, x.ndim


def loop(x):
    total = 0
    for row in x:
        total = total + row
    return total


def flat_loop(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j]
    return total


def inplace(x):
    x += 1
    return x


def reductions(x):
    return x.sum(), x.max()


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "function", [arithmetic, element, store, view, loop, flat_loop, inplace, reductions]
)
def test_every_layout_and_kind_agrees(function, name):
    compiled = ljit.jit(function)
    for call in range(4):
        expected, actual = (run(f, make()) for f, make in _calls(function, compiled, name))
        assert expected.failure is None or expected.failure.cls is actual.failure.cls
        assert (expected.failure is None) == (actual.failure is None), actual.failure
        if expected.failure is not None:
            assert expected.failure.message == actual.failure.message
        assert same(expected.value, actual.value), f"call {call}"
        assert same(expected.args.positional[0], actual.args.positional[0])
        if not isinstance(expected.value, np.ma.MaskedArray):
            assert aliasing(expected) == aliasing(actual)


def _calls(function, compiled, name):
    def make():
        return Args((ARRAYS[name](),))

    return (function, make), (compiled, make)


def same(a, b):
    """Compare what the harness does not know: subclasses, objects, dates. Memory order is not promised."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, np.ndarray):
        return compare(a, b) is None
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    kind = a.dtype.kind in "OVM" or isinstance(a, np.ma.MaskedArray)
    values = str(a) == str(b) if kind else compare(np.asarray(a), np.asarray(b)) is None
    return values and a.flags.writeable == b.flags.writeable


def test_layouts_in_turn_through_one_function():
    compiled = ljit.jit(arithmetic)
    for _ in range(4):
        for make in ARRAYS.values():
            expected = run(arithmetic, _args(make))
            actual = run(compiled, _args(make))
            assert (expected.failure is None) == (actual.failure is None)
            assert same(expected.value, actual.value)


def _args(make):
    return Args((make(),))


def test_an_array_that_is_made_read_only_later_raises_at_the_store():
    compiled = ljit.jit(store)
    a = np.arange(4.0)
    for _ in range(3):
        compiled(a)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        compiled(a)
    a.flags.writeable = True
    assert compiled(a) is a


def test_results_own_their_memory():
    compiled = ljit.jit(arithmetic)
    for _ in range(4):
        made = compiled(np.arange(6.0).reshape(2, 3))
        assert made.flags.owndata
        assert made.base is None


def test_identity_of_arrays_and_of_their_views():
    def f(xs, key):
        view = key[1:]
        found = [x for x in xs if x is not key]
        return len(found), view is key, view[:] is view, xs[1] is key, xs[1] is view

    compiled = ljit.jit(f)
    key = np.arange(4.0)
    for _ in range(10):
        for other in (key, key[1:], np.zeros(2)):
            assert f(["a", other], key) == compiled(["a", other], key)


def ints_in_lists(n):
    filled, appended = [0] * n, []
    for i in range(n):
        filled[i] = i - 8
        appended.append(i - 8)
    return filled, appended


def test_small_ints_in_lists_are_the_objects_that_cpython_has():
    compiled = ljit.jit(ints_in_lists)
    for _ in range(4):
        expected = [i - 8 for i in range(300)]
        for found in compiled(300):
            assert found == expected
            assert [i for i, x in enumerate(found) if x is expected[i]] == list(range(3, 265))
    assert compiled.specializations[0].state.startswith("native")


class Watched:
    """Notes which attributes are asked for."""

    def __init__(self):
        self.asked = []

    def __getattribute__(self, name):
        if name != "asked":
            object.__getattribute__(self, "asked").append(name)
        return object.__getattribute__(self, name)

    def double(self, x):
        return 2 * x


def ask_often(n):
    watched, total = Watched(), 0
    for i in range(n):
        total += watched.double(i) + watched.double(i + 1)
    return total, watched.asked


def test_objects_are_asked_for_what_the_program_asks_for_alone():
    compiled = ljit.jit(ask_often)
    for _ in range(4):
        assert compiled(30) == ask_often(30)


def sum_of_doubles(items, lines):
    total = sum([line[0] for line in lines])
    for item in items:
        total += item.double(1)
    return total


def test_objects_that_loops_go_over_are_not_asked_for_their_class():
    """Not even those that have none to be asked for, as the iterator over the lines of a code object."""
    compiled = ljit.jit(sum_of_doubles)
    for _ in range(4):
        items = [Watched() for _ in range(5)]
        assert compiled(items, ask_often.__code__.co_lines()) == sum_of_doubles(
            items, ask_often.__code__.co_lines()
        )
        assert [item.asked for item in items] == [["double"] * 2] * 5

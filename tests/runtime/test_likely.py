"""What bytecode and arguments tell of a call: whether it may take long."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from ljit.runtime import likely


def straight(x):
    return x + 1 if x else 2


def one_behind_another(xs):
    for x in xs:
        if x:
            continue
        print(x)
    while xs:
        xs = xs[1:]


def within(xs, n):
    for x in xs:
        while n > x:
            n -= 1
            if n == 3:
                continue
            for k in range(n):
                print(k)
        print(x)


def comprehended(xs):
    return [x * y for x in xs for y in xs]


def far(xs):  # jumps of more than 255 instructions
    for x in xs:
        for y in xs:
            print(
                f"{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}"
            )
            print(
                f"{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}"
            )
            print(
                f"{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}"
            )
            print(
                f"{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}"
            )


@pytest.mark.parametrize(
    ("function", "levels"),
    [(straight, 0), (one_behind_another, 1), (within, 3), (comprehended, 2), (far, 2)],
)
def test_bytecode_tells_how_many_loops_lie_in_one_another(function, levels):
    assert likely.levels_of_loops(function.__code__) == levels


@pytest.mark.parametrize(
    ("values", "levels", "are_many"),
    [
        ((), 1, None),
        ((0.5, True, None, 1j, np.float64(2.0), np.zeros(())), 2, None),
        ((19_999, 0.5), 1, False),
        ((-20_000,), 1, True),
        ((np.int32(20_000),), 1, True),
        ((range(5, 20_005),), 1, True),
        ((bytes(20_000),), 1, True),
        (([0.0] * 20_000,), 1, True),
        (([10**6] * 3, (10**6, 1.0)), 1, False),
        ((10**9,), 1, True),
        ((10**9 + 1,), 1, None),  # no count
        ((-(2**60), 4), 1, False),
        ((150, 100), 2, False),
        ((200, 100), 2, True),
        ((200, 100, 3), 2, True),
        ((27,), 3, False),
        ((28,), 3, True),
        (([[0.0] * 200] * 100,), 2, True),
        ((np.zeros((3, 3)), 111), 2, False),
        ((np.zeros((3, 3)), 400), 2, True),
        ((np.zeros((10, 99)),), 1, False),
        ((np.zeros((10, 100)),), 1, True),
    ],
)
def test_sizes_suggest_how_many_trips_there_are(values, levels, are_many):
    for if_unknown in (True, False):
        expected = if_unknown if are_many is None else are_many
        assert likely.may_be_many_trips(values, levels, if_unknown=if_unknown) is expected


def test_ints_that_native_code_has_no_numbers_for_are_none():
    assert likely.are_numbers([2**64 - 1, -(2**63), [3, 2**64]])
    assert not likely.are_numbers([2**64])
    assert not likely.are_numbers([(-(2**63) - 1,)])


def test_lists_that_hold_themselves_are_no_numbers():
    xs = []
    xs.append(xs)
    assert not likely.are_numbers([xs])
    assert likely.are_numbers([[], 1, [[2.0]]])
    assert not likely.may_be_many_trips([xs], 2, if_unknown=True)


def test_nothing_of_an_argument_is_run_to_know_what_it_is():
    class Meta(type):
        def __getattribute__(cls, name):
            raise AssertionError(name)

    class Odd(metaclass=Meta):
        def __getattribute__(self, name):
            raise AssertionError(name)

    class OddArray(np.ndarray):
        def __getattribute__(self, name):
            raise AssertionError(name)

    array = np.zeros(2000).view(OddArray)
    assert not likely.are_numbers([Odd()])
    assert (
        likely.are_numbers([array])
        and likely.has_array([array])
        and likely.has_large_array([array])
    )
    assert not likely.may_be_many_trips([Odd()], 1, if_unknown=False)
    assert likely.may_be_many_trips([array], 1, if_unknown=False)


def test_there_are_no_arrays_while_numpy_is_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", types.ModuleType("numpy"))
    assert likely.are_numbers([1, 2.0])
    assert not likely.has_large_array([1, 2.0])
    monkeypatch.delitem(sys.modules, "numpy")
    assert likely.are_numbers([1, 2.0])

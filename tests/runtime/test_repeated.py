"""Long calls in a row, by code that is not decorated: they are bet on however many functions are decorated."""

from __future__ import annotations

import time

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.cpython.frame_count import thread
from ljit.runtime import bets, repeated, waiting
from ljit.runtime.repeated import are_in_a_row, may_be_in_a_row, note_calls

LONG, SHORT = 2e-4, 2e-5


@pytest.fixture(autouse=True)
def nothing_has_run(monkeypatch):
    """So many functions are decorated that they have no stake, and there is no room for anything else."""
    others = [ljit.jit(lambda: None) for _ in range(300)]
    _ = others[0]._executor
    monkeypatch.setattr(repeated._Row, "function", 0)
    monkeypatch.setattr(waiting._Start, "of_process", None)
    monkeypatch.setattr(bets.Bet, "won", 0.0)
    monkeypatch.setattr(bets.Bet, "loading", 0.0)
    for share in ("_SHARE", "_SHARE_OF_LIKELY", "_SHARE_OF_NUMBERS", "_LEAST_STAKE"):
        monkeypatch.setattr(waiting, share, 0.0)
    monkeypatch.setattr(waiting, "_STAKE", 100.0)
    with config.overridden(cold_calls=True):
        yield


def first():
    pass


def second():
    pass


def test_long_calls_of_one_function_are_a_row():
    for _ in range(2):
        assert not are_in_a_row(first)
        note_calls(first, 1, LONG)
        assert may_be_in_a_row(first)
    assert are_in_a_row(first)
    assert not are_in_a_row(second)
    note_calls(first, 1, LONG)
    assert are_in_a_row(first)
    assert not may_be_in_a_row(first), "it is one"


def test_another_function_ends_a_row():
    for _ in range(3):
        for fn in (first, second):
            note_calls(fn, 1, LONG)
            assert not are_in_a_row(fn)


def test_a_short_call_ends_a_row_of_long_ones():
    note_calls(first, 1, LONG)
    note_calls(first, 1, SHORT)
    assert not may_be_in_a_row(first)
    note_calls(first, 1, LONG)
    assert not are_in_a_row(first)


def test_a_call_that_took_a_thousandth_of_a_second_begins_a_row():
    note_calls(first, 1, 1.1e-3)
    assert are_in_a_row(first)


def test_so_do_short_calls_that_took_as_long():
    for _ in range(4):
        assert not are_in_a_row(first)
        assert not may_be_in_a_row(first)
        note_calls(first, 13, SHORT)
    assert are_in_a_row(first)


def test_calls_by_decorated_functions_are_none(monkeypatch):
    note_calls(first, 1, LONG)
    thread.frames.depth += 1
    try:
        note_calls(second, 1, LONG)
        note_calls(first, 1, LONG)
        assert not may_be_in_a_row(first)
    finally:
        thread.frames.depth -= 1
    note_calls(first, 1, LONG)
    assert are_in_a_row(first)


def until(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def scaled(a, seconds):
    until(seconds)
    return a * 2.0 + 1.0


def calls_until_translated(fn, *others):
    a = np.ones(1000)
    for call in range(1, 9):
        fn(a, 2 * LONG)
        if fn._calls.has_executor():
            return call
        for other in others:
            other(a, 2 * LONG)
    return None


def test_the_third_of_a_row_is_translated_and_the_fourth_native():
    f = ljit.jit(scaled)
    a = np.ones(1000)
    assert calls_until_translated(f) == 3
    assert np.array_equal(f(a, LONG), a * 3.0)
    assert f.specializations[0].compiles == 1


def test_calls_in_turns_with_others_wait():
    f, g = ljit.jit(scaled), ljit.jit(lambda a, seconds: scaled(a, seconds))
    assert calls_until_translated(f, g) is None


def test_calls_by_a_decorated_function_wait():
    f = ljit.jit(scaled)

    @ljit.jit
    def calls_it():
        return calls_until_translated(f)

    assert calls_it() is None

"""Signals stop recursion that is not deep, if the loops that call in it have few trips."""

import signal
import traceback

import pytest

import ljit


class Stop(Exception):
    pass


def over_range(depth, x):
    if depth == 0:
        return x & 1
    count = 0
    for i in range(40):
        count += over_range(depth - 1, x ^ i)
    return count


def over_bits(depth, x):
    if depth == 0:
        return x & 1
    count = 0
    bits = (1 << 40) - 1
    while bits != 0:
        bit = bits & -bits
        bits ^= bit
        count += over_bits(depth - 1, x ^ (bit & 7))
    return count


def stop(_signal, _frame):
    raise Stop


def below(frames, f, *args):
    return f(*args) if frames == 0 else below(frames - 1, f, *args)


@pytest.mark.parametrize("function", [over_range, over_bits])
def test_recursion_that_is_not_deep_is_stopped_wherever_it_begins(function, monkeypatch):
    native = ljit.jit(function)
    monkeypatch.setitem(globals(), function.__name__, native)
    for _ in range(40):
        native(2, 1)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for frames in range(16):
            with pytest.raises(Stop) as caught:
                signal.setitimer(signal.ITIMER_REAL, 0.005)
                below(frames, native, 5, 1)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert traceback.extract_tb(caught.tb)[-2].name == function.__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""What native code is expected to gain, by what CPython's interpreter has learnt of a function."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.cpython.quickened import learnt_instructions
from ljit.runtime import waiting
from ljit.runtime.counted_calls import CountedCalls
from ljit.runtime.gains import Gain

_RUNS = 100


def added(n):
    total = 0
    for k in range(n):
        total += k * k
    return total


def swapped(text):
    out = []
    for c in text:
        if c == "a":
            out.append(c.upper())
        else:
            out.append(c + c)
    return "".join(out)


def doubled(a, out):
    for k in range(len(out)):
        out[k] = a[k] + a[k]
    return out


def divided(n):
    t = 1.0
    for _ in range(n):
        t = t / 1.5 // 0.5 % 7.0
    return t


def joined(xs):
    return [*[], *xs][1:] + xs if xs else xs


def scaled(x):
    return x * 3 + 1


def repeated(text):
    text = text + text
    return text + text


def noted(notes, name):
    notes.append(name)
    return notes


CASES = (
    (added, (20,), 1.0),
    (swapped, ("banana",), 0.0),
    (doubled, (np.arange(9.0), np.zeros(9)), 1.0),  # for all that is known
    (divided, (20,), 1.0),
    (joined, ([1, 2],), 0.0),
    (scaled, (3,), 1.0),
    (noted, ([], "x"), 0.0),
)


def fresh(fn):
    """The function as if it had never run."""
    code = fn.__code__.replace(co_name=fn.__name__)
    return type(fn)(code, fn.__globals__, fn.__name__)


def test_what_operators_work_on_is_not_known_before_they_have_run():
    assert Gain(fresh(scaled).__code__).part(1.0) == 1.0
    assert Gain(fresh(repeated).__code__).part(1.0) == 1.0
    assert Gain(fresh(noted).__code__).part(1.0) == 0.0


def test_instructions_are_known_by_what_they_met():
    fn = fresh(scaled)
    for _ in range(_RUNS):
        fn(3)
    names = [name for _, name, _ in learnt_instructions(fn.__code__)]
    assert "BINARY_OP_MULTIPLY_INT" in names
    assert "BINARY_OP_ADD_INT" in names


@pytest.mark.parametrize(
    ("fn", "args", "expected"), CASES, ids=lambda x: getattr(x, "__name__", "")
)
def test_work_on_numbers_gains_and_that_on_objects_does_not(fn, args, expected):
    fn = fresh(fn)
    for _ in range(_RUNS):
        fn(*args)
    assert Gain(fn.__code__).part(1.0) == expected


@pytest.mark.parametrize(
    ("fn", "args", "expected"), CASES[:4], ids=lambda x: getattr(x, "__name__", "")
)
def test_what_counts_trips_does_not_count(fn, args, expected):
    watched = CountedCalls(fn, lambda: None)
    watched.seconds = 1e9
    for _ in range(_RUNS):
        watched.counted(*args)
    assert watched.gain.part(1.0) == expected


def test_code_is_looked_at_again_when_the_program_has_run_longer():
    fn = fresh(repeated)
    gain = Gain(fn.__code__)
    assert gain.part(1.0) == 1.0
    for _ in range(_RUNS):
        fn("a")
    assert gain.part(1.1) == gain.known == 1.0
    assert gain.part(2.0) == gain.known == 0.0


@pytest.fixture
def waits():
    with config.overridden(cold_calls=True):
        yield


@pytest.fixture
def program(monkeypatch):
    """A program that has run for ten seconds, without the compiler."""
    monkeypatch.setattr(waiting, "_LITTLE", 0.0)
    monkeypatch.setattr(waiting, "seconds_of_program", lambda: 10.0)
    monkeypatch.setattr(waiting, "_own_work", lambda: 0.0)
    monkeypatch.setattr(waiting._Start, "of_loading", 0.0)
    monkeypatch.setattr(waiting, "_seconds_of_loading", lambda: 0.2)
    monkeypatch.setattr(waiting, "_claims", waiting._Claims())
    return monkeypatch


class Known(Gain):
    __slots__ = ()

    def __init__(self, part):
        super().__init__(scaled.__code__)
        self.known, self._looked_at = part, 1e9


def test_the_compiler_is_loaded_later_for_what_gains_less(program, waits):
    waiting.claim(10.0, gain=Known(1.0))
    for part, most in ((1.0, 7.5), (0.5, 3.75), (0.0, 0.5)):
        assert waiting.is_within_most(0.99 * most, Known(part))
        assert not waiting.is_within_most(1.01 * most, Known(part))


def test_what_is_loaded_is_used(program, waits):
    program.setattr(waiting, "_seconds_of_loading", lambda: 0.0)
    assert waiting.is_within_most(0.99 * 7.5, Known(0.0))
    assert not waiting.is_within_most(1.01 * 7.5, Known(0.0))


def test_the_compiler_is_loaded_for_what_all_functions_gain(program, waits):
    waiting.claim(2.0, gain=Known(1.0))
    waiting.claim(6.0, gain=Known(0.0))
    assert waiting.is_within_most(0.99 * 1.5, Known(1.0))
    assert not waiting.is_within_most(1.01 * 1.5, Known(1.0))
    assert waiting.is_within_most(0.99 * 0.5, Known(0.1))
    assert waiting.is_within_most(2.9, Known(1.0), spent=2.0), "by a call that has not ended"
    assert not waiting.is_within_most(3.1, Known(1.0), spent=2.0)


def test_generators_are_made_without_the_compiler(waits, monkeypatch):
    """A first call without arguments is a likely one to take long, but for these: they run later."""
    monkeypatch.setattr(waiting, "_STAKE", float("inf"))

    def steps():
        n = 0
        while n < 3:
            n += 1
            yield n

    f = ljit.jit(steps)
    for _ in range(50):
        assert list(f()) == [1, 2, 3]
    assert not f._calls.has_executor()

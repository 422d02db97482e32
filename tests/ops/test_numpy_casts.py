"""Floats become integers as in NumPy, also where many are checked together; what does not fit is left to NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config

EDGES = [
    *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 4294967295.5, -4294967296.5, 2.0**51 + 0.5, 1e-320),
    *(sign * 2.0**power for sign in (1, -1) for power in (31, 32, 52, 53, 62)),
    *(np.nextafter(2.0**63, 0), -(2.0**63), np.nextafter(-(2.0**63), 0)),
]
OUTSIDE = [2.0**63, np.nextafter(-(2.0**63), -np.inf), 1e300, np.inf, -np.inf, np.nan]


def check(function: Callable[[Any], Any], *cases: np.ndarray) -> None:
    compiled = ljit.jit(function)
    with config.overridden(quick_runs=0), np.errstate(all="ignore"):
        for a in cases * 3:
            wanted, got = function(a), compiled(a)
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
            assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("source", ["float64", "float32", "float16"])
@pytest.mark.parametrize("target", ["int64", "uint64", "int32", "uint32", "int16", "uint8"])
def test_arrays_of_floats_become_arrays_of_integers(source: str, target: str) -> None:
    rng, kind = np.random.default_rng(0), np.dtype(target)
    limits = np.iinfo(kind)
    some = rng.normal(size=2000) * 2.0 ** rng.integers(-3, 66, 2000)
    with np.errstate(all="ignore"):
        numbers = np.array([*EDGES * 2, *some]).astype(source)
    wide = numbers.astype(np.float64)
    inside = numbers[(wide >= limits.min) & (wide < float(limits.max) / 2)]
    check(lambda a: a.astype(kind), inside, inside[::3], inside[::-1])
    check(lambda a: (a * 0.5).astype(kind).sum(), inside)
    for bad in OUTSIDE:
        with np.errstate(all="ignore"):
            last = np.append(inside, np.array(bad).astype(source))
        check(lambda a: a.astype(kind), inside, last, last[::-1])


@pytest.mark.parametrize("source", ["float64", "float32", "float16"])
@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_floats_at_the_limits_of_integers(source: str, target: str) -> None:
    kind, limits = np.dtype(source).type, np.iinfo(target)
    low, high = int(limits.min), int(limits.max)
    with np.errstate(over="ignore"):
        exact = np.array([low - 1, low, low + 1, -1, 0, 1, high - 1, high, high + 1], source)
        near = np.nextafter(exact, kind(np.inf)), np.nextafter(exact, kind(-np.inf))
    numbers = np.concatenate([exact, *near])
    whole = np.trunc(numbers.astype(np.longdouble))
    inside = numbers[(whole >= low) & (whole <= high)]
    check(lambda a: a.astype(target), np.resize(inside, 50))
    for outside in (
        numbers[whole < low].max(initial=-np.inf),
        numbers[whole > high].min(initial=np.inf),
    ):
        check(lambda a: a.astype(target), inside, np.append(inside, outside))


def test_floats_that_were_checked_are_converted_without_a_choice() -> None:
    narrow = ljit.jit(lambda a: a.astype(np.int8))
    with config.overridden(quick_runs=0):
        for _ in range(2):
            narrow(np.arange(100.0))
    text = narrow.dump_llvm(optimized=True)
    assert re.search(r"fptosi <\d+ x double>", text)
    assert not re.search(r"select <\d+ x i1>", text)


@pytest.mark.parametrize("bad", OUTSIDE)
def test_nothing_is_stored_by_a_cast_that_is_done_again(bad: float) -> None:
    def store(into: np.ndarray, a: np.ndarray) -> np.ndarray:
        into += a.astype(np.int64)
        return into

    compiled = ljit.jit(store)
    with config.overridden(quick_runs=0), np.errstate(all="ignore"):
        for a in (np.arange(100.0), np.arange(100.0), np.append(np.arange(99.0), bad)):
            wanted, got = store(np.arange(100), a), compiled(np.arange(100), a)
            assert got.tobytes() == wanted.tobytes()

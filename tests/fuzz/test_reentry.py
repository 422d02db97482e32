"""Loops over lists whose items change type again and again: native code is left and entered all the time."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ljit
from tests.programs.harness import compare

NODES = 600  # of a loop's body until it is hot
SEEDS = range(7)


@pytest.fixture(autouse=True)
def _early(monkeypatch):
    monkeypatch.setattr("ljit.runtime.outlining.NODES_UNTIL_HOT", NODES)
    monkeypatch.setattr("ljit.runtime.outlining.NODES_UNTIL_LOADED", NODES)
    monkeypatch.setattr(
        "ljit.runtime.hooks.Hooks.trips_until_hot",
        lambda hooks, loop: hooks.executor.outlined.trips_until_hot(loop),
    )


def total_until_none(xs):
    total = count = 0
    for k, x in enumerate(xs):
        if x is None:
            count += 1
            continue
        total = total + x
        if count > 3000:
            break
    else:
        total = total + 1
    return total, count, k


def largest(xs):
    before = best = None
    changes = 0
    for x in xs:
        if x is None:
            continue
        if before is not None and x != before:
            changes += 1
        before = x
        if best is None or abs(x) > abs(best):
            best = x
    return before, changes, best


def sums_of_ten(xs):
    sums = []
    for i in range(0, len(xs), 10):
        s = 0
        for j in range(i, min(i + 10, len(xs))):
            x = xs[j]
            if x is None:
                break
            s = s + x
        else:
            s = s * 2
        sums.append(s)
    return sums


def grows_and_shrinks(xs):
    i = resets = 0
    s = 1
    while i < len(xs):
        x = xs[i]
        i += 1
        if x is None:
            continue
        s = s * 3 + x
        if abs(s) > 2**80:
            s = x
            resets += 1
    return s, resets


KINDS = [
    lambda r: r.randint(-5, 5),
    lambda r: r.random(),
    lambda r: None,
    lambda r: 2**62 + r.randint(0, 9),
    lambda r: 2**70,
    lambda r: True,
    lambda r: np.float32(1.5),
    lambda r: np.int64(3),
]


def items(r):
    """Stretches of items of a few kinds, now and then with one of another kind behind them."""
    kinds = r.sample(KINDS, r.randint(1, 3))
    xs = [1]
    for _ in range(r.randint(1, 5)):
        kind = r.choice(kinds)
        xs += [kind(r) for _ in range(r.choice([1, 50, 400, 1000]))]
        if r.random() < 0.5:
            xs.append(r.choice(kinds)(r))
    return xs[1:] if r.random() < 0.5 else xs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "function",
    [total_until_none, largest, sums_of_ten, grows_and_shrinks],
    ids=lambda f: f.__name__,
)
def test_items_that_change_type_again_and_again(function, seed):
    r = random.Random(seed)
    f = ljit.jit(function)
    for call in range(2):
        xs = items(r)
        assert compare(function(list(xs)), f(list(xs))) is None, f"call {call}"

"""Calls of the C library whose operands stay the same in all loops are made once, in front of them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import ljit


def weighted(x, y, out, dx, dy):
    for i in range(x.size):
        out[i] = (x[i] * dy**2 + y[i] * dx**2) / (2 * (dx**2 + dy**2))
    return out


def chosen(x, y, out, dx, dy):
    for i in range(x.size):
        out[i] = math.erf(dx) if x[i] > 0.5 else y[i]
    return out


def of_elements(x, y, out, dx, dy):
    for i in range(x.size):
        v = float(x[i])
        out[i] = math.erf(v) if v > 0.5 else y[i] * dx * dy
    return out


def of_what_is_computed(x, y, out, dx, dy):
    for i in range(x.size):
        out[i] = y[i] / math.erf((1 + dx) * 2.0) + x[i] * dy
    return out


@pytest.mark.parametrize(
    ("f", "calls"), [(weighted, 2), (chosen, 1), (of_what_is_computed, 1), (of_elements, 0)]
)
def test_calls_of_what_stays_the_same_are_in_front_of_the_loop(f, calls):
    x, y = np.random.default_rng(1).random((2, 50))
    compiled = ljit.jit(f)
    for _ in range(3):
        expected = f(x, y, np.empty(50), 0.05, 0.1)
        assert compiled(x, y, np.empty(50), 0.05, 0.1).tobytes() == expected.tobytes()
    text = compiled.dump_llvm(x, y, np.empty(50), 0.05, 0.1, optimized=True)
    bodies = re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)
    body = max(bodies, key=lambda body: (" = phi i64 " in body, len(body)))
    found = [m.start() for m in re.finditer(r"call fastcc double @steady\.", body)]
    assert len(found) == calls
    assert all(place < body.index(" = phi i64 ") for place in found)
    assert "speculatable" in text or not calls

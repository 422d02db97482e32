"""What tells in loops of vectors whether ints fit says so exactly, up to the last one that does."""

import numpy as np
import pytest

import ljit
import ljit.codegen
from tests.frontend.harness import function_of

LEAST, MOST = -(2**63), 2**63 - 1
FACTORS = (2, 3, 7, 10, 1_000_003, 2**62, MOST, -1, -2, -7, -(2**62), LEAST)


def products(p, q, out):
    for i in range(len(p)):
        out[i] = int(p[i]) * int(q[i])


def sums(p, q, out):
    for i in range(len(p)):
        out[i] = int(p[i]) + int(q[i])


def differences(p, q, out):
    for i in range(len(p)):
        out[i] = int(p[i]) - int(q[i])


def pairs():
    """Numbers whose products, sums and differences lie around the ends of int64."""
    rng = np.random.default_rng(5)
    magnitudes = 2 ** rng.integers(3, 62, 500) - rng.integers(-3, 4, 500)
    found = [(LEAST, 1), (-(2**31), 2**32), (649_657, 14_197_294_936_951), (MOST, -1), (0, LEAST)]
    for x in map(int, magnitudes):
        for end in (LEAST, MOST):
            found += [(x, end // x + k) for k in (-1, 0, 1)] + [(-x, end // -x + k) for k in (0, 1)]
            found += [(x, end - x), (x + 1, end - x), (-x, end + x), (x - 2**62, end // 2)]
            found += [(k * x + j, k * x - end) for k in (1, -1) for j in (-1, 0, 1)]
    return [(x, y) for x, y in found if LEAST <= x <= MOST and LEAST <= y <= MOST]


def check(function, exact):
    inside = [(x, y) for x, y in pairs() if LEAST <= exact(x, y) <= MOST]
    outside = [(x, y) for x, y in pairs() if not LEAST <= exact(x, y) <= MOST]
    assert len(inside) > 100 and len(outside) > 100
    native = ljit.jit(function)
    p, q = np.array(inside).T
    for _ in range(5):
        out = np.zeros(len(p), np.int64)
        native(p, q, out)
        assert out.tolist() == [exact(x, y) for x, y in inside]
    assert "checks='made'" in str(native.graph_for(p, q, out))
    assert [info.bailouts for info in native.specializations] == [0]
    for place, (x, y) in enumerate(outside[::9]):
        wrong_p, wrong_q = p.copy(), q.copy()
        at = place * 7 % len(p)
        wrong_p[at], wrong_q[at] = x, y
        with pytest.raises(OverflowError):
            native(wrong_p, wrong_q, out)


@pytest.mark.parametrize(
    ("function", "exact"),
    [(products, lambda x, y: x * y), (sums, lambda x, y: x + y), (differences, lambda x, y: x - y)],
    ids=["products", "sums", "differences"],
)
def test_ints_that_just_fit_do(function, exact, monkeypatch):
    monkeypatch.setattr(
        ljit.codegen, "vector_bytes", lambda: 64
    )  # shorter vectors are not made of products
    check(function, exact)


@pytest.mark.parametrize("factor", FACTORS)
def test_products_with_constants_that_just_fit_do(factor):
    text = (
        f"def f(p, q, out):\n    for i in range(len(p)):\n        out[i] = int(p[i]) * ({factor})\n"
    )
    function = function_of(text)
    low, high = sorted((LEAST // -factor, MOST // factor))
    native = ljit.jit(function)
    numbers = [
        x for x in (*range(low - 3, low + 4), *range(high - 3, high + 4)) if LEAST <= x <= MOST
    ]
    fit = np.array([x for x in numbers if LEAST <= x * factor <= MOST])
    for _ in range(5):
        out = np.zeros(len(fit), np.int64)
        native(fit, fit, out)
        assert out.tolist() == [int(x) * factor for x in fit]
    native.graph_for(fit, fit, out)
    for x in numbers:
        if not LEAST <= x * factor <= MOST:
            with pytest.raises(OverflowError):
                native(np.array([*fit, x]), fit, np.zeros(len(fit) + 1, np.int64))

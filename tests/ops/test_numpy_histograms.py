"""histogram with edges, weights and densities, and digitize of numbers, give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config


def between(a, edges):
    return np.histogram(a, edges)


def shares_between(a, edges):
    return np.histogram(a, bins=edges, density=True)


def weighted(a, bins, weights):
    return np.histogram(a, bins, weights=weights)


def shares(a, bins):
    return np.histogram(a, bins, density=True)


def weighted_shares(a, bins, weights):
    return np.histogram(a, bins, (0.2, 0.8), True, weights)


def digitize(x, bins):
    return np.digitize(x, bins)


def digitize_right(x, bins):
    return np.digitize(x, bins, right=True)


@pytest.fixture(autouse=True)
def _optimised_at_once():
    with config.overridden(cold_calls=0):
        yield


EDGES = (
    np.array([0.0, 0.1, 0.1, 0.5, 0.9, 0.9]),  # bins without width, the last one as well
    np.array([0.4, 0.6]),
    np.linspace(-1, 2, 200),
    np.array([-np.inf, 0.5, np.inf]),
)


def numbers(length: int) -> np.ndarray:
    a = np.random.default_rng(length).random(length).round(2)
    a[: length // 5] = 0.9
    a[length // 5 : length // 3] = 0.1
    return a


def assert_like(compiled, function, *operands) -> None:
    wanted = function(*operands)
    for _ in range(3):
        found = compiled(*operands)
        assert type(found) is tuple
        for one, other in zip(found, wanted, strict=True):
            assert (type(one), one.dtype, one.shape) == (type(other), other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("function", [between, shares_between])
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_histograms_between_edges_are_those_of_numpy(function) -> None:
    compiled = ljit.jit(function)
    for edges in EDGES:
        for length in (0, 1, 10, 1000):
            a = numbers(length)
            assert_like(compiled, function, a, edges)
            assert_like(compiled, function, a[::-1], edges)
            assert_like(compiled, function, np.array([*a, np.nan, np.inf, -np.inf]), edges)
            assert_like(compiled, function, (a * 9).astype(np.int16).reshape(1, -1), edges)
    assert compiled(a, edges)[1] is edges
    assert any(s.state == "native" for s in compiled.specializations)
    assert "calls Python" not in compiled.explain()


def test_edges_that_do_not_rise() -> None:
    compiled = ljit.jit(between)
    for _ in range(3):
        compiled(numbers(9), EDGES[0])
    for edges in (np.array([1.0, 0.5]), np.array([[0.0, 1.0]])):
        with pytest.raises(ValueError, match="bins"):
            compiled(numbers(9), edges)
    for edges in (np.array([0.5]), np.zeros(0)):
        try:
            wanted = between(numbers(9), edges)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                compiled(numbers(9), edges)
        else:
            np.testing.assert_array_equal(compiled(numbers(9), edges)[0], wanted[0])


@pytest.mark.parametrize("function", [weighted, weighted_shares])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_histograms_with_weights_are_those_of_numpy(function) -> None:
    compiled = ljit.jit(function)
    for length in (5, 1000, 70_000):
        a = numbers(length)
        weights = a[::-1].copy()
        assert_like(compiled, function, a, 7, weights)
        assert_like(compiled, function, a.reshape(5, -1), 7, weights.reshape(5, -1))
        assert_like(compiled, function, (a * 9).astype(np.uint8), 3, weights)
        for other in (weights.astype(np.float32), np.arange(length), weights * 1j):
            assert_like(compiled, function, a, 7, other)
    with pytest.raises(ValueError, match="weights should have the same shape"):
        compiled(a, 7, weights[1:].copy())
    assert any(s.state == "native" for s in compiled.specializations)


def test_densities_are_those_of_numpy() -> None:
    compiled = ljit.jit(shares)
    for length in (5, 1000):
        assert_like(compiled, shares, numbers(length), 7)
        assert_like(compiled, shares, (numbers(length) * 9).astype(np.int32), 4)


@pytest.mark.parametrize("function", [digitize, digitize_right])
def test_digitize_of_a_number(function) -> None:
    compiled = ljit.jit(function)
    some = [0.4, np.float64(0.1), 0.9, -1.0, 2, True, np.nan, np.inf, np.float32(0.1), np.int8(1)]
    for bins in (*EDGES, EDGES[0][::-1], np.array([1, 1, 2]), np.zeros(0), np.array([0.1, np.nan])):
        for x in some:
            wanted = function(x, bins)
            for _ in range(3):
                found = compiled(x, bins)
                assert (type(found), found) == (type(wanted), wanted)
    for _ in range(3):
        with pytest.raises(ValueError, match="monotonic"):
            compiled(0.5, np.array([0.0, 1.0, 0.5]))
    assert any(s.state == "native" for s in compiled.specializations)

"""Functions that NumPy's loops do within the other work of a nest: block by block, in stages."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.layouts.layout import ufunc_loop
from ljit.ops.ufuncs import ufuncs

#: units in the last place that ljit's functions and NumPy's may be apart, with what rounding adds behind them
PLACES = {"f": 1e-6, "d": 4e-15}
COUNTS = (1500, 1500, 63, 64, 1024, 1025, 3, 0)
UNARY = {
    "f": (
        "arccos arccosh arcsin arcsinh arctan arctanh cbrt cosh exp2 expm1 log log10 log1p log2 sinh tan tanh"
    ).split(),
    "d": "arcsinh arctanh".split(),
}
CASES = [(char, name) for char, names in UNARY.items() for name in names]
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 2.5, -2.5, 1e30, -1e30, 1e-40]


@pytest.fixture(autouse=True)
def _optimised():
    with config.overridden(quick_runs=0):
        yield


@pytest.fixture(params=[True, False], ids=["wide vectors", "none"])
def is_wide(request, monkeypatch):
    """Whether NumPy's loops have wide vectors, whatever this machine is."""
    monkeypatch.setattr(ufuncs, "has_wide_vectors", lambda _function, _loop: request.param)
    return request.param


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setattr(ufuncs, "has_wide_vectors", lambda _function, _loop: True)


def numbers(char: str, count: int = 1500, low: float = 0.1, high: float = 0.9) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, count).astype(char)


def assert_close(found: np.ndarray, wanted: np.ndarray) -> None:
    assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
    assert np.ndim(found) == 0 or found.strides == wanted.strides
    places = PLACES[wanted.dtype.char]
    np.testing.assert_allclose(found, wanted, rtol=places, atol=places)


def calls(function, ufunc: np.ufunc, char: str) -> bool:
    dtypes = (np.dtype(char),) * (ufunc.nin + 1)
    return str(ufunc_loop(ufunc, dtypes)[0]) in function.dump_llvm()


def plus(ufunc):
    def of_one(x):
        return ufunc(x) + 1

    return of_one


@pytest.mark.parametrize(("char", "name"), CASES)
def test_numpy_does_the_function_bit_for_bit_and_the_nest_the_rest(char, name, wide):
    ufunc = getattr(np, name)
    wanted = plus(ufunc)
    f = ljit.jit(wanted)
    x = numbers(char, low=1.1, high=3) if name == "arccosh" else numbers(char)
    for count in COUNTS:
        found = f(x[:count])
        assert_close(found, wanted(x[:count]))
        if count >= 64:
            assert found.tobytes() == wanted(x[:count]).tobytes()
    assert calls(f, ufunc, char)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("char", "name"), CASES)
def test_numbers_that_numpy_does_one_by_one(char, name, is_wide):
    ufunc = getattr(np, name)
    wanted = plus(ufunc)
    f = ljit.jit(wanted)
    for value in SPECIAL:
        x = numbers(char, 3000)
        x[1200] = value
        assert_close(f(x), wanted(x))
    assert calls(f, ufunc, char) == is_wide


BODIES = {
    "in front and behind": lambda x, y: 0.5 * x * (1 + np.arcsinh(0.8 * (x + y * x * x * x))),
    "of one another": lambda x, y: np.arcsinh(np.arcsinh(x * y) * 0.5) + np.arcsinh(x),
    "side by side": lambda x, y: np.arcsinh(x) * np.arctanh(y) + np.arcsinh(x + y),
    "a value for later": lambda x, y: (x * y + x) * np.arcsinh(x * y + x) - np.exp(x * y + x),
    "a condition for later": lambda x, y: np.where(x * y > 0.3, np.arcsinh(x * y), x - y),
    "of two operands": lambda x, y: x ** (y + 1) * np.arcsinh(x),
    "of a number": lambda x, y: np.arcsinh(x) + np.arcsinh(y[3]) * y,
    "in a row": lambda x, y: np.arcsinh(np.arcsinh(np.arcsinh(x) + y) + y) + y,
    "too many": lambda x, y: sum(np.arcsinh(x * k + y) for k in (1.5, 2.5, 3.5, 4.5, 5.5, 6.5)),
    "summed": lambda x, y: (np.arcsinh(x * y) + y).sum(),
    "the greatest": lambda x, y: (np.arcsinh(x * y) + y).max(),
}


@pytest.mark.parametrize("char", ["f", "d"])
@pytest.mark.parametrize("name", BODIES)
def test_bodies_in_stages(name, char, is_wide):
    wanted = BODIES[name]
    f = ljit.jit(wanted)
    x, y = numbers(char), numbers(char)[::-1].copy()
    for count in COUNTS[:-1] if name == "the greatest" else COUNTS:
        if count > 3 or name != "of a number":
            assert_close(f(x[:count], y[:count]), wanted(x[:count], y[:count]))
    if name != "too many":
        assert calls(f, np.arcsinh, char) == is_wide


VIEWS = {
    "contiguous": lambda x: x,
    "with gaps": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, ::-1],
    "narrow": lambda x: x[:, 3:90],
    "the other way around": lambda x: x.T,
    "a column": lambda x: x[:, 5:6],
    "a row": lambda x: x[7:8],
    "one row": lambda x: x[3],
    "no elements": lambda x: x[:, :0],
    "no rows": lambda x: x[:0],
}


@pytest.mark.parametrize("char", ["f", "d"])
def test_stages_go_through_any_layout(char, is_wide):
    def wanted(x, y):
        return np.arcsinh(x) * y + np.arcsinh(y * 2)

    f = ljit.jit(wanted)
    x = numbers(char, 100 * 100).reshape(100, 100)
    for view in VIEWS.values():
        a = view(x)
        for b in (a, a[..., ::-1], a[:1], a[..., :1] if a.shape[-1] else a):
            for _ in range(2):
                assert_close(f(a, b), wanted(a, b))
    assert calls(f, np.arcsinh, char) == is_wide


@pytest.mark.parametrize("axis", [0, 1, None])
def test_reductions_go_through_stages(axis, is_wide):
    def wanted(x):
        return (np.arcsinh(x * 2) * x).sum(axis=axis)

    f = ljit.jit(wanted)
    x = numbers("d", 300 * 70).reshape(300, 70)
    for view in VIEWS.values():
        a = np.atleast_2d(view(x))
        for _ in range(2):
            np.testing.assert_allclose(f(a), wanted(a), rtol=1e-13)
    assert calls(f, np.arcsinh, "d") == is_wide


def test_results_in_place_and_over_operands(is_wide):
    def shifted(x, y):
        x[1:] = np.arcsinh(x[:-1]) + y[1:]
        x *= np.arcsinh(x)
        x[::-1] = np.arcsinh(x) * 2
        return x

    f = ljit.jit(shifted)
    for count in (70, 70, 3000, 5000):
        x, y = numbers("d", count), numbers("d", count)[::-1].copy()
        a, b = x.copy(), y.copy()
        assert f(a, b) is a
        assert_close(a, shifted(x, y))
        assert b.tobytes() == y.tobytes()
    assert calls(f, np.arcsinh, "d") == is_wide


@pytest.mark.parametrize("low", [1e-4, -3.0])
def test_powers_of_any_size(low, is_wide):
    def wanted(x, y):
        return x**y + 1

    f = ljit.jit(wanted)
    for char in "fd":
        x, y = numbers(char, 4000, low, 3), numbers(char, 4000, -2, 2)
        y[3000] = 40
        with np.errstate(all="ignore"):
            for _ in range(2):
                np.testing.assert_allclose(
                    f(x, y), wanted(x, y), rtol=1e-6 if char == "f" else 1e-14
                )
        assert calls(f, np.power, char) == is_wide


def brightened(x):
    return (x / 255) ** 2.2


@pytest.mark.parametrize("char", ["f", "d"])
def test_powers_by_a_constant_with_zeros_among_them(char, is_wide):
    """Some are left to NumPy's loop, which does them one by one; of a block of many it does nothing."""
    f = ljit.jit(brightened)
    for zeros in (0, 0, 20, 700, 4000):
        x = numbers(char, 4000, 1, 250)
        x[::7][:zeros] = 0
        x[5:zeros] = -0.0
        np.testing.assert_allclose(f(x), brightened(x), rtol=1e-6 if char == "f" else 1e-14)
    assert calls(f, np.power, char) == is_wide


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("char", ["f", "d"])
@pytest.mark.parametrize("count", [1, 31, 33, 1024])
def test_a_few_numbers_that_numpy_does_one_by_one_are_left_to_its_loop(char, count, wide):
    """To the bit as NumPy's, up to one in 32; in a block of more of them all are ljit's."""
    wanted = plus(np.log10) if char == "f" else plus(np.arctanh)
    f = ljit.jit(wanted)
    for _ in range(2):
        x = numbers(char, 1024)
        x[:count] = np.resize(SPECIAL, count)
        found, others = f(x), wanted(x)
        assert_close(found, others)
        if count <= 32:
            assert found.tobytes() == others.tobytes()


def test_operands_beyond_limits_are_counted_in_numbers_as_wide_as_floats(wide):
    f = ljit.jit(lambda a: np.log2(a) * 3)
    a = np.ones(2000, np.float32)
    for _ in range(3):
        f(a)
    assert re.search(r"zext i1 \S+ to i32", f.dump_llvm(a, optimized=False))


CHAINS = {
    "of one another": lambda x, y: np.log10(np.exp(x) + y),
    "three": lambda x, y: np.exp(-np.log(np.exp(x) + y)) * y,
    "side by side": lambda x, y: np.log(np.exp(x) + np.sin(y)) - np.exp(x),
    "summed": lambda x, y: np.log(np.exp(x) + y).sum(),
    "a function for two": lambda x, y: (np.log(np.exp(x) + y), np.exp(x) * 2),
}


@pytest.mark.parametrize("name", CHAINS)
def test_functions_of_functions_are_done_one_after_the_other(name):
    wanted = CHAINS[name]
    f = ljit.jit(wanted)
    x, y = numbers("d"), numbers("d")[::-1].copy()
    for count in COUNTS:
        found, expected = f(x[:count], y[:count]), wanted(x[:count], y[:count])
        found, expected = ((z if isinstance(z, tuple) else (z,)) for z in (found, expected))
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(ours, theirs)
    blocks = re.split(r"\n\w+:\n", f.dump_llvm())
    alone = [block for block in blocks if "shared.exp." in block and "shared.log" not in block]
    assert alone


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [0.5, 300.0, -2.0, np.nan])
@pytest.mark.parametrize("place", [0, 1023, 1024, 1499])
def test_checks_behind_stages_leave(value, place):
    def wanted(x):
        return (255 * np.log(np.exp(x))).astype(np.uint8)

    f = ljit.jit(wanted)
    x = numbers("d")
    for _ in range(2):
        assert f(x).tobytes() == wanted(x).tobytes()
    assert re.search(r"shared\.exp\.", f.dump_llvm())
    x[place] = value
    found = f(x)
    assert found.dtype == np.uint8
    assert found.tobytes() == wanted(x).tobytes()

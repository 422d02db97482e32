"""Elements with gaps between them: what is done with a few at a time is what is done with each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 2.5, -2.5, 0.5, 1e300, 5e-324]
FUNCTIONS = {
    "sqrt": lambda a, b: np.sqrt(a),
    "divide": lambda a, b: a / b,
    "reciprocal": lambda a, b: np.reciprocal(a),
    "floor": lambda a, b: np.floor(a),
    "rint": lambda a, b: np.rint(a),
    "round": lambda a, b: np.round(a, 1),
    "sign": lambda a, b: np.sign(a),
    "conjugate": lambda a, b: (a + 1j * b).conj(),
    "astype": lambda a, b: np.floor(b).astype(np.int64),
}


def operands(count: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(count).uniform(-9, 9, 2 * count).astype(dtype)
    with np.errstate(over="ignore"):
        special = np.resize(np.array(SPECIAL, dtype), 3 * count)
    return special[::3], numbers[::-2]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_number_of_elements_with_gaps(name, dtype):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    for count in (8, 8, *range(10), 1030):
        a, b = operands(count, dtype)
        for x, y in ((a, b), (b, a)) if name != "astype" else ((a, b),):
            found, wanted = f(x, y), function(x, y)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(wanted.real))


@pytest.mark.parametrize("name", ["sqrt", "divide", "rint"])
def test_a_few_elements_with_gaps_become_a_vector(name):
    f = ljit.jit(FUNCTIONS[name])
    a, b = operands(1000, "float64")
    for _ in range(2):
        f(abs(a)[::2], b[::2])
    assert re.search(r"insertelement <\d+ x double>", f.dump_llvm(optimized=True))
